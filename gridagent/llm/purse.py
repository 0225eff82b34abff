"""One avatar's way to the books: what its thinking is charged, before and after each request.

Owns how a request becomes an amount and whose window it counts in; the books are `gridagent.llm.accounting`'s, one
set for all avatars of a service. The thinker reserves before it asks, without waiting, and settles with what came.
Pure.

Invariant: a request that may have been charged and brought no reply counts as all that was reserved (Spec: MND-12).
"""

from __future__ import annotations

from gridagent.language import LlmReply, LlmRequest
from gridagent.llm.accounting import Accounts, Reservation, Spent
from gridagent.llm.prices import Prices, Spend, cost_of, most_of

__all__ = ("AvatarPurse",)


class AvatarPurse:
    """What one avatar may spend on thinking.

    Args:
        accounts: the service's.
        avatar: whose purse it is.
        prices: of a million tokens; None where thinking costs nothing, or nobody said.
    """

    __slots__ = ("_accounts", "_avatar", "_held", "_prices")

    def __init__(self, accounts: Accounts, avatar: str, prices: Prices | None = None) -> None:
        self._accounts = accounts
        self._avatar = avatar
        self._prices = prices
        self._held: dict[int, Reservation] = {}  # one a request that is out

    def reserve(self, *, turn: str, person: str, request: LlmRequest, now: float) -> int | None:
        """Reserve the most that a request can take, and return its number; None says that it is not there.

        Args:
            turn: the turn's correlation id; one of another avatar may be called the same.
            person: whose words led to it.
            request: what is to be asked.
            now: monotonic clock, in seconds.
        """
        most = most_of(request, self._prices)
        held = self._accounts.reserve(turn=self._named(turn), person=person, avatar=self._avatar, most=most, now=now)
        if isinstance(held, Spent):
            return None
        self._held[held.number] = held
        return held.number

    def settle(self, held: int, reply: LlmReply | None, *, now: float) -> None:
        """Put what a request took in place of what was reserved under a number, once."""
        reserved = self._held.pop(held)
        self._accounts.settle(reserved, reserved.most if reply is None else self._spend(reply), now=now)

    def end_turn(self, turn: str) -> None:
        """Close a turn's book."""
        self._accounts.end_turn(self._named(turn))

    def forget(self, person: str) -> None:
        """Drop a person's window."""
        self._accounts.forget(person)

    def _spend(self, reply: LlmReply) -> Spend:
        tokens = reply.usage.input_tokens + reply.usage.output_tokens
        if reply.cost_micros is not None:
            return Spend(tokens=tokens, micros=reply.cost_micros)
        return Spend(tokens=tokens, micros=0 if self._prices is None else cost_of(reply.usage, self._prices))

    def _named(self, turn: str) -> str:
        return f"{self._avatar}/{turn}"
