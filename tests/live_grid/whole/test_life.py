"""A day of an avatar over the wire: through the configuration, the gateway, the session and the protocol."""

from __future__ import annotations

import pytest
import trio

from gridagent import actions as asked
from gridagent.actions import Confirmed, EvidenceKind, Position, Refused, Say, SendIm
from gridagent.controls import Hold, Pause, Release, RequestAction, Resume
from gridagent.events import BalanceChanged, ChatHeard, ImReceived, InventoryOffered
from gridagent.observations import ActionSettled, AgentState, LinkState
from live_grid.simulator import OPENSIM, SECOND_LIFE
from live_grid.simulator.travel import cross_border
from tests.live_grid.whole.life import ADA, BELL, BENCH, CLEO, NOTE, OLIVE, a_life

KINDS = pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=["opensim", "secondlife"])


def proof(outcome: object) -> object:
    """What confirmed it, or what came instead."""
    return outcome.evidence if isinstance(outcome, Confirmed) else outcome


@KINDS
async def test_it_comes_in_world_hears_speaks_and_writes(tmp_path, autojump_clock, profile) -> None:
    """Everything it says has its evidence in the world. Spec: LIV-6, EFX-1, POL-1."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        assert life.handle.status().agent is AgentState.RUNNING
        cleo = life.witness(CLEO)
        assert proof(await life.act(Say(text="Good morning."))) is EvidenceKind.OWN_ECHO
        assert proof(await life.act(SendIm(to=CLEO, text="A word?"))) is EvidenceKind.DELIVERED
        await life.until(lambda: cleo.saw(ImReceived))
        assert [each.text for each in cleo.saw(ChatHeard)] == ["Good morning."]
        assert [(each.text, each.source.id) for each in cleo.saw(ImReceived)] == [("A word?", ADA)]
        cleo.world.perform(CLEO, Say(text="Nice weather."), life.grid.now())
        cleo.world.perform(CLEO, SendIm(to=ADA, text="Two words."), life.grid.now())
        await life.until(lambda: life.events(ImReceived))
        assert "Nice weather." in [each.text for each in life.events(ChatHeard)]
        assert [each.text for each in life.events(ImReceived)] == ["Two words."]
    assert life.ends() == [("requested", True)]
    assert life.left_once()


async def test_it_answers_its_owner_who_speaks_to_it(tmp_path, autojump_clock) -> None:
    """Heard over the wire, thought about, and answered over the wire. Spec: LIV-6, PRS-1."""
    async with a_life(tmp_path) as life:
        await life.online()
        olive = life.witness(OLIVE)
        life.world.perform(OLIVE, Say(text="Hello Ada!"), life.grid.now())
        await life.until(lambda: [each for each in olive.saw(ChatHeard) if each.source.id == ADA])
        assert life.handle.status().link is LinkState.ONLINE


@KINDS
async def test_it_moves_sits_and_touches(tmp_path, autojump_clock, profile) -> None:
    """The world agrees with each piece of evidence. Spec: LIV-7, EFX-1."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        there = Position(x=120.0, y=110.0, z=21.0)
        assert proof(await life.act(asked.WalkTo(position=there))) is EvidenceKind.POSITION
        here = life.world.position(ADA)
        assert abs(here.x - there.x) < 2.5
        assert abs(here.y - there.y) < 2.5
        assert proof(await life.act(asked.SitOn(object_id=BENCH))) is EvidenceKind.POSTURE
        assert life.world.avatar(ADA).body.seat == BENCH
        assert isinstance(await life.act(asked.WalkTo(position=there)), Refused)
        assert proof(await life.act(asked.StandUp())) is EvidenceKind.POSTURE
        assert proof(await life.act(asked.Touch(object_id=BELL))) is EvidenceKind.DELIVERED
    assert life.ends() == [("requested", True)]


@KINDS
async def test_it_teleports_there_and_back_and_away_and_home(tmp_path, autojump_clock, profile) -> None:
    """Into a region next door, one far off, none at all, and home; one generation all the while. Spec: LIV-7."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        spot = Position(x=30.0, y=30.0, z=22.0)
        for region in ("Annex", "Plaza", "Far", "Plaza", "Annex"):
            assert proof(await life.act(asked.TeleportTo(region=region, position=spot))) is EvidenceKind.ARRIVED
            assert life.where() == region == life.handle.status().region
        nowhere = await life.act(asked.TeleportTo(region="Atlantis", position=spot))
        assert isinstance(nowhere, Refused)
        assert proof(await life.act(asked.TeleportHome())) is EvidenceKind.ARRIVED
        assert life.where() == "Plaza"
        assert proof(await life.act(Say(text="Home again."))) is EvidenceKind.OWN_ECHO
    assert life.ends() == [("requested", True)]
    assert life.left_once()


async def test_it_is_carried_over_a_border(tmp_path, autojump_clock) -> None:
    """It goes on in the region next door, in the same generation, and can be heard there. Spec: LIV-7."""
    async with a_life(tmp_path) as life:
        await life.online()
        edge = Position(x=250.0, y=100.0, z=21.0)
        assert proof(await life.act(asked.WalkTo(position=edge))) is EvidenceKind.POSITION
        [agent] = life.server.core._agents.values()
        cross_border(agent, (256_257.0, 256_100.0), life.grid.now())
        await life.until(lambda: life.handle.status().region == "Annex")
        assert life.where() == "Annex"
        assert proof(await life.act(Say(text="Over here."))) is EvidenceKind.OWN_ECHO
    assert life.ends() == [("requested", True)]


async def test_it_pays_and_gives_with_evidence(tmp_path, autojump_clock) -> None:
    """The balance and the answer of who got it are the proof; what it has not got is refused. Spec: EFX-1, EFX-5."""
    async with a_life(tmp_path) as life:
        await life.online()
        cleo = life.witness(CLEO)
        await life.until(lambda: life.events(BalanceChanged))
        assert proof(await life.act(asked.PayAvatar(to=CLEO, amount=30))) is EvidenceKind.BALANCE
        assert (life.world.balance(ADA), life.world.balance(CLEO)) == (70, 130)
        too_much = await life.act(asked.PayAvatar(to=CLEO, amount=400))
        assert isinstance(too_much, Refused)
        assert life.world.balance(ADA) == 70
        await trio.sleep(10.0)  # by now it has learnt what it holds
        await life.handle.control(RequestAction(action=asked.GiveItem(item_id=NOTE, to=CLEO)))
        await life.until(lambda: cleo.saw(InventoryOffered))
        [offer] = cleo.saw(InventoryOffered)
        life.world.perform(CLEO, asked.AnswerInventoryOffer(offer_id=offer.offer_id, accept=True), life.grid.now())
        await life.until(lambda: [each for each in life.world.inventory(CLEO) if each.name == "Note"])


async def test_hold_stops_it_and_pause_takes_it_out(tmp_path, autojump_clock) -> None:
    """Held it stays and causes nothing; paused it is logged out, once, and resumed it is back. Spec: SUP-8, SUP-9."""
    async with a_life(tmp_path) as life:
        await life.online()
        await life.handle.control(Hold())
        reply = await life.handle.control(RequestAction(action=Say(text="Not now.")))
        assert not reply.accepted
        await life.handle.control(Release())
        await life.handle.control(Pause())
        await life.until(lambda: life.handle.status().link is LinkState.PAUSED and life.ends())
        assert life.where() == ""
        await life.handle.control(Resume())
        await life.online()
        assert proof(await life.act(Say(text="Now."))) is EvidenceKind.OWN_ECHO
    assert life.ends() == [("requested", True)] * 2
    assert life.left_once()


@pytest.mark.parametrize(("profile", "asks"), [(OPENSIM, False), (SECOND_LIFE, True)], ids=["opensim", "secondlife"])
async def test_it_is_no_cloud(tmp_path, autojump_clock, profile, asks) -> None:
    """Where the grid bakes it asks to be baked; where viewers do, its look is left alone. Spec: LIV-10."""
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        [agent] = life.server.core._agents.values()
        await trio.sleep(10.0)
        assert agent.dressed is asks


async def test_it_knows_all_that_it_holds(tmp_path, autojump_clock) -> None:
    """Four hundred things come in one long answer, which is read beside everything else. Spec: LIV-8, LIV-9."""
    async with a_life(tmp_path) as life:
        last = [life.world.give(ADA, name=f"Thing {number}", kind="notecard") for number in range(400)][-1]
        await life.online()
        life.witness(CLEO)
        await trio.sleep(20.0)
        backend = life.handle._session._connection.backend
        assert len(backend.connection.client.session.world.inventory.items) > 400
        reply = await life.handle.control(RequestAction(action=asked.GiveItem(item_id=last, to=CLEO)))
        await trio.sleep(2.0)
        assert reply.accepted
        assert not life.bodies(ActionSettled)  # on its way: Cleo has not answered yet


async def test_a_payment_that_the_grid_refuses_is_known_at_once(tmp_path, autojump_clock) -> None:
    """It believed to have more than it had: refused by the balance that comes back, not in doubt. Spec: EFX-1."""
    async with a_life(tmp_path) as life:
        await life.online()
        life.witness(CLEO)
        await life.until(lambda: life.events(BalanceChanged))
        life.world.avatar(ADA).balance = 10
        began = life.grid.now()
        assert isinstance(await life.act(asked.PayAvatar(to=CLEO, amount=50)), Refused)
        assert life.grid.now() - began < 2.0
        assert (life.world.balance(ADA), life.world.balance(CLEO)) == (10, 100)
