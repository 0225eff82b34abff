"""One avatar's view of a store: the sinks of its gateway, and the one question before something is sent.

Owns the words between a session and its store. A session opens one before its gateway, gives the gateway `audit` and
`change` for sinks and `recovered` to go on from, and asks `sending` between `Gateway.intend` and `redeem` (see
``docs/reference/storage.md``). Decides nothing.

Invariants (Spec: EFX-2, POL-6): what costs something may be sent only after `sending` returned None, and then its
reservation, its charge and the intent survive any crash; a sink never raises, so no decision depends on a disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent.actions import Refused
from gridagent.errors import OutcomeUnknown, ResourceClosed
from gridagent.ids import AvatarKey, EffectKey
from gridagent.policy.audit import AuditRecord
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    Change,
    EffectSent,
    GrantEnded,
    GrantGiven,
    HoldChanged,
)
from gridagent.storage.base import SafeMode, StorageFailed, Store, Watcher
from gridagent.storage.records import AuditAppended, Kept, Recovered

__all__ = ("DUPLICATE", "SAFE_MODE", "STORAGE_UNKNOWN", "AvatarStore")

SAFE_MODE: Final = Refused(reason="safe_mode")
"""Storage cannot promise to remember it, so it isn't done."""
STORAGE_UNKNOWN: Final = Refused(reason="storage_unknown")
"""Storage did not say in time whether it will remember; nothing was sent."""
DUPLICATE: Final = Refused(reason="duplicate")
"""An earlier run knows this very effect, from longer ago than the gateway remembers."""

_A_PERSON_WAITS: Final = (ApprovalOpened, ApprovalMoved, GrantGiven, GrantEnded, HoldChanged)
"""Changes that somebody was told of, or is about to be: written at once."""


class AvatarStore:
    """One avatar's view of a store; made by `open` only."""

    __slots__ = ("_avatar", "_store", "recovered")

    def __init__(self, store: Store, avatar: AvatarKey, recovered: Recovered) -> None:
        self._store = store
        self._avatar = avatar
        self.recovered = recovered
        """What must not be forgotten of earlier runs."""

    @classmethod
    async def open(cls, store: Store, avatar: AvatarKey) -> AvatarStore:
        """Begin a run of an avatar; see `gridagent.storage.base.Store.open_avatar`.

        Raises:
            StorageFailed: the avatar must not be run on this store.
            OutcomeUnknown: the same.

        Cancellation: opening it again is harmless.
        """
        return cls(store, avatar, await store.open_avatar(avatar))

    @property
    def keeps(self) -> bool:
        """Always: intents must be told before they are redeemed."""
        return True

    @property
    def safe_mode(self) -> SafeMode | None:
        """Set while nothing that costs anything may be done."""
        return self._store.safe_mode

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell ``watcher`` when safe mode begins and ends; call what is returned to stop that."""
        return self._store.watch(watcher)

    def audit(self, record: AuditRecord) -> None:
        """Take one row of the gateway. Never raises; rows that find no room in safe mode show as missing numbers."""
        self._store.submit(AuditAppended(avatar=self._avatar, run=self.recovered.run, record=record))

    def change(self, change: Change) -> None:
        """Take one change of the gateway, in order. Never raises."""
        self._store.submit(self._kept(change), urgent=isinstance(change, _A_PERSON_WAITS))

    async def sending(self, effect: EffectKey, wall: float) -> Refused | None:
        """Ask before something that costs anything is sent; everything said so far survives when this returns None.

        Args:
            effect: what the gateway was just told to be about to be redeemed (`Gateway.intend`).
            wall: wall clock, in seconds.

        Returns:
            None: go on, and redeem without another await in between. Else nothing may be sent, and this is how the
            effect ends.

        Cancellation: nothing was sent; settle the effect as refused.
        """
        try:
            (known,) = await self._store.commit(self._kept(EffectSent(effect=effect, at=wall)))
        except (StorageFailed, ResourceClosed):
            return SAFE_MODE
        except OutcomeUnknown:
            return STORAGE_UNKNOWN
        return None if known else DUPLICATE

    async def durable(self) -> bool:
        """Wait until everything said so far survives a power cut: before a connection opens, before a reply.

        Returns:
            False when storage cannot promise that. A connection is opened all the same: what could be mistaken for a
            later one's costs something, and is refused then.

        Cancellation: safe.
        """
        try:
            await self._store.commit()
        except (StorageFailed, OutcomeUnknown, ResourceClosed):
            return False
        return True

    def _kept(self, change: Change) -> Kept:
        return Kept(avatar=self._avatar, run=self.recovered.run, change=change)
