"""Policy gateway: decide and redeem with every rule on, beside a toy that only counts and keeps tokens.

The toy is what a gateway would cost without a canonical form, rules, roles, sliding windows, effect keys and
audit: one counter and one set. The ratio says how much of the toy's speed is left with all of that.
Budget: at least 60,000 pairs a second on one core.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import msgspec

from gridagent.actions import Confirmed, EvidenceKind, Refused, Say
from gridagent.authority import ActionRequest, Origin, Principal
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.policy import Authorized, Denied, Gateway, Instant, Policy

OWNER = "00000000-0000-4000-8000-00000000000a"
PAIRS = 1_000  # as many as the ledger holds open
ROUNDS = 50
WIDE = 1_000_000

SECTION = {
    "preset": "guide",
    "budgets": {
        "calls.speak": [
            {"per": scope, "limit": WIDE, "window_s": 60} for scope in ("principal", "strangers", "global")
        ],
        "speech_bytes": [
            {"per": scope, "limit": 60 * WIDE, "window_s": 60} for scope in ("principal", "strangers", "global")
        ],
    },
    "patterns": {"words": {"action": "say", "argument": "text", "contains": ["sesame"], "then": "deny"}},
}


def opened() -> Gateway:
    """Open a gateway on which the owner may speak in public, with budgets and a pattern to pass."""
    tokens = itertools.count()
    policy = Policy(msgspec.convert(SECTION, PolicySection), RolesSection(owners=(OWNER,)))
    gateway = Gateway(policy, tokens=lambda: str(next(tokens)), audit=lambda _: None)
    gateway.open_generation(1)
    return gateway


def requests(action: object, who: str) -> list[ActionRequest]:
    """Write requests of one principal, each of its own cause."""
    return [
        ActionRequest(
            action=action,
            principal=Principal(avatar_id=who),
            origin=Origin.PUBLIC_CHAT,
            generation=1,
            correlation="c",
            cause=f"utterance-{number}",
        )
        for number in range(PAIRS)
    ]


def best(run, *, per: int) -> float:
    """Return how many a second of processor time the best round did."""
    times = []
    for _ in range(ROUNDS):
        prepared = run()
        began = time.process_time()
        prepared()
        times.append(time.process_time() - began)
    return per / min(times)


def pairs(*, settle: bool):
    """Prepare a round of decide and redeem on a new gateway, with or without settling each."""
    gateway, asked, now = opened(), requests(Say(text="hello there, this is a sentence"), OWNER), Instant(1.7e9, 5.0)
    outcome = Confirmed(evidence=EvidenceKind.OWN_ECHO)

    def run() -> None:
        decide, redeem, done = gateway.decide, gateway.redeem, gateway.settle
        for request in asked:
            decision = decide(request, now)
            assert type(decision) is Authorized
            redeem(decision.handle, generation=1, now=now)
            if settle:
                done(decision.effect, outcome, now)

    return run


def denials():
    """Prepare a round of requests that the matrix denies."""
    gateway, asked, now = opened(), requests(Say(text="hello"), OWNER), Instant(1.7e9, 5.0)
    asked = [msgspec.structs.replace(request, origin=Origin.MCP) for request in asked]

    def run() -> None:
        for request in asked:
            assert type(gateway.decide(request, now)) is Denied

    return run


def toy():
    """Prepare a round of the toy: a dictionary of budgets and a set of tokens."""
    asked = requests(Say(text="hello there, this is a sentence"), OWNER)
    allowed = {(Origin.PUBLIC_CHAT, "speak")}
    budget = {OWNER: WIDE, "global": WIDE}
    live: dict[object, object] = {}

    def decide(request: ActionRequest) -> object:
        if (request.origin, request.action.spec.capability.value) not in allowed:
            return Refused(reason="no")
        who = request.principal.key
        if budget[who] < 1 or budget["global"] < 1:
            return Refused(reason="spent")
        budget[who] -= 1
        budget["global"] -= 1
        token = object()
        live[token] = request.action
        return token

    def redeem(token: object) -> object:
        return live.pop(token)

    def run() -> None:
        for request in asked:
            redeem(decide(request))

    return run


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    plain = best(toy, per=PAIRS)
    pair = best(lambda: pairs(settle=False), per=PAIRS)
    yield {
        "name": "gateway: decide + redeem, every rule on",
        "value": pair,
        "unit": "pairs/s",
        "ratio": pair / plain,
        "of": "a toy of one counter and one set",
        "goal": 60_000,
    }
    whole = best(lambda: pairs(settle=True), per=PAIRS)
    yield {
        "name": "gateway: decide + redeem + settle",
        "value": whole,
        "unit": "actions/s",
        "ratio": whole / plain,
        "of": "a toy of one counter and one set",
    }
    denied = best(denials, per=PAIRS)
    yield {
        "name": "gateway: deny by the matrix",
        "value": denied,
        "unit": "denials/s",
        "ratio": denied / plain,
        "of": "a toy of one counter and one set",
    }
    yield {"name": "gateway: the toy", "value": plain, "unit": "pairs/s"}


if __name__ == "__main__":
    for figure in figures():
        print(figure)
