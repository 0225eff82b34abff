"""Presets on one screen."""

from __future__ import annotations

import json

import pytest

from gridagent.actions import Capability
from gridagent.authority import Origin, Role
from gridagent.config import parse_config
from gridagent.config.policy import PolicySection, Preset
from gridagent.policy import Policy
from gridagent.policy.presets import BASE, PRESETS, SUMMARIES


def pasted(text: str) -> dict[str, object]:
    """What is shown, put into a configuration file as its policy."""
    file = f'{{"policy":\n{text}}}'
    parse_config(file.encode())
    return json.loads("\n".join(line for line in text.splitlines() if not line.startswith("//")))


@pytest.mark.parametrize("preset", [each.value for each in Preset])
def test_a_preset_fits_one_screen_and_can_be_pasted(gridagent, preset) -> None:
    """24 lines of 100 columns, in the form a configuration has, and nothing of it is lost. Spec: OPS-9."""
    done = gridagent("policy", "show", preset)
    assert done.code == 0
    lines = done.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert lines[0] == f"// {preset}: {SUMMARIES[Preset(preset)]}"
    assert lines[-1] == f'// extend it: "policy": {{"preset": "{preset}", and your cells}}; under it: policy show base'
    assert pasted(done.out) == json.loads(PRESETS[Preset(preset)])


def test_the_base_is_shown_too(gridagent) -> None:
    """What every preset stands on is no secret. Spec: OPS-9."""
    text = gridagent("policy", "show", "base").out
    assert pasted(text) == json.loads(BASE)
    assert json.loads(gridagent("policy", "show", "base", "--json").out) == json.loads(BASE)
    assert max(map(len, text.splitlines())) <= 100


def test_a_preset_is_extended_as_it_says(gridagent) -> None:
    """A cell of one's own wins, and all others stay. Spec: OPS-9."""
    own = {"preset": "greeter", "matrix": {"public_chat": {"move": "trusted"}}}
    policy = Policy(parse_config(json.dumps({"policy": own}).encode()).policy)
    assert policy.admits(Origin.PUBLIC_CHAT, Capability.MOVE, Role.TRUSTED)
    assert not policy.admits(Origin.PUBLIC_CHAT, Capability.MOVE, Role.STRANGER)
    assert policy.admits(Origin.PUBLIC_CHAT, Capability.SPEAK, Role.STRANGER)


def test_programs_get_everything_merged(gridagent) -> None:
    """With --json the preset comes with all it stands on."""
    import msgspec  # noqa: PLC0415

    raw = gridagent("policy", "show", "guide", "--json").out
    assert msgspec.json.decode(raw, type=PolicySection).budgets


def test_presets_are_listed(gridagent) -> None:
    """One line each, with what it is for, and the names alone for programs. Spec: OPS-9."""
    lines = gridagent("policy", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == [*(each.value for each in Preset), "base"]
    assert lines[1] == "greeter     Talks with everybody in public."
    assert max(map(len, lines)) <= 100
    assert json.loads(gridagent("policy", "list", "--json").out) == [each.value for each in Preset]


@pytest.mark.parametrize("words", [("show",), ("show", "tyrant"), ("show", "\x1b[2J")])
def test_what_is_no_preset_is_a_usage_error(gridagent, words) -> None:
    """The sentence lists those that exist. Spec: OPS-1."""
    done = gridagent("policy", *words)
    assert done.code == 2
    assert "observer, greeter, guide" in done.err
    assert "\x1b" not in done.err
