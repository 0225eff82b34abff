"""Claims about what one avatar's thinking is charged."""

import pytest

from gridagent.language import LlmReply, LlmRequest, Usage, UserTurn
from gridagent.llm.accounting import Accounts, Limit, Scope, SpendLimits
from gridagent.llm.prices import Prices, most_of
from gridagent.llm.purse import AvatarPurse

REQUEST = LlmRequest(turns=(UserTurn(text="hello"),), max_reply_tokens=100)
PRICES = Prices(input_micros=1_000_000, output_micros=10_000_000)
USAGE = Usage(input_tokens=10, output_tokens=5, reported=True)


def purse(prices=PRICES, **limits):
    """Build a purse and the books behind it."""
    accounts = Accounts(SpendLimits(**limits))
    return AvatarPurse(accounts, "robin", prices), accounts


def reserve(of, turn="t", now=1.0):
    """Reserve for one request."""
    return of.reserve(turn=turn, person="p", request=REQUEST, now=now)


def test_what_is_reserved_is_the_most_a_request_can_take():
    """Spec: MND-12 — every scope holds the most before anything is awaited; what it really took replaces it."""
    mine, accounts = purse()
    held = reserve(mine)
    most = most_of(REQUEST, PRICES)
    for scope, who in ((Scope.TURN, "robin/t"), (Scope.PERSON, "p"), (Scope.DAY, "robin"), (Scope.FLEET, "")):
        assert accounts.used(scope, who, now=1.0) == most, scope
    mine.settle(held, LlmReply(text="hi", usage=USAGE), now=2.0)
    used = accounts.used(Scope.PERSON, "p", now=2.0)
    assert (used.tokens, used.micros) == (15, 60)
    mine.end_turn("t")
    assert accounts.used(Scope.TURN, "robin/t", now=2.0).tokens == 0
    mine.forget("p")
    assert accounts.used(Scope.PERSON, "p", now=2.0).tokens == 0


@pytest.mark.parametrize(
    ("prices", "cost", "micros"), [(PRICES, 7, 7), (None, 7, 7), (None, None, 0), (PRICES, None, 60)]
)
def test_what_a_provider_says_it_costs_counts_before_our_prices(prices, cost, micros):
    """Spec: MND-12 — the provider's own figure, else the configured prices, else nothing."""
    mine, accounts = purse(prices)
    mine.settle(reserve(mine), LlmReply(text="hi", usage=USAGE, cost_micros=cost), now=2.0)
    assert accounts.used(Scope.DAY, "robin", now=2.0).micros == micros


def test_a_request_without_a_reply_counts_as_all_that_was_reserved():
    """Spec: MND-12 — it may have been charged, so nothing of it is given back."""
    mine, accounts = purse()
    mine.settle(reserve(mine), None, now=2.0)
    assert accounts.used(Scope.DAY, "robin", now=2.0) == most_of(REQUEST, PRICES)


def test_what_is_not_there_is_not_reserved():
    """Spec: MND-12 — over a limit there is no reservation, and two avatars' turns of one name are two turns."""
    mine, accounts = purse(turn=Limit(tokens=150, micros=10**9))
    assert reserve(mine) is not None
    assert reserve(mine) is None
    assert AvatarPurse(accounts, "wren").reserve(turn="t", person="p", request=REQUEST, now=1.0) is not None
