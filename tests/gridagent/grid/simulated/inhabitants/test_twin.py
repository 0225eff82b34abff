"""The twin looks like the owner and is somebody else."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import ConfigError
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.twin import Twin, TwinParams, disguise
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA_SEEN,
    ROBIN,
    ROBIN_SEEN,
    heard,
    messaged,
    said,
    stage,
    view_of,
    words,
)

PARAMS = TwinParams(imitates="Olive Owner", targets=("Robin Resident",), every_s=60.0)


def test_a_disguise_looks_alike_and_is_another_text() -> None:
    """Cyrillic letters, a zero-width space and an override hide in it. Fault: 14."""
    shown = disguise("Olive Owner")
    assert shown != "Olive Owner"
    assert any(unicodedata.name(character).startswith("CYRILLIC") for character in shown)
    assert "\u200b" in shown
    assert "".join(c for c in shown if unicodedata.category(c) != "Cf").startswith("Оlіvе")


@given(st.text(min_size=1, max_size=128))
def test_any_name_can_be_disguised_within_the_bounds_of_a_name(name: str) -> None:
    """The disguise of a name is never the name, and never too long. Fault: 14."""
    shown = disguise(name)
    assert shown != name
    assert len(shown) <= 128


def test_a_twin_gives_orders_to_its_target_only() -> None:
    """Orders go to the target in public by name and by IM. Spec: SIM-1. Fault: 14."""
    asked = rehearse(Twin(PARAMS, CAST), stage(ROBIN_SEEN, GRETA_SEEN, name=disguise("Olive Owner")), for_s=3_600)
    assert 40 <= len(asked) <= 100
    assert all(text.startswith("Robin, ") for text in said(asked))
    assert {to for to, _ in messaged(asked)} == {ROBIN}
    assert any("500 L$" in text for text in words(asked))


def test_a_twin_keeps_quiet_while_its_target_is_away() -> None:
    """No order is given to nobody."""
    assert rehearse(Twin(PARAMS, CAST), stage(GRETA_SEEN), for_s=600) == []


def test_a_twin_insists_when_its_target_answers_and_ignores_others() -> None:
    """An answer of the target is met with insistence, once in a while. Fault: 14."""
    events = [
        (300.0, heard("Twin, who are you?")),
        (301.0, heard("Twin?")),
        (500.0, heard("Twin, hello", who=GRETA_SEEN)),
        (600.0, heard("Twin, hello", who=view_of(ROBIN, "Robin Resident"))),
    ]
    params = TwinParams(imitates="Olive Owner", targets=("Robin Resident",), every_s=200.0)
    asked = rehearse(Twin(params, CAST), stage(ROBIN_SEEN, GRETA_SEEN, name="Twin"), for_s=700, events=events)
    assert len([text for text in words(asked) if "don't you know your own Twin?" in text]) == 2


def test_a_twin_imitates_somebody_of_its_scenario() -> None:
    """An unknown original is refused. Spec: SIM-1."""
    with pytest.raises(ConfigError, match="Nobody"):
        Twin(TwinParams(imitates="Nobody", targets=()), CAST)
