"""What thinking costs: amounts, prices and estimates from above; pure.

Owns the arithmetic of tokens and money, in whole numbers rounded up. `gridagent.llm.accounting` keeps the books
with it, the codecs estimate what a provider does not report.

Invariant: an estimate is never lower than what a provider counts for text of the languages we know, and no
fraction of a charge is lost (Spec: MND-12).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from gridagent.language import AssistantTurn, LlmRequest, ToolDescriptor, Usage

__all__ = ("Prices", "Spend", "cost_of", "estimate_input_tokens", "estimate_tokens", "most_of")

_BYTES_PER_TOKEN: Final = 3
"""English has about four bytes to a token; three over-counts, and for other scripts a token is a character."""
_TURN_TOKENS: Final = 8
_TOOL_LISTS_MAX: Final = 16
"""Lists of tools whose size is remembered; the same few are shown over and over."""
"""What a provider adds around each turn and each tool."""
_PER: Final = 1_000_000


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens cost, in millionths of a currency unit (so $3 is 3,000,000)."""

    input_micros: Annotated[int, Meta(ge=0, le=10**12)]
    output_micros: Annotated[int, Meta(ge=0, le=10**12)]
    cached_micros: Annotated[int, Meta(ge=0, le=10**12)] | None = None
    """Input that the provider had cached; None costs as other input."""


class Spend(msgspec.Struct, frozen=True, kw_only=True):
    """An amount: tokens of both ways together, and money."""

    tokens: int = 0
    micros: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(tokens=self.tokens + other.tokens, micros=self.micros + other.micros)


def estimate_tokens(size: int) -> int:
    """Return an estimate from above of the tokens in ``size`` bytes of UTF-8."""
    return -(-size // _BYTES_PER_TOKEN)


@lru_cache(maxsize=_TOOL_LISTS_MAX)
def _size_of_tools(tools: tuple[ToolDescriptor, ...]) -> int:
    return sum(len(tool.name) + len(tool.description.encode("utf-8", "replace")) + len(tool.schema) for tool in tools)


def estimate_input_tokens(request: LlmRequest) -> int:
    """Return an estimate from above of the tokens that a request is."""
    size = 0
    for turn in request.turns:
        size += len(turn.text) if turn.text.isascii() else len(turn.text.encode("utf-8", "surrogatepass"))
        if isinstance(turn, AssistantTurn):
            size += sum(len(call.name) + len(call.arguments.encode("utf-8", "replace")) for call in turn.tool_calls)
    size += _size_of_tools(request.tools)
    return estimate_tokens(size) + _TURN_TOKENS * (len(request.turns) + len(request.tools))


def cost_of(usage: Usage, prices: Prices) -> int:
    """Return what it cost, in millionths, rounded up."""
    cached = min(usage.cached_tokens, usage.input_tokens)
    cached_price = prices.input_micros if prices.cached_micros is None else prices.cached_micros
    total = (usage.input_tokens - cached) * prices.input_micros + cached * cached_price
    return -(-(total + usage.output_tokens * prices.output_micros) // _PER)


def most_of(request: LlmRequest, prices: Prices | None) -> Spend:
    """Return the most that a request can take."""
    usage = Usage(input_tokens=estimate_input_tokens(request), output_tokens=request.max_reply_tokens)
    return Spend(
        tokens=usage.input_tokens + usage.output_tokens, micros=0 if prices is None else cost_of(usage, prices)
    )
