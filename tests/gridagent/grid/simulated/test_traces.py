"""Claims about what the simulated grid still shows of a deed, and about money that outlives its world."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.errors import OperatorError
from gridagent.events import BalanceChanged, InventoryChanged, ObjectSeen
from gridagent.grid.base import Traces
from gridagent.grid.simulated import World
from gridagent.grid.simulated.book import Movement
from gridagent.grid.simulated.state import WorldSettings
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import NIL_UUID

SPOT = Position(x=101.0, y=101.0)


def perform(world: World, who: Witness, action: asked.Action, reference: str) -> None:
    """Do something with a nonce."""
    world.perform(who.avatar_id, action, world.now, reference)


def kinds(traces: Traces) -> list[type]:
    """List what was told."""
    return [type(event) for event in traces.told]


def test_what_was_paid_made_and_changed_is_told_again_to_the_doer(world: World, ada: Witness, ben: Witness) -> None:
    """By its nonce, and to nobody else. Spec: EFX-2, EFX-5, SIM-1."""
    perform(world, ada, asked.PayAvatar(to=ben.avatar_id, amount=5, description="tip"), "pay")
    perform(world, ada, asked.CreateNotecard(name="Rules", text="none"), "card")
    perform(world, ada, asked.RezObject(position=SPOT, name="Box"), "rez")
    (money,) = world.traces(ada.avatar_id, "pay").told
    assert isinstance(money, BalanceChanged)
    assert (money.change, money.counterpart_id, money.description, money.reference) == (-5, ben.avatar_id, "tip", "pay")
    assert kinds(world.traces(ada.avatar_id, "card")) == [InventoryChanged]
    (seen,) = world.traces(ada.avatar_id, "rez").told
    assert isinstance(seen, ObjectSeen)
    assert (seen.object.owner_id, seen.object.reference) == (ada.avatar_id, "rez")
    perform(world, ada, asked.EditObject(object_id=seen.object.object_id, name="Crate"), "edit")
    assert kinds(world.traces(ada.avatar_id, "edit")) == [ObjectSeen]
    for reference in ("pay", "card", "rez", "edit", "none", ""):
        assert world.traces(ben.avatar_id, reference).told == ()
    assert world.traces(ada.avatar_id, "none") == Traces()
    world.book.begin(5.0)
    assert world.traces(ada.avatar_id, "none") == Traces(money_since=5.0)


def test_a_gift_bears_nobodys_nonce(world: World, ada: Witness, ben: Witness) -> None:
    """What somebody else made proves no deed of the receiver's. Spec: EFX-2."""
    perform(world, ada, asked.CreateNotecard(name="Rules", text="none"), "card")
    (card,) = world.inventory(ada.avatar_id)
    perform(world, ada, asked.GiveItem(item_id=card.item_id, to=ben.avatar_id), "give")
    offer = ben.events[-1].offer_id
    perform(world, ben, asked.AnswerInventoryOffer(offer_id=offer, accept=True), "take")
    assert len(world.inventory(ben.avatar_id)) == 1
    assert world.traces(ben.avatar_id, "card").told == ()


@pytest.mark.parametrize("setting", ["keeps_history", "carries_references"])
def test_a_grid_that_keeps_no_record_tells_nothing(world: World, ada: Witness, ben: Witness, setting: str) -> None:
    """And does not say that nothing is missing. Spec: SIM-1."""
    world._state.settings = WorldSettings(**{setting: False})
    world.book.begin(5.0)
    perform(world, ada, asked.PayAvatar(to=ben.avatar_id, amount=5), "pay")
    assert world.traces(ada.avatar_id, "pay") == Traces()


def test_money_is_where_an_earlier_world_left_it(world: World) -> None:
    """Balances and record go on; nothing is lost or made. Spec: SIM-1, EFX-2."""
    ada, ben = world.avatars()[:2]
    gone = "00000000-0000-4000-8000-0000000000ff"
    before = sum(map(world.balance, world.avatars())) + world.treasury
    movements = [
        Movement(payer=ada, payee=ben, counterpart=ben, amount=30, reference="pay"),
        Movement(payer=ben, counterpart=NIL_UUID, amount=10),
        Movement(payer=gone, payee=ada, counterpart=ada, amount=1),
    ]
    world.recall_book(movements, since=5.0)
    assert (world.balance(ada), world.balance(ben), world.treasury) == (971, 120, 10)
    assert sum(map(world.balance, world.avatars())) + world.treasury == before + 1
    assert kinds(world.traces(ada, "pay")) == [BalanceChanged]
    assert world.traces(ada, "pay").money_since == 5.0


def test_a_book_that_does_not_fit_the_scenario_is_refused(world: World) -> None:
    """Nobody paid what they never had. Spec: SIM-1."""
    ada, ben = world.avatars()[:2]
    with pytest.raises(OperatorError, match="does not fit the scenario: Ada Actor"):
        world.recall_book([Movement(payer=ada, payee=ben, counterpart=ben, amount=5_000)], since=5.0)
