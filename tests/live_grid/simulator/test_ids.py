"""Ids in both of their forms."""

from __future__ import annotations

from uuid import UUID

from live_grid.simulator.ids import conversation_id, derived_id, text_id, wire_id

TEXT = "00000000-0000-4000-8000-0000000000ff"


def test_both_forms_of_an_id_are_the_same_id() -> None:
    """Text and sixteen bytes come back as they were; nothing at all is the nil id."""
    assert text_id(wire_id(TEXT)) == TEXT
    assert wire_id("") == bytes(16)


def test_a_derived_id_follows_from_its_names_alone() -> None:
    """The same names give the same well-formed id, others another. Spec: SIM-2."""
    one = derived_id("region", "Plaza")
    assert one == derived_id("region", "Plaza")
    assert len({one, derived_id("region", "Annex"), derived_id("regionP", "laza")}) == 3
    assert UUID(bytes=one).version == 4


def test_a_conversation_has_one_name_for_both_sides() -> None:
    """The ids of two avatars, combined either way, name their conversation. Spec: LIV-6."""
    one, other = wire_id(TEXT), derived_id("somebody")
    assert conversation_id(one, other) == conversation_id(other, one) != one
