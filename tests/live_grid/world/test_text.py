"""Text from the wire, made harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.world.text import clean, clean_name, clean_text, clean_words


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"hello\0", "hello"),
        (b"two\nlines\tand a tab", "two\nlines\tand a tab"),
        (b"bell\x07 and null\0 inside", "bell and null inside"),
        ("evil \u202etxt.exe".encode(), "evil txt.exe"),
        ("a\u2028b".encode(), "a\nb"),
        (
            "family \U0001f468\u200d\U0001f469\u200d\U0001f467".encode(),
            "family \U0001f468\u200d\U0001f469\u200d\U0001f467",
        ),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_text_keeps_what_people_write(raw: bytes, text: str) -> None:
    """Controls and directions go, line breaks and joined emoji stay. Spec: LIV-6. Fault: 17."""
    assert clean_text(raw) == text


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"Ada Actor\0", "Ada Actor"),
        ("Ad\u200ba Act\u00ador".encode(), "Ada Actor"),
        ("\u202eAda\u2069 Actor".encode(), "Ada Actor"),
        (b"  Ada \n\t Actor ", "Ada Actor"),
        ("\U000e0041Ada".encode(), "Ada"),
    ],
)
def test_names_hold_nothing_unseen(raw: bytes, name: str) -> None:
    """What no eye sees is no part of a name. Fault: 14."""
    assert clean_name(raw) == name


def test_what_is_too_long_is_cut_and_marked() -> None:
    """Cut texts end in an ellipsis and keep their ceiling."""
    assert clean("x" * 100, 10) == "x" * 9 + "…"
    assert clean_words("x " * 100, 10) == "x x x x x…"


@given(st.binary(max_size=300))
def test_no_bytes_get_past(raw: bytes) -> None:
    """Whatever comes, what is left is short, says UTF-8 and holds no control characters. Fault: 17."""
    text, name = clean_text(raw, 50), clean_name(raw, 20)
    assert len(text) <= 50
    assert len(name) <= 20
    assert all(char in "\n\t" or not (char < " " or "\x7f" <= char < "\xa0") for char in text)
    assert name == " ".join(name.split())
    assert (text + name).encode().decode() == text + name
