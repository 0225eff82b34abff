"""Storage behind a running service: opened for its life, and asked by the control endpoint.

Owns the adapter from the store to the endpoint's `gridagent.fronts.control.archive.Archive`, and nothing of a
database itself. Imported only when a configuration asks for durable effects, so that help and the demonstration load
no SQLite. Its invariant: nothing is answered that is not durable, except while safe mode says so.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import trio

from gridagent.cli.held import held_lines, held_rows
from gridagent.config.model import StorageConfig
from gridagent.conversation.changes import PersonForgotten
from gridagent.errors import OperatorError, OutcomeUnknown
from gridagent.fronts.control.words import (
    AuditChecked,
    AuditRow,
    FileWritten,
    HeldGone,
    HeldRow,
    SearchAudit,
    StorageRow,
)
from gridagent.ids import AvatarId, AvatarKey, EffectKey
from gridagent.limits import clip
from gridagent.runtime.ports import Blocking, Ports
from gridagent.storage import AuditQuery, StorageFailed
from gridagent.storage.audit_chain import ChainReport
from gridagent.storage.backup import BackupReport
from gridagent.storage.database import Holder
from gridagent.storage.files import Files
from gridagent.storage.records import EffectRow, Learnt, StoredAudit
from gridagent.storage.settings import StorageSettings
from gridagent.storage.store import Report, SqliteStore, open_store

__all__ = (
    "StoreArchive",
    "audit_row",
    "backup_written",
    "chain_checked",
    "discard",
    "doubtful_since",
    "open_archive",
    "open_new",
    "query_of",
    "settings_of",
    "write_new",
)

_PRIVATE: Final = 0o600


class StoreArchive:
    """One open store, as the endpoint asks it.

    Args:
        store: open for as long as this is used.
        path: of its database.
        blocking: where files are written.
    """

    __slots__ = ("_blocking", "_path", "store")

    def __init__(self, store: SqliteStore, path: str, blocking: Blocking) -> None:
        self.store = store
        self._path = path
        self._blocking = blocking

    def state(self) -> StorageRow:
        """Return how storage is."""
        status = self.store.status()
        mode = status.safe_mode
        return StorageRow(
            file=self._path,
            fault="" if mode is None else mode.fault.value,
            since=None if mode is None else mode.since,
            waiting=status.waiting,
            commits=status.commits,
            records=status.records,
            lost=status.lost,
        )

    async def retry(self) -> StorageRow:
        """Leave safe mode on an operator's word (Spec: EFX-4).

        Raises:
            StorageFailed: it still fails.
            LedgerRefused: the database cannot be opened again.
        """
        await self.store.leave_safe_mode()
        return self.state()

    async def doubtful(self) -> Mapping[tuple[AvatarKey, EffectKey], float]:
        """Return since when each effect is in doubt; nothing while storage fails."""
        try:
            rows = await self.store.in_doubt()
        except (StorageFailed, OutcomeUnknown):
            return {}
        return {(row.avatar, row.effect): doubtful_since(row) for row in rows}

    async def search(self, wanted: SearchAudit) -> tuple[AuditRow, ...]:
        """Return one page of the audit trail."""
        return tuple(map(audit_row, await self.store.audit(query_of(wanted))))

    async def verify(self) -> AuditChecked:
        """Check every segment of the audit trail, so that commits go on in between."""
        return chain_checked(await self.store.verify_audit())

    async def export(self, file: str) -> FileWritten:
        """Write every segment to a new file.

        Raises:
            OperatorError: there is a file already, or it cannot be written.
            StorageFailed: a segment cannot be read.

        Cancellation: safe; the unfinished file is removed.
        """
        run = partial(self._blocking.run, name="audit export")
        out = await run(open_new, file)
        try:
            for number in await self.store.segments():
                with suppress(KeyError):  # retention let it go meanwhile
                    await run(out.write, await self.store.export_segment(number))
            size = out.tell()
            await run(out.close)
        except BaseException:
            with trio.CancelScope(shield=True):
                await run(discard, out, file)
            raise
        return FileWritten(file=file, bytes=size)

    async def back_up(self, file: str) -> FileWritten:
        """Copy the database piece by piece, so that commits go on in between."""
        return backup_written(await self.store.back_up(file))

    async def held(self, avatars: Sequence[AvatarKey], person: AvatarId) -> tuple[HeldRow, ...]:
        """Return the newest of what some avatars remember of a person."""
        return tuple([row for key in avatars for row in held_rows(key, await self.store.held_about(key, person))])

    async def export_held(self, avatars: Sequence[AvatarKey], person: AvatarId, file: str) -> FileWritten:
        """Write all of it to a new file.

        Raises:
            OperatorError: there is a file already, or it cannot be written.

        Cancellation: safe; the unfinished file is removed.
        """
        lines = [line for key in avatars for line in held_lines(key, await self.store.held_about(key, person))]
        return await self._blocking.run(write_new, file, lines, name="memory export")

    async def forget_held(self, avatars: Sequence[AvatarKey], person: AvatarId) -> HeldGone:
        """Delete all of it, and overwrite it in the file."""
        count = 0
        for key in avatars:
            held = await self.store.held_about(key, person)
            count += len(held.entries) + len(held.evidence) + len(held.facts)
            await self.store.commit(Learnt(avatar=key, change=PersonForgotten(avatar=key, person=person)))
        return HeldGone(count=count)


def open_new(file: str) -> BinaryIO:
    """Open a file that did not exist, private to its owner.

    Raises:
        OperatorError: it exists, or cannot be made.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        return os.fdopen(os.open(file, flags, _PRIVATE), "wb")
    except FileExistsError:
        raise OperatorError(f"there is a file at {file} already; give the export another name") from None
    except OSError as error:
        raise OperatorError(
            f"{file} cannot be written ({error.strerror}); name a file in a directory of yours"
        ) from error


def write_new(file: str, lines: Iterable[bytes]) -> FileWritten:
    """Write lines to a file that did not exist; blocks.

    Raises:
        OperatorError: it exists, or cannot be made.
    """
    out = open_new(file)
    try:
        out.writelines(lines)
        size = out.tell()
        out.close()
    except BaseException:
        discard(out, file)
        raise
    return FileWritten(file=file, bytes=size)


def discard(out: BinaryIO, file: str) -> None:
    """Leave nothing of an unfinished file."""
    with suppress(OSError):  # what could not be written cannot be flushed either
        out.close()
    Path(file).unlink(missing_ok=True)


def query_of(wanted: SearchAudit) -> AuditQuery:
    """Return a search in storage's words."""
    return AuditQuery(
        avatar=wanted.avatar,
        since=wanted.since,
        until=wanted.until,
        kind=wanted.kind,
        after=wanted.after,
        limit=wanted.most,
    )


def audit_row(stored: StoredAudit) -> AuditRow:
    """Return a stored record in the endpoint's words."""
    return AuditRow(
        avatar=stored.avatar,
        record=msgspec.Raw(msgspec.json.encode(stored.record)),
        run=stored.run,
        row=stored.row,
    )


def chain_checked(report: ChainReport) -> AuditChecked:
    """Return what verification found in the endpoint's words."""
    return AuditChecked(
        segments=report.segments,
        rows=report.rows,
        missing=report.missing,
        head=report.head,
        problem=clip(report.problem, 256),
    )


def backup_written(report: BackupReport) -> FileWritten:
    """Return what a copy holds in the endpoint's words."""
    return FileWritten(file=report.path, bytes=report.bytes, effects=report.effects, audit_rows=report.audit_rows)


def doubtful_since(row: EffectRow) -> float:
    """Return from when on an effect in doubt may have happened."""
    return row.reserved_at if row.sent_at is None else row.sent_at


def settings_of(section: StorageConfig) -> StorageSettings:
    """Return what the configuration says in storage's words: the same names."""
    return StorageSettings(**msgspec.structs.asdict(section))


@asynccontextmanager
async def open_archive(
    path: Path,
    *,
    ports: Ports,
    pid: int,
    since: str,
    report: Report,
    files: Files | None = None,
    keep: StorageConfig | None = None,
) -> AsyncIterator[StoreArchive]:
    """Open the database for as long as the block lasts.

    Args:
        path: of the database; begun where none ever was.
        ports: clock, ids and the blocking port.
        pid: of this process, for whoever comes second.
        since: wall clock, the same.
        report: takes a stable code and the error of a failure; the log.
        files: the disk; None is this machine's.
        keep: how long what is kept; None takes the defaults.

    Raises:
        LedgerRefused: it may not be used as it is; the sentence says how to mend it.
        StorageFailed: the disk failed.
    """
    async with open_store(
        str(path),
        ports=ports,
        holder=Holder(pid=pid, since=since),
        settings=settings_of(keep or StorageConfig()),
        report=report,
        files=files,
    ) as store:
        yield StoreArchive(store, str(path), ports.blocking)
