"""The whole service in one's own program."""

from __future__ import annotations

import pytest

from gridagent import open_service, open_simulation
from gridagent.config.model import Config
from gridagent.controls import SayAsOperator
from gridagent.errors import ConfigError
from gridagent.grid.simulated.faults import Faults
from gridagent.observations import ActionSettled, AgentState, Observation
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.system import system_ports


async def first_words(config: object = None, **choices: object) -> list[object]:
    """Say hello, and return what was observed until it settled."""
    bodies: list[object] = []
    async with open_service(config, ports=simulated_ports(1), **choices) as service:
        avatar = service.avatar()
        await avatar.wait_agent(AgentState.RUNNING)
        with avatar.observe() as seen:
            await avatar.control(SayAsOperator(text="hello"))
            async for observation in seen:
                assert isinstance(observation, Observation)
                bodies.append(observation.body)
                if isinstance(observation.body, ActionSettled):
                    return bodies
    raise AssertionError("it never settled")


@pytest.mark.parametrize("config", [None, Config(), {}, {"policy": {"preset": "greeter"}}])
async def test_ten_lines_say_hello_and_see_the_evidence(config, autojump_clock) -> None:
    """A configuration, the same as plain values, or none. Spec: OPS-1, EFX-1."""
    bodies = await first_words(config)
    assert type(bodies[-1].outcome).__name__ == "Confirmed"


async def test_the_same_seed_gives_the_same_life(autojump_clock) -> None:
    """Two services of one seed observe the same. Spec: SIM-2."""
    assert await first_words(seed=5) == await first_words(seed=5)


async def test_a_wrong_configuration_lists_its_problems() -> None:
    """Plain values are checked like a file. Spec: CFG-1."""
    with pytest.raises(ConfigError, match=r"\$\.nonsense"):
        async with open_service({"nonsense": 1}):
            raise AssertionError("it cannot run")


async def test_faults_can_be_set_and_caused(autojump_clock) -> None:
    """The grid is at hand: a connection breaks, and the agent ends as it was configured to. Spec: SIM-1, SUP-1."""
    faults = Faults(login_s=(2.0, 2.0))
    async with open_simulation(ports=simulated_ports(1), faults=faults, scenario="quiet-room") as running:
        avatar = running.service.avatar()
        await avatar.wait_agent(AgentState.RUNNING)
        assert running.grid.disconnect(avatar.status().avatar_id)
        assert await avatar.wait_agent(AgentState.FAILED) is AgentState.FAILED
        assert avatar.status().last_error == "circuit_lost"


async def test_real_ports_are_the_default() -> None:
    """Without ports the service lives in real time."""
    async with open_service(scenario="quiet-room") as service:
        assert service.avatar().status().agent is AgentState.STARTING
    assert system_ports().clock.wall() > 1_700_000_000
