"""What is under way: requests whose evidence has to be recognised when it comes.

Owns the memory between a deed and its proof, where the protocol itself carries no reference: words that will come
back, a payment, a gift, a box that was just built, a question to the map that a teleport waits for. Everything is
bounded, and what is pushed out is merely not recognised, which leaves its effect in doubt (Spec: EFX-1, EFX-5).
"""

from __future__ import annotations

from collections import deque
from typing import Final

import attrs

from gridagent.events import GridEvent
from gridagent.limits import Label
from live_grid.messages import NIL
from live_grid.world import Vector
from live_grid.world.events import BalanceKnown

__all__ = ("Built", "Journey", "Making", "Payment", "Pending", "Walk", "change_of")

SPEECH_MAX: Final = 64
GIFTS_MAX: Final = 256
BUILT_MAX: Final = 64
MAKING_MAX: Final = 64
DELIVERIES_MAX: Final = 1_024


@attrs.frozen(kw_only=True)
class Payment:
    """L$ on their way."""

    reference: Label
    counterpart_id: bytes
    amount: int
    balance: int | None
    """Ours before."""


@attrs.define(kw_only=True)
class Built:
    """Something that will appear where we put it."""

    reference: Label
    position: Vector
    name: str
    """To be given to it; empty for an item that has one."""
    object_id: bytes | None = None


@attrs.frozen(kw_only=True)
class Making:
    """An inventory item that will come under our number."""

    reference: Label
    text: str | None
    """Of a notecard, to be written into it."""


@attrs.define(kw_only=True)
class Journey:
    """A teleport on its way, or waiting for the map."""

    reference: Label
    region: str = ""
    """Looked up on the map; empty for one that needs no map."""
    position: Vector = (0.0, 0.0, 0.0)
    offer_id: str = ""
    """The invitation it follows."""


@attrs.frozen(kw_only=True)
class Walk:
    """A walk or pursuit of ours."""

    reference: Label


class Pending:
    """Everything that waits to be recognised."""

    __slots__ = (
        "_callback",
        "_deliveries",
        "animations",
        "body",
        "built",
        "gifts",
        "journey",
        "making",
        "payment",
        "speech",
        "walk",
    )

    def __init__(self) -> None:
        self._callback = 0
        self._deliveries: dict[int, tuple[GridEvent, ...]] = {}
        self.speech: deque[tuple[str, Label]] = deque(maxlen=SPEECH_MAX)
        """What we said, as it will come back, and the reference of the deed."""
        self.payment: Payment | None = None
        """There is one in flight at most (Spec: EFX-5)."""
        self.gifts: dict[bytes, tuple[str, str, Label]] = {}
        """Transaction → item, receiver and the reference of the deed."""
        self.built: deque[Built] = deque(maxlen=BUILT_MAX)
        self.making: dict[int, Making] = {}
        """Callback number → what comes under it."""
        self.journey: Journey | None = None
        self.walk: Walk | None = None
        self.body: Label = ""
        """Reference of the deed that has the body now."""
        self.animations: dict[bytes, str] = {}
        """Asset → the item it was asked for as."""

    def deliver(self, token: int, *events: GridEvent) -> None:
        """Remember what to tell when a request is acknowledged."""
        if len(self._deliveries) >= DELIVERIES_MAX:
            del self._deliveries[next(iter(self._deliveries))]
        self._deliveries[token] = events

    def delivered(self, token: int) -> tuple[GridEvent, ...]:
        """Take what is to be told now that a request is acknowledged; nothing for one that was lost before."""
        return self._deliveries.pop(token, ())

    def heard(self, text: str) -> Label:
        """Find the deed that said this, the oldest that fits."""
        for said in self.speech:
            if said[0] == text:
                self.speech.remove(said)
                return said[1]
        return ""

    def recognise_payment(self, event: BalanceKnown, me: bytes) -> Payment | None:
        """Take our payment out of flight if this balance is about it.

        By its reference, where the grid carried our description; or by amount and receiver. A reference alone proves
        nothing: anybody can write it once they have read it, so the sum has to fit as well.
        """
        paid = self.payment
        if paid is None:
            return None
        change, counterpart = change_of(event, me)
        dropped = paid.balance is not None and event.balance == paid.balance - paid.amount
        carried = paid.reference in event.description
        exact = (change, counterpart) == (-paid.amount, paid.counterpart_id)
        refused = carried and not event.success
        if exact or refused or (carried and (change == -paid.amount or (not change and dropped))):
            self.payment = None
            return paid
        return None

    def give(self, transaction_id: bytes, item_id: str, to: str, reference: Label) -> None:
        """Remember a gift until it is answered."""
        if len(self.gifts) >= GIFTS_MAX:
            del self.gifts[next(iter(self.gifts))]
        self.gifts[transaction_id] = item_id, to, reference

    def take_gift(self, transaction_id: bytes, to: str) -> tuple[str, str, Label] | None:
        """Take the gift that somebody answers: item, receiver, reference.

        By its transaction, whose receiver has to be who answers. OpenSimulator answers under the id of the receiver's
        copy, which nobody told us: then it is the one gift that this receiver has from us, if it is one.
        """
        given = self.gifts.get(transaction_id)
        if given is None:
            theirs = [number for number, (_, receiver, _) in self.gifts.items() if receiver == to]
            return self.gifts.pop(theirs[0]) if len(theirs) == 1 else None
        if given[1] != to:
            return None
        del self.gifts[transaction_id]
        return given

    def make(self, making: Making) -> int:
        """Remember an item in the making; return the number it comes under."""
        if len(self.making) >= MAKING_MAX:
            del self.making[next(iter(self.making))]
        self._callback += 1
        self.making[self._callback] = making
        return self._callback


def change_of(event: BalanceKnown, me: bytes) -> tuple[int, bytes]:
    """Tell what a transaction did to our balance, and who was at its other end; nothing where the grid does not say."""
    if event.amount and event.source_id == me:
        return -event.amount, event.dest_id
    if event.amount and event.dest_id == me:
        return event.amount, event.source_id
    return 0, NIL
