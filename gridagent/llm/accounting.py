"""Who may spend how much on thinking; pure.

Owns the books: tokens and money of one turn, of one person, of one avatar and
of the whole fleet, the last three over a sliding day. A turn reserves the most its next request can take before
anything is awaited, so that requests at one time cannot overspend together; settling puts what it really took in
place of it. The session keeps one `Accounts` for the service and asks it before each request.

Invariant: what is reserved or spent never exceeds a limit by more than a provider charges beyond what it was
told to stop at; time going back reopens nothing (Spec: MND-12).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gridagent.errors import InternalError
from gridagent.language import FailureKind, LlmFailure
from gridagent.limits import BUDGET_PRINCIPALS_MAX
from gridagent.llm.prices import Spend
from gridagent.policy.windows import MICROSECONDS, Window

__all__ = (
    "Accounts",
    "Limit",
    "Meter",
    "Reservation",
    "Scope",
    "SpendLimits",
    "Spent",
)

DAY_S: Final = 86_400
_TURNS_MAX: Final = 4_096
"""Turns that are open at one time, over all avatars."""

TokenLimit = Annotated[int, Meta(ge=0, le=10**12)]
MicrosLimit = Annotated[int, Meta(ge=0, le=10**15)]


class Meter(StrEnum):
    """What is counted."""

    TOKENS = "tokens"
    MONEY = "money"


class Scope(StrEnum):
    """For whom it is counted."""

    TURN = "turn"
    """One answer, however many requests it takes."""
    PERSON = "person"
    """One person's conversations with any avatar, in a day."""
    DAY = "day"
    """One avatar, in a day."""
    FLEET = "fleet"
    """All avatars together, in a day."""


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What may be spent within a scope."""

    tokens: TokenLimit
    micros: MicrosLimit


class SpendLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of every scope. The defaults let a small local model talk all day, and a paid one for cents."""

    turn: Limit = Limit(tokens=200_000, micros=200_000)
    person: Limit = Limit(tokens=2_000_000, micros=1_000_000)
    day: Limit = Limit(tokens=20_000_000, micros=5_000_000)
    fleet: Limit = Limit(tokens=200_000_000, micros=20_000_000)

    def of(self, scope: Scope) -> Limit:
        """Return the limit of one scope."""
        return {Scope.TURN: self.turn, Scope.PERSON: self.person, Scope.DAY: self.day, Scope.FLEET: self.fleet}[scope]


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """The budget does not hold another request; the avatar is tired."""

    scope: Scope
    meter: Meter
    allowed: int
    used: int
    """Spent and reserved so far."""

    def failure(self) -> LlmFailure:
        """Return it as the failure that a turn understands."""
        return LlmFailure(FailureKind.SPENT)


class Reservation(msgspec.Struct, frozen=True, kw_only=True):
    """The most one request can take, held until it is settled."""

    number: int
    turn: str
    person: str
    avatar: str
    most: Spend


# --- the books ------------------------------------------------------------------------------------


class _Book:
    """One scope's count of somebody: a window of what was spent, and what is reserved."""

    __slots__ = ("_micros", "_tokens", "reserved")

    def __init__(self) -> None:
        self._tokens = Window(DAY_S)
        self._micros = Window(DAY_S)
        self.reserved = Spend()

    def used(self, at_us: int) -> Spend:
        return Spend(tokens=self._tokens.used(at_us), micros=self._micros.used(at_us)) + self.reserved

    def add(self, amount: Spend, at_us: int) -> None:
        self.used(at_us)
        self._tokens.add(amount.tokens)
        self._micros.add(amount.micros)

    def reserve(self, amount: Spend) -> None:
        self.reserved += amount

    def release(self, amount: Spend) -> None:
        self.reserved += Spend(tokens=-amount.tokens, micros=-amount.micros)

    def idle(self, at_us: int) -> bool:
        used = self.used(at_us)
        return used.tokens == 0 and used.micros == 0


class _Turn:
    """What one turn took so far; it has no window, it ends."""

    __slots__ = ("reserved", "spent")

    def __init__(self) -> None:
        self.spent = Spend()
        self.reserved = Spend()


class Accounts:
    """The books of a service.

    Args:
        limits: what may be spent.

    Bounds: a day's window for at most `BUDGET_PRINCIPALS_MAX` people and as many avatars; one more waits until
        somebody's window is empty, and is told `Spent` until then. At most 4,096 turns are open.
    """

    __slots__ = ("_at_us", "_avatars", "_fleet", "_number", "_open", "_people", "_turns", "limits")

    def __init__(self, limits: SpendLimits) -> None:
        self.limits = limits
        self._fleet = _Book()
        self._people: OrderedDict[str, _Book] = OrderedDict()  # at most BUDGET_PRINCIPALS_MAX
        self._avatars: OrderedDict[str, _Book] = OrderedDict()  # at most BUDGET_PRINCIPALS_MAX
        self._turns: dict[str, _Turn] = {}  # at most _TURNS_MAX
        self._open: dict[int, Reservation] = {}  # one a request under way
        self._number = 0
        self._at_us = 0

    def reserve(self, *, turn: str, person: str, avatar: str, most: Spend, now: float) -> Reservation | Spent:
        """Reserve what a request can take at most, in every scope or in none.

        Args:
            turn: the turn's correlation id; `end_turn` closes it.
            person: whose words led to it; empty for nobody's.
            avatar: the avatar that thinks.
            most: from `gridagent.llm.prices.most_of`.
            now: seconds on a clock that goes forward; one that goes back counts as standing still.
        """
        at_us = self._advance(now)
        opened = self._turns.get(turn)
        if opened is None:
            if len(self._turns) >= _TURNS_MAX:
                return Spent(scope=Scope.TURN, meter=Meter.TOKENS, allowed=0, used=0)
            opened = _Turn()
        books = self._books(person, avatar, at_us)
        if isinstance(books, Spent):
            return books
        counts = [(Scope.TURN, opened.spent + opened.reserved)]
        counts += [(scope, book.used(at_us)) for scope, book in books]
        for scope, used in counts:
            spent = _over(scope, self.limits.of(scope), used, most)
            if spent is not None:
                return spent
        self._number += 1
        held = Reservation(number=self._number, turn=turn, person=person, avatar=avatar, most=most)
        self._open[held.number] = held
        self._turns[turn] = opened
        opened.reserved += most
        for _, book in books:
            book.reserve(most)
        return held

    def settle(self, held: Reservation, actual: Spend, *, now: float) -> None:
        """Put what a request really took in place of what was reserved; nothing for one that was never sent.

        A request that failed or was cancelled after it was sent may have been charged: settle it with ``held.most``
        unless the provider's refusal shows that it was not.

        Raises:
            InternalError: it was settled before.
        """
        if self._open.pop(held.number, None) is None:
            raise InternalError("a reservation is settled once")
        at_us = self._advance(now)
        opened = self._turns.get(held.turn)
        if opened is not None:
            opened.reserved += Spend(tokens=-held.most.tokens, micros=-held.most.micros)
            opened.spent += actual
        for book in self._held_by(held):
            book.release(held.most)
            book.add(actual, at_us)

    def end_turn(self, turn: str) -> Spend:
        """Close a turn and return what it took; nothing for one that never asked."""
        opened = self._turns.pop(turn, None)
        return Spend() if opened is None else opened.spent

    def forget(self, person: str) -> None:
        """Drop a person's window; what they spent stays in the others, which name nobody."""
        book = self._people.get(person)
        if book is not None and book.reserved == Spend():
            del self._people[person]

    def used(self, scope: Scope, who: str = "", *, now: float) -> Spend:
        """Return what is spent and reserved within a scope; ``who`` is the turn, person or avatar."""
        at_us = self._advance(now)
        if scope is Scope.TURN:
            opened = self._turns.get(who)
            return Spend() if opened is None else opened.spent + opened.reserved
        book = {Scope.PERSON: self._people.get(who), Scope.DAY: self._avatars.get(who)}.get(scope, self._fleet)
        return Spend() if book is None else book.used(at_us)

    # --- inside -----------------------------------------------------------------------------------

    def _advance(self, now: float) -> int:
        self._at_us = max(self._at_us, int(now * MICROSECONDS))
        return self._at_us

    def _books(self, person: str, avatar: str, at_us: int) -> list[tuple[Scope, _Book]] | Spent:
        found: list[tuple[Scope, _Book]] = [(Scope.FLEET, self._fleet)]
        for scope, shelf, who in ((Scope.DAY, self._avatars, avatar), (Scope.PERSON, self._people, person)):
            if not who:
                continue
            book = _book_of(shelf, who, at_us)
            if book is None:
                return Spent(scope=scope, meter=Meter.TOKENS, allowed=0, used=0)
            found.append((scope, book))
        return found

    def _held_by(self, held: Reservation) -> Iterator[_Book]:
        yield self._fleet
        for shelf, who in ((self._avatars, held.avatar), (self._people, held.person)):
            if who:
                yield shelf[who]  # not evicted and not forgotten while something is reserved


def _over(scope: Scope, limit: Limit, used: Spend, most: Spend) -> Spent | None:
    if used.tokens + most.tokens > limit.tokens:
        return Spent(scope=scope, meter=Meter.TOKENS, allowed=limit.tokens, used=used.tokens)
    if used.micros + most.micros > limit.micros:
        return Spent(scope=scope, meter=Meter.MONEY, allowed=limit.micros, used=used.micros)
    return None


def _book_of(shelf: OrderedDict[str, _Book], who: str, at_us: int) -> _Book | None:
    """Return somebody's book, making room from the least recently used whose window is empty."""
    book = shelf.get(who)
    if book is not None:
        shelf.move_to_end(who)
        return book
    if len(shelf) >= BUDGET_PRINCIPALS_MAX:
        oldest, its = next(iter(shelf.items()))
        if not its.idle(at_us):
            return None
        del shelf[oldest]
    book = shelf[who] = _Book()
    return book
