"""Single values of a file: each wrong one gets its own sentence and its own remedy."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, inspect

from gridagent.grid.simulated.scenario_leaves import LEAVES, Fault, one_of, quoted, shape
from gridagent.ids import AvatarId
from gridagent.limits import ChatText


class Colour(StrEnum):
    """Two words."""

    RED = "red"
    BLUE = "blue"


SHORT = Annotated[str, Meta(min_length=2, max_length=4)]
CODE = Annotated[str, Meta(pattern=r"^[a-z]+$")]
COUNT = Annotated[int, Meta(ge=1, le=9)]
SHARE = Annotated[float, Meta(gt=0.0, lt=1.0)]


def leaf(kind: object, value: object) -> object:
    """Decode one value as one type."""
    info = inspect.type_info(kind)
    extra: dict[str, object] = {}
    if isinstance(info, inspect.Metadata):
        info, extra = info.type, info.extra or {}
    return LEAVES[type(info)](info, value, extra)


@pytest.mark.parametrize(
    ("kind", "value", "made"),
    [
        (str, "", ""),
        (SHORT, "abcd", "abcd"),
        (CODE, "abc", "abc"),
        (AvatarId, "10000000-0000-4000-8000-000000000001", "10000000-0000-4000-8000-000000000001"),
        (ChatText, "ü" * 511, "ü" * 511),
        (COUNT, 9, 9),
        (SHARE, 0.5, 0.5),
        (float, 3, 3.0),
        (bool, False, False),
        (Colour, "red", Colour.RED),
    ],
)
def test_a_right_value_comes_out_in_its_own_form(kind: object, value: object, made: object) -> None:
    """Whole numbers become fractions where those are wanted, words become members. Spec: SIM-1."""
    got = leaf(kind, value)
    assert got == made
    assert type(got) is type(made)


@pytest.mark.parametrize(
    ("kind", "value", "what", "mend"),
    [
        (str, 5, "is not a text", "write a text"),
        (SHORT, "a", "is too short", "write a text of 2 to 4 characters"),
        (SHORT, "abcde", "is too long", "write a text of 2 to 4 characters"),
        (SHORT, "", "is empty", "write a text of 2 to 4 characters"),
        (str, "\ud800", "holds half a character", "write whole characters"),
        (CODE, "Abc", "does not have the right form", "write a text that matches ^[a-z]+$"),
        (CODE, "abc\n", "does not have the right form", "write a text that matches ^[a-z]+$"),
        (AvatarId, "00000000-0000-0000-0000-000000000000", "is not a UUID", "not nil"),
        (AvatarId, "10000000-0000-4000-8000-00000000000A", "is not a UUID", "lower-case"),
        (AvatarId, "10000000-0000-4000-8000-000000000001\n", "is not a UUID", "hyphenated"),
        (ChatText, "ü" * 512, "is too long", "write a text of 0 to 1023 bytes of UTF-8"),
        (COUNT, 10, "is out of range", "write a whole number, at least 1 and at most 9"),
        (COUNT, True, "is not a whole number", "write a whole number"),
        (COUNT, 1.5, "is not a whole number", "write a whole number"),
        (COUNT, float("inf"), "is not a finite number", "write a whole number"),
        (COUNT, "5", "is not a whole number", "write a whole number"),
        (SHARE, 0, "is out of range", "write a number, above 0.0 and below 1.0"),
        (SHARE, 1, "is out of range", "write a number, above 0.0 and below 1.0"),
        (SHARE, float("nan"), "is not a finite number", "write a number"),
        (float, None, "is not a number", "write a number"),
        (bool, 1, "is not a switch", "write true or false"),
        (Colour, "green", "is not one of the known words", 'write one of "red", "blue"'),
        (Colour, ["red"], "is not one of the known words", 'write one of "red", "blue"'),
    ],
)
def test_a_wrong_value_says_what_is_wrong_and_how_to_mend_it(kind: object, value: object, what: str, mend: str) -> None:
    """Every kind of wrong value has its own sentence. Spec: SIM-1. Fault: 24."""
    fault = leaf(kind, value)
    assert isinstance(fault, Fault)
    assert what in fault.what
    assert mend in fault.mend


def test_names_of_things_are_plain() -> None:
    """A name that is given to something has no control characters and no blanks around it."""
    name = Annotated[str, Meta(extra={"defines": "avatar"})]
    for bad in ("a\nb", " a", "a ", "a\x00"):
        fault = leaf(name, bad)
        assert isinstance(fault, Fault)
        assert "control characters" in fault.what
    assert leaf(name, "О\u200blive") == "О\u200blive"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (5, "the number 5"),
        ("ab", 'the text "ab"'),
        ("x" * 33, "a text of 33 characters"),
        ([1, 2], "a list of 2"),
        ({"a": 1}, "an object of 1 keys"),
    ],
)
def test_shapes_tell_kind_and_size(value: object, said: str) -> None:
    """A problem says what was found without repeating all of it."""
    assert shape(value) == said
    assert one_of({"a": 1, "b": 2}) == 'one of "a", "b"'


@given(st.text())
def test_quotes_are_short_and_safe_for_a_terminal(text: str) -> None:
    """Nothing quoted from a file can move a cursor, reverse a line or fail to be encoded. Fault: 17."""
    said = quoted(text)
    assert said.isprintable()
    assert len(said) <= 12 * 64 + 2
    said.encode()
