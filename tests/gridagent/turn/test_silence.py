"""Silence on purpose: what counts as it, and what only looks like it."""

from __future__ import annotations

import pytest

from gridagent.turn.silence import says_nothing, without_markers


@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "...", "\u2026", "-", '""', "***", "<silent/>", "<silent>", "<Silent />", "`<silent/>`",
        "<stay_silent/>", "[silent]", "(silence)", "*stays silent*", "*remains quiet*", "[no response]", "(no reply)",
        "(says nothing)", "NO_REPLY",
        "<silent/> They were not talking to me.", "<silence>",
    ],
)  # fmt: skip
def test_nothing_is_said(text: str) -> None:
    """No word, the marker, and the usual ways of writing it are silence. Spec: MND-10."""
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Silent.",
        "silence",
        "Nothing.",
        "No reply from him yet.",
        ":)",
        "?",
        "Hi",
        "Be silent!",
        "1",
        "The <silent/> one",
        "(yes)",
    ],
)
def test_something_is_said(text: str) -> None:
    """What somebody might really say is no silence. Spec: MND-10."""
    assert not says_nothing(text)


def test_a_marker_in_the_middle_is_taken_out() -> None:
    """A marker is never spoken. Spec: MND-10."""
    assert without_markers("Well, <silent/> goodbye") == "Well,   goodbye"
