"""What the simulated grid still shows of one deed, and how an earlier world's payments are taken over.

Owns both readings of the bank's book. Everything is told to the doer alone and only of their own doing: debits of
theirs, items that they made, objects that are theirs; so a nonce that somebody else wrote somewhere marks nothing
(Spec: EFX-2). Reading causes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gridagent.errors import OperatorError
from gridagent.events import BalanceChanged, GridEvent, InventoryChanged, ObjectSeen
from gridagent.grid.base import Traces
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.book import Movement
from gridagent.grid.simulated.state import State
from gridagent.ids import AvatarId
from gridagent.limits import Label

__all__ = ("recall_movements", "traces_of")

TOLD_MAX = 16


def traces_of(state: State, avatar: Avatar, reference: Label) -> Traces:
    """Return what bears the nonce of one of somebody's deeds; nothing on a grid that keeps no such record."""
    settings = state.settings
    if not (settings.keeps_history and settings.carries_references and reference):
        return Traces()
    told = tuple(event for event, _ in zip(_marked(state, avatar, reference), range(TOLD_MAX), strict=False))
    return Traces(told=told, money_since=state.book.since)


def _marked(state: State, avatar: Avatar, reference: Label) -> Iterator[GridEvent]:
    for paid in state.book.paid(avatar.avatar_id, reference):
        yield BalanceChanged(
            balance=avatar.balance,
            change=-paid.amount,
            counterpart_id=paid.counterpart,
            description=paid.description,
            reference=reference,
        )
    for item in avatar.inventory.values():
        if item.made_by == reference:
            yield InventoryChanged(item=item.view(), reference=reference)
    for thing in state.objects.values():
        if thing.mark == reference and thing.owner_id == avatar.avatar_id:
            yield ObjectSeen(object=thing.view(reference))


def recall_movements(state: State, movements: Iterable[Movement], *, since: float | None) -> None:
    """Let money be where an earlier world's book says that it went; before anybody pays.

    Args:
        state: of a world that was just built.
        movements: the oldest first.
        since: from when on the book misses nothing, by the wall clock.

    Raises:
        OperatorError: somebody paid more than this world ever gave them.
    """
    kept = tuple(movements)
    for each in kept:
        payer, payee = state.avatars.get(each.payer), state.avatars.get(AvatarId(each.payee))
        if payer is not None:
            payer.balance -= each.amount
        if payee is not None:
            payee.balance += each.amount
        else:
            state.treasury += each.amount
    for avatar in state.avatars.values():
        if avatar.balance < 0:
            raise OperatorError(
                f"the bank's book does not fit the scenario: {avatar.name} paid more than they have in it;"
                " use the scenario it was kept with, or move the book aside"
            )
    state.book.recall(kept, since=since)
