"""From history to a request: a bounded projection that never parts a call from its result.

Owns what of a conversation a model is shown, in which role and behind which label, and what gives way when it does
not fit. History is input and is never changed; every request of a turn is made from the same pieces, made once.
Pure.

Invariant: a request has its calls and results paired, is within its bounds by our own count, which is never lower
than what goes over the wire, and drops whole exchanges, the oldest first; system text is ours and the operator's
alone (Spec: MND-4, BND-8, BND-17).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import attrs
import msgspec

from gridagent.authority import TextSource
from gridagent.conversation.entries import Entry, Finding, Heard, Said, Summary, Used
from gridagent.errors import InternalError
from gridagent.language import (
    AssistantTurn,
    ModelTurn,
    SystemTurn,
    ToolCall,
    ToolDescriptor,
    ToolTurn,
    UserTurn,
    pairing_problem,
)
from gridagent.limits import MESSAGE_MAX_BYTES, clip_bytes
from gridagent.turn.brief import Brief, TurnLimits
from gridagent.turn.labels import heard_text, label, labelled, shown_name, sound
from gridagent.turn.prompts import system_text

__all__ = ("Assembly", "Round", "result_turn", "size_of_tools", "size_of_turn")

TURN_BYTES: Final = 160
"""What a wire format adds around one entry at most."""
CALL_BYTES: Final = 160
"""Likewise around one call or one tool."""
ENVELOPE_BYTES: Final = 1_024
"""Likewise around everything, the model's name included."""
BYTES_PER_TOKEN: Final = 3
ENTRY_TOKENS: Final = 8
_MEMORY_NAME: Final = "Memory"
_PLACE_NAME: Final = "World"
_TOOL_LISTS_MAX: Final = 16
_encode: Final = msgspec.json.Encoder().encode


@attrs.frozen
class Round:
    """Entries that stay together: an exchange of earlier, or a reply with the results of its calls."""

    turns: tuple[ModelTurn, ...]
    wire_bytes: int
    tokens: int


def _round(turns: Iterable[ModelTurn]) -> Round:
    kept = tuple(turns)
    sizes = [size_of_turn(turn) for turn in kept]
    return Round(kept, sum(size for size, _ in sizes), sum(tokens for _, tokens in sizes))


def size_of_turn(turn: ModelTurn) -> tuple[int, int]:
    """Return how many bytes of a request an entry takes at most, and how many tokens."""
    wire = len(_encode(turn.text)) + TURN_BYTES
    bare = len(turn.text) if turn.text.isascii() else len(turn.text.encode("utf-8", "replace"))
    if isinstance(turn, AssistantTurn):
        for call in turn.tool_calls:
            wire += len(_encode(call.arguments)) + len(_encode(call.id)) + len(_encode(call.name)) + CALL_BYTES
            bare += len(call.name) + len(call.arguments.encode("utf-8", "replace"))
    elif isinstance(turn, ToolTurn):
        wire += len(_encode(turn.call_id)) + len(_encode(turn.name))
    return wire, -(-bare // BYTES_PER_TOKEN) + ENTRY_TOKENS


@lru_cache(maxsize=_TOOL_LISTS_MAX)
def size_of_tools(tools: tuple[ToolDescriptor, ...]) -> tuple[int, int]:
    """Likewise for the tools that are shown; the same few lists are, over and over."""
    wire = sum(
        len(_encode(each.name)) + len(_encode(each.description)) + len(each.schema) + CALL_BYTES for each in tools
    )
    return wire, -(-wire // BYTES_PER_TOKEN)


def _sound_turn(turn: ModelTurn) -> ModelTurn:
    """Return an entry that can be written as UTF-8; what a call was judged by stays as the model wrote it."""
    match turn:
        case AssistantTurn():
            calls = tuple(
                call
                if call.name.isascii() and call.arguments.isascii()
                else msgspec.structs.replace(call, name=sound(call.name), arguments=sound(call.arguments))
                for call in turn.tool_calls
            )
            return AssistantTurn(text=sound(turn.text), tool_calls=calls)
        case ToolTurn() if not turn.name.isascii():
            return msgspec.structs.replace(turn, name=sound(turn.name))
        case _:
            return turn


def result_turn(turn: ToolTurn) -> ToolTurn:
    """Return a result that no chat template takes a tag of its own from; as JSON it says the same."""
    return msgspec.structs.replace(turn, text=turn.text.replace("<", "\\u003c")) if "<" in turn.text else turn


class Assembly:
    """The pieces of one turn's requests.

    Args:
        brief: what the turn is begun with.
        limits: what a request may take.

    Bounds: those of the brief; nothing grows but the rounds that `add` is given.
    """

    __slots__ = (
        "_brief",
        "_history",
        "_labels",
        "_limits",
        "_now",
        "_rounds",
        "_system",
        "_taken",
        "_tokens_max",
    )

    def __init__(self, brief: Brief, limits: TurnLimits) -> None:
        self._brief = brief
        self._limits = limits
        self._tokens_max = limits.request_max_tokens
        self._labels: dict[tuple[str, str | None, TextSource], str] = {}  # at most one an entry of the brief
        self._taken: set[str] = set()  # ids of calls; one a call of the history and of the turn
        name = shown_name(brief.persona.name or brief.self_name)
        self._system = system_text(brief.persona, name, brief.mode)
        # Each exchange is an entry at least, so older ones than these could not be in any request.
        self._history = [_round(self._shown(each)) for each in [*exchanges(brief)][-limits.turns_max :]]
        if brief.recalled:
            told = (
                UserTurn(text=labelled(_MEMORY_NAME, each.about, TextSource.MEMORY, each.text))
                for each in brief.recalled
            )
            self._history.append(_round(told))
        self._now = _round([self._moment(), *map(self._heard, brief.now_said)])
        self._rounds: list[Round] = []

    def add(self, turns: Iterable[ModelTurn]) -> None:
        """Add a reply of this turn with the results of its calls."""
        self._rounds.append(_round(map(_sound_turn, turns)))

    def fresh_ids(self, calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
        """Return calls under ids that no other call of the conversation has."""
        kept = []
        for call in calls:
            call_id = sound(call.id)
            number = len(self._taken)
            while not call_id or call_id in self._taken:
                number += 1
                call_id = f"call{number:05}"
            self._taken.add(call_id)
            kept.append(call if call_id == call.id else msgspec.structs.replace(call, id=call_id))
        return tuple(kept)

    def shrink(self, tools: tuple[ToolDescriptor, ...]) -> bool:
        """Give up most of the history, since a request was too large for the model; tell whether there was any.

        Args:
            tools: what was shown beside it.
        """
        turns = self.request(tools, "")
        if turns is None or not self._history:
            return False
        sizes = [size_of_turn(turn)[1] for turn in turns]
        history = sizes[1 : len(sizes) - len(self._now.turns) - sum(len(each.turns) for each in self._rounds)]
        self._tokens_max = sum(sizes) + size_of_tools(tools)[1] - sum(history) * 3 // 4
        return bool(history)

    def request(self, tools: tuple[ToolDescriptor, ...], note: str) -> tuple[ModelTurn, ...] | None:
        """Return the entries of a request, or None where not even the newest ones fit.

        Args:
            tools: what is shown beside them.
            note: what is added to the system prompt; see `note_for`.

        Raises:
            InternalError: calls and results are not paired; a mistake of ours that no provider gets to see.
        """
        system = _round([SystemTurn(text=f"{self._system}\n\n{note}" if note else self._system)])
        fixed = (system, self._now, *self._rounds[-1:])
        shown_bytes, shown_tokens = size_of_tools(tools)
        room = _Room(
            turns=self._limits.turns_max,
            wire_bytes=self._limits.request_max_bytes - shown_bytes - ENVELOPE_BYTES,
            tokens=self._tokens_max - shown_tokens,
        )
        if not all(map(room.take, fixed)):
            return None
        own = list(_newest(self._rounds[:-1], room))
        history = list(_newest(self._history, room)) if len(own) == len(self._rounds[:-1]) else []
        kept = (system, *history, self._now, *own, *self._rounds[-1:])
        turns = tuple(turn for each in kept for turn in each.turns)
        problem = pairing_problem(turns)
        if problem is not None:
            raise InternalError(f"a request would be refused: {problem}")
        return turns

    # --- how each thing is shown -------------------------------------------------------------------

    def _moment(self) -> UserTurn:
        """Say what time it is, where this is and who is speaking: ours in front, names of others behind a label."""
        brief = self._brief
        told = [f"It is {_clock(brief.wall)}."] if _clock(brief.wall) else []
        if brief.surroundings_line:
            told.append(heard_text(brief.surroundings_line))
        speakers = dict.fromkeys((each.who, each.avatar_id) for each in brief.now_said if each.avatar_id)
        told += [f"{shown_name(who)} is avatar {avatar_id}." for who, avatar_id in speakers]
        return UserTurn(text=labelled(_PLACE_NAME, None, TextSource.OBJECT, " ".join(told) or "-"))

    def _shown(self, exchange: Sequence[Entry]) -> Iterator[ModelTurn]:
        # What was looked up is kept behind what was then said, and came before it.
        in_order = sorted(exchange, key=_is_said) if isinstance(exchange[-1], Used) else exchange
        for entry in in_order:
            match entry:
                case Heard():
                    yield self._heard(entry)
                case Said(restored=True):
                    own = self._brief.persona.name or self._brief.self_name
                    told = clip_bytes(entry.text, MESSAGE_MAX_BYTES)  # a label and what is escaped need room too
                    yield UserTurn(text=labelled(own, None, TextSource.MEMORY, told))
                case Said():
                    yield AssistantTurn(text=sound(entry.text))
                case Used(restored=True):
                    for each in entry.evidence:
                        told = f"{each.tool} {_decoded(each.arguments)}: {_decoded(each.data)}"
                        yield UserTurn(text=labelled(_MEMORY_NAME, None, TextSource.MEMORY, told))
                case Used():
                    yield from self._used(entry)
                case _:
                    yield UserTurn(text=labelled(_MEMORY_NAME, None, TextSource.MEMORY, entry.text))

    def _heard(self, entry: Heard) -> UserTurn:
        who = (entry.who, entry.avatar_id, entry.source)
        shown = self._labels.get(who)
        if shown is None:
            shown = self._labels[who] = label(*who)
        return UserTurn(text=f"{shown}: {heard_text(entry.text)}")

    def _used(self, entry: Used) -> Iterator[ModelTurn]:
        """Show what a turn of earlier looked up as calls and results, and how long ago that was."""
        passed = self._brief.wall - entry.at
        ago = int(min(passed, _AGO_MAX_S)) if passed > 0 else 0
        for begin in range(0, len(entry.evidence), _CALLS_SHOWN):
            part = entry.evidence[begin : begin + _CALLS_SHOWN]
            calls = self.fresh_ids(
                ToolCall(id=_old_id(each), name=each.tool, arguments=_decoded(each.arguments)) for each in part
            )
            yield AssistantTurn(tool_calls=calls)
            for call, each in zip(calls, part, strict=True):
                data = f',"data":{_decoded(each.data)}' if each.data else ""
                told = f'{{"ok":true,"status":"done","seconds_ago":{ago}{data}}}'
                yield result_turn(ToolTurn(call_id=call.id, name=each.tool, text=told))


_CALLS_SHOWN: Final = 64
_AGO_MAX_S: Final = 1e9


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _old_id(finding: Finding) -> str:
    return f"was{zlib.crc32(finding.tool.encode() + finding.arguments):08x}"


def _clock(wall: float) -> str:
    try:
        return f"{datetime.fromtimestamp(wall, UTC):%A %Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


# --- what is in, and what gives way -----------------------------------------------------------------


@attrs.define
class _Room:
    """What is left of a request's bounds."""

    turns: int
    wire_bytes: int
    tokens: int

    def take(self, wanted: Round) -> bool:
        """Take the room for a round, if there is enough."""
        turns, wire_bytes = self.turns - len(wanted.turns), self.wire_bytes - wanted.wire_bytes
        tokens = self.tokens - wanted.tokens
        if turns < 0 or wire_bytes < 0 or tokens < 0:
            return False
        self.turns, self.wire_bytes, self.tokens = turns, wire_bytes, tokens
        return True


def _newest(rounds: Sequence[Round], room: _Room) -> Iterator[Round]:
    """Return the newest rounds that fit, in order; what is older than one that does not fit is left out too."""
    kept = 0
    for each in reversed(rounds):
        if not room.take(each):
            break
        kept += 1
    return iter(rounds[len(rounds) - kept :])


def exchanges(brief: Brief) -> Iterator[tuple[Entry, ...]]:
    """Part history into exchanges: what was heard, with what was looked up and answered.

    What the turn is about is left out, since it comes last anyway, and so is every exchange in which an earlier
    persona spoke or looked (Spec: MND-4).
    """
    named = {each.utterance_id for each in brief.now_said if each.utterance_id}
    now = brief.now_said
    last = max(
        (at for at, each in enumerate(brief.history) if isinstance(each, Heard) and _is_one_of(each, now, named)),
        default=-1,
    )
    exchange: list[Entry] = []
    ours, answered = True, False
    for at, entry in enumerate(brief.history):
        is_heard = isinstance(entry, Heard)
        # What was heard behind it has not had its turn yet.
        if isinstance(entry, Heard) and last >= 0 and (at > last or _is_one_of(entry, now, named)):
            continue
        if (is_heard or isinstance(entry, Summary)) and answered:
            if ours:
                yield tuple(exchange)
            exchange, ours, answered = [], True, False
        exchange.append(entry)
        answered = answered or not is_heard
        if isinstance(entry, Said | Used) and entry.persona != brief.persona.digest:
            ours = False
    if exchange and ours:
        yield tuple(exchange)


def _is_one_of(entry: Heard, now: tuple[Heard, ...], named: set[str]) -> bool:
    return entry.utterance_id in named or any(entry.at == each.at and entry == each for each in now)


def _is_said(entry: Entry) -> bool:
    return isinstance(entry, Said)
