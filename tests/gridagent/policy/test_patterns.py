"""Matchers: a small closed vocabulary that errs to the safe side."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import AnswerPermission, PayAvatar, Position, RezObject, Say, TeleportTo
from gridagent.authority import DenialCode
from gridagent.config.policy import Pattern
from gridagent.policy.patterns import CompiledPattern, fold

U = "00000000-0000-4000-8000-00000000000e"
HERE = Position(x=1.0, y=2.0)


def pattern(action, argument, then="deny", **matcher) -> CompiledPattern:
    """Compile one pattern."""
    raw = {"action": action, "argument": argument, "then": then, **matcher}
    return CompiledPattern("mine", msgspec.convert(raw, Pattern))


def pay(amount) -> PayAvatar:
    """Make a payment."""
    return PayAvatar(to=U, amount=amount)


def go(region) -> TeleportTo:
    """Make a teleport."""
    return TeleportTo(region=region, position=HERE)


@pytest.mark.parametrize(("amount", "over", "under"), [(99, False, True), (100, False, False), (101, True, False)])
def test_amounts_over_and_under_a_limit(amount, over, under) -> None:
    """The limit itself is neither over nor under. Spec: POL-14."""
    assert pattern("pay_avatar", "amount", over=100).matches(pay(amount)) is over
    assert pattern("pay_avatar", "amount", under=100).matches(pay(amount)) is under


@pytest.mark.parametrize(("text", "matches"), [("abc", False), ("abcd", True), ("äöü", True)])
def test_text_longer_than_so_many_bytes(text, matches) -> None:
    """Length is counted in UTF-8 bytes. Spec: POL-14."""
    assert pattern("say", "text", longer_than=3).matches(Say(text=text)) is matches


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("my PASSWORD is", True),
        ("ＰＡＳＳＷＯＲＤ", True),
        ("pass\u200bword", True),
        ("p\u0301assword", True),
        ("pass\u202eword", True),
        ("pass\tword", True),
        ("pass word", False),
        ("", False),
        ("хello", False),
    ],
)
def test_a_block_list_sees_through_width_case_and_invisible_characters(text, matches) -> None:
    """Contained words are compared loosely. Spec: POL-14."""
    assert pattern("say", "text", contains=["other", "Password"]).matches(Say(text=text or " ")) is matches


def test_a_block_list_of_whole_texts() -> None:
    """``any_of`` compares the whole text, loosely."""
    blocked = pattern("teleport_to", "region", any_of=["Sandbox"])
    assert blocked.matches(go("sandbox"))
    assert blocked.matches(go("ＳＡＮＤＢＯＸ"))
    assert not blocked.matches(go("Sandbox 2"))


def test_an_allow_list_compares_exactly() -> None:
    """``none_of`` lets only the very same text through."""
    allowed = pattern("teleport_to", "region", none_of=["Plaza"])
    assert not allowed.matches(go("Plaza"))
    for other in ("plaza", "Plaza ", "Ｐlaza", "Sandbox"):
        assert allowed.matches(go(other))


def test_a_list_argument_matches_when_one_member_does() -> None:
    """One permission too many is enough; granting nothing matches nothing."""
    allowed = pattern("answer_permission", "grant", none_of=["animate"])
    assert allowed.matches(AnswerPermission(offer_id="o", grant=("animate", "debit")))
    assert not allowed.matches(AnswerPermission(offer_id="o", grant=("animate",)))
    assert not allowed.matches(AnswerPermission(offer_id="o"))


def test_a_missing_argument_counts_as_empty_text() -> None:
    """An allow list refuses what isn't there, a block list doesn't find it."""
    box = RezObject(position=HERE)
    assert pattern("rez_object", "item_id", none_of=[U]).matches(box)
    assert not pattern("rez_object", "item_id", contains=["0"]).matches(box)


def test_a_number_matcher_on_text_never_matches() -> None:
    """A checked section can't hold one; if one is made, it compares no text with numbers."""
    assert not pattern("say", "text", over=1).matches(Say(text="5"))
    assert not pattern("say", "text", under=1).matches(Say(text="0"))


def test_denying_and_asking_name_their_rule() -> None:
    """A pattern says what follows and by which rule."""
    denies = pattern("say", "text", contains=["x"])
    assert (denies.denied.code, denies.denied.rule, denies.ask) == (DenialCode.PATTERN_DENIED, "pattern.mine", "")
    assert pattern("say", "text", then="approve", contains=["x"]).ask == "pattern.mine"


def test_a_pattern_without_a_matcher_is_refused() -> None:
    """Nothing is not a matcher."""
    with pytest.raises(ValueError, match="one matcher"):
        pattern("say", "text")


@given(st.text())
def test_folding_twice_changes_nothing_more(text) -> None:
    """The loose form is a form: folding it again gives it back."""
    assert fold(fold(text)) == fold(text)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_the_quick_way_for_plain_text_is_the_long_way(text) -> None:
    """Printable ASCII folds as everything else does."""
    assert fold(text) == fold(text + "\u200b")


def test_no_text_makes_a_matcher_slow() -> None:
    """The longest text with the worst characters costs at most a few milliseconds: there is no backtracking."""
    slow = pattern("say", "text", contains=["a" * 200 + "b"] * 64)
    text = "a" * 1_023
    began = time.perf_counter()
    assert not slow.matches(Say(text=text))
    assert time.perf_counter() - began < 0.5


@pytest.mark.parametrize("granted", [("animate", "debit"), ("debit", "animate"), ("debit",)])
def test_one_member_of_a_list_is_enough(granted) -> None:
    """A list matches when one of its members does, by any matcher of texts. Spec: POL-14."""
    asked = AnswerPermission(offer_id="o", grant=granted)
    assert pattern("answer_permission", "grant", any_of=["debit"]).matches(asked)
    assert pattern("answer_permission", "grant", contains=["debit"]).matches(asked)
    assert pattern("answer_permission", "grant", none_of=["animate"]).matches(asked)
    long = AnswerPermission(offer_id="o", grant=(*granted, "very long indeed"))
    assert pattern("answer_permission", "grant", longer_than=10).matches(long)
    assert not pattern("answer_permission", "grant", longer_than=16).matches(long)
