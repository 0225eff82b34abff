"""Claims about the set of a run: who is on it, and where facts go."""

from __future__ import annotations

import pytest
import trio

from gridagent.errors import BackendError
from gridagent.events import BalanceChanged, ImReceived, Speaker, SpeakerKind
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.runtime.deterministic import simulated_ports
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.hostile import HostileError
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.stage import OTHER_ROLES, Near, Stage
from gridagent.simulation.world import WatchedWorld

PLAZA = load_shipped("plaza-8")


def a_stage(seed: int = 0) -> Stage:
    """Return the set of a run in the plaza."""
    ports = simulated_ports(seed)
    rng = ports.randomness.stream("simulation.world")
    world = build_world(PLAZA, rng=rng, ids=ports.ids.uuid, make=WatchedWorld)
    return Stage(PLAZA, world, ports, Oracle(seed=seed, clock=lambda: 0.0), Sometimes())


def rules(stage: Stage) -> list[str]:
    """Name the rules that were broken."""
    return [violation.rule for violation in stage.oracle.violations]


def test_the_scenarios_agents_are_on_it_and_sometimes_a_sibling() -> None:
    """One or several avatars, an owner, trusted people and an inspector. Spec: SUP-11, SIM-3."""
    stages = [a_stage(seed) for seed in range(12)]
    assert {len(stage.agents) for stage in stages} == {1, 2}
    stage = stages[0]
    assert stage.agents[0].name == "Robin Resident"
    assert stage.inspector in stage.roles.owners
    assert len(stage.roles.trusted) == 2
    assert not set(stage.roles.owners) & set(stage.roles.trusted)


def test_what_is_near_is_read_from_the_world() -> None:
    """Nobody and nothing while the avatar is away; everybody while it is here."""
    stage = a_stage()
    near = Near(stage.world, stage.agents[0].avatar_id)
    assert (near.self_id, near.position, near.avatars(), near.objects()) == (stage.agents[0].avatar_id, None, (), ())
    stage.world.login(stage.agents[0].avatar_id, 1.0)
    assert near.position is not None
    assert len(near.objects()) == 3


def test_reloads_are_read_refused_or_name_others() -> None:
    """A policy is compiled and told to the oracle; garbage is a problem; other roles are left to the gateway."""
    stage = a_stage()
    agent = stage.agents[0]
    taken = stage.reload(agent, agent.policy.written())
    assert taken.policy is not None
    assert taken.policy.version in agent.history.books
    assert stage.reload(agent, b"{").problem
    other = stage.reload(agent, OTHER_ROLES).policy
    assert other is not None
    assert other.roles != taken.policy.roles


def test_rows_and_errors_go_to_the_oracle() -> None:
    """Errors made on purpose are counted; others, and any that ended a session, are violations."""
    stage = a_stage()
    key = stage.agents[0].key
    stage.on_row(key, AuditRecord(seq=1, at=0.0, kind=AuditKind.POLICY, code="replaced"))
    stage.on_error("backend_fault", HostileError("x"))
    stage.on_error("backend_ended", BackendError("kicked"))
    assert (stage.sometimes.snapshot()["policy_reloaded"], stage.sometimes.snapshot()["backend_fault"]) == (1, 1)
    assert rules(stage) == []
    stage.on_error("apply_failed", ZeroDivisionError())
    stage.on_error("session_ended", HostileError("x"))
    assert rules(stage) == ["no error but those made on purpose"] * 2


@pytest.mark.parametrize("logouts", [0, 1, 2])
def test_every_login_is_held_to_one_logout(logouts: int) -> None:
    """Once is right, never and twice are not. Spec: SUP-9."""
    stage = a_stage()
    session = stage.world.login(stage.agents[0].avatar_id, 1.0)
    for _ in range(logouts):
        stage.world.logout(stage.agents[0].avatar_id, 2.0, session)
    stage.judge_logins()
    assert rules(stage) == ([] if logouts == 1 else ["one logout a login"])
    stage.judge_logins()
    assert len(rules(stage)) == (logouts != 1)


async def test_the_inspector_notes_who_writes(autojump_clock) -> None:
    """By sender and time; other events, questions and what was written long ago are no answers."""
    stage = a_stage()
    await trio.sleep(5)
    source = Speaker(kind=SpeakerKind.AVATAR, id=stage.agents[0].avatar_id)
    stage.on_inspector_event(BalanceChanged(balance=0))
    stage.on_inspector_event(ImReceived(utterance_id="u", source=source, text="I was asked to do something."))
    stage.on_inspector_event(ImReceived(utterance_id="u", source=source, text="Hello, Ivy.", offline=True))
    assert stage.heard == {}
    stage.on_inspector_event(ImReceived(utterance_id="u", source=source, text="Hello, Ivy."))
    assert stage.heard == {stage.agents[0].avatar_id: 5.0}
