"""Each unsafe ``policy`` or ``roles`` section is refused with its own clear sentence."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import ACTIONS
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.policy_check import ARGUMENT_KINDS, policy_problems, roles_problems
from gridagent.limits import AUTHORISED_AVATARS_MAX

A = "00000000-0000-4000-8000-00000000000a"
B = "00000000-0000-4000-8000-00000000000b"


def problems(**written) -> list[str]:
    """List what is wrong with a written policy section."""
    return [str(problem) for problem in policy_problems(msgspec.convert(written, PolicySection), path="$.policy")]


def pattern(**written) -> list[str]:
    """List what is wrong with one pattern."""
    return problems(patterns={"mine": {"then": "deny", **written}})


def test_a_sound_section_has_no_problem() -> None:
    """What the documentation shows passes."""
    assert (
        problems(
            preset="guide",
            matrix={"object_text": {"speak": "deny"}, "public_chat": {"speak": "anyone"}},
            budgets={
                "ims": [
                    {"per": "peer", "limit": 5, "window_s": 60},
                    {"per": "principal", "limit": 5, "window_s": 60},
                    {"per": "principal", "limit": 9, "window_s": 3600},
                ]
            },
            patterns={
                "big": {"action": "pay_avatar", "argument": "amount", "over": 100, "then": "approve"},
                "small": {"action": "pay_avatar", "argument": "amount", "under": 2, "then": "deny"},
                "words": {"action": "say", "argument": "text", "contains": ["password"], "then": "deny"},
                "long": {"action": "say", "argument": "text", "longer_than": 500, "then": "deny"},
                "places": {"action": "teleport_to", "argument": "region", "none_of": ["Plaza"], "then": "deny"},
                "item": {"action": "rez_object", "argument": "item_id", "any_of": [A], "then": "deny"},
                "grants": {"action": "answer_permission", "argument": "grant", "none_of": [], "then": "deny"},
                "script-permissions": {"then": "off"},
            },
        )
        == []
    )


def test_object_text_can_be_given_nothing() -> None:
    """A cell that would let objects act is refused. Spec: POL-4, CFG-1. Fault: 15."""
    (problem,) = problems(matrix={"object_text": {"speak": "deny", "money": "anyone"}})
    assert problem == (
        "$.policy.matrix.object_text.money: object and script text may never cause anything (found 'anyone'); "
        "remove this cell"
    )


def test_budgets_over_their_ceiling_are_refused() -> None:
    """The hard ceiling of each meter can be lowered, never raised. Spec: BND-13, CFG-1."""
    (problem,) = problems(budgets={"linden": [{"per": "global", "limit": 1_000_001, "window_s": 60}]})
    assert problem == (
        "$.policy.budgets.linden[0].limit: a budget of linden is over its hard ceiling (found 1000001); "
        "use at most 1000000"
    )


def test_a_receiver_is_counted_only_where_there_is_one() -> None:
    """Speech has no receiver to count by. Spec: CFG-1."""
    (problem,) = problems(budgets={"calls.speak": [{"per": "peer", "limit": 1, "window_s": 60}]})
    assert "calls.speak has no receiver to count by" in problem


def test_two_budgets_of_one_scope_and_window_contradict_each_other() -> None:
    """Which of them counts would be a guess. Spec: CFG-1."""
    twice = [{"per": "global", "limit": limit, "window_s": 60} for limit in (5, 9)]
    (problem,) = problems(budgets={"linden": twice})
    assert problem.startswith("$.policy.budgets.linden[1]: two budgets of linden have the same scope and window")


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"action": "say", "argument": "text"}, "a pattern has exactly one matcher (found none)"),
        (
            {"action": "say", "argument": "text", "contains": ["x"], "longer_than": 5},
            "a pattern has exactly one matcher (found longer_than, contains)",
        ),
        ({"action": "fly", "argument": "text", "contains": ["x"]}, "there is no such action"),
        ({"action": "say", "argument": "amount", "over": 5}, "say has no such argument to test"),
        ({"action": "stand_up", "argument": "x", "over": 5}, "another action: this one has none"),
        ({"action": "walk_to", "argument": "position", "over": 5}, "walk_to has no such argument to test"),
        ({"action": "say", "argument": "text", "over": 5}, "text of say is text"),
        ({"action": "pay_avatar", "argument": "amount", "contains": ["5"]}, "amount of pay_avatar is number"),
    ],
)
def test_a_pattern_that_tests_nothing_is_refused(written, sentence) -> None:
    """A pattern that could never match, or not as meant, is told with what can be used instead. Spec: POL-14, CFG-1."""
    (problem,) = pattern(**written)
    assert sentence in problem
    assert "; " in problem


def test_a_switched_off_pattern_needs_nothing_else() -> None:
    """``off`` alone is enough to remove what a preset brought."""
    assert problems(patterns={"big-payment": {"then": "off"}}) == []


def test_every_argument_of_the_catalogue_has_a_kind_or_is_no_value() -> None:
    """Numbers and texts can be tested; points and yes-or-no can't."""
    assert set(ARGUMENT_KINDS) == {str(action.__struct_config__.tag) for action in ACTIONS}
    untested = {
        name
        for action in ACTIONS
        for name in action.__struct_fields__
        if name not in ARGUMENT_KINDS[str(action.__struct_config__.tag)]
    }
    assert untested == {"position", "typing", "accept"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*", "a wildcard would authorise everybody"),
        ("00000000-0000-4000-8000-*", "a wildcard would authorise everybody"),
        ("00000000-0000-0000-0000-000000000000", "the nil UUID is nobody"),
        (A.upper(), "an avatar UUID is written in lower case"),
        ("Olga Owner", "this is not an avatar UUID"),
        (A.replace("-", ""), "this is not an avatar UUID"),
        (f"{{{A}}}", "this is not an avatar UUID"),
        (f"{A}\n", "this is not an avatar UUID"),
        ("", "this is not an avatar UUID"),
    ],
)
def test_whoever_is_not_an_avatar_gets_no_role(text, why) -> None:
    """Wildcards, nil, names and other spellings are refused, and never repeated in the message. Spec: BND-14, CFG-1."""
    (problem,) = roles_problems(RolesSection(trusted=(text,)), path="$.roles")
    assert (problem.path, problem.what) == ("$.roles.trusted[0]", why)
    assert problem.shape == f"text of {len(text)} characters"


@pytest.mark.parametrize(
    ("section", "at"),
    [
        (RolesSection(owners=(A, A)), "$.roles.owners[1]"),
        (RolesSection(owners=(A,), trusted=(B, A)), "$.roles.trusted[1]"),
    ],
)
def test_nobody_has_two_roles(section, at) -> None:
    """A duplicate is refused, and says where the avatar stands already. Spec: BND-14."""
    (problem,) = roles_problems(section, path="$.roles")
    assert problem.path == at
    assert "$.roles.owners[0] already" in problem.what


def test_both_lists_together_have_a_ceiling() -> None:
    """Owners and trusted avatars share one bound. Spec: BND-14."""
    ids = [f"00000000-0000-4000-8000-{number:012x}" for number in range(1, AUTHORISED_AVATARS_MAX + 2)]
    (problem,) = roles_problems(RolesSection(owners=tuple(ids[:600]), trusted=tuple(ids[600:])))
    assert (problem.path, problem.shape) == ("roles", "1025")
    assert roles_problems(RolesSection(owners=tuple(ids[:600]), trusted=tuple(ids[600:-1]))) == ()


def test_all_problems_are_listed_at_once() -> None:
    """One look tells everything. Spec: CFG-1."""
    found = problems(
        matrix={"object_text": {"speak": "anyone"}},
        budgets={"linden": [{"per": "global", "limit": 10**9, "window_s": 60}]},
        patterns={"mine": {"action": "fly", "then": "deny"}},
    )
    assert len(found) == 4
