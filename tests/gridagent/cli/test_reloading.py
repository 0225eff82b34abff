"""What a running avatar takes over from a new configuration (Spec: SUP-8, PRS-6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gridagent.cli.compose import open_running, prepare
from gridagent.cli.reloading import Reloading
from gridagent.config.load import parse_config
from gridagent.config.model import LogLevel
from gridagent.controls import ReloadConfig
from gridagent.runtime.deterministic import simulated_ports
from gridagent.thinking import Thinker

ME = {"first_name": "Robin"}


def _given(**keys: object) -> bytes:
    return json.dumps({"avatars": {"robin": ME | keys}}).encode()


@pytest.fixture
def persona(tmp_path) -> Path:
    """A persona of one's own."""
    path = tmp_path / "robin.md"
    path.write_text("---\naliases:\n  - Redbreast\n---\nYou are a robin.", encoding="utf-8")
    return path


def _mind(running) -> Thinker:
    mind = running.service._sessions["robin"].core.host.mind
    assert isinstance(mind, Thinker)
    return mind


async def test_a_persona_is_read_anew_with_each_reload(autojump_clock, persona) -> None:
    """Spec: PRS-6 — new text under an old path counts, names and all; the same text changes nothing."""
    given = _given(persona_file=str(persona))
    async with open_running(prepare(parse_config(given)), ports=simulated_ports(1)) as running:
        control = running.service.avatar().control
        before = _mind(running).persona
        assert before.style == "You are a robin."
        assert (await control(ReloadConfig(config_json=given))).code == "ok"
        assert _mind(running).persona is before
        persona.write_text("---\nname: Wren\n---\nYou are a wren.", encoding="utf-8")
        assert (await control(ReloadConfig(config_json=given))).code == "ok"
        after = _mind(running)
        assert after.persona.style == "You are a wren."
        assert after.persona.digest != before.digest
        assert after._chain._room.names.words == {"robin", "resident", "wren"}


async def test_presence_and_aliases_change_while_people_stay_known(autojump_clock) -> None:
    """Spec: SUP-8 — an avatar's own section or everybody's; what is left of the file needs no restart."""
    async with open_running(prepare(parse_config(_given())), ports=simulated_ports(1)) as running:
        control = running.service.avatar().control
        room = _mind(running)._chain._room
        policy = running.service.avatar().status().gateway.policy
        reply = await control(ReloadConfig(config_json=_given(aliases=["Rob"], presence={"hearing_m": 7.0})))
        assert (reply.code, reply.message) == ("ok", "")
        assert "rob" in room.names.words
        assert room.section.hearing_m == 7.0
        assert _mind(running)._mouth.section is room.section
        shared = json.dumps({"avatars": {"robin": ME}, "presence": {"quiet_s": 30.0, "disclose": True}}).encode()
        assert (await control(ReloadConfig(config_json=shared))).code == "ok"
        assert (room.section.quiet_s, room.section.disclose, room.section.hearing_m) == (30.0, True, 20.0)
        assert running.service.avatar().status().gateway.policy == policy


async def test_a_persona_that_cannot_be_used_changes_nothing(autojump_clock, persona) -> None:
    """Spec: PRS-6, CFG-1 — the line is told, and everything stays in force, the policy of the same file too."""
    given = _given(persona_file=str(persona))
    async with open_running(prepare(parse_config(given)), ports=simulated_ports(1)) as running:
        avatar = running.service.avatar()
        before = (_mind(running).persona, avatar.status().gateway.policy)
        persona.write_text("---\nnmae: Wren\nmore\n---\nYou are a wren.", encoding="utf-8")
        changed = _given(persona_file=str(persona), policy={"preset": "greeter"})
        reply = await avatar.control(ReloadConfig(config_json=changed))
        assert not reply.accepted
        assert "line 2: is not a known key" in reply.message
        assert "(and 1 more)" in reply.message
        assert (_mind(running).persona, avatar.status().gateway.policy) == before
        persona.unlink()
        assert not (await avatar.control(ReloadConfig(config_json=given))).accepted


def test_a_mind_that_is_not_made_yet_is_made_of_what_was_prepared() -> None:
    """A reload that comes before the mind is there is no fault; levels and policies are taken all the same."""
    levels: list[LogLevel] = []
    prepared = prepare(parse_config(_given()))
    reload = Reloading(prepared.config, prepared.avatars[0].mind, environ={}, base=None, set_level=levels.append)
    changed = json.loads(_given(aliases=["Rob"], dry_run=True)) | {"log": {"level": "error"}}
    plan = reload(json.dumps(changed).encode())
    assert plan.problem == ""
    assert plan.policy is not None
    assert plan.policy.dry_run
    assert levels == [LogLevel.ERROR]
