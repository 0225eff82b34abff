"""A reply put together from what a codec read, within its bounds.

Owns the rules that hold whatever the provider: bytes and calls are counted as they come, ids are made unique,
thinking in front of the text is left out, and a missing reason to stop is inferred only from a reply that is
whole. Both codecs, streamed and not, end here; knows no wire.

Invariant: a reply over a bound is refused as a whole, so none of its calls can run (Spec: BND-8, BND-17,
Fault: 22).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gridagent.language import (
    AssistantTurn,
    BadReply,
    FinishReason,
    LlmReply,
    LlmRequest,
    ToolCall,
    Usage,
)
from gridagent.limits import TOOL_CALLS_PER_REPLY_MAX, clip
from gridagent.llm.prices import estimate_input_tokens, estimate_tokens
from gridagent.llm.untrusted import unusable

__all__ = ("ReplyAssembly", "ThinkFilter")

_ID_MAX_CHARS: Final = 64
_NAME_MAX_CHARS: Final = 64
_THINK: Final = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"))
_UNDECIDED_MAX_CHARS: Final = 256
_LONGEST: Final = max(len(begin) for begin, _ in _THINK)


class ThinkFilter:
    """Leaves out a block of thinking that stands in front of the text, in pieces of any size.

    Servers that do not part reasoning from the answer send it as ``<think>…</think>`` first. Only the very
    beginning counts: tags further on are text, and the sanitiser's business.
    """

    __slots__ = ("_end", "_kept", "_open")

    def __init__(self) -> None:
        self._open = True
        """Whether the text itself has not begun."""
        self._kept = ""
        self._end = ""

    def feed(self, text: str) -> str:
        """Return what of the next piece is text."""
        if not self._open:
            return text
        self._kept += text
        if not self._end:
            lead = self._kept.lstrip()
            for begin, end in _THINK:
                if lead.startswith(begin):
                    self._end = end
                    self._kept = lead[len(begin) :]
                    break
            else:
                # Undecided while it may be the beginning of a tag; what is kept stays short.
                undecided = len(lead) < _LONGEST and any(begin.startswith(lead) for begin, _ in _THINK)
                if undecided and len(self._kept) <= _UNDECIDED_MAX_CHARS:
                    return ""
                return self._release(lead)
        found = self._kept.find(self._end)
        if found < 0:
            self._kept = self._kept[-(len(self._end) - 1) :]
            return ""
        after = self._kept[found + len(self._end) :].lstrip()
        self._end = ""
        # Another block may follow, and blank lines before the answer belong to neither.
        self._kept = ""
        return self.feed(after) if after else ""

    def rest(self) -> str:
        """Return what was held back because it might have begun a block; the text has ended."""
        return "" if self._end else self._release(self._kept.lstrip())

    def _release(self, text: str) -> str:
        self._open = False
        self._kept = ""
        return text


class _Call:
    __slots__ = ("arguments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id = call_id
        self.name = name
        self.arguments: list[str] = []


class ReplyAssembly:
    """Collects text and calls of one reply.

    Args:
        request: what was asked; its bound on bytes holds, and the ids in it are taken.

    Bounds: ``request.max_reply_bytes`` of text, names and arguments, and `TOOL_CALLS_PER_REPLY_MAX` calls.
    """

    __slots__ = ("_bytes", "_calls", "_max", "_request", "_text", "_think")

    def __init__(self, request: LlmRequest) -> None:
        self._request = request
        self._max = request.max_reply_bytes
        self._bytes = 0
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._think = ThinkFilter()

    @property
    def calls(self) -> int:
        """How many calls there are so far."""
        return len(self._calls)

    @property
    def empty(self) -> bool:
        """Whether there is neither text nor call."""
        return not self._calls and not any(self._text)

    def call_id(self, index: int) -> str:
        """Return the id a call was begun with."""
        return self._calls[index].id

    def add_text(self, text: str) -> str:
        """Take a piece of text and return what of it can be shown.

        Raises:
            LlmFailure: the reply is too long.
        """
        self._count(text)
        shown = self._think.feed(text)
        if shown:
            self._text.append(shown)
        return shown

    def begin_call(self, call_id: str, name: str) -> int:
        """Begin a call and return its number.

        Raises:
            LlmFailure: there are too many.
        """
        if len(self._calls) >= TOOL_CALLS_PER_REPLY_MAX:
            raise unusable(BadReply.TOO_MANY_CALLS)
        self._count(name)
        self._calls.append(_Call(call_id, name))
        return len(self._calls) - 1

    def add_to_call(self, index: int, *, call_id: str = "", name: str = "", arguments: str = "") -> None:
        """Add to a call that has begun; id and name come whole, and only where they were empty.

        Raises:
            LlmFailure: the reply is too long.
        """
        call = self._calls[index]
        self._count(name)
        self._count(arguments)
        call.id = call.id or call_id
        call.name = call.name or name
        if arguments:
            call.arguments.append(arguments)

    def finish(self, reason: FinishReason | None, usage: Usage | None, cost_micros: int | None = None) -> LlmReply:
        """Return the reply.

        Args:
            reason: why it stopped; None where a whole reply did not say.
            usage: what the provider reported, if it did.
            cost_micros: likewise.
        """
        rest = self._think.rest()
        if rest:
            self._text.append(rest)
        calls = tuple(self._named())
        if reason is not FinishReason.LENGTH:
            # Servers say "stop" beside calls, and "tool_calls" beside none: what is there decides.
            reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        return LlmReply(
            text="".join(self._text),
            tool_calls=calls,
            finish=reason,
            usage=usage if usage is not None else self._estimated(),
            cost_micros=cost_micros,
        )

    def _estimated(self) -> Usage:
        return Usage(input_tokens=estimate_input_tokens(self._request), output_tokens=estimate_tokens(self._bytes))

    def _named(self) -> Iterator[ToolCall]:
        """Yield the calls, each under an id that no other call of the conversation has."""
        taken = {call.id for turn in self._request.turns if isinstance(turn, AssistantTurn) for call in turn.tool_calls}
        wished = [call.id for call in self._calls]
        number = 0
        for call in self._calls:
            call_id = call.id
            while not call_id or len(call_id) > _ID_MAX_CHARS or call_id in taken:
                number += 1
                # Nine letters and digits: the one form that the strictest chat templates take back.
                call_id = f"call{number:05}"
                if call_id in wished:
                    call_id = ""
            taken.add(call_id)
            yield ToolCall(id=call_id, name=clip(call.name, _NAME_MAX_CHARS), arguments="".join(call.arguments))

    def _count(self, text: str) -> None:
        self._bytes += len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if self._bytes > self._max:
            raise unusable(BadReply.TOO_LONG)
