"""The simulated world of a run: the scenario found, completed into a configuration, and opened.

Owns everything about a run that only a simulated grid has; `gridagent.cli.compose` loads it when there is one, so that
a service in a live grid does not carry a whole world in its memory.

Invariant: the world follows from scenario and seed alone (Spec: SIM-1).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from gridagent.cli.bank import keep_bank
from gridagent.config.files import absolute_path, read_file
from gridagent.config.model import AvatarConfig, Config
from gridagent.config.policy import PolicySection, Preset, RolesSection
from gridagent.errors import ConfigProblem
from gridagent.grid.simulated.faults import Faults
from gridagent.grid.simulated.grid import SimulatedGrid, open_simulated_grid
from gridagent.grid.simulated.inhabitants.owner import OwnerParams
from gridagent.grid.simulated.scenario import DEFAULT_SCENARIO, load_shipped, parse_scenario
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.grid.simulated.scenario_format import AvatarSpec, Scenario
from gridagent.grid.simulated.scenario_incidents import Disconnect, Kick, RegionRestart
from gridagent.grid.simulated.scenario_timeline import set_timeline
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import SCENARIO_FILE_MAX_BYTES
from gridagent.runtime.deterministic import SimulatedIds, SimulatedRandomness
from gridagent.runtime.ports import Ports

__all__ = ("account_id", "accounts_missing", "demonstration", "find_scenario", "is_stormy", "key_of", "open_world")

LogError: TypeAlias = Callable[[str, BaseException], None]

_KEY_UNFIT: Final = re.compile(r"[^a-z0-9_-]+")


def demonstration(config: Config, scenario: Scenario, chosen: frozenset[str] = frozenset()) -> Config:
    """Fill what nobody configured from the scenario: its avatars, the guide's policy, and the owner who lives there.

    So that the first run shows an avatar that is spoken to, obeys its owner and refuses strangers. Whatever
    the configuration says wins.
    """
    plain = Config()
    changes: dict[str, object] = {}
    if "avatars" not in chosen and config.avatars == plain.avatars:
        changes["avatars"] = {key_of(account.name): _configured(account.name) for account in scenario.agents()}
    if "policy" not in chosen and config.policy == plain.policy:
        changes["policy"] = PolicySection(preset=Preset.GUIDE)
    if "roles" not in chosen and config.roles == plain.roles:
        owners = (spec for spec in scenario.avatars if isinstance(spec.character, OwnerParams))
        changes["roles"] = RolesSection(owners=tuple(scenario.avatar_id(spec) for spec in owners))
    return msgspec.structs.replace(config, **changes)


def key_of(name: str) -> AvatarKey:
    """Return the short name that an account gets where nobody chose one."""
    key = _KEY_UNFIT.sub("-", name.split(maxsplit=1)[0].casefold()).strip("-_")
    return AvatarKey(key[:64] or "avatar")


def _configured(name: str) -> AvatarConfig:
    first, _, last = name.partition(" ")
    return AvatarConfig(first_name=first, last_name=last or "Resident")


def find_scenario(config: Config, named: str | None) -> Scenario:
    """Load the scenario that was named, or the configured one.

    Raises:
        ConfigError: its file cannot be used.
        OperatorError: no shipped scenario is called that.
    """
    simulated = config.grid.simulated
    if named is not None and (named.endswith(".json") or "/" in named):
        return _from_file(absolute_path(named, base=Path.cwd(), environ={}) or Path(named))
    if named is None and simulated.scenario_file is not None:
        return _from_file(Path(simulated.scenario_file))
    return load_shipped(named or simulated.scenario or DEFAULT_SCENARIO)


def _from_file(path: Path) -> Scenario:
    content = read_file(path, max_bytes=SCENARIO_FILE_MAX_BYTES, holds_secret=False, where="$")
    return parse_scenario(content.data, str(path))


def accounts_missing(config: Config, scenario: Scenario) -> Sequence[ConfigProblem]:
    """Name the avatars that the scenario has no account for."""
    known = ", ".join(account.name for account in scenario.agents()) or "none"
    return [
        ConfigProblem(
            path=f"$.avatars.{key}",
            what=f"the scenario {scenario.name} has no account for an avatar of this name",
            shape="",
            mend=f"set first_name and last_name to one of: {known}",
        )
        for key, avatar in config.avatars.items()
        if _account(scenario, avatar) is None
    ]


def _account(scenario: Scenario, avatar: AvatarConfig) -> AvatarSpec | None:
    wanted = f"{avatar.first_name} {avatar.last_name}".casefold()
    return next((each for each in scenario.agents() if each.name.casefold() == wanted), None)


def account_id(scenario: Scenario, avatar: AvatarConfig) -> AvatarId | None:
    """Return the UUID of an avatar's account; None where the scenario has none."""
    account = _account(scenario, avatar)
    return None if account is None else scenario.avatar_id(account)


def is_stormy(scenario: Scenario) -> bool:
    """Tell whether connections are broken on purpose in this story, so that coming back is part of it."""
    faults = scenario.faults
    chances = (
        faults.login_refused,
        faults.disconnect_mid_action,
        faults.disconnects_per_hour,
        faults.kicks_per_hour,
        faults.restarts_per_hour,
    )
    return any(chances) or any(isinstance(each, Kick | RegionRestart | Disconnect) for each in scenario.incidents)


@asynccontextmanager
async def open_world(
    scenario: Scenario, *, seed: int, ports: Ports, faults: Faults | None, book: str | None, log_error: LogError
) -> AsyncIterator[SimulatedGrid]:
    """Build the world of a scenario and let time pass in it until the block is left.

    Args:
        scenario: what there is and what happens.
        seed: the same one gives the same life.
        ports: the service's.
        faults: knobs; None takes the scenario's own.
        book: file in which its bank writes who paid whom; None keeps nothing.
        log_error: takes a stable code and an error.
    """
    randomness = SimulatedRandomness(seed)
    ids = SimulatedIds(randomness.stream("world.ids"))
    world = build_world(scenario, rng=randomness.stream("world"), ids=ids.uuid)
    knobs = scenario.faults if faults is None else faults
    with keep_bank(book, world, wall=ports.clock.wall(), log_error=log_error):
        async with open_simulated_grid(world, ports=ports, faults=knobs) as grid:
            set_timeline(scenario, world, grid.hands, now=grid.now())
            yield grid
