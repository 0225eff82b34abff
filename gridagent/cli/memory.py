"""``gridagent memory``: what the avatars remember of a person, to be looked at, taken out, or forgotten (Spec: MEM-5).

Owns the printing and the order of forgetting: first the running avatars, so that nothing of it is written again, then
what is stored. Asks the running service; where none runs, the database is read and cannot be changed (Spec: OPS-6).

Invariant: after ``memory forget`` ended with 0, no export shows anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.remote import Reach, printed
from gridagent.cli.safe_text import shown
from gridagent.cli.vocabulary import UsageProblem
from gridagent.cli.wording import moment_in_words
from gridagent.controls import ForgetAvatar
from gridagent.fronts.control import ControlClient, NotRunning
from gridagent.fronts.control.words import FileWritten, HeldRow
from gridagent.ids import AvatarKey, parse_avatar_id

if TYPE_CHECKING:
    from gridagent.cli.stopped import StoppedDatabase

__all__ = ("About", "export_held", "forget_held", "show_held")


class About:
    """Whom a command is about, and which avatar's memory.

    Args:
        person: UUID, as it was typed.
        avatar: key of one avatar; None means all.

    Raises:
        UsageProblem: it is no UUID: a name can be had by anybody.
    """

    __slots__ = ("avatar", "person")

    def __init__(self, person: str, avatar: str | None) -> None:
        try:
            self.person = parse_avatar_id(person)
        except ValueError as error:
            raise UsageProblem(f"memory: {person[:40]!r} names nobody: {error}") from None
        self.avatar = None if avatar is None else AvatarKey(avatar)


def show_held(reach: Reach | StoppedDatabase, about: About, *, out: TextIO, json: bool) -> ExitCode:
    """Print the newest of what is remembered of a person, the oldest first."""

    def show(rows: Sequence[HeldRow]) -> ExitCode:
        out.writelines(printed(_in_words(row), row, json=json) for row in rows)
        if not rows and not json:
            out.write(f"nothing is remembered of {about.person}\n")
        out.flush()
        return ExitCode.OK

    async def ask(client: ControlClient) -> ExitCode:
        return show(await client.held(about.person, about.avatar))

    return reach.run(ask) if isinstance(reach, Reach) else show(reach.held(about.avatar, about.person))


def export_held(reach: Reach | StoppedDatabase, about: About, file: Path, *, out: TextIO, json: bool) -> ExitCode:
    """Write all that is remembered of a person to a new file, one JSON object a line."""
    name = str(file.absolute())

    def show(written: FileWritten) -> ExitCode:
        out.write(printed(f"wrote {shown(written.file)} ({written.bytes} bytes)", written, json=json))
        out.flush()
        return ExitCode.OK

    async def ask(client: ControlClient) -> ExitCode:
        return show(await client.export_held(about.person, name, about.avatar))

    return reach.run(ask) if isinstance(reach, Reach) else show(reach.export_held(about.avatar, about.person, name))


def forget_held(reach: Reach | StoppedDatabase, about: About, *, out: TextIO, json: bool) -> ExitCode:
    """Have a person forgotten, in the running avatars and in storage.

    Raises:
        NotRunning: no service runs; its database may be read and not changed.
    """
    if not isinstance(reach, Reach):
        raise NotRunning("no service runs, so nothing can be forgotten; start it with: gridagent run")

    async def ask(client: ControlClient) -> ExitCode:
        code = ExitCode.OK
        for row in await client.status(about.avatar):
            key, answer = await client.control(ForgetAvatar(avatar_id=about.person), row.status.key)
            if not answer.accepted and answer.code != "stopped":  # who has stopped remembers nothing beside storage
                code = ExitCode.REFUSED
                out.write(
                    printed(f"{key}: refused ({shown(answer.code, 64)}), and may write of it again", answer, json=json)
                )
        gone = await client.forget_held(about.person, about.avatar)
        words = f"nothing is remembered of {about.person} any more; copies in backups and exports stay"
        out.write(printed(words, gone, json=json))
        out.flush()
        return code

    return reach.run(ask)


def _in_words(row: HeldRow) -> str:
    who = f"{shown(row.who, 64)}: " if row.who else ""
    label = shown(row.source, 64) + (", tainted" if row.tainted else "")
    where = shown(row.conversation, 128)
    return f"{moment_in_words(row.at)}  {row.avatar}  {row.kind} [{label}] in {where}: {who}{shown(row.text, 1_024)}"
