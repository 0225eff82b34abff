"""Claims about the bank's book: every payment is in it, and it says when one is not any more."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.grid.simulated import World
from gridagent.grid.simulated.book import Book, Movement
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import NIL_UUID, AvatarId

ADA, BEN = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in (1, 2))


def paid(reference: str) -> Movement:
    """Return a payment of Ada's."""
    return Movement(payer=ADA, payee=BEN, counterpart=BEN, amount=1, reference=reference)


def test_a_full_book_lets_the_oldest_go_and_says_so() -> None:
    """What is missing is not denied. Spec: EFX-2, SIM-1."""
    told = []
    book = Book(most=2)
    assert book.since is None
    book.begin(7.0)
    book.begin(8.0)
    book.on_movement = told.append
    since = []
    for reference in "abc":
        book.enter(paid(reference))
        since.append(book.since)
    assert since == [7.0, 7.0, None]
    assert (book.paid(ADA, "a"), book.paid(ADA, "c"), book.paid(BEN, "c")) == ((), (paid("c"),), ())
    assert told == [paid("a"), paid("b"), paid("c")]


def test_an_earlier_book_is_taken_over_with_what_it_misses() -> None:
    """It says from when on it is whole; nobody is told of it again. Spec: EFX-2."""
    told = []
    book = Book(most=2)
    book.on_movement = told.append
    book.recall([paid("a")], since=3.0)
    book.begin(9.0)
    assert book.since == 3.0
    assert book.paid(ADA, "a") == (paid("a"),)
    full = Book(most=2)
    full.recall(map(paid, "abc"), since=3.0)
    assert full.since is None
    full.begin(9.0)
    assert full.since == 9.0
    assert told == []


def test_every_payment_is_in_the_book_before_anybody_is_told(world: World, ada: Witness, ben: Witness) -> None:
    """To a person, through an object, and to the grid itself; a refused one is in no book. Spec: SIM-1, EFX-2."""
    book, seen = [], []
    world.book.on_movement = lambda movement: (book.append(movement), seen.append(len(ada.events)))
    before = len(ada.events)
    pay = asked.PayAvatar(to=ben.avatar_id, amount=5, description="tip")
    ada.do(pay)
    assert seen == [before]
    ada.do(asked.UploadAsset(name="Logo", kind="texture", sha256="a" * 64, price=10))
    ada.do(asked.PayAvatar(to=ben.avatar_id, amount=900_000))
    assert [(each.payee, each.counterpart, each.amount, each.description) for each in book] == [
        (ben.avatar_id, ben.avatar_id, 5, "tip"),
        (NIL_UUID, NIL_UUID, 10, "upload"),
    ]
