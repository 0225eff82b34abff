"""The bank's book: who paid whom, as the grid itself remembers it.

Owns the record of every payment, bounded, and from when on nothing is missing from it. Moves no money (that is
`gridagent.grid.simulated.money`) and knows no disk: whoever wants the book to outlive the world is told of each
movement and gives them back to the next one (`gridagent.cli.bank`). Invariant: a movement is in the book before
anybody is told of it, so that who was never told can still look it up (Spec: EFX-2, SIM-1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.ids import NIL_UUID, AvatarId
from gridagent.limits import Bounded, Label, ShortText

__all__ = ("MOVEMENTS_MAX", "Book", "Movement", "OnMovement")

MOVEMENTS_MAX: Final = 65_536
"""Movements that are remembered; beyond it the oldest go, and the book says that it misses some."""


class Movement(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One payment."""

    payer: AvatarId
    payee: Annotated[str, Meta(max_length=36)] = NIL_UUID
    """Whose balance grew; nil is the grid itself."""
    counterpart: Annotated[str, Meta(max_length=36)]
    """Whom the payer sees: the payee, or the object that was paid through."""
    amount: Annotated[int, Meta(ge=1)]
    description: ShortText = ""
    reference: Label = ""
    """Nonce of the payer's deed."""


OnMovement: TypeAlias = Callable[[Movement], None]
"""Told of each movement, before anybody in the world is."""


class Book:
    """Every payment of one world.

    Args:
        most: movements that are remembered.
    """

    __slots__ = ("_movements", "on_movement", "since")

    def __init__(self, most: int = MOVEMENTS_MAX) -> None:
        self._movements: deque[Movement] = deque(maxlen=most)
        self.since: float | None = None
        """From when on nothing is missing, by the wall clock; None while nobody has said."""
        self.on_movement: OnMovement | None = None

    def enter(self, movement: Movement) -> None:
        """Write a movement down."""
        if len(self._movements) == self._movements.maxlen:
            self.since = None
        self._movements.append(movement)
        if self.on_movement is not None:
            self.on_movement(movement)

    def recall(self, movements: Iterable[Movement], *, since: float | None) -> None:
        """Take in what an earlier world's book said, before anything is paid; nobody is told.

        Args:
            movements: the oldest first.
            since: from when on that book misses nothing, by the wall clock.
        """
        for movement in movements:
            if len(self._movements) == self._movements.maxlen:
                since = None
            self._movements.append(movement)
        self.since = since

    def begin(self, wall: float) -> None:
        """Say when it is now by the wall clock, so that a book without a past knows from when on it misses nothing."""
        if self.since is None:
            self.since = wall

    def paid(self, payer: AvatarId, reference: Label) -> tuple[Movement, ...]:
        """Return what somebody paid by one deed."""
        return tuple(each for each in self._movements if (each.payer, each.reference) == (payer, reference))
