"""Only the operator gives grants, only what the policy permits, and a change of policy takes them back."""

from __future__ import annotations

import math

import msgspec
import pytest

from gridagent.actions import CreateNotecard, PayAvatar, PayObject, Say
from gridagent.authority import DenialCode, Origin, Principal, Role
from gridagent.errors import InternalError
from gridagent.limits import SCHEDULE_GRANTS_MAX
from gridagent.policy import Authorized, Denied
from gridagent.policy.changes import GrantEnded, GrantGiven
from gridagent.policy.decisions import GrantCode
from gridagent.policy.grants import (
    GRANT_ACTIONS_MAX,
    GRANT_BYTES_MAX,
    GRANT_TIMES_MAX,
    GRANT_VALID_MAX_S,
    GrantState,
    GrantTerms,
)
from gridagent.policy.summary import summarise_for_approval

U = "00000000-0000-4000-8000-00000000000e"
RENT = PayAvatar(to=U, amount=10)
OPERATOR = Principal(client="operator")
ONE_VERB = "a grant is for one verb; give another grant for another one"
CONSOLE = Origin.OPERATOR_CONSOLE


def terms(world, *actions, **over) -> GrantTerms:
    """Write terms that can be kept, but for what the test changes by force."""
    made = GrantTerms(
        principal=OPERATOR, actions=actions or (RENT,), times=1, window_s=60, valid_from=world.wall,
        valid_until=world.wall + 60,
    )  # fmt: skip
    for name, value in over.items():
        msgspec.structs.force_setattr(made, name, value)
    return made


def test_giving_leaves_a_row_and_a_change(bench) -> None:
    """Who gave what under which policy is on record, before it can be used. Spec: POL-8, POL-10."""
    world = bench()
    answer = world.grant(RENT, PayAvatar(to=U, amount=20))
    assert (answer.code, answer.denied, answer.problem) == (GrantCode.GIVEN, None, "")
    (row,) = world.rows
    assert (row.kind.value, row.code, row.who, row.role) == ("grant", "given", "client:operator", Role.OPERATOR)
    assert (row.origin, row.grant_id) == (CONSOLE, answer.grant_id)
    (change,) = [each for each in world.changes if isinstance(each, GrantGiven)]
    grant = change.grant
    assert (grant.grant_id, grant.given_by, grant.given_at) == (answer.grant_id, "client:operator", world.wall)
    assert (grant.action, grant.times, grant.window_s) == ("pay_avatar", 2, 60)
    assert grant.policy_version == world.gateway.policy.version
    assert [msgspec.json.decode(raw, type=PayAvatar).amount for raw in grant.allowed] == [10, 20]
    assert grant.summary == f"pay_avatar amount=10 description='' to='{U}' or 1 more"


@pytest.mark.parametrize(
    ("by", "via"),
    [
        (Principal(avatar_id="00000000-0000-4000-8000-00000000000a"), Origin.DIRECT_IM),
        (Principal(avatar_id="00000000-0000-4000-8000-00000000000a"), CONSOLE),
        (OPERATOR, Origin.GOAL),
        (OPERATOR, Origin.SCHEDULE),
        (OPERATOR, Origin.MCP),
        (Principal(client="desk"), Origin.AG_UI),
    ],
)
def test_nobody_else_gives_or_takes_back(bench, by, via) -> None:
    """Not the owner over IM, not a front, not the operator through another door. Spec: POL-8."""
    world = bench()
    grant_id = world.grant(RENT).grant_id
    assert world.grant(RENT, by=by, via=via).code is GrantCode.WRONG_PERSON
    assert world.gateway.grants.revoke(grant_id, by=by, via=via, now=world.now).code is GrantCode.WRONG_PERSON
    assert len(world.gateway.status().grants) == 1
    assert [(row.code, row.who) for row in world.rows[1:]] == [("wrong_person", by.key)] * 2


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ({"times": 0}, "not valid"),
        ({"times": True}, "not valid"),
        ({"times": 10**9}, "not valid"),
        ({"window_s": 0}, "not valid"),
        ({"window_s": "60"}, "not valid"),
        ({"valid_from": math.nan}, "not valid"),
        ({"valid_until": math.inf}, "not valid"),
        ({"valid_from": -1.0}, "valid for some time"),
        ({"valid_until": 0.0}, "valid for some time"),
        ({"valid_until": 1_700_000_000.0}, "valid for some time"),
        ({"valid_until": 1_700_000_000.0 + GRANT_VALID_MAX_S + 1}, "valid for some time"),
        ({"actions": ()}, "not valid"),
        ({"actions": (RENT,) * 2}, "an action is listed twice"),
        (
            {"actions": (RENT, PayObject(object_id=U, amount=1))},
            "a grant is for one verb; give another grant for another one",
        ),
        ({"actions": tuple(PayAvatar(to=U, amount=1 + n) for n in range(GRANT_ACTIONS_MAX + 1))}, "not valid"),
        ({"actions": ("pay",)}, "not valid"),
        ({"actions": (CreateNotecard(name="n", text="x" * 17_000),)}, "bytes together"),
        ({"actions": (PayAvatar(to="00000000-0000-0000-0000-000000000000", amount=1),)}, "no valid arguments"),
        ({"principal": None}, "not valid"),
        ({"principal": "operator"}, "not valid"),
    ],
)
def test_terms_that_cannot_be_kept_are_refused(bench, over, problem) -> None:
    """Whatever they were made of, nothing is granted and the sentence says why. Spec: POL-8. Fault: 24."""
    world = bench()
    answer = world.gateway.grants.give(terms(world, **over), by=OPERATOR, via=CONSOLE, now=world.now)
    assert answer.code is GrantCode.INVALID
    assert answer.problem == problem if problem.startswith("a") else problem in answer.problem
    assert (world.gateway.status().grants, world.rows, world.changes[1:]) == ((), [], [])


@pytest.mark.parametrize("valid_s", [1.0, float(GRANT_VALID_MAX_S)])
def test_the_longest_and_the_shortest_validity_are_kept(bench, valid_s) -> None:
    """The bounds themselves are within. Spec: POL-8."""
    assert bench().grant(RENT, valid_s=valid_s, times=10_000).code is GrantCode.GIVEN


def test_what_the_policy_would_deny_is_not_granted(bench, people) -> None:
    """The matrix for the principal's schedule, and patterns that deny; a yes would not help either. Spec: POL-8."""
    deny = {"x": {"action": "pay_avatar", "argument": "amount", "over": 15, "then": "deny"}}
    ask = {"y": {"action": "pay_avatar", "argument": "amount", "over": 5, "then": "approve"}}
    world = bench(matrix={"schedule": {"money": "owner"}}, patterns={**deny, **ask})
    too_low = world.grant(RENT, who=people["stranger"])
    assert too_low.code is GrantCode.DENIED
    assert too_low.denied == Denied(code=DenialCode.ROLE_TOO_LOW, rule="matrix.schedule.money")
    too_much = world.grant(RENT, PayAvatar(to=U, amount=20), who=people["owner"])
    assert too_much.denied == Denied(code=DenialCode.PATTERN_DENIED, rule="pattern.x")
    assert world.grant(RENT, who=people["owner"]).code is GrantCode.GIVEN
    assert world.grant(RENT).code is GrantCode.GIVEN


def test_grants_are_bounded(bench) -> None:
    """One more than the ceiling is refused; room comes back with an end, and old ends are forgotten. Spec: BND-12."""
    world = bench()
    ids = [world.grant(Say(text=f"hour {number}")).grant_id for number in range(SCHEDULE_GRANTS_MAX)]
    assert world.grant(RENT).code is GrantCode.FULL
    revoke = world.gateway.grants.revoke
    assert revoke(ids[0], by=OPERATOR, via=CONSOLE, now=world.now).code is GrantCode.REVOKED
    assert revoke(ids[0], by=OPERATOR, via=CONSOLE, now=world.now).code is GrantCode.ENDED
    assert world.grant(RENT).code is GrantCode.GIVEN
    assert revoke(ids[0], by=OPERATOR, via=CONSOLE, now=world.now).code is GrantCode.UNKNOWN
    assert len(world.gateway.status().grants) == SCHEDULE_GRANTS_MAX


def test_a_grant_taken_back_admits_nothing(bench) -> None:
    """From the revocation on; what it led to goes on. Spec: POL-8."""
    world = bench()
    grant_id = world.grant(RENT).grant_id
    decision = world.fire(grant_id, RENT)
    world.pass_time(1)
    answer = world.gateway.grants.revoke(grant_id, by=OPERATOR, via=CONSOLE, now=world.now)
    assert (answer.code, answer.grant_id) == (GrantCode.REVOKED, grant_id)
    assert world.fire(grant_id, RENT) == Denied(code=DenialCode.GRANT_REFUSED, rule="grant.revoked")
    assert world.redeem(decision).action == RENT
    change = next(each for each in world.changes if isinstance(each, GrantEnded))
    assert (change.grant_id, change.state, change.by, change.at) == (
        grant_id, GrantState.REVOKED, "client:operator", world.wall,
    )  # fmt: skip
    row = next(row for row in world.rows if row.code == "revoked")
    assert (row.who, row.role, row.origin, row.grant_id) == ("client:operator", Role.OPERATOR, CONSOLE, grant_id)


def test_an_unknown_grant_cannot_be_taken_back(bench) -> None:
    """It says so and leaves a row."""
    world = bench()
    assert world.gateway.grants.revoke("made-up", by=OPERATOR, via=CONSOLE, now=world.now).code is GrantCode.UNKNOWN
    assert (world.rows[-1].code, world.rows[-1].grant_id) == ("unknown", None)


def test_a_new_policy_ends_what_it_does_not_permit_and_nothing_else(bench, wide) -> None:
    """Superseded for good: a third policy that permits it again does not revive it. Spec: POL-8, SUP-8."""
    world = bench()
    money, words = world.grant(RENT, times=5).grant_id, world.grant(Say(text="hello"), times=5).grant_id
    ids = world.gateway.replace_policy(wide(matrix={"schedule": {"money": "deny"}}), world.now)
    assert ids == ()
    assert [view.grant_id for view in world.gateway.status().grants] == [words]
    assert isinstance(world.fire(words, Say(text="hello")), Authorized)
    world.gateway.replace_policy(wide(), world.now)
    assert world.fire(money, RENT) == Denied(code=DenialCode.GRANT_REFUSED, rule="grant.superseded")
    ended = [row for row in world.rows if row.code == "superseded"]
    assert [(row.grant_id, row.who, row.role, row.origin) for row in ended] == [(money, "", None, None)]
    assert isinstance(world.fire(words, Say(text="hello")), Authorized)


def test_a_pattern_that_came_later_ends_a_grant(bench, wide) -> None:
    """One of its actions being forbidden is enough. Spec: POL-8, POL-14."""
    world = bench()
    grant_id = world.grant(RENT, PayAvatar(to=U, amount=20)).grant_id
    deny = {"x": {"action": "pay_avatar", "argument": "amount", "over": 15, "then": "deny"}}
    world.gateway.replace_policy(wide(patterns=deny), world.now)
    assert world.fire(grant_id, RENT).rule == "grant.superseded"


class Full(Exception):
    """A sink has no room."""


def test_a_grant_that_cannot_be_recorded_is_not_given(bench) -> None:
    """Neither without its row nor without its change. Spec: POL-8, POL-10."""
    world = bench()

    def fail(_) -> None:
        raise Full

    for sink in ("_sink", "_changes"):
        setattr(world.gateway._journal, sink, fail)
        with pytest.raises(Full):
            world.grant(RENT)
        assert world.gateway.status().grants == ()
        setattr(world.gateway._journal, sink, lambda _: None)


def test_a_grant_whose_end_cannot_be_recorded_has_ended(bench) -> None:
    """Taking back doesn't wait for a record. Spec: POL-8."""
    world = bench()
    grant_id = world.grant(RENT).grant_id

    def fail(_) -> None:
        raise Full

    world.gateway._journal._changes = fail
    with pytest.raises(Full):
        world.gateway.grants.revoke(grant_id, by=OPERATOR, via=CONSOLE, now=world.now)
    world.gateway._journal._changes = None
    assert world.fire(grant_id, RENT).rule == "grant.revoked"


def test_two_grants_never_share_an_id(bench) -> None:
    """A source of ids that repeats itself is a bug that is told. Spec: POL-8."""
    world = bench()
    world.gateway.grants._tokens = lambda: "again"
    assert world.grant(RENT).code is GrantCode.GIVEN
    with pytest.raises(InternalError):
        world.grant(RENT)


def test_the_bounds_of_a_grant_are_what_they_are_stated_to_be(bench) -> None:
    """The ceilings themselves are within; a second of 1970 is a time like any other. Spec: BND-12, POL-8."""
    assert (GRANT_ACTIONS_MAX, GRANT_BYTES_MAX, GRANT_TIMES_MAX, GRANT_VALID_MAX_S) == (
        32, 16_384, 10_000, 366 * 24 * 60 * 60,
    )  # fmt: skip
    world = bench()
    many = tuple(PayAvatar(to=U, amount=1 + number) for number in range(GRANT_ACTIONS_MAX))
    assert world.grant(*many).code is GrantCode.GIVEN
    bare = len(msgspec.json.encode(CreateNotecard(name="n", text="")))
    assert world.grant(CreateNotecard(name="n", text="x" * (GRANT_BYTES_MAX - bare))).code is GrantCode.GIVEN
    one_more = world.grant(CreateNotecard(name="n", text="x" * (GRANT_BYTES_MAX - bare + 1)))
    assert one_more.code is GrantCode.INVALID
    for start in (0.0, 0.5):
        early = terms(world, valid_from=start, valid_until=60.0)
        assert world.gateway.grants.give(early, by=OPERATOR, via=CONSOLE, now=world.now).code is GrantCode.GIVEN


def test_one_action_is_shown_as_one(bench) -> None:
    """Nothing is said of more where there is no more."""
    world = bench()
    world.grant(Say(text="hello"))
    (change,) = [each for each in world.changes if isinstance(each, GrantGiven)]
    assert change.grant.summary == summarise_for_approval(Say(text="hello"))


def test_nobody_is_named_for_an_end_that_nobody_ordered(bench) -> None:
    """Run out of time: no name, no role, no door. Spec: POL-10."""
    world = bench()
    world.grant(RENT, valid_s=60.0)
    world.pass_time(60)
    world.gateway.expire(world.now)
    change = next(each for each in world.changes if isinstance(each, GrantEnded))
    assert (change.state, change.by) == (GrantState.EXPIRED, "")
