"""A bench for gateway tests: one gateway, two clocks that the test turns, and every audit row."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from gridagent.actions import Confirmed, PayAvatar, Say
from gridagent.authority import ActionRequest, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.policy import Gateway, Instant, Policy
from gridagent.policy.grants import GrantTerms
from gridagent.policy.history import History

OWNER = "00000000-0000-4000-8000-00000000000a"
TRUSTED = "00000000-0000-4000-8000-00000000000b"
OTHER_TRUSTED = "00000000-0000-4000-8000-00000000000c"
STRANGER = "00000000-0000-4000-8000-00000000000d"
PAYEE = "00000000-0000-4000-8000-00000000000e"

WIDE = 1_000_000
METERS = (
    "calls.speak", "calls.direct_message", "calls.animate", "calls.move", "calls.teleport", "calls.interact",
    "calls.social", "calls.inventory", "calls.money", "calls.upload", "calls.build", "calls.land", "withdrawals",
    "speech_bytes",
)  # fmt: skip
SCARCE = {"ims": 100_000, "metres": WIDE, "teleports": 10_000, "prims": 10_000, "items": 10_000, "uploads": 1_000}
CAPABILITIES = (
    "observe", "speak", "direct_message", "animate", "move", "teleport", "interact", "social", "inventory", "money",
    "upload", "build", "land",
)  # fmt: skip
ORIGINS = ("public_chat", "direct_im", "operator_console", "schedule", "goal", "ag_ui", "a2a", "mcp")


def wide_section(**over):
    """Write a policy that lets everybody do everything without asking, to be narrowed by the test."""
    budgets = {meter: [{"per": "global", "limit": WIDE, "window_s": 60}] for meter in METERS}
    budgets |= {meter: [{"per": "global", "limit": limit, "window_s": 60}] for meter, limit in SCARCE.items()}
    budgets["linden"] = [{"per": "global", "limit": WIDE, "window_s": 60}]
    section = {
        "preset": "observer",
        "matrix": {origin: dict.fromkeys(CAPABILITIES, "anyone") for origin in ORIGINS},
        "tainted": dict.fromkeys(CAPABILITIES, "allow"),
        "target_from": {each: ["configuration", "authorised_words", "model"] for each in CAPABILITIES},
        "approvals": dict.fromkeys(CAPABILITIES, "not_required"),
        "patterns": {"script-permissions": {"then": "off"}},
        "budgets": budgets,
    }
    rows = over.pop("matrix", {})
    section["matrix"] = {origin: {**row, **rows.get(origin, {})} for origin, row in section["matrix"].items()}
    for key, value in over.items():
        section[key] = {**section[key], **value} if isinstance(value, dict) else value
    return section


def compiled(**over) -> Policy:
    """Compile a wide policy, narrowed by the test."""
    roles = RolesSection(owners=(OWNER,), trusted=(TRUSTED, OTHER_TRUSTED))
    return Policy(msgspec.convert(wide_section(**over), PolicySection), roles)


class Bench:
    """One gateway with generation 1 live, unless told otherwise."""

    def __init__(self, *, live=True, snapshot=None, intents=False, **over):
        self.rows = []
        self.changes = []
        self.wall, self.monotonic = 1_700_000_000.0, 100.0
        self.tokens = (f"token-{number}" for number in itertools.count())
        self.causes = itertools.count()
        self.gateway = Gateway(
            compiled(**over), tokens=lambda: next(self.tokens), audit=self.rows.append, budgets=snapshot,
            changes=self.changes.append, intents=intents,
        )  # fmt: skip
        if live:
            self.gateway.open_generation(1)

    @property
    def now(self) -> Instant:
        return Instant(wall=self.wall, monotonic=self.monotonic)

    def pass_time(self, seconds):
        """Turn both clocks."""
        self.wall += seconds
        self.monotonic += seconds

    def request(self, action=None, *, who=OWNER, client="", **fields) -> ActionRequest:
        """Write a request; by default the owner asks to say something in public, each time for a new cause."""
        values = {
            "action": Say(text="hello") if action is None else action,
            "principal": Principal(avatar_id=who, client=client),
            "origin": Origin.PUBLIC_CHAT,
            "generation": 1,
            "correlation": "c",
            "cause": f"cause-{next(self.causes)}",
            "target_provenance": Provenance.AUTHORISED_WORDS,
        }
        return ActionRequest(**{**values, **fields})

    def ask(self, action=None, *, busy=frozenset(), **fields):
        """Put a request to the gateway."""
        return self.gateway.decide(self.request(action, **fields), self.now, busy=busy)

    def pay(self, amount=10, **fields):
        """Ask to pay."""
        return self.ask(PayAvatar(to=PAYEE, amount=amount), **fields)

    def redeem(self, decision, generation=1):
        """Redeem an authorised handle."""
        return self.gateway.redeem(decision.handle, generation=generation, now=self.now)

    def confirm(self, decision) -> bool:
        """Settle an effect as confirmed."""
        evidence = decision.action.spec.evidence
        return self.gateway.settle(decision.effect, Confirmed(evidence=evidence), self.now)

    def answer(self, approval_id, *, allow=True, who=None, client="operator", via=Origin.OPERATOR_CONSOLE, nonce=None):
        """Answer an approval; by default the operator allows it."""
        principal = Principal(avatar_id=who, client="" if who else client)
        return self.gateway.answer(approval_id, allow=allow, by=principal, via=via, nonce=nonce, now=self.now)

    def restart(self, *, snapshot=None, policy=None, live=True, intents=False):
        """Go on in a new gateway with what was kept, or with a snapshot; return what the restart ended."""
        if snapshot is None:
            history = History()
            for change in self.changes:
                history.apply(change)
            snapshot = history.snapshot()
        self.rows.clear()
        self.gateway, ended = Gateway.restore(
            policy or self.gateway.policy, snapshot, self.now, tokens=lambda: next(self.tokens),
            audit=self.rows.append, changes=self.changes.append, intents=intents,
        )  # fmt: skip
        if live:
            self.gateway.open_generation(snapshot.generation + 1)
        return ended

    def grant(self, *actions, who=None, client="operator", times=2, window_s=60, valid_s=600.0, start=0.0, **fields):
        """Give a grant as the operator; by default for the operator's own schedule."""
        terms = GrantTerms(
            principal=Principal(avatar_id=who, client="" if who else client), actions=actions, times=times,
            window_s=window_s, valid_from=self.wall + start, valid_until=self.wall + start + valid_s,
        )  # fmt: skip
        order = {"by": Principal(client="operator"), "via": Origin.OPERATOR_CONSOLE, "now": self.now}
        return self.gateway.grants.give(terms, **{**order, **fields})

    def fire(self, grant_id, action, *, who=None, client="operator", **fields):
        """Ask as a schedule that draws on a grant."""
        given = {"origin": Origin.SCHEDULE, "grant": grant_id, "client": "" if who else client}
        return self.ask(action, who=who, **{**given, **fields})

    def kinds(self):
        """List what each audit row is about."""
        return [(row.kind.value, row.code) for row in self.rows]


@pytest.fixture
def bench():
    """Give the class, so that a test says what its gateway is like."""
    return Bench


@pytest.fixture
def wide():
    """Give the compiler of wide policies."""
    return compiled


@pytest.fixture
def people():
    """Give the UUIDs of everybody in these tests."""
    return {
        "owner": OWNER,
        "trusted": TRUSTED,
        "other_trusted": OTHER_TRUSTED,
        "stranger": STRANGER,
        "payee": PAYEE,
    }
