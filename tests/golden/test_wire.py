"""The forty conversations again, with the protocol in between."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tests.golden.player import CONVERSATIONS, play, reduced, transcript_file
from tests.golden.wire import over_the_wire

pytestmark = pytest.mark.slow

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HEIGHT = re.compile(r"(\(\d+\.\d+ \d+\.\d+) \d+\.\d+\)")
_SIT = "owner-sit-and-stand"
"""Over the wire nothing tells what can be sat on: the nearest thing is tried, and one that is no seat never answers."""


def comparable(lines: Sequence[str]) -> list[str]:
    """Lay out a transcript so that only what matters stands in it.

    Ids are the world's; how high a body stands is told as the middle of it on the wire; and what becomes of an action
    reaches the avatar and whoever watches on two ways, so of neighbours the kind decides which comes first.
    """
    plain = [_HEIGHT.sub(r"\1 …)", _ID.sub("…", line)) for line in lines]
    found: list[str] = []
    steps: list[str] = []
    for line in [*plain, "heard"]:
        if line.split()[0] in {"action", "im", "outcome", "said", "tool"}:
            steps.append(line)
            continue
        found += sorted(steps)
        steps = []
        found.append(line)
    return found


@pytest.mark.parametrize("conversation", [each for each in CONVERSATIONS if each != _SIT])
def test_a_conversation_goes_the_same_over_the_wire(conversation, tmp_path) -> None:
    """Each decision, act and word is the transcript's of the simulated backend. Spec: MND-1, PRS-1, LIV-6, LIV-15."""
    written = transcript_file(conversation).read_text(encoding="utf-8").splitlines()
    with over_the_wire():
        played = reduced(play(CONVERSATIONS[conversation], tmp_path))
    assert comparable(played) == comparable(written)


def test_what_could_not_be_found_out_is_not_claimed(tmp_path) -> None:
    """It sits down on what does not answer: in doubt, and it says so instead of thanking for the seat.

    Spec: EFX-1, MND-9, LIV-7.
    """
    written = transcript_file(_SIT).read_text(encoding="utf-8").splitlines()
    with over_the_wire():
        played = reduced(play(CONVERSATIONS[_SIT], tmp_path))
    assert [line for line in played if line.startswith(("heard", "  decided"))] == [
        line for line in written if line.startswith(("heard", "  decided"))
    ]
    assert "  tool     sit_on in_doubt" in played
    assert "  said     Ah, that's better." in written
    assert "  said     Ah, that's better." not in played


def test_nothing_is_played_past_the_wire(tmp_path) -> None:
    """A wire on which nothing arrives leaves every line unanswered: the comparison above can fail. Spec: LIV-15."""
    with over_the_wire(lost=1.0):
        played = reduced(play(CONVERSATIONS["greeting-by-name"], tmp_path))
    assert not [line for line in played if line.startswith(("  said", "  action"))]
