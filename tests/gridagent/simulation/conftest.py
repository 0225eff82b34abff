"""A court for tests of the oracle: one avatar's account, and short words for what it is told."""

from __future__ import annotations

import random

import msgspec
import pytest

from gridagent import actions as wanted
from gridagent.config.policy import RolesSection
from gridagent.events import (
    ImReceived,
    Speaker,
    SpeakerKind,
)
from gridagent.simulation.account import Account, digest_of
from gridagent.simulation.bounds import draw_policy
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.rulebook import Rulebook
from gridagent.simulation.views import AuditView, BodyView, ObservationView

OWNER = "00000000-0000-4000-8000-000000000001"
SAY = wanted.Say(text="hello")
PAY = wanted.PayAvatar(to=OWNER, amount=3)
KEY = "e" * 64
REFERENCE = KEY[:16]


class Court:
    """An oracle with one avatar, and short words for what it is told."""

    def __init__(self, **policy: object) -> None:
        self.now = 0.0
        self.oracle = Oracle(seed=7, clock=lambda: self.now)
        self.account: Account = Account(self.oracle.new_history("robin"), "robin")
        draft = draw_policy(random.Random(1))
        draft.matrix = {origin: dict.fromkeys(cells, "anyone") for origin, cells in draft.matrix.items()}
        draft.tainted, draft.target_from, draft.patterns = {}, {}, {}
        draft.approvals = {"upload": "required"}
        draft.budgets = {meter: [{"per": "global", "limit": 1000, "window_s": 60}] for meter in draft.budgets}
        draft.dry_run, draft.handle_ttl_s, draft.approval_ttl_s = False, 10.0, 30.0
        for name, value in policy.items():
            setattr(draft, name, value)
        roles = msgspec.json.encode(RolesSection(owners=(OWNER,)))
        self.account.knows_policy("v1", Rulebook(draft.written(), roles))
        self.rows = 0

    @property
    def rules(self) -> list[str]:
        return [violation.rule for violation in self.oracle.violations]

    def row(self, kind: str, code: str, **more: object) -> None:
        self.rows += 1
        self.account.on_row(AuditView(seq=self.rows, at=self.now, kind=kind, code=code, policy="v1", **more))

    def connect(self, generation: int = 1) -> None:
        self.account.on_backend(generation)

    def allow(self, action: wanted.Action = SAY, effect: str = KEY, generation: int = 1, **more: object) -> None:
        name = str(type(action).__struct_config__.tag)
        fields = {"who": OWNER, "origin": "direct_im", "cause": "u1", "action": name, **more}
        self.row("decision", "authorized", generation=generation, digest=digest_of(action), effect=effect, **fields)

    def propose(self, action: wanted.Action = SAY, **more: object) -> None:
        fields = {"who": OWNER, "cause": "u1", "ordinal": 0, "provenance": "model", **more}
        self.account.on_proposed(action=action, **fields)

    def perform(self, action: wanted.Action = SAY, *, balance: int = 0, items: int = 0) -> None:
        self.account.on_performed(action, REFERENCE, balance=balance, items=items)

    def settle(self, code: str, action: str = "say", effect: str = KEY, **more: object) -> None:
        self.row("settlement", code, action=action, effect=effect, **more)

    def see(self, kind: str, *, seq: int = 1, generation: int = 1, **more: object) -> None:
        body = BodyView(kind=kind, **more)
        self.account.on_observed(ObservationView(seq=seq, generation=generation, at=self.now, body=body))

    def do(self, action: wanted.Action = SAY, **changed: int) -> None:
        """Let an action go all the way to the world."""
        self.connect()
        self.propose(action)
        self.allow(action)
        self.account.on_redeemed(1, KEY)
        self.perform(action, **changed)


NONCE = "4F7K-9QXM-2TBD"


class Asking(Court):
    """A court in which the avatar asks its owner for a yes over IM."""

    def __init__(self, *, to: str = OWNER, text: str = "Yes?\nallow {0}\ndeny {0}\nsaid: x") -> None:
        super().__init__()
        self.connect()
        self.propose()
        self.row("decision", "needs_approval", approval_id="a", effect=KEY, digest=digest_of(SAY), who=OWNER)
        self.asked = wanted.SendIm(to=to, text=text.format("****-****-****"))
        self.sent = wanted.SendIm(to=to, text=text.format(NONCE))

    def ask(self, **changed: object) -> None:
        fields = {"who": "client:approvals", "origin": "operator_console", "cause": "approval-a", **changed}
        self.allow(self.asked, effect="f" * 64, **fields)

    def send(self) -> None:
        self.account.on_redeemed(1, "f" * 64)
        self.account.on_performed(self.sent, "f" * 16, balance=0, items=0)

    def hear(self, text: str, source: str = OWNER) -> None:
        speaker = Speaker(kind=SpeakerKind.AVATAR, id=source)
        self.account.on_told(ImReceived(utterance_id="u9", source=speaker, text=text))


@pytest.fixture
def a_court() -> type[Court]:
    """The class, to be made with what the test's policy differs in."""
    return Court


@pytest.fixture
def an_asking_court() -> type[Asking]:
    """The class in which the avatar asks its owner for a yes over IM."""
    return Asking
