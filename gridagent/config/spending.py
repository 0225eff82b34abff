"""The configuration keys of what thinking costs and may cost (Spec: MND-12).

Owns two sections below ``llm`` with their bounds; decides nothing: `gridagent.llm.accounting` keeps the books. May
import only L0. Its invariant: every scope has a limit, so that no configuration lets an avatar spend without end.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from gridagent.limits import Bounded

__all__ = ("PriceSection", "SpendSection")

TokenCount: TypeAlias = Annotated[int, Meta(ge=0, le=10**12)]
Money: TypeAlias = Annotated[float, Meta(ge=0.0, le=1_000_000.0)]


class PriceSection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a million tokens cost, in the currency you pay in; used where the provider doesn't say what it took."""

    input: Money = 0.0
    """What is sent."""
    cached: Money | None = None
    """What is sent and the provider had cached; null costs as other input."""
    output: Money = 0.0
    """What is answered."""


class SpendSection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most that thinking may take; then the avatar says that it is tired. A day is the last 24 hours."""

    turn_tokens: TokenCount = 200_000
    """Tokens of one answer."""
    turn_money: Money = 0.2
    """Money of one answer, in the currency of the prices."""
    person_tokens: TokenCount = 2_000_000
    """Tokens of one person's conversations with any avatar, in a day."""
    person_money: Money = 1.0
    """Money of the same."""
    avatar_tokens: TokenCount = 20_000_000
    """Tokens of one avatar, in a day."""
    avatar_money: Money = 5.0
    """Money of the same."""
    fleet_tokens: TokenCount = 200_000_000
    """Tokens of all avatars together, in a day."""
    fleet_money: Money = 20.0
    """Money of the same."""
