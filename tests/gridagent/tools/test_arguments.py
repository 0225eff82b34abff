"""Arguments are one strict JSON object, or a typed refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.tools.arguments import ARGUMENTS_MAX_BYTES, Arguments, parse_arguments
from gridagent.tools.codes import ResultCode


@pytest.mark.parametrize("raw", ["", "  ", "\n\t\r ", "{}", " { } "])
def test_nothing_written_is_an_empty_object(raw: str) -> None:
    """Some models call a tool without arguments by writing nothing."""
    parsed = parse_arguments(raw)
    assert isinstance(parsed, Arguments)
    assert (parsed.value, parsed.canonical) == ({}, b"{}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"t":[' + "0," * 4_096 + "0]}", ResultCode.ARGUMENTS_TOO_LARGE),
        ("null", ResultCode.MALFORMED_ARGUMENTS),
        ("[]", ResultCode.MALFORMED_ARGUMENTS),
        ('"{}"', ResultCode.MALFORMED_ARGUMENTS),
        ("{]", ResultCode.MALFORMED_ARGUMENTS),
        ("\xa0", ResultCode.MALFORMED_ARGUMENTS),
        ("```json\n{}\n```", ResultCode.MALFORMED_ARGUMENTS),
        ('{"amt":1,"amt":1}', ResultCode.DUPLICATE_KEYS),
        ('{"amt":NaN}', ResultCode.BAD_NUMBER),
        ('{"amt":' + "9" * 40 + "}", ResultCode.BAD_NUMBER),
        ('{"t":"\\ud800"}', ResultCode.BAD_TEXT),
        ('{"t":"\\u0000"}', ResultCode.BAD_TEXT),
        ('{"t":' * 17 + "1" + "}" * 17, ResultCode.ARGUMENTS_TOO_LARGE),
        ('{"t":[' + "1e15," * 4_000 + "0]}", ResultCode.ARGUMENTS_TOO_LARGE),
        ('{"t":"' + "a" * ARGUMENTS_MAX_BYTES + '"}', ResultCode.ARGUMENTS_TOO_LARGE),
    ],
)
def test_each_bad_text_has_its_code(raw: str, code: ResultCode) -> None:
    """What is no strict object is refused with a code that says why. Spec: MND-5. Fault: 17, 23, 24."""
    assert parse_arguments(raw) is code


def test_equal_arguments_have_equal_bytes() -> None:
    """Order and spaces make no difference; values do. Spec: MND-5."""
    one, two = parse_arguments('{"b": 1, "a": {"d": 2, "c": [1.0]}}'), parse_arguments('{"a":{"c":[1.0],"d":2},"b":1}')
    assert isinstance(one, Arguments)
    assert isinstance(two, Arguments)
    assert one.canonical == two.canonical == b'{"a":{"c":[1.0],"d":2},"b":1}'
    assert parse_arguments('{"b":1.0}') != parse_arguments('{"b":1}')


@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")))
def test_any_text_is_arguments_or_a_code(raw: str) -> None:
    """Nothing a model writes escapes as an error. Spec: MND-7. Fault: 17."""
    parsed = parse_arguments(raw)
    assert isinstance(parsed, Arguments | ResultCode)
    assert parsed is not ResultCode.DONE
