"""One connection to a real server of the protocol on this machine, from login to logout."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
import trio
import trio.testing

from gridagent import actions as asked
from gridagent.actions import Confirmed, EvidenceKind, InDoubt, Outcome, Position, Refused
from gridagent.errors import AuthorityRefused, LocalProtocolError
from gridagent.events import (
    ActionRefused,
    BackendReady,
    BalanceChanged,
    ChatHeard,
    DisconnectCause,
    EventsShed,
    GridEvent,
    ImReceived,
    PartDegraded,
    PartRecovered,
    RegionEntered,
    SpeakerKind,
    TransportUp,
)
from gridagent.limits import OPEN_EFFECTS_MAX
from live_grid.backend import backend
from live_grid.backend.pending import Making
from live_grid.handover import EndCause, GridSession, SessionEnded
from live_grid.handover.tables import TravelState
from live_grid.io import GridClient
from live_grid.world.events import ItemMade, ItemsMade
from tests.live_grid.backend.scene import ADA, BELL, BEN, BENCH, BOOK, DANCE, HERE, JAR, NOTE, Client, connected

pytestmark = pytest.mark.slow


@pytest.fixture
def fast() -> trio.testing.MockClock:
    """A clock on which pauses pass ten times as fast."""
    return trio.testing.MockClock(rate=10.0)


def kind(outcome: Outcome) -> EvidenceKind | str:
    """What confirmed it, or why not."""
    return outcome.evidence if isinstance(outcome, Confirmed) else outcome.reason


async def until(true: Callable[[], bool]) -> None:
    """Wait, looking often."""
    for _ in range(2_000):
        if true():
            return
        await trio.sleep(0.02)
    raise AssertionError("it never became true")


async def test_a_connection_begins_and_ends_in_order(fast) -> None:
    """Up, ready, then what is there; after the logout nobody is left. Spec: LIV-1, LIV-11, SUP-9, SUP-12."""
    async with connected() as client:
        ready = await client.wait_for("backend_ready")
        assert isinstance(ready, BackendReady)
        assert (ready.avatar_id, ready.name, ready.region) == (ADA, "Ada Actor", "Plaza")
        assert (ready.profile.has_money, ready.profile.has_inventory, ready.profile.bots_allowed) == (True, True, True)
        await client.wait_for("object_seen", 4)
        assert client.names()[:3] == ["transport_up", "backend_ready", "region_entered"]
        assert client.sink.events[0] == TransportUp(avatar_id=ADA, name="Ada Actor")
        assert {view.object_id for view in client.backend.objects()} == {BENCH, BELL, JAR, BOOK}
        assert client.backend.objects()[0].object_id == BENCH
        assert client.backend.health() is not None
        assert {each.part for each in client.backend.vitals()} >= {"circuit", "wire"}
        with pytest.raises(LocalProtocolError):
            await client.backend.run(client.sink)
    assert client.world.avatar(ADA).body is None
    assert client.backend.objects() == ()


async def test_words_go_both_ways(fast) -> None:
    """Our own come back as evidence, others' come as theirs, and an IM is not public. Spec: LIV-6, EFX-1."""
    async with connected() as client:
        await client.wait_for("backend_ready")
        ben = client.witness(BEN)
        await client.wait_for("avatar_seen")
        assert kind(await client.apply(asked.Say(text="hello\u200b there"))) is EvidenceKind.OWN_ECHO
        assert kind(await client.apply(asked.Emote(text="waves"))) is EvidenceKind.OWN_ECHO
        assert kind(await client.apply(asked.Say(text="psst", chat_channel=5))) is EvidenceKind.DELIVERED
        assert kind(await client.apply(asked.SetTyping(typing=True))) is EvidenceKind.DELIVERED
        assert kind(await client.apply(asked.SendIm(to=BEN, text="hi"))) is EvidenceKind.DELIVERED
        assert [event.text for event in ben.saw(ChatHeard)] == ["hello\u200b there", "/me waves"]
        assert [event.text for event in ben.saw(ImReceived)] == ["hi"]
        ben.do(asked.Say(text="Hi Ada"))
        ben.do(asked.SendIm(to=ADA, text="psst"))
        heard = await client.wait_for("im_received")
        assert isinstance(heard, ImReceived)
        assert (heard.source.kind, heard.source.id, heard.text) == (SpeakerKind.AVATAR, BEN, "psst")
        others = [e for e in client.sink.events if isinstance(e, ChatHeard) and e.source.kind is SpeakerKind.AVATAR]
        assert [event.text for event in others] == ["Hi Ada"]
        assert [view.avatar_id for view in client.backend.avatars()] == [BEN]


async def test_the_body_does_what_it_is_told(fast) -> None:
    """Turn, walk, follow, stop, sit, stand, touch: each with the region's own word for it. Spec: LIV-7, EFX-1."""
    async with connected() as client:
        await client.wait_for("object_seen", 4)
        client.witness(BEN)
        await client.wait_for("avatar_seen")
        assert kind(await client.apply(asked.TurnTo(heading_deg=90.0))) is EvidenceKind.POSITION
        assert kind(await client.apply(asked.WalkTo(position=Position(x=104.0, y=103.0)))) is EvidenceKind.POSITION
        where = client.world.position(ADA)
        assert where is not None
        assert where.x == pytest.approx(104.0, abs=1.0)
        assert kind(await client.apply(asked.FollowAvatar(avatar_id=BEN))) is EvidenceKind.POSITION
        assert kind(await client.apply(asked.StopMoving())) is EvidenceKind.POSITION
        assert kind(await client.apply(asked.SitOn(object_id=BENCH))) is EvidenceKind.POSTURE
        assert kind(await client.apply(asked.SitOn(object_id=BENCH))) is EvidenceKind.POSTURE
        for action in (
            asked.WalkTo(position=HERE),
            asked.FollowAvatar(avatar_id=BEN),
            asked.TurnTo(heading_deg=1.0),
        ):
            assert await client.apply(action) == Refused(reason="seated")
        assert kind(await client.apply(asked.StandUp())) is EvidenceKind.POSTURE
        assert kind(await client.apply(asked.StandUp())) is EvidenceKind.POSTURE
        assert kind(await client.apply(asked.Touch(object_id=BELL))) is EvidenceKind.DELIVERED
        assert await client.apply(asked.WalkTo(position=Position(x=999.0, y=1.0))) == Refused(reason="outside_region")
        client.backend.halt()


async def test_one_body_does_one_thing(fast) -> None:
    """A new errand ends the one before, which is told so. Spec: LIV-7."""
    async with connected() as client, trio.open_nursery() as nursery:
        await client.wait_for("object_seen", 4)
        outcomes: list[Outcome] = []

        async def walk() -> None:
            outcomes.append(await client.apply(asked.WalkTo(position=Position(x=200.0, y=200.0))))

        nursery.start_soon(walk)
        await trio.sleep(2.0)
        assert kind(await client.apply(asked.StopMoving())) is EvidenceKind.POSITION
        await trio.sleep(0.5)
        assert outcomes == [Refused(reason="superseded")]


async def test_teleports_near_and_far(fast) -> None:
    """Within the region, next door, far away, home, and nowhere. Spec: LIV-7."""
    async with connected() as client:
        await client.wait_for("object_seen", 4)
        place = Position(x=50.0, y=60.0)
        for region in ("Plaza", "annex", "Far", "Plaza"):
            outcome = await client.apply(asked.TeleportTo(region=region, position=place))
            assert kind(outcome) is EvidenceKind.ARRIVED, region
        entered = await client.wait_for("region_entered", 4)
        assert isinstance(entered, RegionEntered)
        assert (entered.region, entered.how) == ("Plaza", "teleport")
        assert await client.apply(asked.TeleportTo(region="Nowhere", position=place)) == Refused(
            reason="region_not_found"
        )
        assert kind(await client.apply(asked.TeleportHome())) is EvidenceKind.ARRIVED
        sizes = [event.size_m for event in client.sink.events if isinstance(event, RegionEntered)]
        assert sizes == [256, 512, 256, 256]


async def test_regions_and_items_are_looked_up(fast) -> None:
    """What the map and our inventory hold, while we are there; a look-up beside a teleport ends neither.

    Spec: MND-13, LIV-8.
    """
    async with connected() as client:
        assert await client.backend.find_region("Far") is None
        assert await client.backend.search(words="", kind="", limit=5) is None
        await client.wait_for("backend_ready")
        far = await client.backend.find_region("FAR")
        assert far is not None
        assert (far.region, far.online) == ("Far", True)
        assert await client.backend.find_region("Nowhere") is None
        connection = client.backend.connection
        assert connection is not None
        await until(lambda: connection.client.session.world.inventory.asked)
        found = await client.backend.search(words="danc", kind="animation", limit=5)
        assert found is not None
        assert [item.item_id for item in found.items] == [DANCE]
        assert await client.backend.find_region("Annex") is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.backend.find_region, "Nowhere")
            assert kind(await client.apply(asked.TeleportTo(region="Far", position=HERE))) is EvidenceKind.ARRIVED


async def test_nothing_is_sent_while_we_are_nowhere(fast) -> None:
    """On the way no region has authority, and a second journey waits for the first. Spec: LIV-7. Fault: 9."""
    async with connected() as client, trio.open_nursery() as nursery:
        await client.wait_for("object_seen", 4)
        travel = client.backend._connection.client.session.travel
        far = asked.TeleportTo(region="Far", position=HERE)
        nursery.start_soon(client.apply, far)
        await until(lambda: travel.state is not TravelState.PRESENT)
        assert await client.apply(far) == Refused(reason="in_transit")
        await until(lambda: travel.state is not TravelState.ASKED)
        assert await client.apply(asked.Say(text="where am I?")) == Refused(reason="in_transit")
        await client.wait_for("teleport_finished")


async def test_people_offer_and_are_answered(fast) -> None:
    """Friendship, invitation and gift: shown, answered, and closed by the answer's arrival. Spec: LIV-6."""
    async with connected() as client:
        await client.wait_for("object_seen", 4)
        ben = client.witness(BEN)
        assert kind(await client.apply(asked.OfferFriendship(to=BEN))) is EvidenceKind.DELIVERED
        assert kind(await client.apply(asked.OfferTeleport(to=BEN, message="come"))) is EvidenceKind.DELIVERED
        assert kind(await client.apply(asked.RequestTeleport(to=BEN))) is EvidenceKind.DELIVERED
        assert {"friendship_offered", "teleport_offered", "teleport_asked"} <= {
            type(event).__struct_config__.tag for event in ben.events
        }
        cleo = client.witness("00000000-0000-4000-8000-000000000003")
        cleo.do(asked.OfferFriendship(to=ADA))
        offered = await client.wait_for("friendship_offered")
        answer = asked.AnswerFriendship(offer_id=offered.offer_id, accept=True)
        assert kind(await client.apply(answer)) is EvidenceKind.OFFER_CLOSED
        assert kind(await client.apply(asked.EndFriendship(avatar_id=cleo.avatar_id))) is EvidenceKind.FRIENDSHIP
        assert await client.apply(answer) == Refused(reason="unknown_offer")
        cleo.do(asked.OfferTeleport(to=ADA, message="here"))
        lure = await client.wait_for("teleport_offered")
        wrong = asked.AnswerFriendship(offer_id=lure.offer_id, accept=True)
        assert await client.apply(wrong) == Refused(reason="wrong_kind")
        go = asked.AnswerTeleportOffer(offer_id=lure.offer_id, accept=True)
        assert kind(await client.apply(go)) is EvidenceKind.OFFER_CLOSED
        cleo.do(asked.OfferTeleport(to=ADA, message="again"))
        lure = await client.wait_for("teleport_offered", 2)
        stay = asked.AnswerTeleportOffer(offer_id=lure.offer_id, accept=False)
        assert kind(await client.apply(stay)) is EvidenceKind.OFFER_CLOSED


async def test_gifts_and_money(fast) -> None:
    """Given and taken, paid with a reference, refused where there is not enough. Spec: LIV-8, EFX-1, EFX-5."""
    async with connected() as client, trio.open_nursery() as nursery:
        await client.wait_for("object_seen", 4)
        ben = client.witness(BEN)
        await trio.sleep(4.0)  # what we hold is being learnt
        outcomes: list[Outcome] = []

        async def give() -> None:
            outcomes.append(await client.apply(asked.GiveItem(item_id=NOTE, to=BEN)))

        nursery.start_soon(give)
        await trio.sleep(2.0)
        (offer,) = [e for e in ben.events if type(e).__struct_config__.tag == "inventory_offered"]
        ben.do(asked.AnswerInventoryOffer(offer_id=offer.offer_id, accept=True))
        await trio.sleep(2.0)
        assert kind(outcomes[0]) is EvidenceKind.GIFT_ANSWERED
        item = client.world.give(BEN, name="Rose", kind="object")
        ben.do(asked.GiveItem(item_id=item, to=ADA))
        gift = await client.wait_for("inventory_offered")
        take = asked.AnswerInventoryOffer(offer_id=gift.offer_id, accept=True)
        assert kind(await client.apply(take)) is EvidenceKind.OFFER_CLOSED
        assert kind(await client.apply(asked.PayAvatar(to=BEN, amount=5, description="thanks"))) is EvidenceKind.BALANCE
        assert kind(await client.apply(asked.PayObject(object_id=JAR, amount=7))) is EvidenceKind.BALANCE
        await client.wait_for("balance_changed", 3)
        paid = [e for e in client.sink.events if isinstance(e, BalanceChanged) and e.change]
        # Through an object the grid tells of the object's name, and not of our words.
        assert [(e.change, e.balance, bool(e.reference)) for e in paid] == [(-5, 95, True), (-7, 88, False)]
        assert await client.apply(asked.PayAvatar(to=BEN, amount=5_000)) == Refused(reason="insufficient_funds")
        assert await client.apply(asked.GiveItem(item_id=DANCE[:-1] + "f", to=BEN)) == Refused(reason="unknown_item")


async def test_things_are_built_changed_and_taken_away(fast) -> None:
    """Each seen as wanted before it counts as done. Spec: EFX-1."""
    async with connected() as client:
        await client.wait_for("object_seen", 4)
        built = await client.apply(asked.RezObject(position=Position(x=110.0, y=110.0), name="Lamp"))
        assert kind(built) is EvidenceKind.OBJECT
        (lamp,) = [view for view in client.backend.objects() if view.owner_id == ADA]
        assert lamp.name == "Lamp"
        renamed = asked.EditObject(object_id=lamp.object_id, name="Lantern")
        assert kind(await client.apply(renamed)) is EvidenceKind.OBJECT
        moved = asked.EditObject(object_id=lamp.object_id, position=Position(x=112.0, y=111.0, z=22.0))
        assert kind(await client.apply(moved)) is EvidenceKind.OBJECT
        assert await client.apply(asked.DeleteObject(object_id=BENCH)) == Refused(reason="not_owner")
        assert kind(await client.apply(asked.DeleteObject(object_id=lamp.object_id))) is EvidenceKind.OBJECT_GONE
        assert kind(await client.apply(asked.ReturnObject(object_id=BOOK))) is EvidenceKind.OBJECT_GONE
        assert await client.apply(asked.Touch(object_id=BOOK)) == Refused(reason="unknown_object")
        outside = asked.RezObject(position=Position(x=-5.0, y=1.0))
        assert await client.apply(outside) == Refused(reason="outside_region")


async def test_a_handle_is_honoured_once_and_only_in_the_world(fast) -> None:
    """Redeemed before anything is sent; before the arrival and after the end nothing is. Spec: POL-1. Fault: 27."""
    async with connected() as client:
        handle = client.ledger.authorize(asked.Say(text="early"))
        assert await client.backend.apply(handle) == Refused(reason="not_connected")
        await client.wait_for("backend_ready")
        with pytest.raises(AuthorityRefused):
            await client.backend.apply(handle)
        handle = client.ledger.authorize(asked.Say(text="once"))
        assert kind(await client.backend.apply(handle)) is EvidenceKind.OWN_ECHO
        with pytest.raises(AuthorityRefused):
            await client.backend.apply(handle)
        client.backend._waits._open = [None] * OPEN_EFFECTS_MAX
        assert await client.apply(asked.Say(text="x")) == Refused(reason="too_many_actions")
        client.backend._waits._open = []
    assert await client.apply(asked.Say(text="late")) == Refused(reason="not_connected")


async def test_actions_without_evidence_are_in_doubt(fast) -> None:
    """When the time is up, and when the connection is gone. Spec: EFX-1."""
    async with connected() as client, trio.open_nursery() as nursery:
        await client.wait_for("backend_ready")
        outcomes: list[Outcome] = []

        async def walk() -> None:
            outcomes.append(await client.apply(asked.WalkTo(position=Position(x=200.0, y=200.0))))

        nursery.start_soon(walk)
        await trio.sleep(1.0)
        client.world.kick(ADA, client.grid.now(), reason="Enough.")
        assert await client.wait_for_end() is DisconnectCause.KICKED
        assert outcomes == [InDoubt(reason="connection_lost")]
        assert client.detail == "Enough."
        assert client.names()[-1] == "kicked"


async def test_a_restart_is_told_apart_from_a_kick(fast) -> None:
    """Announced, then the region goes: that is no kick. Spec: SUP-6. Fault: 8."""
    async with connected() as client:
        await client.wait_for("backend_ready")
        client.world.restart_region("Plaza", client.grid.now(), notice_s=5.0, down_s=60.0)
        await client.wait_for("region_restarting")
        assert await client.wait_for_end() is DisconnectCause.REGION_RESTART


@pytest.mark.parametrize(
    ("cause", "seen"),
    [
        (DisconnectCause.BAD_CREDENTIALS, DisconnectCause.BAD_CREDENTIALS),
        (DisconnectCause.TERMS_NOT_ACCEPTED, DisconnectCause.TERMS_NOT_ACCEPTED),
        (DisconnectCause.MFA_REQUIRED, DisconnectCause.MFA_REQUIRED),
    ],
)
async def test_a_refused_login_has_its_cause(fast, cause: DisconnectCause, seen: DisconnectCause) -> None:
    """Permanent refusals end the run at once. Spec: SUP-6, LIV-1. Fault: 13."""
    async with connected(run=False) as client:
        client.server.refuse_next_login(cause)
        await client.run()
        assert client.ended is seen
        assert client.names() == []


async def test_a_grid_that_nobody_answers_at_is_a_failed_login(fast) -> None:
    """No host, and nobody there until the time is up. Spec: SUP-6, LIV-1."""
    async with connected(login_url="http://127.0.0.1:9/", login_timeout_s=2.0, run=False) as client:
        await client.run()
        assert client.ended is DisconnectCause.LOGIN_FAILED


async def test_what_was_shed_and_what_is_sick_is_told(fast, monkeypatch) -> None:
    """Each part when it falls sick and when it is well again; shed datagrams by their number. Spec: LIV-9, LIV-12."""
    async with connected() as client:
        await client.wait_for("backend_ready")
        well = client.backend.health()
        assert well is not None
        sick = msgspec.structs.replace(well, shed=well.shed + 7, silent_s=99.0)
        with monkeypatch.context() as patch:
            patch.setattr(GridClient, "health", lambda _: sick)
            degraded = await client.wait_for("part_degraded")
            assert degraded == PartDegraded(part="circuit")
            assert await client.wait_for("events_shed") == EventsShed(kind="datagrams", count=7)
        assert await client.wait_for("part_recovered") == PartRecovered(part="circuit")


async def test_a_queue_that_would_lose_what_may_not_be_lost_ends_the_connection(fast) -> None:
    """Going on would be dishonest. Spec: BND-1, LIV-9."""
    async with connected() as client:
        await client.wait_for("backend_ready")
        client.backend._buffer.limit = 0
        client.world.alert(ADA, "Hear, hear", client.grid.now())
        client.world.alert(ADA, "Hear, hear", client.grid.now())
        assert await client.wait_for_end() is DisconnectCause.CIRCUIT_LOST


async def test_a_notecard_is_written_when_it_is_there(fast, monkeypatch) -> None:
    """The empty one is not told; what comes of the writing is. Spec: LIV-8."""

    async def written(_: GridClient, item: ItemMade, making: Making) -> GridEvent:
        await trio.lowlevel.checkpoint()
        assert making.text == "hello"
        return ActionRefused(reference=making.reference, reason=item.name)

    monkeypatch.setattr(backend, "write_notecard", written)
    async with connected() as client:
        await client.wait_for("backend_ready")
        number = client.backend._pending.make(Making(reference="r1", text="hello"))
        client.backend._on_event(ItemsMade((ItemMade(bytes(16), bytes(16), bytes(16), 7, "Note", "", number, 0, 0),)))
        assert await client.wait_for("action_refused") == ActionRefused(reference="r1", reason="Note")
        assert "inventory_changed" not in client.names()


async def test_a_grid_that_never_lets_us_in_is_left(fast, monkeypatch) -> None:
    """The run ends before anything is ready. Spec: SUP-6."""
    monkeypatch.setattr(GridSession, "next_event", lambda *_: SessionEnded(EndCause.NO_ENTRY))
    async with connected() as client:
        assert await client.wait_for_end() is DisconnectCause.CIRCUIT_LOST
        assert client.names() == ["transport_up"]
        monkeypatch.undo()


async def test_a_closed_sink_ends_quietly(fast) -> None:
    """The session fenced this generation. Spec: SUP-5."""
    async with connected() as client:
        await client.wait_for("backend_ready")
        client.sink.closed = True
        client.witness(BEN)
        assert await client.wait_for_end() == "returned"


async def test_a_bug_of_ours_is_a_fault_of_the_backend(fast, monkeypatch) -> None:
    """Whatever raises inside ends the connection with the one cause that says so. Spec: SUP-10. Fault: 42."""
    async with connected() as client:
        await client.wait_for("backend_ready")

        def broken(*_: object) -> tuple[()]:
            raise KeyError("secret")

        monkeypatch.setattr(type(client.backend._teller), "tell", broken)
        client.witness(BEN)
        assert await client.wait_for_end() is DisconnectCause.BACKEND_FAULT
        assert "secret" not in client.detail


async def test_a_recording_can_be_made(fast) -> None:
    """Line by line, to whoever takes it. Spec: LIV-13."""
    lines: list[bytes] = []
    async with connected(record=lines.append) as client:
        await client.wait_for("backend_ready")
    assert len(lines) > 10
    assert b"simulated" not in b"".join(lines[:1])


async def test_logging_out_without_a_connection_does_nothing(fast) -> None:
    """Also when nobody ever ran it."""
    async with connected(run=False) as client:
        client.backend.halt()
        assert client.backend.avatars() == ()
        assert client.backend.health() is None
    assert isinstance(client, Client)
