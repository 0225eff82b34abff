"""The database of a service that is stopped, read without being changed (Spec: OPS-6).

Owns the opening and the questions; blocks, so it is for commands that do nothing else meanwhile. Imported when no
service runs and a database is there. Its invariant: nothing is ever written to the database, and the lock is given
back whatever happens.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from gridagent.actions import Action, EffectClass, action_name
from gridagent.cli.archive import (
    audit_row,
    backup_written,
    chain_checked,
    discard,
    doubtful_since,
    open_new,
    query_of,
    write_new,
)
from gridagent.cli.held import held_lines, held_rows
from gridagent.errors import OperatorError
from gridagent.fronts.control.archive import doubt_row
from gridagent.fronts.control.words import (
    ApprovalRow,
    AuditChecked,
    AuditRow,
    DoubtRow,
    FileWritten,
    HeldRow,
    SearchAudit,
)
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import clip
from gridagent.policy.approvals import ApprovalState
from gridagent.policy.ledger import EffectState
from gridagent.policy.summary import summarise_for_approval
from gridagent.storage import approvals, audit, effects
from gridagent.storage.audit_chain import ChainReport, check_segment, export_segment, segment_heads
from gridagent.storage.backup import PagedBackup
from gridagent.storage.database import Holder, open_database, refused_when_damaged, storage_errors
from gridagent.storage.files import SystemFiles
from gridagent.storage.learning import held_about
from gridagent.storage.records import HeldAbout

__all__ = ("StoppedDatabase",)

_ACTION: Final = msgspec.json.Decoder(Action)


class StoppedDatabase:
    """One database, open to be read; a context manager.

    Args:
        path: of the file; it must exist.
        avatars: whose approvals and effects may be asked for.
        since: wall clock, as whoever starts a service meanwhile is told.

    Raises:
        LedgerInUse: a service has it open.
        LedgerRefused: it may not be used as it is.
        StorageFailed: the disk failed.
    """

    __slots__ = ("_avatars", "_database")

    def __init__(self, path: Path, avatars: Iterable[str], *, since: str) -> None:
        self._avatars = tuple(AvatarKey(each) for each in avatars)
        self._database = open_database(
            str(path),
            files=SystemFiles(),
            holder=Holder(pid=os.getpid(), since=since),
            new_ledger="",
            read_only=True,
        )

    def search(self, wanted: SearchAudit) -> tuple[AuditRow, ...]:
        """Return one page of the audit trail."""
        with self._reading():
            return tuple(map(audit_row, audit.query(self._database.connection, query_of(wanted))))

    def verify(self) -> AuditChecked:
        """Check the whole audit trail."""
        report = ChainReport()
        after: int | None = 0
        while after is not None:
            with self._reading():
                after = check_segment(
                    self._database.connection, ledger=self._database.ledger, after=after, report=report
                )
        return chain_checked(report)

    def export(self, file: str) -> FileWritten:
        """Write every segment to a new file."""
        out = open_new(file)
        try:
            with self._reading():
                for head in segment_heads(self._database.connection):
                    out.write(export_segment(self._database.connection, head.segment))
            size = out.tell()
            out.close()
        except BaseException:
            discard(out, file)
            raise
        return FileWritten(file=file, bytes=size)

    def back_up(self, file: str) -> FileWritten:
        """Copy the database to a new file.

        Raises:
            OperatorError: there is a file already.
            StorageFailed: a disk failed; nothing is left of the copy.
        """
        if Path(file).exists():
            raise OperatorError(f"there is a file at {file} already; give the backup another name")
        copy = PagedBackup(self._database, file)
        try:
            while not copy.step():
                pass
            return backup_written(copy.finish())
        except BaseException:
            copy.discard()
            raise

    def held(self, avatar: AvatarKey | None, person: AvatarId) -> tuple[HeldRow, ...]:
        """Return the newest of what one avatar, or all, remember of a person."""
        return tuple(row for key, held in self._held(avatar, person) for row in held_rows(key, held))

    def export_held(self, avatar: AvatarKey | None, person: AvatarId, file: str) -> FileWritten:
        """Write all of it to a new file."""
        return write_new(file, (line for key, held in self._held(avatar, person) for line in held_lines(key, held)))

    def _held(self, avatar: AvatarKey | None, person: AvatarId) -> Iterator[tuple[AvatarKey, HeldAbout]]:
        for key in self._avatars if avatar is None else (avatar,):
            with self._reading():
                yield key, held_about(self._database.connection, key, person)

    def approvals(self, now: float) -> tuple[ApprovalRow, ...]:
        """Return the approvals that wait for an answer."""
        rows = []
        for avatar in self._avatars:
            with self._reading():
                stored = approvals.load(self._database.connection, avatar)
            for each in stored:
                if each.state is not ApprovalState.PENDING or each.opened.expires_at <= now:
                    continue
                action = _ACTION.decode(each.opened.canonical)
                rows.append(
                    ApprovalRow(
                        avatar=avatar,
                        approval_id=each.opened.approval_id,
                        action=action_name(action),
                        summary=summarise_for_approval(action),
                        principal=clip(each.opened.request.principal.key, 64),
                        rule=clip(each.opened.rule, 64),
                        expires_in_s=each.opened.expires_at - now,
                    )
                )
        return tuple(rows)

    def in_doubt(self) -> tuple[DoubtRow, ...]:
        """Return every effect in doubt, and every one that was cut off after it was sent."""
        found = []
        for avatar in self._avatars:
            with self._reading():
                stored = effects.open_effects(self._database.connection, avatar)
            for each in stored:
                if each.effect_class is not EffectClass.ONCE or each.state is EffectState.RESERVED:
                    continue  # what was only reserved was never sent
                with self._reading():
                    row = effects.find(self._database.connection, avatar, each.effect)
                since = None if row is None else doubtful_since(row)
                found.append(doubt_row(avatar, each.effect, _ACTION.decode(each.canonical), since))
        return tuple(found)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with storage_errors(), refused_when_damaged(self._database.path):
            yield

    def close(self) -> None:
        """Give the lock back."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
