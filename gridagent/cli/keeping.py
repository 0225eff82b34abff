"""What ``run`` says and does about storage: opening it, the first lines, and the last word.

Owns the question whether effects are kept at all, and nothing of a database: that is `gridagent.cli.archive`, which is
imported only where one is opened. Its invariant: nobody has to guess what survives the run (Spec: EFX-2, EFX-4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.safe_text import shown
from gridagent.cli.view import View
from gridagent.cli.wording import Tone, doubt_in_words, fault_in_words
from gridagent.config.model import StorageConfig
from gridagent.fronts.control.archive import Archive, list_doubts
from gridagent.observability import Log
from gridagent.runtime.ports import Ports
from gridagent.service.api import SessionHandle

if TYPE_CHECKING:
    from gridagent.cli.archive import StoreArchive
    from gridagent.storage.store import Report

__all__ = ("kept_in_words", "last_word", "open_kept", "tell_doubts")


@asynccontextmanager
async def open_kept(
    database: Path | None, *, ports: Ports, pid: int, since: str, report: Report, keep: StorageConfig
) -> AsyncIterator[StoreArchive | None]:
    """Open the database for as long as the block lasts; without one, effects are kept in memory.

    Raises:
        LedgerRefused: it may not be used as it is.
        StorageFailed: the disk failed.
    """
    if database is None:
        yield None
        return
    from gridagent.cli.archive import open_archive  # noqa: PLC0415 - SQLite only where it is used

    async with open_archive(database, ports=ports, pid=pid, since=since, report=report, keep=keep) as archive:
        yield archive


def kept_in_words(database: Path | None) -> str:
    """Return the first line about what survives."""
    if database is None:
        return "payments, budgets, approvals and the audit trail are kept in memory, and end with this run"
    return f"what must survive is kept in {shown(str(database))}"


async def tell_doubts(view: View, handles: Iterable[SessionHandle], archive: Archive | None) -> None:
    """Say what an earlier run left in doubt."""
    for doubt in await list_doubts(handles, archive):
        await view.say(Tone.DOUBT, doubt_in_words(doubt))


def last_word(archive: Archive | None, code: ExitCode, *, log: Log, stderr: TextIO) -> ExitCode:
    """Say at the end what became of storage; a run that looked well and was not has its own exit code."""
    state = None if archive is None else archive.state()
    if state is None or not state.fault:
        return code
    log.error("storage_failed", fault=state.fault, lost=state.lost)
    stderr.write(f"gridagent: {fault_in_words(state)}; mend it, then start again\n")
    return ExitCode.STORAGE if code is ExitCode.OK else code
