"""`gridagent.open_service`: the whole service in one's own program or tests, in one call.

Owns the convenience and nothing else: `gridagent.cli.compose` builds, `gridagent.service` runs. Writes no
file, opens no socket, takes no signal and no terminal.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgspec

from gridagent.cli.compose import Running, open_running, prepare
from gridagent.cli.grids import read_passwords
from gridagent.cli.minds import read_api_key
from gridagent.config.load import parse_config
from gridagent.config.model import Backend, Config
from gridagent.config.secrets import SecretStr
from gridagent.grid.simulated.faults import Faults
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from gridagent.service import Service

__all__ = ("open_service", "open_simulation")


@asynccontextmanager
async def open_simulation(
    config: Config | Mapping[str, object] | None = None,
    *,
    scenario: str | None = None,
    seed: int | None = None,
    ports: Ports | None = None,
    faults: Faults | None = None,
) -> AsyncIterator[Running]:
    """As `open_service`, and hands out the simulated grid beside the service, to cause faults and look at the world.

    Raises:
        ConfigError: the configuration cannot be used; lists every problem.
        OperatorError: there is no such scenario.
    """
    if config is None:
        chosen = Config()
    elif isinstance(config, Config):
        chosen = config
    else:
        chosen = parse_config(msgspec.json.encode(config))
    secrets: dict[str, SecretStr] = read_api_key(chosen)
    if chosen.grid.backend is Backend.LIVE:
        secrets |= read_passwords(chosen)
    prepared = prepare(chosen, scenario=scenario, seed=seed, demonstrate=config is None, secrets=secrets)
    async with open_running(prepared, ports=ports or system_ports(), faults=faults) as running:
        yield running


@asynccontextmanager
async def open_service(
    config: Config | Mapping[str, object] | None = None,
    *,
    scenario: str | None = None,
    seed: int | None = None,
    ports: Ports | None = None,
    faults: Faults | None = None,
) -> AsyncIterator[Service]:
    """Run avatars for as long as the ``async with`` block lasts: in the simulated grid, or in a configured live one.

    Args:
        config: a `Config`, or the same as plain values; None lets the scenario say who lives there, with the
            guide's policy.
        scenario: name of a shipped scenario, or path of a file.
        seed: the same seed gives the same world.
        ports: clock, randomness and ids; None takes the real ones. Tests take
            `gridagent.runtime.deterministic.simulated_ports`.
        faults: what goes wrong in the simulated grid; by default what the scenario says.

    Yields:
        The running service. Leaving the block stops every avatar in order, within its shutdown time-out.

    Raises:
        ConfigError: the configuration cannot be used; lists every problem.
        OperatorError: there is no such scenario.
    """
    async with open_simulation(config, scenario=scenario, seed=seed, ports=ports, faults=faults) as running:
        yield running.service
