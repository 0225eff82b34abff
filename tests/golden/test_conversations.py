"""Forty conversations with the offline model, as they were written down, and the same in other words."""

from __future__ import annotations

import pytest

from tests.golden.player import CONVERSATIONS, WORKING, differs, paraphrased, play, reduced, transcript_file

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_a_conversation_goes_as_it_is_written(conversation, tmp_path) -> None:
    """Each line heard, each decision, act and word is the transcript's. Spec: MND-1, MND-9, PRS-1, POL-4, OPS-1."""
    written = transcript_file(conversation).read_text(encoding="utf-8")
    assert "\n".join(reduced(play(CONVERSATIONS[conversation], tmp_path))) + "\n" == written


@pytest.mark.parametrize("conversation", CONVERSATIONS)
def test_the_same_in_other_words_comes_to_the_same(conversation, tmp_path) -> None:
    """As many of three paraphrases lead to the same decisions and acts as are written down. Spec: PRS-1, MND-1."""
    plain = play(CONVERSATIONS[conversation], tmp_path)
    other = [play(lines, tmp_path) for lines in paraphrased(conversation)]
    assert sum(not differs(plain, each) for each in other) == WORKING[conversation]


def test_most_paraphrases_work() -> None:
    """The number that the documents state is the number that is held. Spec: MND-1."""
    assert set(WORKING) == set(CONVERSATIONS)
    assert len(CONVERSATIONS) == 40
    assert sum(WORKING.values()) == 88
