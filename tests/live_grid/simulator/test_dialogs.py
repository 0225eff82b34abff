"""The numbers that instant messages and scripts go by."""

from __future__ import annotations

from gridagent.ids import OfferId
from live_grid.simulator.dialogs import bits_of, button_text, channel_of, dialog_text, permissions_of


def test_permissions_travel_as_the_bits_that_grids_use() -> None:
    """Debit, controls, animation and attachment have their own; any other shares one. Spec: LIV-6."""
    assert bits_of(("debit", "control", "Animate", "attach")) == 0x2 | 0x4 | 0x10 | 0x20
    assert bits_of(("track camera", "telepathy")) == 0x400 | 1 << 30
    assert bits_of(()) == 0


def test_only_what_was_asked_for_can_be_granted() -> None:
    """Bits of other permissions grant nothing; nothing is a refusal. Spec: LIV-6."""
    asked = ("animate", "attach", "telepathy")
    assert permissions_of(0x10 | 0x2, asked) == ("animate",)
    assert permissions_of(0, asked) == ()
    assert permissions_of(1 << 30, asked) == ("telepathy",)


def test_each_question_waits_on_a_channel_of_its_own() -> None:
    """Negative, within 32 bits, and the same for the same offer. Spec: LIV-6."""
    offers = [OfferId(f"{number:08x}-0000-4000-8000-000000000001") for number in (0, 2, 0x7FFF_FFFF, 0xFFFF_FFFF)]
    channels = [channel_of(offer) for offer in offers]
    assert all(-(2**31) <= channel < 0 for channel in channels)
    assert len(set(channels[:3])) == 3
    assert channel_of(offers[1]) == channels[1]


def test_long_words_are_cut_to_what_scripts_can_show() -> None:
    """Half a kilobyte of text, a short label."""
    assert len(dialog_text("ü" * 600)) <= 513
    assert len(button_text("ü" * 100)) <= 65
