"""Texts between a world that speaks Unicode and fields that have sizes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from live_grid.messages import text_of
from live_grid.simulator.wording import chat_from_wire, label_from_wire, long_text, name_from_wire, short_text


@given(st.text(max_size=2_000))
def test_every_text_fits_its_field_and_stays_whole_where_it_can(text: str) -> None:
    """A short field holds 255 bytes, a long one a datagram; nothing is split inside a character. Spec: LIV-3."""
    assert len(short_text(text)) <= 255
    assert len(long_text(text)) <= 1_024
    short = text_of(short_text(text))
    clean = text.encode("utf-8", "replace").decode().rstrip("\0")
    assert short == clean or (len(clean.encode()) > 250 and clean.startswith(short[:-1].rstrip("\0")))


@given(st.binary(max_size=2_000))
def test_every_text_of_the_wire_is_one_the_world_takes(raw: bytes) -> None:
    """Any bytes become chat, a name or a label within the world's own ceilings. Spec: LIV-3, SUP-12."""
    assert len(chat_from_wire(raw).encode()) <= 1_023
    assert len(name_from_wire(raw)) <= 128
    assert len(label_from_wire(raw)) <= 64
