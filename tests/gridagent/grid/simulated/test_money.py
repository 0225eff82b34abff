"""L$ move, are refused, and are never made or lost."""

from __future__ import annotations

import pytest

from gridagent import actions as asked
from gridagent.actions import Confirmed, Position, Refused
from gridagent.events import BalanceChanged
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated import items as items_module
from gridagent.grid.simulated.characters import ObjectPaid
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import NIL_UUID, AvatarId, ObjectId

NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")


class Till:
    """A script that counts what comes in."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def start(self, scene):
        return []

    def on_event(self, event, scene):
        if isinstance(event, ObjectPaid):
            self.paid.append(event.amount)
        return []

    def on_wake(self, name, scene):
        return []


def vendor(world: World, **look: object) -> ObjectId:
    """Stand a thing of Ben's at the plaza."""
    return world.add_object(
        "Plaza", owner_id=world.avatars()[1], position=Position(x=100.0, y=100.0), thing=Thing(name="Vendor", **look)
    )


def test_a_payment_moves_the_sum_and_tells_both_sides(world: World, ada: Witness, ben: Witness) -> None:
    """The payer's evidence carries amount, counterpart and reference; the payee learns who paid.

    Spec: EFX-5, SIM-1
    """
    ada.do(asked.PayAvatar(to=ben.avatar_id, amount=30, description="thanks"))
    paid, got = ada.saw(BalanceChanged)[-1], ben.saw(BalanceChanged)[-1]
    assert (paid.balance, paid.change, paid.counterpart_id, paid.reference) == (970, -30, ben.avatar_id, "w1")
    assert (got.balance, got.change, got.counterpart_id, got.description) == (130, 30, ada.avatar_id, "thanks")
    assert got.reference == ""


def test_somebody_away_can_be_paid(world: World, ada: Witness) -> None:
    """The balance waits for them."""
    ada.do(asked.PayAvatar(to=world.avatars()[2], amount=1_000))
    assert world.balance(world.avatars()[2]) == 1_000
    assert world.balance(ada.avatar_id) == 0


@pytest.mark.parametrize(
    ("to", "amount", "reason"),
    [(1, 1_001, "insufficient_funds"), (0, 5, "not_yourself"), (None, 5, "unknown_avatar")],
)
def test_a_payment_that_cannot_be_is_refused(
    world: World, ada: Witness, to: int | None, amount: int, reason: str
) -> None:
    """Short balances, oneself and nobody are refused, and nothing moves.

    Spec: EFX-1
    """
    payee = NOBODY if to is None else world.avatars()[to]
    assert ada.do(asked.PayAvatar(to=payee, amount=amount)) == Refused(reason=reason)
    assert world.balance(ada.avatar_id) == 1_000


def test_a_thing_for_sale_gives_a_copy_for_its_exact_price(world: World, ada: Witness) -> None:
    """Another amount is refused; the right one pays the owner, hands out a copy and tells the script.

    Spec: SIM-1
    """
    till, shop = Till(), vendor(world, for_sale=50)
    world.script(shop, till)
    assert ada.do(asked.PayObject(object_id=shop, amount=49)) == Refused(reason="wrong_price")
    assert isinstance(ada.do(asked.PayObject(object_id=shop, amount=50)), Confirmed)
    assert [item.name for item in world.inventory(ada.avatar_id)] == ["Vendor"]
    assert (world.balance(ada.avatar_id), world.balance(world.avatars()[1]), till.paid) == (950, 150, [50])


def test_a_tip_jar_takes_any_amount(world: World, ada: Witness) -> None:
    """A payable thing gives nothing in return."""
    assert isinstance(ada.do(asked.PayObject(object_id=vendor(world, payable=True), amount=3)), Confirmed)
    assert world.inventory(ada.avatar_id) == ()


def test_an_object_that_cannot_be_paid_is_refused(
    world: World, ada: Witness, ben: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown, unpayable, one's own, too dear, or no room for the copy: each has its code.

    Spec: EFX-1
    """
    jar, shop = vendor(world, payable=True), vendor(world, for_sale=50)
    outcomes = [
        ada.do(asked.PayObject(object_id=ObjectId(NOBODY), amount=1)),
        ada.do(asked.PayObject(object_id=vendor(world), amount=1)),
        ben.do(asked.PayObject(object_id=jar, amount=1)),
        ada.do(asked.PayObject(object_id=jar, amount=5_000)),
    ]
    monkeypatch.setattr("gridagent.grid.simulated.belongings.INVENTORY_MAX", 0)
    outcomes.append(ada.do(asked.PayObject(object_id=shop, amount=50)))
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Refused)] == [
        *("unknown_object", "not_payable", "not_yourself", "insufficient_funds", "inventory_full")
    ]
    assert world.balance(ada.avatar_id) == 1_000
    assert items_module.INVENTORY_MAX == 4_096


def test_an_upload_pays_the_grid(world: World, ada: Witness) -> None:
    """The price goes to the treasury; a free upload moves nothing.

    Spec: SIM-1
    """
    ada.do(asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=10))
    ada.do(asked.UploadAsset(name="Free", kind="texture", sha256="b" * 64))
    assert (world.balance(ada.avatar_id), world.treasury) == (990, 10)
    assert [event.counterpart_id for event in ada.saw(BalanceChanged)[1:]] == [NIL_UUID]
