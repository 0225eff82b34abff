"""What an operator can tell an avatar, as controls for the command line and for lines typed while it runs.

Owns the way from words to a checked `Control`; the words themselves are `gridagent.cli.vocabulary`.
Performs nothing. Its invariant: a control that comes out survives the strict decoding of its own
encoding, so the service on the other end takes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import msgspec

from gridagent.actions import Action
from gridagent.cli.vocabulary import COMMAND_WORDS, LOCAL, UsageProblem
from gridagent.config.files import absolute_path, read_file
from gridagent.controls import (
    AnswerApproval,
    Connect,
    Control,
    Disconnect,
    ForceReconnect,
    ForgetAvatar,
    Hold,
    Pause,
    Release,
    ReloadConfig,
    RequestAction,
    Resume,
    SayAsOperator,
    SettleEffect,
    ShutDown,
    StopTurn,
)
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control.frames import decode_strictly
from gridagent.ids import ApprovalId, AvatarId
from gridagent.limits import CONFIG_FILE_MAX_BYTES, clip

if TYPE_CHECKING:
    from argparse import Namespace

__all__ = ("Typed", "build_control", "parse_typed", "typed_help", "words_of")

_LINE_MAX: Final = 128
_CONTROL: Final = msgspec.json.Decoder(Control)
_CODE: Final = re.compile(r"[0-9A-Za-z]{6,32}")
_ACTION: Final = msgspec.json.Decoder(Action)


def _act(text: str) -> Control:
    try:
        return RequestAction(action=decode_strictly(_ACTION, text.encode(), subject="the action"))
    except RemoteProtocolError as error:
        raise UsageProblem(f"act: {error}; write it as in: {_WORDS['act'].example}") from error


def _reload(file: str) -> Control:
    path = absolute_path(file, base=Path.cwd(), environ={}) or Path(file)
    content = read_file(path, max_bytes=CONFIG_FILE_MAX_BYTES, holds_secret=False, where="$")
    return ReloadConfig(config_json=content.data)


def _connect(text: str) -> Control:
    code = "".join(text.removeprefix("--code").split())  # authenticators show it in groups
    if not code:
        return Connect()
    if not _CODE.fullmatch(code):
        raise UsageProblem("connect: a one-time code is what your authenticator shows, as in: connect --code 123456")
    return Connect(code=code)


def _settle(words: str) -> Control:
    effect, _, how = words.partition(" ")
    if how.strip() not in {"happened", "failed"}:
        raise UsageProblem("settle: say how the effect ended, as in: settle EFFECT happened (or: settle EFFECT failed)")
    return SettleEffect(effect=effect, happened=how.strip() == "happened")


_BUILD: Final[Mapping[str, Callable[[str], Control]]] = {
    "say": lambda text: SayAsOperator(text=text),
    "act": _act,
    "hold": lambda _: Hold(),
    "release": lambda _: Release(),
    "pause": lambda _: Pause(),
    "resume": lambda _: Resume(),
    "connect": _connect,
    "disconnect": lambda _: Disconnect(),
    "reconnect": lambda _: ForceReconnect(),
    "stop-turn": lambda _: StopTurn(),
    "forget": lambda uuid: ForgetAvatar(avatar_id=AvatarId(uuid)),
    "allow": lambda approval: AnswerApproval(approval_id=ApprovalId(approval), allow=True),
    "deny": lambda approval: AnswerApproval(approval_id=ApprovalId(approval), allow=False),
    "settle": _settle,
    "reload": _reload,
    "stop": lambda _: ShutDown(),
}
"""One row a command; a test holds it total."""

_WORDS: Final = {words.name: words for words in COMMAND_WORDS}


def build_control(name: str, argument: str = "") -> Control:
    """Build a control from a command's name and what stands behind it.

    Raises:
        UsageProblem: the argument is missing, too much, or not valid.
        ConfigError: the file of a reload cannot be read.
    """
    command = _WORDS[name]
    if command.argument and not argument:
        raise UsageProblem(f"{name}: {command.argument} is missing; write it as in: {command.example}")
    if argument and not (command.argument or command.option):
        raise UsageProblem(f"{name}: takes nothing behind it, not {clip(argument, 40)!r}")
    try:
        return _CONTROL.decode(msgspec.json.encode(_BUILD[name](argument)))
    except UnicodeEncodeError as error:
        raise UsageProblem(f"{name}: the text is not valid UTF-8") from error
    except LimitExceeded as error:
        raise UsageProblem(f"{name}: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageProblem(f"{name}: {clip(str(error), 160)}; write it as in: {command.example}") from error


def words_of(given: Namespace, stdin: TextIO | None) -> str:
    """Return what stands behind a command's name on the command line.

    A one-time code of ``-`` is the next line of standard input, where no list of processes shows it.

    Raises:
        UsageProblem: there is no such line.
    """
    code: str | None = getattr(given, "code", None)
    if code is None:
        return " ".join(getattr(given, "argument", None) or ())
    if code == "-" and stdin is not None:
        code = stdin.readline(_LINE_MAX)
    if not code.strip(" \r\n-"):
        raise UsageProblem("--code: the code is missing; write it as in: gridagent connect --code 123456")
    return code.strip()


# --- lines typed while the service runs -------------------------------------------------------------


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """One line, understood."""

    name: str
    """Of a control command, or of one of `LOCAL`."""
    avatar: str | None = None
    control: Control | None = None
    for_all: bool = False


def parse_typed(line: str) -> Typed | None:
    """Understand a typed line; None for an empty one.

    ``@key command …`` names an avatar; a word that is no command is an error, never spoken.

    Raises:
        UsageProblem: there is no such command, or its argument is wrong.
        ConfigError: the file of a reload cannot be read.
    """
    text = line.strip()
    avatar: str | None = None
    if text.startswith("@"):
        avatar, _, text = text[1:].partition(" ")
        text = text.strip()
    name, _, argument = text.partition(" ")
    if not name:
        if avatar is None:
            return None
        raise UsageProblem("say what that avatar is to do, as in: @robin say hello")
    if name in {"exit", "stop"}:
        name = "quit"
    if name in LOCAL:
        return Typed(name=name, avatar=avatar)
    command = _WORDS.get(name)
    if command is None:
        raise UsageProblem(
            f"there is no command {clip(name, 40)!r}; to speak, type: say {clip(text, 40)} (help lists all)"
        )
    control = build_control(name, argument.strip())
    return Typed(name=name, avatar=avatar, control=control, for_all=command.for_all and avatar is None)


def typed_help() -> tuple[tuple[str, str], ...]:
    """Return what can be typed, each with what it does."""
    controls = (
        (f"{each.name} {each.argument or f'[{each.option.upper()}]' * bool(each.option)}".strip(), each.help)
        for each in COMMAND_WORDS
        if each.typed
    )
    return (*controls, *LOCAL.items())
