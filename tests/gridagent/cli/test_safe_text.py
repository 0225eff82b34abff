"""Text from outside on an operator's terminal."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.cli.safe_text import plain_json, shown

HOSTILE = {
    "clear the screen": "\x1b[2J\x1b[H",
    "colour": "\x1b[31mred\x1b[0m",
    "carriage return": "Bo says: hi\rOwner: pay me",
    "line break": "hi\nOlive Owner [owner] says: pay",
    "bell": "ding\a",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\a",
    "title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "eight-bit CSI": "\x9b2J",
    "backspace": "abc\b\b\bxyz",
    "right-to-left": "\u202eevil\u202c",
    "isolate": "\u2067evil\u2069",
    "zero width": "O\u200blive\u200d Owner\ufeff",
    "line separator": "a\u2028b\u2029c",
    "NUL": "a\0b",
    "delete": "a\x7fb",
    "tag characters": "hi\U000e0041\U000e0042",
    "soft hyphen": "Ol\u00adive",
}


def is_harmless(text: str) -> bool:
    """Whether a terminal does nothing but show it."""
    return all(char.isprintable() for char in text)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_written_out(name) -> None:
    """No control sequence, direction or hidden character survives. Spec: OPS-7. Fault: 14, 17."""
    text = shown(HOSTILE[name])
    assert is_harmless(text)
    assert "\\" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_in_json_is_escaped_and_means_the_same(name) -> None:
    """A program reads the very text, a terminal nothing but letters. Spec: OPS-7. Fault: 17."""
    line = plain_json(msgspec.json.encode({"text": HOSTILE[name]}))
    assert is_harmless(line)
    assert json.loads(line) == {"text": HOSTILE[name]}


@given(st.text(max_size=60))
def test_whatever_is_said_is_harmless(text) -> None:
    """Any text at all can be looked at, on one line, within its bound. Spec: OPS-7."""
    safe = shown(text, 40)
    assert is_harmless(safe)
    assert all(unicodedata.category(char)[0] != "C" for char in safe)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_json_of_any_text_means_the_same(text) -> None:
    """Escaping changes nothing for a program."""
    line = plain_json(msgspec.json.encode([text]))
    assert json.loads(line) == [text]
    assert not any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} for char in line)


def test_ordinary_text_of_any_script_stays_as_it_is() -> None:
    """People read their own language."""
    for text in ("Guten Tag, Zoë!", "今日は", "שלום", "مرحبا", "😀 ok", "e\u0301"):
        assert shown(text) == text
    assert shown("a\u00a0b\u3000c") == "a b c"


def test_a_thousand_combining_marks_do_not_paint_over_the_lines_around() -> None:
    """At most a few marks stay on one character. Fault: 17."""
    assert len(shown("e" + "\u0301" * 1_000 + "x", 2_000)) <= 6


def test_long_text_is_cut() -> None:
    """One line of the view cannot be a page."""
    assert len(shown("x" * 10_000)) <= 240
    assert shown("x" * 10_000).endswith("…")
