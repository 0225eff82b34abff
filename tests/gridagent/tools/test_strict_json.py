"""JSON from outside is read strictly or not at all."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.tools import strict_json
from gridagent.tools.strict_json import JsonProblem, canonical, read_json

KIB64 = 64 * 1024

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # no zero character and no half surrogate pair: neither is taken
    | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=6), inner
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", JsonProblem.NOT_JSON),
        ("{", JsonProblem.NOT_JSON),
        ('{"a":1} x', JsonProblem.NOT_JSON),
        ("\ufeff{}", JsonProblem.NOT_JSON),
        ("{'a':1}", JsonProblem.NOT_JSON),
        ('"NaN" x', JsonProblem.NOT_JSON),
        ('"a\\"b":', JsonProblem.NOT_JSON),
        ('{"a":1,"a":2}', JsonProblem.DUPLICATE_KEY),
        ('{"a":1,"\\u0061":1}', JsonProblem.DUPLICATE_KEY),
        ('{"x":[{"b":{"c":1,"c":1}}]}', JsonProblem.DUPLICATE_KEY),
        ('{"a":":","a":":"}', JsonProblem.DUPLICATE_KEY),
        ("NaN", JsonProblem.BAD_NUMBER),
        ('{"a":Infinity}', JsonProblem.BAD_NUMBER),
        ('{"a":-Infinity}', JsonProblem.BAD_NUMBER),
        ("[1e999]", JsonProblem.BAD_NUMBER),
        ("9" * 5_000, JsonProblem.BAD_NUMBER),
        ("1" + "0" * 30, JsonProblem.BAD_NUMBER),
        (str(2**63), JsonProblem.BAD_NUMBER),
        (str(-(2**63) - 1), JsonProblem.BAD_NUMBER),
        ('"\\ud800"', JsonProblem.BAD_TEXT),
        ('{"\\udfff":1}', JsonProblem.BAD_TEXT),
        ("\ud800", JsonProblem.BAD_TEXT),
        ('"\\u0000"', JsonProblem.BAD_TEXT),
        ('{"a\\u0000":1}', JsonProblem.BAD_TEXT),
        (b'"\xff"', JsonProblem.BAD_TEXT),
        ("[" * 33 + "]" * 33, JsonProblem.TOO_DEEP),
        ('{"a":' * 33 + "1" + "}" * 33, JsonProblem.TOO_DEEP),
        ("[" * 60_000, JsonProblem.TOO_DEEP),
        ("[1e999," + "[" * 60_000, JsonProblem.NOT_JSON),
        ('"' + "a" * KIB64 + '"', JsonProblem.TOO_LARGE),
        ('"' + "ä" * (KIB64 // 2) + '"', JsonProblem.TOO_LARGE),
        ("[" + "0," * 20_000 + "0]", JsonProblem.TOO_LARGE),
    ],
)
def test_each_bad_text_has_its_typed_problem(text: str | bytes, problem: JsonProblem) -> None:
    """Duplicate keys, numbers beyond 64 bits, half characters, depth and size are refused. Fault: 23, 24."""
    assert read_json(text, max_bytes=KIB64) is problem


@pytest.mark.parametrize(
    "text", ["[" * 32 + "]" * 32, str(2**63 - 1), str(-(2**63)), '{"a":"\\ud83d\\ude00"}', '{":":":"}']
)
def test_what_is_just_within_the_caps_is_read(text: str) -> None:
    """The caps themselves are allowed."""
    assert read_json(text, max_bytes=KIB64) == json.loads(text)


@pytest.mark.slow
@given(VALUES)
def test_canonical_bytes_read_back_as_an_equal_value(value: object) -> None:
    """A value and its canonical form are one, and the form is stable. Spec: MND-5."""
    data = canonical(value)
    again = read_json(data, max_bytes=10 * KIB64)
    assert again == value
    assert canonical(again) == data


@pytest.mark.slow
@settings(max_examples=50)
@given(VALUES.filter(lambda value: isinstance(value, dict) and value))
def test_a_key_written_twice_is_seen_at_any_depth(value: dict) -> None:
    """Whatever else is in a text, one key too many in any object refuses it. Fault: 23."""
    text = msgspec.json.encode(value).decode()
    doubled = "{" + text[1:-1] + "," + text[1:-1] + "}"
    assert read_json(text, max_bytes=10 * KIB64) == value
    assert read_json(doubled, max_bytes=10 * KIB64) is JsonProblem.DUPLICATE_KEY
    assert read_json('[{"deeper":' + doubled + "}]", max_bytes=10 * KIB64) is JsonProblem.DUPLICATE_KEY


@given(st.text() | st.binary())
def test_any_text_is_a_value_or_a_typed_problem(text: str | bytes) -> None:
    """Nothing escapes, and what is taken is what a lenient reader reads too. Spec: MND-7."""
    value = read_json(text, max_bytes=256)
    if not isinstance(value, JsonProblem):
        assert value == json.loads(text)


def test_problems_are_told_apart_from_texts_of_the_same_words() -> None:
    """A text that spells a problem is a text; callers tell the two by type."""
    value = read_json('"too_deep"', max_bytes=64)
    assert value == "too_deep"
    assert not isinstance(value, JsonProblem)


@pytest.mark.parametrize("piece", ['"', 'a\\"', "\\", "\\ud800", '":"', "{", '{"'])
def test_a_text_that_never_ends_takes_no_longer_than_any_other(piece: str) -> None:
    """Saying why a text is no JSON is linear in its length, whatever it repeats. Spec: MND-7."""
    for head in ('"', '{"a":'):
        assert isinstance(read_json((head + piece * KIB64)[:KIB64], max_bytes=KIB64), JsonProblem)
    assert strict_json._STRING.sub("", '{"a\\" never ends\\') == "{"
