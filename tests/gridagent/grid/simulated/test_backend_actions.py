"""Every action of the catalogue through a backend: confirmed, refused, and in doubt."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs
import pytest
import trio
import trio.testing

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Confirmed, InDoubt, Outcome, Position, Refused
from gridagent.errors import AuthorityRefused
from gridagent.events import DialogOpened, GridEvent, PermissionAsked
from gridagent.grid.base import REFERENCE_CHARS
from gridagent.grid.evidence import EvidenceContext, judge
from gridagent.grid.simulated import (
    Account,
    FaultKind,
    Faults,
    Land,
    Place,
    SimulatedGrid,
    Thing,
    World,
    WorldSettings,
    open_simulated_grid,
)
from gridagent.grid.simulated.backend import SimulatedBackend
from gridagent.grid.simulated.characters import Act, AskPermission, ObjectTouched, OpenDialog
from gridagent.grid.simulated.items import BUILT_IN_ANIMATIONS
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, Generation, ItemId, ObjectId, OfferId
from gridagent.policy.authorized import AuthorizedAction
from gridagent.runtime.deterministic import simulated_ports

HERE = Position(x=200.0, y=200.0)
NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")
NOTHING = ObjectId("00000000-0000-4000-8000-0000000000fe")
NO_ITEM = ItemId("00000000-0000-4000-8000-0000000000fd")


@attrs.frozen
class Record:
    """What a trivial redeem hands out."""

    action: Action
    effect: str


class Ledger:
    """Hands out handles and redeems each once."""

    def __init__(self) -> None:
        self._records: dict[AuthorizedAction, Record] = {}
        self._count = 0

    def authorize(self, action: Action) -> AuthorizedAction:
        handle = object.__new__(AuthorizedAction)
        self._count += 1
        self._records[handle] = Record(action, f"{self._count:016x}" + "0" * 48)
        return handle

    def redeem(self, handle: AuthorizedAction) -> Record:
        record = self._records.pop(handle, None)
        if record is None:
            raise AuthorityRefused("unknown")
        return record


class Sink:
    """Takes every event at once."""

    def __init__(self) -> None:
        self.events: list[GridEvent] = []

    async def send(self, event: GridEvent) -> None:
        await self.send_many([event])

    async def send_many(self, events: list[GridEvent]) -> None:
        self.events += events
        await trio.lowlevel.checkpoint()


class Asker:
    """A script that asks whoever touches it two things."""

    def start(self, scene):
        return []

    def on_event(self, event, scene):
        if not isinstance(event, ObjectTouched):
            return []
        return [
            Act(action=OpenDialog(to=event.avatar_id, text="Red or blue?", buttons=("Red", "Blue"))),
            Act(action=AskPermission(to=event.avatar_id, permissions=("animate", "debit"))),
        ]

    def on_wake(self, name, scene):
        return []


class Taker:
    """Somebody who takes every gift."""

    def start(self, scene):
        return []

    def on_event(self, event, scene):
        offer_id = getattr(event, "offer_id", None)
        if offer_id is None or type(event).__name__ != "InventoryOffered":
            return []
        return [Act(action=asked.AnswerInventoryOffer(offer_id=offer_id, accept=True))]

    def on_wake(self, name, scene):
        return []


class Stage:
    """A world in which every action can be confirmed and refused."""

    def __init__(self, *, seed: int = 0, settings: WorldSettings | None = None) -> None:
        self.ports = simulated_ports(seed)
        world = self.world = World(random.Random(seed), self.ports.ids.uuid, settings=settings)
        self.me = AvatarId("00000000-0000-4000-8000-000000000001")
        self.ben = AvatarId("00000000-0000-4000-8000-000000000002")
        self.cleo = AvatarId("00000000-0000-4000-8000-000000000003")
        self.dan = AvatarId("00000000-0000-4000-8000-000000000004")
        world.add_region("Plaza", x_m=0, y_m=0, size_m=512, owner_id=self.me)
        world.add_region("Annex", x_m=512, y_m=0, size_m=768, owner_id=self.ben)
        world.add_parcel("Plaza", owner_id=self.ben, land=Land(name="Ben's", x=0, y=0, width=64, depth=64))
        plaza = Place(region="Plaza", position=HERE)
        annex = Place(region="Annex", position=Position(x=300.0, y=700.0))
        world.add_avatar(Account(name="Ada Actor", avatar_id=self.me, home=plaza, balance=1_000))
        world.add_avatar(Account(name="Ben Bystander", avatar_id=self.ben, home=plaza))
        world.add_avatar(Account(name="Cleo Collector", avatar_id=self.cleo, home=plaza))
        world.add_avatar(Account(name="Dan Distant", avatar_id=self.dan, home=annex))
        self.bench = self._thing("Bench", self.ben, sittable=True)
        self.button = self._thing("Button", self.ben, touchable=True)
        self.jar = self._thing("Tip jar", self.ben, payable=True)
        self.box = self._thing("My box", self.me)
        self.litter = self._thing("Litter", self.ben)
        self.fortress = world.add_object(
            "Plaza", owner_id=self.ben, position=Position(x=10.0, y=10.0), thing=Thing(name="Fortress")
        )
        self.card = world.give(self.me, name="Card", kind="notecard")
        self.secret = world.give(self.me, name="Secret", kind="notecard", may_transfer=False)
        world.befriend(self.me, self.ben)
        world.inhabit(self.cleo, Taker())
        world.script(self.button, Asker())

    def _thing(self, name: str, owner_id: AvatarId, **look: bool) -> ObjectId:
        return self.world.add_object("Plaza", owner_id=owner_id, position=HERE, thing=Thing(name=name, **look))

    def offers(self) -> None:
        """Let others make the offers that some actions answer; Ada must be in the world."""
        ben = self.bystander = Witness(self.world, self.ben)
        self.distant = Witness(self.world, self.dan)
        ben.world.give(self.ben, name="Flower", kind="object")
        flower = self.world.inventory(self.ben)[-1].item_id
        for who, action in (
            (self.dan, asked.OfferFriendship(to=self.me)),
            (self.dan, asked.OfferTeleport(to=self.me)),
            (self.ben, asked.GiveItem(item_id=flower, to=self.me)),
        ):
            self.world.perform(who, action, self.world.now, "setup")
        self.world.perform(self.me, asked.Touch(object_id=self.button), self.world.now, "setup")
        self.world.advance(self.world.now + 1.0)

    def offer(self, sink: Sink, kind: str) -> OfferId:
        """Return the id of the open offer of a kind, as Ada was shown it."""
        return next(event.offer_id for event in sink.events if type(event).__name__ == kind)

    def begin_teleport(self) -> None:
        """Put Ada on her way, so that her legs are taken."""
        far = asked.TeleportTo(region="Annex", position=HERE)
        self.world.perform(self.me, far, self.world.now, "setup")


@asynccontextmanager
async def connected(
    stage: Stage, faults: Faults | None = None
) -> AsyncIterator[tuple[SimulatedGrid, SimulatedBackend, Sink, Ledger]]:
    """Run the stage with Ada logged in through a backend."""
    ledger, sink = Ledger(), Sink()
    async with open_simulated_grid(stage.world, ports=stage.ports, faults=faults) as grid:
        backend = grid.backend_factory(stage.me)(generation=Generation(1), redeem=ledger.redeem)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(backend.run, sink)
            await trio.sleep(2.0)
            stage.offers()
            await trio.testing.wait_all_tasks_blocked()
            yield grid, backend, sink, ledger
            await backend.logout()
            nursery.cancel_scope.cancel()


Make = Callable[[Stage, Sink], Action]

CONFIRMED: dict[type[Action], Make] = {
    asked.Say: lambda stage, sink: asked.Say(text="good day"),
    asked.Emote: lambda stage, sink: asked.Emote(text="bows"),
    asked.SetTyping: lambda stage, sink: asked.SetTyping(typing=True),
    asked.SendIm: lambda stage, sink: asked.SendIm(to=stage.ben, text="psst"),
    asked.TurnTo: lambda stage, sink: asked.TurnTo(heading_deg=90.0),
    asked.WalkTo: lambda stage, sink: asked.WalkTo(position=Position(x=220.0, y=205.0)),
    asked.FollowAvatar: lambda stage, sink: asked.FollowAvatar(avatar_id=stage.ben),
    asked.StopMoving: lambda stage, sink: asked.StopMoving(),
    asked.SitOn: lambda stage, sink: asked.SitOn(object_id=stage.bench),
    asked.SitOnGround: lambda stage, sink: asked.SitOnGround(),
    asked.StandUp: lambda stage, sink: asked.StandUp(),
    asked.Touch: lambda stage, sink: asked.Touch(object_id=stage.button),
    asked.TeleportTo: lambda stage, sink: asked.TeleportTo(region="annex", position=HERE),
    asked.TeleportHome: lambda stage, sink: asked.TeleportHome(),
    asked.OfferTeleport: lambda stage, sink: asked.OfferTeleport(to=stage.ben),
    asked.RequestTeleport: lambda stage, sink: asked.RequestTeleport(to=stage.dan),
    asked.AnswerTeleportOffer: lambda stage, sink: asked.AnswerTeleportOffer(
        offer_id=stage.offer(sink, "TeleportOffered"), accept=True
    ),
    asked.PlayAnimation: lambda stage, sink: asked.PlayAnimation(animation_id=BUILT_IN_ANIMATIONS["wave"]),
    asked.StopAnimation: lambda stage, sink: asked.StopAnimation(animation_id=BUILT_IN_ANIMATIONS["wave"]),
    asked.AnswerDialog: lambda stage, sink: asked.AnswerDialog(
        offer_id=stage.offer(sink, "DialogOpened"), button="Blue"
    ),
    asked.AnswerPermission: lambda stage, sink: asked.AnswerPermission(
        offer_id=stage.offer(sink, "PermissionAsked"), grant=("animate",)
    ),
    asked.OfferFriendship: lambda stage, sink: asked.OfferFriendship(to=stage.cleo),
    asked.AnswerFriendship: lambda stage, sink: asked.AnswerFriendship(
        offer_id=stage.offer(sink, "FriendshipOffered"), accept=True
    ),
    asked.EndFriendship: lambda stage, sink: asked.EndFriendship(avatar_id=stage.ben),
    asked.GiveItem: lambda stage, sink: asked.GiveItem(item_id=stage.card, to=stage.cleo),
    asked.AnswerInventoryOffer: lambda stage, sink: asked.AnswerInventoryOffer(
        offer_id=stage.offer(sink, "InventoryOffered"), accept=True
    ),
    asked.CreateNotecard: lambda stage, sink: asked.CreateNotecard(name="Diary", text="Dear diary"),
    asked.CreateLandmark: lambda stage, sink: asked.CreateLandmark(name="Here"),
    asked.PayAvatar: lambda stage, sink: asked.PayAvatar(to=stage.ben, amount=25),
    asked.PayObject: lambda stage, sink: asked.PayObject(object_id=stage.jar, amount=5),
    asked.UploadAsset: lambda stage, sink: asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=10),
    asked.RezObject: lambda stage, sink: asked.RezObject(position=HERE, name="New box"),
    asked.EditObject: lambda stage, sink: asked.EditObject(object_id=stage.box, name="Better box"),
    asked.DeleteObject: lambda stage, sink: asked.DeleteObject(object_id=stage.box),
    asked.ReturnObject: lambda stage, sink: asked.ReturnObject(object_id=stage.litter),
    asked.EjectAvatar: lambda stage, sink: asked.EjectAvatar(avatar_id=stage.ben),
}


def _on_the_way(make: Make) -> Make:
    def make_in_transit(stage: Stage, sink: Sink) -> Action:
        stage.begin_teleport()
        return make(stage, sink)

    return make_in_transit


REFUSED: dict[type[Action], tuple[Make, str]] = {
    asked.SendIm: (lambda stage, sink: asked.SendIm(to=NOBODY, text="psst"), "unknown_avatar"),
    asked.TurnTo: (_on_the_way(CONFIRMED[asked.TurnTo]), "in_transit"),
    asked.WalkTo: (lambda stage, sink: asked.WalkTo(position=Position(x=600.0, y=0.0)), "outside_region"),
    asked.FollowAvatar: (lambda stage, sink: asked.FollowAvatar(avatar_id=stage.dan), "not_here"),
    asked.SitOn: (lambda stage, sink: asked.SitOn(object_id=stage.box), "cannot_sit"),
    asked.SitOnGround: (_on_the_way(CONFIRMED[asked.SitOnGround]), "in_transit"),
    asked.Touch: (lambda stage, sink: asked.Touch(object_id=stage.bench), "not_touchable"),
    asked.TeleportTo: (lambda stage, sink: asked.TeleportTo(region="Atlantis", position=HERE), "region_not_found"),
    asked.TeleportHome: (_on_the_way(CONFIRMED[asked.TeleportHome]), "in_transit"),
    asked.OfferTeleport: (lambda stage, sink: asked.OfferTeleport(to=stage.me), "not_yourself"),
    asked.RequestTeleport: (lambda stage, sink: asked.RequestTeleport(to=NOBODY), "unknown_avatar"),
    asked.AnswerTeleportOffer: (
        lambda stage, sink: asked.AnswerTeleportOffer(offer_id=OfferId("gone"), accept=True),
        "unknown_offer",
    ),
    asked.PlayAnimation: (lambda stage, sink: asked.PlayAnimation(animation_id=NO_ITEM), "unknown_animation"),
    asked.AnswerDialog: (
        lambda stage, sink: asked.AnswerDialog(offer_id=stage.offer(sink, "DialogOpened"), button="Green"),
        "no_such_button",
    ),
    asked.AnswerPermission: (
        lambda stage, sink: asked.AnswerPermission(offer_id=stage.offer(sink, "PermissionAsked"), grant=("attach",)),
        "not_asked",
    ),
    asked.OfferFriendship: (lambda stage, sink: asked.OfferFriendship(to=stage.ben), "already_friends"),
    asked.AnswerFriendship: (
        lambda stage, sink: asked.AnswerFriendship(offer_id=stage.offer(sink, "TeleportOffered"), accept=True),
        "wrong_kind",
    ),
    asked.EndFriendship: (lambda stage, sink: asked.EndFriendship(avatar_id=stage.dan), "not_friends"),
    asked.GiveItem: (lambda stage, sink: asked.GiveItem(item_id=stage.secret, to=stage.cleo), "no_transfer"),
    asked.AnswerInventoryOffer: (
        lambda stage, sink: asked.AnswerInventoryOffer(offer_id=OfferId("gone"), accept=True),
        "unknown_offer",
    ),
    asked.PayAvatar: (lambda stage, sink: asked.PayAvatar(to=stage.ben, amount=5_000), "insufficient_funds"),
    asked.PayObject: (lambda stage, sink: asked.PayObject(object_id=stage.bench, amount=5), "not_payable"),
    asked.UploadAsset: (
        lambda stage, sink: asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=9_000),
        "insufficient_funds",
    ),
    asked.RezObject: (lambda stage, sink: asked.RezObject(position=Position(x=5.0, y=5.0)), "no_build_rights"),
    asked.EditObject: (lambda stage, sink: asked.EditObject(object_id=stage.litter, name="Mine"), "not_owner"),
    asked.DeleteObject: (lambda stage, sink: asked.DeleteObject(object_id=NOTHING), "unknown_object"),
    asked.ReturnObject: (lambda stage, sink: asked.ReturnObject(object_id=stage.fortress), "no_land_rights"),
    asked.EjectAvatar: (lambda stage, sink: asked.EjectAvatar(avatar_id=stage.dan), "not_here"),
}
NEVER_REFUSED = {
    # Everybody may always do these, on a grid with everything.
    *(asked.Say, asked.Emote, asked.SetTyping, asked.StopMoving, asked.StandUp, asked.StopAnimation),
    *(asked.CreateNotecard, asked.CreateLandmark),
}


def test_the_tables_name_every_action() -> None:
    """Each action has a case for each outcome, or is listed as one that cannot be refused."""
    assert set(CONFIRMED) == set(ACTIONS)
    assert set(REFUSED) | NEVER_REFUSED == set(ACTIONS)
    assert not set(REFUSED) & NEVER_REFUSED


@pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)
async def test_an_action_is_confirmed_by_its_evidence(kind: type[Action], autojump_clock) -> None:
    """Each action ends confirmed, with the kind of evidence it names, and the sink sees that evidence.

    Spec: EFX-1, SIM-1, SUP-12
    """
    stage = Stage()
    async with connected(stage) as (_, backend, sink, ledger):
        action = CONFIRMED[kind](stage, sink)
        seen = len(sink.events)
        outcome = await backend.apply(ledger.authorize(action))
        await trio.testing.wait_all_tasks_blocked()
        context = EvidenceContext(me=stage.me, where=stage.world.position)
        reference = f"{1:016x}"[:REFERENCE_CHARS]
        proofs = [event for event in sink.events[seen:] if judge(action, reference, event, context) == outcome]
    assert isinstance(outcome, Confirmed)
    assert outcome.evidence is kind.spec.evidence
    assert proofs


@pytest.mark.parametrize("kind", REFUSED, ids=lambda kind: kind.__name__)
async def test_an_action_the_grid_refuses_ends_refused_with_its_code(kind: type[Action], autojump_clock) -> None:
    """Each action the grid can say no to ends refused with the grid's stable code.

    Spec: EFX-1
    """
    make, reason = REFUSED[kind]
    stage = Stage()
    async with connected(stage) as (_, backend, sink, ledger):
        outcome = await backend.apply(ledger.authorize(make(stage, sink)))
    assert outcome == Refused(reason=reason)


@pytest.mark.parametrize("fault", ["evidence_lost", "request_lost"])
@pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)
async def test_an_action_without_evidence_is_in_doubt_at_its_deadline(
    kind: type[Action], fault: str, autojump_clock
) -> None:
    """Lost evidence and a lost request look alike: in doubt, exactly at the action's deadline.

    Spec: EFX-1
    """
    stage = Stage()
    async with connected(stage, Faults(**{fault: 1.0})) as (grid, backend, sink, ledger):
        began = grid.now()
        outcome = await backend.apply(ledger.authorize(CONFIRMED[kind](stage, sink)))
        waited = grid.now() - began
    assert outcome == InDoubt(reason="no_evidence")
    assert waited == pytest.approx(kind.spec.deadline_s)
    assert grid.counts[FaultKind(fault)] > 0


async def test_lost_evidence_hides_an_act_that_happened_and_a_lost_request_one_that_did_not(autojump_clock) -> None:
    """A payment in doubt has moved the money in one case and not in the other.

    Spec: EFX-1, EFX-3
    """
    balances = {}
    for fault in ("evidence_lost", "request_lost"):
        stage = Stage()
        async with connected(stage, Faults(**{fault: 1.0})) as (_, backend, _, ledger):
            await backend.apply(ledger.authorize(asked.PayAvatar(to=stage.ben, amount=25)))
        balances[fault] = (stage.world.balance(stage.me), stage.world.balance(stage.ben))
    assert balances == {"evidence_lost": (975, 25), "request_lost": (1_000, 0)}


@pytest.mark.parametrize("kind", ACTIONS, ids=lambda kind: kind.__name__)
async def test_evidence_is_found_on_a_grid_that_carries_no_references(kind: type[Action], autojump_clock) -> None:
    """Most grids cannot echo a nonce; what the action asked for then tells its evidence.

    Spec: EFX-1, EFX-5
    """
    stage = Stage(settings=WorldSettings(carries_references=False, profile=WorldSettings().profile))
    async with connected(stage) as (_, backend, sink, ledger):
        outcome = await backend.apply(ledger.authorize(CONFIRMED[kind](stage, sink)))
    assert isinstance(outcome, Confirmed)


async def test_dialogs_and_permissions_reach_the_avatar_as_events(autojump_clock) -> None:
    """A touch leads to the script's dialog and its permission request.

    Spec: SIM-1
    """
    stage = Stage()
    async with connected(stage) as (_, _, sink, _):
        dialogs = [event for event in sink.events if isinstance(event, DialogOpened)]
        permissions = [event for event in sink.events if isinstance(event, PermissionAsked)]
    assert [dialog.buttons for dialog in dialogs] == [("Red", "Blue")]
    assert [asked_for.permissions for asked_for in permissions] == [("animate", "debit")]


def _outcomes(outcomes: list[Outcome]) -> list[str]:
    return [type(outcome).__name__ for outcome in outcomes]


async def test_one_piece_of_evidence_settles_one_action(autojump_clock) -> None:
    """Two equal utterances on a grid without references are settled by two echoes, oldest first.

    Spec: EFX-1
    """
    stage = Stage(settings=WorldSettings(carries_references=False))
    outcomes: list[Outcome] = []
    async with connected(stage, Faults(latency_s=(0.5, 0.5))) as (_, backend, _, ledger):

        async def say() -> None:
            outcomes.append(await backend.apply(ledger.authorize(asked.Say(text="again"))))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(say)
            nursery.start_soon(say)
    assert _outcomes(outcomes) == ["Confirmed", "Confirmed"]
