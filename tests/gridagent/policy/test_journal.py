"""Every decision, refusal, change and end gives exactly one row."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest

from gridagent.actions import PayAvatar, Say
from gridagent.authority import Origin, Role
from gridagent.config.policy import BudgetScope, Meter
from gridagent.errors import AuthorityRefused
from gridagent.policy.audit import AuditKind, BudgetMark

U = "00000000-0000-4000-8000-00000000000e"


def test_a_decision_row_says_who_what_why_and_what_it_cost(bench, people) -> None:
    """Who, role, door, conversation, generation, action, digest, rule, budgets, effect, correlation. Spec: POL-10."""
    world = bench()
    action = Say(text="hello")
    decision = world.ask(action, conversation="talk", correlation="corr", cause="turn", ordinal=3, tainted=True)
    (row,) = world.rows
    digest = sha256(msgspec.json.encode(action)).hexdigest()
    assert (row.seq, row.at, row.kind, row.code) == (1, world.wall, AuditKind.DECISION, "authorized")
    assert (row.who, row.role, row.origin) == (people["owner"], Role.OWNER, Origin.PUBLIC_CHAT)
    assert (row.conversation, row.generation, row.action, row.digest) == ("talk", 1, "say", digest)
    assert (row.rule, row.effect, row.correlation) == ("matrix.public_chat.speak", decision.effect, "corr")
    assert (row.cause, row.ordinal, row.tainted, row.approval_id) == ("turn", 3, True, None)
    assert row.policy == world.gateway.policy.version
    assert row.budgets == (
        BudgetMark(Meter.CALLS_SPEAK, BudgetScope.GLOBAL, 60, 0, 1, 1_000_000),
        BudgetMark(Meter.SPEECH_BYTES, BudgetScope.GLOBAL, 60, 0, 5, 1_000_000),
    )


def test_a_denial_row_names_the_budget_that_was_short(bench) -> None:
    """What was left is in the row of a refusal for want of budget. Spec: POL-10."""
    world = bench(budgets={"linden": [{"per": "global", "limit": 5, "window_s": 60}]})
    world.pay(6)
    (row,) = world.rows
    assert (row.code, row.rule, row.effect) == ("budget_spent", "budget.linden.global.60s", None)
    assert row.budgets == (BudgetMark(Meter.LINDEN, BudgetScope.GLOBAL, 60, 0, 0, 5),)


@pytest.mark.parametrize("action", ["pay", object(), None])
def test_what_has_no_canonical_form_has_a_row_without_a_digest(bench, action) -> None:
    """Also nonsense leaves a row. Spec: POL-10."""
    world = bench()
    request = world.request()
    msgspec.structs.force_setattr(request, "action", action)
    world.gateway.decide(request, world.now)
    (row,) = world.rows
    assert (row.code, row.action, row.digest) == ("unknown_action", "", "")


def test_rows_hold_no_text_of_people(bench) -> None:
    """Arguments are there as a digest only, so that forgetting needs no rewriting. Spec: POL-10, MEM-5."""
    world = bench(approvals={"money": "required"})
    world.ask(Say(text="a very private sentence"))
    waiting = world.ask(PayAvatar(to=U, amount=1, description="a very private sentence"))
    world.answer(waiting.approval_id)
    assert "private" not in repr(world.rows)
    assert len(world.rows) == 4


def test_one_row_for_everything_that_happens_in_order(bench, people) -> None:
    """Decisions, answers, refused redemptions, settlements, hold and policy each give one row. Spec: POL-10."""
    world = bench(approvals={"money": "required"})
    first = world.ask()
    world.redeem(first)
    with pytest.raises(AuthorityRefused):
        world.redeem(first)
    world.confirm(first)
    waiting = world.pay()
    world.answer(waiting.approval_id, who=people["stranger"], via=Origin.DIRECT_IM)
    world.answer("made-up")
    world.answer(waiting.approval_id)
    world.gateway.hold(world.now)
    world.gateway.release(world.now)
    assert world.kinds() == [
        ("decision", "authorized"),
        ("redeem_refused", "replayed"),
        ("settlement", "confirmed"),
        ("decision", "needs_approval"),
        ("approval", "wrong_person"),
        ("approval", "unknown"),
        ("decision", "authorized"),
        ("approval", "allowed"),
        ("hold", "held"),
        ("settlement", "refused"),
        ("hold", "released"),
    ]
    assert [row.seq for row in world.rows] == list(range(1, len(world.rows) + 1))


def test_an_answer_row_says_who_answered(bench, people) -> None:
    """Whoever answers, in whatever role and through whatever door, is on record. Spec: POL-10, POL-7."""
    world = bench(approvals={"money": "required"})
    waiting = world.pay()
    world.answer(waiting.approval_id, who=people["stranger"], via=Origin.DIRECT_IM)
    world.answer(waiting.approval_id)
    turned_away, _, allowed = world.rows[-3:]
    assert (turned_away.who, turned_away.role) == (people["stranger"], Role.STRANGER)
    assert turned_away.origin is Origin.DIRECT_IM
    assert (allowed.who, allowed.role, allowed.origin) == ("client:operator", Role.OPERATOR, Origin.OPERATOR_CONSOLE)
    assert allowed.approval_id == waiting.approval_id


def test_a_sink_that_fails_leaves_a_gap(bench) -> None:
    """A row that was not taken is missing in the numbers, so it shows. Spec: POL-10."""
    world = bench()
    world.ask()
    fails = iter([True])
    taken = world.rows.append

    def sink(row) -> None:
        if next(fails, False):
            raise OSError
        taken(row)

    world.gateway._journal._sink = sink
    with pytest.raises(OSError):
        world.ask()
    world.ask()
    assert [row.seq for row in world.rows] == [1, 3]
