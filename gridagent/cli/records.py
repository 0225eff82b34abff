"""What is kept, for an operator: audit, backup and storage, of a running service or of one that is stopped.

Owns the choice between the two and the printing; the endpoint answers for a running service, and the database is
read without being changed when none runs (Spec: OPS-6). Answers nothing that needs a running avatar. Its invariant:
a stopped service's database is opened read-only and locked while it is read, so a service that starts meanwhile is
told so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import msgspec

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.places import database_of, find_places
from gridagent.cli.remote import Reach, audit_line, find_service, printed
from gridagent.cli.safe_text import shown
from gridagent.cli.wording import doubt_in_words, fault_in_words, moment_in_words
from gridagent.config.load import load_config
from gridagent.errors import ConfigError
from gridagent.fronts.control import ControlClient, NotRunning
from gridagent.fronts.control.words import AuditChecked, AuditRow, FileWritten, SearchAudit, StorageRow
from gridagent.ids import AvatarKey
from gridagent.policy import AuditRecord
from gridagent.policy.audit import AuditKind
from gridagent.runtime.system import SystemClock

if TYPE_CHECKING:
    from gridagent.cli.parser import Moment
    from gridagent.cli.stopped import StoppedDatabase

__all__ = (
    "ask_kept",
    "back_up",
    "check_audit",
    "export_audit",
    "newest_audit",
    "search_audit",
    "show_storage",
    "stopped_approvals",
    "stopped_doubts",
    "wanted_records",
)

_RECORD: Final = msgspec.json.Decoder(AuditRecord)


def ask_kept(
    config: Path | None,
    runtime_dir: Path | None,
    environ: Mapping[str, str],
    *,
    out: TextIO,
    json: bool,
    ask: Callable[[Reach | StoppedDatabase], ExitCode],
) -> ExitCode:
    """Ask the running service, or the database where none runs.

    Raises:
        NotRunning: no service runs, and there is no database either.
        LedgerRefused: no service runs, and the database cannot be used.
    """
    try:
        return ask(find_service(config, runtime_dir, environ, out=out, json=json))
    except NotRunning as absent:
        try:
            loaded = load_config(config, environ)
        except ConfigError:
            raise absent from None  # with --runtime-dir, a broken file was no problem so far
        path = database_of(find_places(loaded.paths))
        if not path.exists():
            raise
        from gridagent.cli.stopped import StoppedDatabase  # noqa: PLC0415 - SQLite only where it is used

        with StoppedDatabase(path, loaded.avatars, since=moment_in_words(SystemClock().wall())) as database:
            return ask(database)


class _Paper:
    """Where answers are printed."""

    __slots__ = ("json", "out")

    def __init__(self, out: TextIO, *, json: bool) -> None:
        self.out = out
        self.json = json

    def print(self, words: str, value: object) -> None:
        """Print one answer: the words for a person, the value for a program."""
        self.out.write(printed(words, value, json=self.json))
        self.out.flush()


def _cursor(row: AuditRow) -> tuple[float, int]:
    return _RECORD.decode(row.record).at, row.row or 0


async def _pages(
    wanted: SearchAudit, ask: Callable[[SearchAudit], Awaitable[tuple[AuditRow, ...]]]
) -> AsyncIterator[tuple[AuditRow, ...]]:
    """Yield page after page until one is not full."""
    while True:
        page = await ask(wanted)
        if page:
            yield page
        if len(page) < wanted.most:
            return
        wanted = msgspec.structs.replace(wanted, after=_cursor(page[-1]))


def _pages_of(database: StoppedDatabase, wanted: SearchAudit) -> Iterator[tuple[AuditRow, ...]]:
    while page := database.search(wanted):
        yield page
        if len(page) < wanted.most:
            return
        wanted = msgspec.structs.replace(wanted, after=_cursor(page[-1]))


def wanted_records(avatar: str | None, since: Moment | None, until: Moment | None, kind: str | None) -> SearchAudit:
    """Return which records the arguments ask for."""
    now = SystemClock().wall()
    return SearchAudit(
        avatar=None if avatar is None else AvatarKey(avatar),
        since=None if since is None else since.at(now),
        until=None if until is None else until.at(now),
        kind=None if kind is None else AuditKind(kind),
    )


def search_audit(reach: Reach | StoppedDatabase, wanted: SearchAudit, *, out: TextIO, json: bool) -> ExitCode:
    """Print every stored record that is wanted, the oldest first, page by page."""
    paper = _Paper(out, json=json)

    def show(page: tuple[AuditRow, ...]) -> None:
        for row in page:
            paper.print(audit_line(row.avatar, _RECORD.decode(row.record), dated=True), row)

    async def ask(client: ControlClient) -> ExitCode:
        async for page in _pages(wanted, client.search_audit):
            show(page)
        return ExitCode.OK

    if isinstance(reach, Reach):
        return reach.run(ask)
    for page in _pages_of(reach, wanted):
        show(page)
    return ExitCode.OK


def newest_audit(database: StoppedDatabase, wanted: SearchAudit, most: int, *, out: TextIO, json: bool) -> ExitCode:
    """Print the newest stored records of a stopped service, the oldest first.

    Bounds: reads the trail through; holds ``most`` records.
    """
    paper = _Paper(out, json=json)
    kept: deque[AuditRow] = deque(maxlen=most)
    for page in _pages_of(database, wanted):
        kept.extend(page)
    for row in kept:
        paper.print(audit_line(row.avatar, _RECORD.decode(row.record), dated=True), row)
    return ExitCode.OK


def check_audit(reach: Reach | StoppedDatabase, *, out: TextIO, json: bool) -> ExitCode:
    """Check the whole audit trail and print what was found; exit code 9 when something does not fit."""

    def show(checked: AuditChecked) -> ExitCode:
        words = f"{checked.rows} records in {checked.segments} segments"
        if checked.missing:
            words += f", {checked.missing} were never stored (safe mode, or a crash)"
        words = f"{words} fit together" + (f"; newest digest {checked.head}" if checked.head else "")
        if checked.problem:
            words = (
                f"the audit trail was changed: {shown(checked.problem)}; keep the file, and compare it with a backup"
            )
        _Paper(out, json=json).print(words, checked)
        return ExitCode.STORAGE if checked.problem else ExitCode.OK

    async def ask(client: ControlClient) -> ExitCode:
        return show(await client.verify_audit())

    return reach.run(ask) if isinstance(reach, Reach) else show(reach.verify())


def export_audit(reach: Reach | StoppedDatabase, file: Path, *, out: TextIO, json: bool) -> ExitCode:
    """Write the audit trail to a new file."""
    name = str(file.absolute())
    return _written(reach, lambda client: client.export_audit(name), partial(_export, name), _Paper(out, json=json))


def back_up(reach: Reach | StoppedDatabase, file: Path, *, out: TextIO, json: bool) -> ExitCode:
    """Copy the database to a new file."""
    name = str(file.absolute())
    return _written(reach, lambda client: client.back_up(name), partial(_copy, name), _Paper(out, json=json))


def _export(name: str, database: StoppedDatabase) -> FileWritten:
    return database.export(name)


def _copy(name: str, database: StoppedDatabase) -> FileWritten:
    return database.back_up(name)


def _written(
    reach: Reach | StoppedDatabase,
    running: Callable[[ControlClient], Awaitable[FileWritten]],
    stopped: Callable[[StoppedDatabase], FileWritten],
    paper: _Paper,
) -> ExitCode:
    def show(written: FileWritten) -> ExitCode:
        holds = "" if written.effects is None else f": {written.effects} effects, {written.audit_rows} audit records"
        paper.print(f"wrote {shown(written.file)} ({written.bytes} bytes{holds})", written)
        return ExitCode.OK

    async def ask(client: ControlClient) -> ExitCode:
        return show(await running(client))

    return reach.run(ask) if isinstance(reach, Reach) else show(stopped(reach))


def show_storage(reach: Reach, *, retry: bool) -> ExitCode:
    """Print how storage is; first try to leave safe mode, if that is wished (Spec: EFX-4)."""

    async def ask(client: ControlClient) -> ExitCode:
        state = await client.storage(retry=retry)
        reach.print(_storage_in_words(state), state)
        return ExitCode.STORAGE if state.fault else ExitCode.OK

    return reach.run(ask)


def _storage_in_words(state: StorageRow) -> str:
    if state.fault:
        return f"{fault_in_words(state)}; mend it, then: gridagent storage retry"
    return f"{shown(state.file)} works: {state.records} records in {state.commits} commits, {state.waiting} wait"


def stopped_doubts(database: StoppedDatabase, *, out: TextIO, json: bool) -> ExitCode:
    """Print what is in doubt in a stopped service's database; it can be settled when the service runs."""
    paper = _Paper(out, json=json)
    for row in database.in_doubt():
        paper.print(doubt_in_words(row), row)
    if not json:
        paper.print("no service runs; start it with: gridagent run", None)
    return ExitCode.NOT_RUNNING


def stopped_approvals(database: StoppedDatabase, *, out: TextIO, json: bool) -> ExitCode:
    """Print the approvals that wait in a stopped service's database; they cannot be answered here."""
    paper = _Paper(out, json=json)
    rows = database.approvals(SystemClock().wall())
    for row in rows:
        words = (
            f"{row.approval_id}  {row.avatar}: {shown(row.summary)} for {shown(row.principal, 64)} "
            f"(rule {shown(row.rule, 64)}), {row.expires_in_s:.0f} s left"
        )
        paper.print(words, row)
    if not json:
        paper.print(
            "no service runs, so nothing can be answered; start it with: gridagent run"
            if rows
            else "nothing waits for an answer, and no service runs",
            None,
        )
    return ExitCode.OK
