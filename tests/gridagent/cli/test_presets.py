"""Presets on one screen."""

from __future__ import annotations

import json

import pytest

from gridagent.config.policy import PolicySection, Preset


@pytest.mark.parametrize("preset", [each.value for each in Preset])
def test_a_preset_fits_one_screen_and_can_be_pasted(gridagent, preset) -> None:
    """A person reads it at a glance, in the form a configuration has. Spec: OPS-9."""
    done = gridagent("policy", "show", preset)
    assert done.code == 0
    assert done.out.count("\n") <= 50
    text, _, note = done.out.rpartition("over what every preset stands on")
    assert isinstance(json.loads(text), dict)
    assert "policy show base" in note


def test_the_base_is_shown_too(gridagent) -> None:
    """What every preset stands on is no secret. Spec: OPS-9."""
    assert "operator_console" in json.loads(gridagent("policy", "show", "base").out)["matrix"]


def test_programs_get_everything_merged(gridagent) -> None:
    """With --json the preset comes with all it stands on."""
    import msgspec  # noqa: PLC0415

    raw = gridagent("policy", "show", "guide", "--json").out
    assert msgspec.json.decode(raw, type=PolicySection).budgets


def test_presets_are_listed(gridagent) -> None:
    """Names for people, one line each, and for programs."""
    assert gridagent("policy", "list").out.split() == [*(each.value for each in Preset), "base"]
    assert json.loads(gridagent("policy", "list", "--json").out) == [each.value for each in Preset]


@pytest.mark.parametrize("words", [("show",), ("show", "tyrant"), ("show", "\x1b[2J")])
def test_what_is_no_preset_is_a_usage_error(gridagent, words) -> None:
    """The sentence lists those that exist. Spec: OPS-1."""
    done = gridagent("policy", *words)
    assert done.code == 2
    assert "observer, greeter, guide" in done.err
    assert "\x1b" not in done.err
