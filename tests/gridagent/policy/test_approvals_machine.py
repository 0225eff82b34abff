"""Approvals as a state machine: whatever people, turns, clocks and connections do, one yes gives one act."""

from __future__ import annotations

import itertools

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, precondition, rule

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused
from gridagent.policy import Authorized, Denied, Gateway, Instant, NeedsApproval, Policy
from gridagent.policy.decisions import AnswerCode

OWNER = "00000000-0000-4000-8000-00000000000a"
TRUSTED = "00000000-0000-4000-8000-00000000000b"
STRANGER = "00000000-0000-4000-8000-00000000000d"
U = "00000000-0000-4000-8000-00000000000e"
LIMIT, TTL, HANDLE_TTL = 60, 30.0, 5.0
CAUSES = ("turn-1", "turn-2", "turn-3")


def policy(**over) -> Policy:
    """Money for anybody, each time with a person's yes, up to a total that never comes free in this test."""
    section = {
        "matrix": {"direct_im": {"money": "anyone"}},
        "tainted": {"money": "allow"},
        "approvals": {"money": "required"},
        "approvers": "trusted",
        "approval_ttl_s": TTL,
        "handle_ttl_s": HANDLE_TTL,
        "budgets": {
            "calls.money": [{"per": "global", "limit": 1_000, "window_s": 2_000_000}],
            "linden": [{"per": "global", "limit": LIMIT, "window_s": 2_000_000}],
        },
        **over,
    }
    return Policy(msgspec.convert(section, PolicySection), RolesSection(owners=(OWNER,), trusted=(TRUSTED,)))


class Approvals(RuleBasedStateMachine):
    """The model: for each approval, what was asked, whether it still waits, and until when."""

    waiting_ids = Bundle("waiting_ids")
    handles = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        tokens = (f"token-{number}" for number in itertools.count())
        self.gateway = Gateway(policy(), tokens=lambda: next(tokens), audit=lambda _: None)
        self.at = 100.0
        self.generation = 1
        self.live = True
        self.held = False
        self.spent = 0
        self.paid = 0
        self.version = 0
        self.ordinals = itertools.count()
        self.asked: dict[str, dict] = {}
        self.yes: set[str] = set()
        self.gateway.open_generation(1)

    @property
    def now(self) -> Instant:
        return Instant(1.7e9 + self.at, self.at)

    def waits(self, approval_id) -> bool:
        one = self.asked[approval_id]
        return one["open"] and self.at < one["until"]

    @rule(target=waiting_ids, who=st.sampled_from([OWNER, TRUSTED, STRANGER]), amount=st.integers(1, 25),
          cause=st.sampled_from(CAUSES))  # fmt: skip
    def ask(self, who, amount, cause):
        """Somebody asks to pay."""
        request = ActionRequest(
            action=PayAvatar(to=U, amount=amount), principal=Principal(avatar_id=who), origin=Origin.DIRECT_IM,
            generation=self.generation, correlation="c", cause=cause, ordinal=next(self.ordinals) % 4096,
            target_provenance=Provenance.AUTHORISED_WORDS,
        )  # fmt: skip
        decision = self.gateway.decide(request, self.now)
        if self.held or not self.live or self.spent + amount > LIMIT:
            assert isinstance(decision, Denied)
            return multiple()
        assert isinstance(decision, NeedsApproval)
        assert decision.approval_id not in self.asked
        self.asked[decision.approval_id] = {
            "who": who, "amount": amount, "cause": cause, "open": True, "until": self.at + TTL,
        }  # fmt: skip
        return decision.approval_id

    @rule(target=handles, approval_id=waiting_ids, who=st.sampled_from([None, OWNER, TRUSTED, STRANGER]),
          allow=st.booleans(), right=st.booleans())  # fmt: skip
    def answer(self, approval_id, who, allow, right):
        """Somebody answers: the operator at the console, others over IM with a nonce, right or wrong."""
        one = self.asked[approval_id]
        nonce = self.gateway.nonce_of(approval_id) if right else "guess"
        answer = self.gateway.answer(
            approval_id,
            allow=allow,
            by=Principal(avatar_id=who, client="" if who else "operator"),
            via=Origin.DIRECT_IM if who else Origin.OPERATOR_CONSOLE,
            nonce=nonce if who else None,
            now=self.now,
        )
        may = who is None or who == OWNER or (who == TRUSTED and one["who"] != TRUSTED)
        if not may:
            assert answer.code is AnswerCode.WRONG_PERSON
        elif not self.waits(approval_id):
            one["open"] = False
            assert not answer.accepted
            assert answer.code not in {AnswerCode.ALLOWED, AnswerCode.DENIED, AnswerCode.REFUSED}
        elif who is not None and not right:
            assert answer.code in {AnswerCode.WRONG_NONCE, AnswerCode.NONCE_LOCKED}
        elif answer.code is AnswerCode.NONCE_LOCKED:
            assert who is not None
        elif not allow:
            one["open"] = False
            assert answer.code is AnswerCode.DENIED
        elif answer.code is AnswerCode.NOT_NOW:
            passing = {DenialCode.HELD, DenialCode.NOT_READY, DenialCode.RESOURCE_BUSY}
            assert answer.decision.code in passing
            assert self.held or not self.live or self.gateway.status().open_effects
        elif self.spent + one["amount"] > LIMIT:
            one["open"] = False
            assert (answer.code, answer.decision.code) == (AnswerCode.REFUSED, DenialCode.BUDGET_SPENT)
        else:
            assert answer.code is AnswerCode.ALLOWED
            assert isinstance(answer.decision, Authorized)
            assert approval_id not in self.yes
            self.yes.add(approval_id)
            one["open"] = False
            self.spent += one["amount"]
            return (answer.decision, one["amount"], self.generation, self.at + HANDLE_TTL)
        return multiple()

    @rule(handle=handles, wrong_generation=st.booleans())
    def redeem(self, handle, wrong_generation):
        """A backend uses a handle, perhaps again, perhaps too late, perhaps another one's."""
        decision, amount, generation, until = handle
        try:
            record = self.gateway.redeem(
                decision.handle, generation=generation + 1 if wrong_generation else generation, now=self.now
            )
        except AuthorityRefused:
            return
        assert not wrong_generation
        assert not self.held
        assert self.live
        assert generation == self.generation
        assert self.at < until
        assert record.action == PayAvatar(to=U, amount=amount)
        self.paid += amount
        self.gateway.settle(record.effect, Confirmed(evidence=EvidenceKind.BALANCE), self.now)

    @rule(seconds=st.sampled_from([0.5, 3.0, 10.0, 31.0]), look=st.booleans())
    def wait(self, seconds, look):
        """Time passes; sometimes the session looks at it."""
        self.at += seconds
        if look:
            for ended in self.gateway.expire(self.now):
                if ended.approval_id is not None:
                    assert not self.waits(ended.approval_id)
                    self.asked[ended.approval_id]["open"] = False

    @rule(cause=st.sampled_from(CAUSES))
    def cancel(self, cause):
        """A turn is cancelled: every approval of it is closed, none of another."""
        ended = {each.approval_id for each in self.gateway.cancel_cause(cause, self.now) if each.approval_id}
        for approval_id, one in self.asked.items():
            if one["cause"] == cause and self.waits(approval_id):
                assert approval_id in ended
            if one["cause"] == cause:
                one["open"] = False
            else:
                assert approval_id not in ended

    @rule()
    def reconnect(self):
        """The connection ends and comes back, or only ends."""
        if self.live:
            self.gateway.close_generation(self.generation, self.now)
            self.live = False
        else:
            self.generation += 1
            self.gateway.open_generation(self.generation)
            self.live = True

    @rule()
    def toggle_hold(self):
        """The kill switch is thrown or released."""
        if self.held:
            self.gateway.release(self.now)
        else:
            self.gateway.hold(self.now)
        self.held = not self.held

    @precondition(lambda self: self.version < 3)
    @rule()
    def reload(self):
        """Another policy comes into force: whatever waits is superseded."""
        self.version += 1
        ended = self.gateway.replace_policy(policy(dry_run=False, approval_ttl_s=TTL, matrix={
            "direct_im": {"money": "anyone", "build": ["owner", "trusted", "anyone"][self.version - 1]},
        }), self.now)  # fmt: skip
        for approval_id, one in self.asked.items():
            if self.waits(approval_id):
                assert approval_id in ended
            one["open"] = False

    @invariant()
    def one_yes_one_act_within_the_budget(self):
        """What was paid was allowed, once each, and never more than the budget. Spec: POL-6, POL-7."""
        assert self.paid <= self.spent <= LIMIT
        assert self.spent == sum(self.asked[approval_id]["amount"] for approval_id in self.yes)

    @invariant()
    def status_shows_what_waits(self):
        """Nothing that ended is shown, and nothing that waits is missing."""
        shown = {view.approval_id for view in self.gateway.status().approvals}
        assert {approval_id for approval_id in self.asked if self.waits(approval_id)} <= shown


TestApprovals = Approvals.TestCase
TestApprovals.settings = settings(max_examples=60, stateful_step_count=40)
