"""What the endpoint may ask of storage, and the answers that need both storage and the running avatars.

Owns the port and the list of effects in doubt; knows no database (the command line's `StoreArchive` is the real
one). The server asks, `gridagent run` asks for its first lines. Its invariant: without storage, or while storage
fails, an effect in doubt is still listed; only since when is then not known (Spec: EFX-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from gridagent.actions import Action, action_name
from gridagent.fronts.control.words import (
    AuditChecked,
    AuditRow,
    DoubtRow,
    FileWritten,
    HeldGone,
    HeldRow,
    SearchAudit,
    StorageRow,
)
from gridagent.grid.base import REFERENCE_CHARS
from gridagent.grid.reconciliation import advice
from gridagent.ids import AvatarId, AvatarKey, EffectKey
from gridagent.policy.summary import summarise_for_approval
from gridagent.service.api import SessionHandle

__all__ = ("Archive", "doubt_row", "list_doubts")


class Archive(Protocol):
    """Storage, as far as an operator's commands need it."""

    def state(self) -> StorageRow:
        """Return how storage is."""
        ...

    async def retry(self) -> StorageRow:
        """Leave safe mode by trying storage anew.

        Raises:
            GridAgentError: it still fails; safe mode goes on.
        """
        ...

    async def doubtful(self) -> Mapping[tuple[AvatarKey, EffectKey], float]:
        """Return since when each stored effect is in doubt, in wall-clock seconds; nothing while storage fails."""
        ...

    async def search(self, wanted: SearchAudit) -> tuple[AuditRow, ...]:
        """Return one page of the audit trail, the oldest first.

        Raises:
            GridAgentError: storage fails, or the page takes too long to find.
        """
        ...

    async def verify(self) -> AuditChecked:
        """Check the whole audit trail."""
        ...

    async def export(self, file: str) -> FileWritten:
        """Write the audit trail to a new file, at an absolute path."""
        ...

    async def back_up(self, file: str) -> FileWritten:
        """Copy the database to a new file, at an absolute path."""
        ...

    async def held(self, avatars: Sequence[AvatarKey], person: AvatarId) -> tuple[HeldRow, ...]:
        """Return the newest of what some avatars remember of a person, the oldest of each first."""
        ...

    async def export_held(self, avatars: Sequence[AvatarKey], person: AvatarId, file: str) -> FileWritten:
        """Write all of it to a new file, at an absolute path."""
        ...

    async def forget_held(self, avatars: Sequence[AvatarKey], person: AvatarId) -> HeldGone:
        """Delete all of it."""
        ...


async def list_doubts(handles: Iterable[SessionHandle], archive: Archive | None, *, number: int = 0) -> list[DoubtRow]:
    """Return every effect in doubt with what it is, the oldest of each avatar first.

    Bounds: as many as the ledger keeps open.
    """
    doubtful = [(handle, effect) for handle in handles for effect in handle.status().gateway.in_doubt]
    since = await archive.doubtful() if archive is not None and doubtful else {}
    rows = []
    for handle, effect in doubtful:
        action = handle.action_in_doubt(effect)
        if action is not None:  # it may have been settled meanwhile
            rows.append(doubt_row(handle.key, effect, action, since.get((handle.key, effect)), number=number))
    return rows


def doubt_row(
    avatar: AvatarKey, effect: EffectKey, action: Action, since: float | None, *, number: int = 0
) -> DoubtRow:
    """Return one effect in doubt with what it is, and what a person needs to find out."""
    rule = advice(action)
    return DoubtRow(
        id=number,
        avatar=avatar,
        effect=effect,
        action=action_name(action),
        summary=summarise_for_approval(action),
        since=since,
        nonce=effect[:REFERENCE_CHARS],
        why=rule.why,
        look_at=rule.look_at,
    )
