"""What the replies of one turn took, added up.

Owns the adding alone; what it may cost, and what is reserved for it, is the business of whoever runs turns. Pure.

Invariant: a sum is of money only while every reply said what it cost (Spec: MND-12).
"""

from __future__ import annotations

from gridagent.language import LlmReply, Usage

__all__ = ("Tally",)


class Tally:
    """The sums of one turn."""

    __slots__ = ("cost_micros", "usage")

    def __init__(self) -> None:
        self.usage = Usage(reported=True)
        self.cost_micros: int | None = 0
        """Millionths; None where a reply did not say."""

    def add(self, reply: LlmReply) -> None:
        """Add a reply."""
        before, more = self.usage, reply.usage
        self.usage = Usage(
            input_tokens=before.input_tokens + more.input_tokens,
            cached_tokens=before.cached_tokens + more.cached_tokens,
            output_tokens=before.output_tokens + more.output_tokens,
            reported=before.reported and more.reported,
        )
        known = self.cost_micros is not None and reply.cost_micros is not None
        self.cost_micros = (self.cost_micros or 0) + (reply.cost_micros or 0) if known else None
