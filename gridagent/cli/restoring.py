"""``gridagent restore``: a backup in the place of a lost or damaged database, while no service runs.

Owns the locks that keep every service out meanwhile, the names of what is kept aside, and the printing; checking and
putting in place are `gridagent.storage.backup`. Blocks. Invariants (Spec: EFX-4, OPS-4): nothing is moved before the
copy was found usable, its audit trail included; what was there is kept under another name; what comes back is held,
because a backup knows nothing of what was paid since it was made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import msgspec

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.instance import Holder, InstanceLocks, avatar_locks_directory
from gridagent.cli.places import database_of, find_places
from gridagent.cli.remote import printed
from gridagent.cli.safe_text import shown
from gridagent.cli.wording import moment_in_words
from gridagent.config.load import load_config
from gridagent.fronts.control import RuntimeDirectory
from gridagent.runtime.system import SystemClock
from gridagent.storage.backup import restore
from gridagent.storage.files import SystemFiles

__all__ = ("Restored", "restore_command")


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What came back, for programs."""

    file: str
    """The database."""
    backup: str
    aside: tuple[str, ...]
    """Where what was there is kept."""
    effects: int
    audit_rows: int
    in_doubt: int
    """Effects of which the backup does not know whether they happened."""
    held: bool
    """No avatar acts until it is released."""


def restore_command(
    config: Path | None, environ: Mapping[str, str], backup: Path, *, hold: bool, out: TextIO, json: bool
) -> ExitCode:
    """Put a backup in the place of the database.

    Args:
        config: path of the configuration; says where the database lies.
        environ: of the process.
        backup: the copy; it stays as it is.
        hold: let no avatar act before it is released.
        out: where it is said.
        json: as one JSON object.

    Raises:
        AlreadyRunning: a service runs, or one runs an avatar of this configuration.
        LedgerRefused: the backup cannot be used, or the database is in use.
        StorageFailed: a disk failed; then either the old or the new database is in place, or the start says what to do.
    """
    loaded = load_config(config, environ)
    paths = find_places(loaded.paths)
    database = database_of(paths)
    wall = SystemClock().wall()
    with ExitStack() as stack:
        directory = stack.enter_context(RuntimeDirectory(paths.runtime_dir))
        avatars = stack.enter_context(RuntimeDirectory(avatar_locks_directory(paths.state_dir)))
        locks = stack.enter_context(InstanceLocks(Holder(pid=os.getpid(), since=moment_in_words(wall))))
        locks.take_service(directory)
        locks.take_avatars(avatars, loaded.avatars)
        ending = datetime.fromtimestamp(wall, UTC).strftime(".before-restore-%Y%m%dT%H%M%SZ")
        report = restore(str(backup.absolute()), str(database), files=SystemFiles(), aside=ending, hold=hold)
    kept = tuple(str(path) for path in sorted(database.parent.glob(f"*{ending}")))
    restored = Restored(
        file=str(database),
        backup=str(backup.absolute()),
        aside=kept,
        effects=report.effects,
        audit_rows=report.audit_rows,
        in_doubt=report.in_doubt,
        held=hold,
    )
    out.write(printed("\n".join(_in_words(restored)), restored, json=json))
    return ExitCode.OK


def _in_words(restored: Restored) -> list[str]:
    holds = f"{restored.effects} effects, {restored.audit_rows} audit records"
    lines = [f"{shown(restored.file)} is {shown(restored.backup)} now: {holds}"]
    lines += [f"what was there is kept as {shown(path)}" for path in restored.aside]
    if restored.in_doubt:
        lines.append(f"{restored.in_doubt} effects are in doubt; gridagent status says which, and where to look")
    if restored.held:
        lines.append(
            "it knows nothing of what was paid since the backup was made, so every avatar is held:"
            " compare with the grid's own history, start the service, then: gridagent release --all"
        )
    return lines
