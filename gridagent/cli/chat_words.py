"""What a visitor types in ``gridagent chat``, understood: one line, one wish.

Owns the words and their help; causes nothing and knows no world. A line without a slash is said aloud. A word with
a slash that is none of these is an error, never spoken.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from enum import StrEnum
from typing import Final

import msgspec

from gridagent.actions import Volume
from gridagent.cli.parser import duration
from gridagent.cli.vocabulary import UsageProblem
from gridagent.limits import CHAT_MAX_BYTES, LINDEN_PER_PAYMENT_MAX, clip

__all__ = ("CHAT_HELP", "Wish", "Wished", "parse_line")

WAIT_MAX_S: Final = 86_400.0
WALK_MAX_M: Final = 8_192.0


class Wish(StrEnum):
    """What a line asks for."""

    NOTHING = "nothing"
    """An empty line, or a remark behind a #."""
    SAY = "say"
    EMOTE = "me"
    IM = "im"
    WALK = "walk"
    COME = "come"
    GIVE = "give"
    PAY = "pay"
    FRIEND = "friend"
    INVITE = "invite"
    ACCEPT = "accept"
    DECLINE = "decline"
    AS = "as"
    PEOPLE = "people"
    WAIT = "wait"
    OPERATOR = "op"
    HISTORY = "history"
    AGAIN = "again"
    RESTART = "restart"
    HELP = "help"
    QUIT = "quit"


class Wished(msgspec.Struct, frozen=True, kw_only=True):
    """One line, understood."""

    wish: Wish
    text: str = ""
    volume: Volume = Volume.SAY
    number: int = 0
    """L$, or how many lines."""
    seconds: float = 0.0
    place: tuple[float, float] = (0.0, 0.0)


CHAT_HELP: Final = {
    "TEXT": "say it aloud; /whisper TEXT and /shout TEXT carry less and more far",
    "/me TEXT": "show what you do",
    "/im TEXT": "send it to the avatar alone",
    "/come": "walk up to the avatar; /walk 20 -5 goes 20 m east and 5 m south",
    "/pay AMOUNT": "pay the avatar so many L$",
    "/give NAME": "give the avatar something of your inventory",
    "/friend": "offer friendship; /invite offers a teleport; /accept and /decline answer what you are offered",
    "/as NAME": "be somebody else; /people lists who there is",
    "/wait 30s": "let time pass",
    "/op COMMAND": "be the operator: hold, release, allow ID, deny ID, stop-turn, forget UUID",
    "/history": "what was said so far; /again types your last line once more",
    "/restart": "end the service and begin it anew with what it kept",
    "/quit": "leave",
}
"""What can be typed, and what it does."""

_SAID: Final = {"say": Volume.SAY, "whisper": Volume.WHISPER, "shout": Volume.SHOUT}
_BARE: Final = {
    Wish.COME,
    Wish.FRIEND,
    Wish.INVITE,
    Wish.ACCEPT,
    Wish.DECLINE,
    Wish.PEOPLE,
    Wish.AGAIN,
    Wish.RESTART,
    Wish.HELP,
    Wish.QUIT,
}
_WORDY: Final = {
    Wish.EMOTE: "waves",
    Wish.IM: "hello",
    Wish.GIVE: "Welcome note",
    Wish.AS: "Olive",
    Wish.OPERATOR: "hold",
}


def parse_line(line: str | None) -> Wished:
    """Understand a line; None stands for one that was too long to be read.

    Raises:
        UsageProblem: there is no such word, or what stands behind it is wrong.
    """
    text = "" if line is None else line.strip()
    if line is None or len(text.encode("utf-8", "replace")) > CHAT_MAX_BYTES:
        raise UsageProblem(f"that line is too long: {CHAT_MAX_BYTES} bytes fit into one")
    if not text or text.startswith("#"):
        return Wished(wish=Wish.NOTHING)
    if not text.startswith("/"):
        return Wished(wish=Wish.SAY, text=text)
    word, _, rest = text[1:].partition(" ")
    rest = rest.strip()
    if word in _SAID:
        return Wished(wish=Wish.SAY, text=_needed(word, rest, "hello"), volume=_SAID[word])
    try:
        wish = Wish(word)
    except ValueError:
        wish = Wish.NOTHING
    if wish is Wish.NOTHING:
        raise UsageProblem(f"there is no /{clip(word, 40)}; /help lists what there is")
    if wish in _BARE:
        if rest:
            raise UsageProblem(f"/{word} takes nothing behind it, not {clip(rest, 40)!r}")
        return Wished(wish=wish)
    if wish in _WORDY:
        return Wished(wish=wish, text=_needed(word, rest, _WORDY[wish]))
    return _measured(wish, rest)


def _measured(wish: Wish, rest: str) -> Wished:
    match wish:
        case Wish.PAY:
            return Wished(wish=wish, number=_whole(rest, "pay", LINDEN_PER_PAYMENT_MAX, "50"))
        case Wish.HISTORY:
            return Wished(wish=wish, number=_whole(rest, "history", 1_000, "20") if rest else 20)
        case Wish.WALK:
            return Wished(wish=wish, place=_place(rest))
        case _:
            return Wished(wish=wish, seconds=_seconds(rest))


def _needed(word: str, rest: str, example: str) -> str:
    if not rest:
        raise UsageProblem(f"/{word}: say what, as in: /{word} {example}")
    return rest


def _whole(rest: str, word: str, most: int, example: str) -> int:
    if not (rest.isascii() and rest.isdigit() and len(rest) <= len(str(most)) and 1 <= int(rest) <= most):
        raise UsageProblem(f"/{word}: give a whole number from 1 to {most}, as in: /{word} {example}")
    return int(rest)


def _place(rest: str) -> tuple[float, float]:
    parts = rest.split()
    try:
        x, y = (float(part) for part in parts)
        fits = abs(x) <= WALK_MAX_M and abs(y) <= WALK_MAX_M
    except ValueError:
        fits = False
    if not fits:
        raise UsageProblem("/walk: give two numbers, metres to the east and to the north, as in: /walk 20 -5")
    return x, y


def _seconds(rest: str) -> float:
    try:
        seconds = duration(rest)
    except ArgumentTypeError:
        seconds = WAIT_MAX_S + 1
    if seconds > WAIT_MAX_S:
        raise UsageProblem("/wait: give a time of at most a day, as in: /wait 30s")
    return seconds
