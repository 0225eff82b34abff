"""What is under way, and how its evidence is recognised."""

from __future__ import annotations

import pytest

from gridagent.events import Delivered
from live_grid.backend.pending import DELIVERIES_MAX, GIFTS_MAX, MAKING_MAX, Making, Payment, Pending, change_of
from live_grid.world.events import BalanceKnown
from tests.live_grid.backend.hands import BEN, CLEO, NOTHING
from tests.live_grid.handover.fake_grid import ME

PAID = Payment(reference="abc123", counterpart_id=BEN, amount=10, balance=100)


def balance(
    *,
    left: int = 90,
    said: str = "",
    amount: int = 0,
    source: bytes = NOTHING,
    dest: bytes = NOTHING,
    success: bool = True,
) -> BalanceKnown:
    """Our balance, and perhaps what changed it."""
    return BalanceKnown(left, success, NOTHING, said, amount, source, dest)


@pytest.mark.parametrize(
    ("event", "ours"),
    [
        (balance(said="for you #abc123", amount=10, source=ME, dest=BEN), True),
        (balance(amount=10, source=ME, dest=BEN), True),
        (balance(said="x #abc123", amount=10, source=ME, dest=CLEO), True),
        (balance(said="x #abc123"), True),
        (balance(said="no #abc123", success=False, left=100), True),
        (balance(amount=10, source=ME, dest=CLEO), False),
        (balance(amount=11, source=ME, dest=BEN), False),
        (balance(said="x #abc123", left=100), False),
        (balance(said="x #abc123", amount=10, source=BEN, dest=ME), False),
        (balance(), False),
    ],
    ids=[
        *("by both", "by sum and receiver", "through an object", "by reference and balance", "refused"),
        *("to somebody else", "another sum", "a reference alone", "a reference sent back", "a balance alone"),
    ],
)
def test_a_payment_is_recognised_by_its_reference_and_sum(event: BalanceKnown, ours: bool) -> None:  # noqa: FBT001
    """Somebody else's payment, or somebody who writes our reference, confirms nothing. Spec: EFX-1, EFX-5."""
    pending = Pending()
    assert pending.recognise_payment(event, ME) is None
    pending.payment = PAID
    assert (pending.recognise_payment(event, ME) is PAID) is ours
    assert (pending.payment is None) is ours


def test_a_transaction_has_two_ends() -> None:
    """What we pay, what we are paid, and what the grid does not say."""
    assert change_of(balance(amount=5, source=ME, dest=BEN), ME) == (-5, BEN)
    assert change_of(balance(amount=5, source=BEN, dest=ME), ME) == (5, BEN)
    assert change_of(balance(source=ME, dest=BEN), ME) == (0, NOTHING)
    assert change_of(balance(amount=5, source=BEN, dest=CLEO), ME) == (0, NOTHING)


def test_our_words_are_recognised_once_each() -> None:
    """The same words twice are two deeds, the older one first. Spec: EFX-1."""
    pending = Pending()
    pending.speech.extend([("hi", "r1"), ("ho", "r2"), ("hi", "r3")])
    assert [pending.heard(words) for words in ("ho", "hi", "hi", "hi")] == ["r2", "r1", "r3", ""]


def test_everything_that_waits_is_bounded() -> None:
    """The oldest is pushed out and merely not recognised. Spec: BND-1."""
    pending = Pending()
    for number in range(DELIVERIES_MAX + 1):
        pending.deliver(number, Delivered(reference=str(number)))
    assert pending.delivered(0) == ()
    assert pending.delivered(1) == (Delivered(reference="1"),)
    for number in range(GIFTS_MAX + 1):
        pending.give(number.to_bytes(16, "big"), "item", "to", "ref")
    assert len(pending.gifts) == GIFTS_MAX
    numbers = [pending.make(Making(reference="r", text=None)) for _ in range(MAKING_MAX + 1)]
    assert numbers[0] == 1
    assert len(pending.making) == MAKING_MAX
    assert 1 not in pending.making
    assert bytes(16) not in pending.gifts


def test_an_answer_under_an_unknown_number_is_about_the_only_gift_there_is() -> None:
    """OpenSimulator answers under the id of the receiver's copy; with two gifts open nobody can tell. Spec: EFX-1."""
    pending = Pending()
    pending.give(bytes(16), "rose", "ben", "r1")
    assert pending.take_gift(b"copy" * 4, "cleo") is None
    assert pending.take_gift(b"copy" * 4, "ben") == ("rose", "ben", "r1")
    assert pending.take_gift(b"copy" * 4, "ben") is None
    for number in (b"a" * 16, b"b" * 16):
        pending.give(number, "rose", "ben", "r2")
    assert pending.take_gift(b"copy" * 4, "ben") is None
    assert pending.take_gift(b"a" * 16, "ben") == ("rose", "ben", "r2")
