"""Claims about ceilings and the types that carry them."""

from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import LimitExceeded
from gridagent.limits import HARD_LIMITS, Bounded, ChatText, Name, clip, clip_bytes


class Note(Bounded, frozen=True, kw_only=True):
    """A struct with every kind of ceiling."""

    text: ChatText = ""
    maybe: Name | None = None
    tags: Annotated[tuple[str, ...], msgspec.Meta(max_length=2)] = ()
    free: int = 0


def test_every_hard_limit_says_what_happens_there():
    """Each ceiling has a requirement, a positive number, a unit and a behaviour."""
    assert len(HARD_LIMITS) >= 30
    for row in HARD_LIMITS:
        assert row.id[:4] in {"BND-", "MEM-", "SUP-", "SIM-", "PRS-"}, row
        assert row.ceiling > 0
        assert row.unit
        assert row.at_the_ceiling


@pytest.mark.parametrize(
    ("values", "field", "seen"),
    [
        ({"text": "x" * 1024}, "Note.text", 1024),
        ({"text": "é" * 512}, "Note.text", 1024),
        ({"maybe": "n" * 129}, "Note.maybe", 129),
        ({"tags": ("a", "b", "c")}, "Note.tags", 3),
    ],
)
def test_a_value_over_its_ceiling_cannot_be_constructed(values, field, seen):
    """Spec: BND-7 — the ceiling is part of the type: nobody, not even our own code, can get round it."""
    with pytest.raises(LimitExceeded) as caught:
        Note(**values)
    assert (caught.value.limit, caught.value.seen) == (field, seen)


def test_a_value_at_its_ceiling_can():
    """The ceiling itself is allowed; bytes are counted, not characters."""
    note = Note(text="é" * 511 + "x", maybe="n" * 128, tags=("a", "b"))
    assert len(note.text.encode()) == 1023


def test_decoding_reports_the_ceiling_with_its_path():
    """What comes from outside is refused by msgspec's own error, which names the place."""
    raw = msgspec.json.encode([{"text": "é" * 600}])
    with pytest.raises(msgspec.ValidationError, match=r"Note\.text: at most 1023 allowed, got 1200 - at `\$\[0\]`"):
        msgspec.json.decode(raw, type=list[Note])


def test_lone_surrogates_are_measured_not_raised():
    """Text no codec can write is still counted; refusing it is the border's business."""
    assert Note(text="\ud800").text == "\ud800"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_clip_never_exceeds_and_keeps_what_fits(text, most):
    """A clipped text fits, and a text that fits is left alone."""
    clipped = clip(text, most)
    assert len(clipped) <= most
    assert clipped == text or len(text) > most


@given(st.text(), st.integers(min_value=4, max_value=60))
def test_clip_bytes_never_splits_a_character(text, size):
    """The cut text is valid UTF-8 of at most the size asked for."""
    clipped = clip_bytes(text, size)
    assert len(clipped.encode()) <= size
    assert clipped.rstrip("…") in text.encode("utf-8", "replace").decode()
