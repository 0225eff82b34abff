"""Plays the written conversations through ``gridagent chat`` and reduces what happened to a transcript.

Owns the reading of ``visitors.json`` (what is said), ``paraphrases.json`` (the same in other words) and
``transcripts/`` (what followed). The chat is the shipped command with the built-in offline model, in virtual time.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.main import main

__all__ = ("CONVERSATIONS", "HERE", "WORKING", "differs", "paraphrased", "play", "reduced", "transcript_file")

HERE: Final = Path(__file__).parent
_PEOPLE: Final = {"owner": "Olive", "visitor": "Vera", "second": "Sally"}
_SHOWN: Final = ("heard", "decided", "tool", "action", "denied", "asks", "outcome", "said", "im", "turn")

_AT_A_LOSS: Final = ("I'm afraid I only follow simple rules", "That is beyond my simple rules")
"""How the offline model begins when it has no rule for what it was told."""

Line = Sequence[str]
"""Who, how and what."""

CONVERSATIONS: Final[dict[str, list[list[str]]]] = {
    each["id"]: each["lines"] for each in json.loads((HERE / "visitors.json").read_text(encoding="utf-8"))
}
_PARAPHRASES: Final[dict[str, list[list[str]]]] = json.loads((HERE / "paraphrases.json").read_text(encoding="utf-8"))


WORKING_FILE: Final = HERE / "working.json"
WORKING: Final[dict[str, int]] = json.loads(WORKING_FILE.read_text(encoding="utf-8")) if WORKING_FILE.exists() else {}
"""How many of a conversation's three paraphrases come to the same, as measured when it was written down."""


def transcript_file(conversation: str) -> Path:
    """Return where a conversation's transcript stands."""
    return HERE / "transcripts" / f"{conversation}.txt"


def paraphrased(conversation: str) -> list[list[list[str]]]:
    """Return a conversation in other words, three times; what isn't said stays."""
    lines = CONVERSATIONS[conversation]
    return [
        [
            [who, how, other if how in {"say", "im"} else what]
            for (who, how, what), other in zip(lines, words, strict=True)
        ]
        for words in _PARAPHRASES[conversation]
    ]


def _script(lines: Sequence[Line]) -> str:
    """Write a chat script: everybody stands within earshot of the avatar, and who acted last is who is played."""
    typed = [
        *(
            f"/as {name}\n/come\n/walk 7 0"
            for name in dict.fromkeys(_PEOPLE[who] for who, *_ in lines if who in _PEOPLE)
        )
    ]
    played = ""
    for who, how, what in lines:
        if how == "restart":
            typed.append("/restart")
            continue
        if _PEOPLE[who] != played:
            played = _PEOPLE[who]
            typed.append(f"/as {played}")
        typed.append(what if how == "say" else f"/{how} {what}")
    return "\n".join(typed) + "\n"


def play(lines: Sequence[Line], folder: Path) -> list[dict[str, object]]:
    """Play a conversation and return its events, from the first line on."""
    script = folder / "script.txt"
    script.write_text(_script(lines), encoding="utf-8")
    out, complaints = io.StringIO(), io.StringIO()
    code = main(["chat", "--json", "--script", str(script)], stdin=None, stdout=out, stderr=complaints, environ={})
    assert (code, complaints.getvalue()) == (ExitCode.OK, "")
    return [json.loads(line) for line in out.getvalue().splitlines()]


def reduced(events: Sequence[dict[str, object]]) -> list[str]:
    """Return a readable line an event, without times and ids: what was heard, decided, done and said."""
    return [_line(each) for each in events if each["kind"] in _SHOWN]


def _line(event: dict[str, object]) -> str:
    kind = str(event["kind"])
    if kind == "decided":
        return f"  decided  {event['code']}"
    if kind in {"said", "im"}:
        return f"  {kind:<8} {event['text']}"
    words = [str(event[name]) for name in ("who", "role", "tool", "action", "code", "outcome") if event.get(name)]
    text = f": {event['text']}" if event.get("text") else ""
    return ("" if kind == "heard" else "  ") + f"{kind:<8} {' '.join(words)}{text}"


def differs(plain: Sequence[dict[str, object]], other: Sequence[dict[str, object]]) -> bool:
    """Tell whether two plays came to something else: other decisions, other acts, or silence instead of words."""
    return _essence(plain) != _essence(other)


def _essence(events: Sequence[dict[str, object]]) -> list[tuple[object, ...]]:
    """Return what was decided, looked up, refused and done, and whether the model knew what to say; not its wording."""
    found: list[tuple[object, ...]] = []
    for each in events:
        if each["kind"] in {"decided", "denied", "asks", "action", "tool"}:
            found.append((each["kind"], each.get("action"), each.get("code"), each.get("tool")))
        elif each["kind"] in {"said", "im"}:
            found.append((each["kind"], str(each["text"]).startswith(_AT_A_LOSS)))
    return found
