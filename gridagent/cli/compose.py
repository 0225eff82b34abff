"""The composition root: from a configuration to running avatars, and the only namer of concrete adapters.

Owns what is built of what: scenario, world and grid; one policy, mind, backend factory and reloader an
avatar. `prepare` finds everything that is wrong before anything runs; `open_running` runs what it made.
Opens no terminal, takes no signal and writes no file but the simulated bank's book: the commands do that around it.

Invariant: after `prepare` returned, nothing about the configuration can fail any more (Spec: CFG-1).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import attrs

from gridagent.cli.grids import LiveGrid, find_live_grid
from gridagent.cli.minds import API_KEY, PreparedMind, open_mind, open_model, prepare_mind, prices_of, spend_limits
from gridagent.cli.reloading import Reloading, SetLevel, policy_of
from gridagent.cli.second_factor import AccountFactor, SecondFactors
from gridagent.cli.tracing import check_tracing
from gridagent.config.environment import PREFIX
from gridagent.config.model import AvatarConfig, Backend, Config, FailureRule, LogLevel
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError, OperatorError
from gridagent.grid.base import BackendFactory
from gridagent.ids import AvatarId, AvatarKey
from gridagent.llm.accounting import Accounts
from gridagent.observability import Log
from gridagent.policy import Policy
from gridagent.presence.protected import OwnAvatars
from gridagent.runtime.ports import Ports
from gridagent.runtime.restart import RestartIntensity
from gridagent.service import AuditTrail, AvatarSpec, Service, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.reconnect import ReconnectDelays
from gridagent.storage import Store

__all__ = ("Prepared", "Running", "open_running", "prepare", "second_factors_of", "sections_chosen")

if TYPE_CHECKING:
    from types import ModuleType

    from gridagent.grid.simulated.faults import Faults
    from gridagent.grid.simulated.grid import SimulatedGrid
    from gridagent.grid.simulated.scenario_format import Scenario

LogError: TypeAlias = Callable[[str, BaseException], None]


@attrs.frozen(kw_only=True)
class _Avatar:
    """One avatar, checked and ready to be made."""

    key: AvatarKey
    account_id: AvatarId | None
    """In the scenario; a live grid tells it at the login."""
    settings: SessionSettings
    policy: Policy
    mind: PreparedMind


@attrs.frozen(kw_only=True)
class Prepared:
    """A configuration in which everything holds together."""

    config: Config
    scenario: Scenario | None
    """The story of a simulated grid."""
    live: LiveGrid | None = None
    """The other kind of grid; exactly one of the two is there."""
    api_key: SecretStr | None = attrs.field(default=None, repr=False)
    """For the model's endpoint."""
    seed: int
    avatars: tuple[_Avatar, ...]
    demonstration: bool
    """Nobody chose who is whose: the scenario did (see `demonstration`)."""

    @property
    def keys(self) -> tuple[AvatarKey, ...]:
        """The avatars, in the order of the configuration."""
        return tuple(avatar.key for avatar in self.avatars)

    @property
    def where(self) -> str:
        """Where the avatars live, as people are told."""
        if self.scenario is None:
            assert self.live is not None  # noqa: S101 - one of the two is there
            return self.live.in_words
        return f"in the simulated grid, scenario {self.scenario.name}, seed {self.seed}"

    def roles_by_id(self) -> dict[str, str]:
        """Return the word for everybody whom some avatar obeys."""
        found: dict[str, str] = {}
        for roles in (each.roles or self.config.roles for each in self.config.avatars.values()):
            found.update(dict.fromkeys(roles.trusted, "trusted"))
            found.update(dict.fromkeys(roles.owners, "owner"))
        return found


@attrs.frozen(kw_only=True)
class Running:
    """What runs while `open_running` lasts."""

    service: Service
    grid: SimulatedGrid | None
    """The simulated grid, to cause faults in and to look at; None where the grid is a live one."""
    prepared: Prepared


def prepare(
    config: Config,
    *,
    scenario: str | None = None,
    seed: int | None = None,
    demonstrate: bool = False,
    chosen: frozenset[str] = frozenset(),
    secrets: Mapping[str, SecretStr] | None = None,
) -> Prepared:
    """Load and check everything a configuration names.

    Args:
        config: as it was loaded.
        scenario: a shipped scenario's name, or the path of a file; takes the place of the configured one.
        seed: takes the place of the configured one.
        demonstrate: fill in what nobody chose from the scenario.
        chosen: sections of the configuration that somebody chose, also where they are as by default.
        secrets: the content of the configuration's secret files; None where it is only to be checked.

    Raises:
        ConfigError: with every problem.
        OperatorError: no shipped scenario is called that, or there is no place for one in a live grid.
    """
    check_tracing(config)
    if config.grid.backend is Backend.LIVE:
        if scenario is not None or seed is not None:
            raise OperatorError("a live grid has no scenario and no seed; leave out --scenario and --seed")
        return _prepare_live(config, secrets)
    stories = _stories()
    story = stories.find_scenario(config, scenario)
    if demonstrate:
        config = stories.demonstration(config, story, chosen)
    problems = stories.accounts_missing(config, story)
    if problems:
        raise ConfigError(tuple(problems))
    told = config.grid.simulated.seed
    if told == Config().grid.simulated.seed:
        told = story.seed  # the scenario's own seed counts unless somebody chose another
    return Prepared(
        config=config,
        scenario=story,
        api_key=_api_key(secrets),
        seed=told if seed is None else seed,
        avatars=tuple(
            _avatar(config, story, AvatarKey(key), avatar, index)
            for index, (key, avatar) in enumerate(config.avatars.items())
        ),
        demonstration=demonstrate,
    )


def _prepare_live(config: Config, secrets: Mapping[str, SecretStr] | None) -> Prepared:
    return Prepared(
        config=config,
        scenario=None,
        live=find_live_grid(config, secrets),
        api_key=_api_key(secrets),
        seed=config.grid.simulated.seed,
        avatars=tuple(
            _avatar(config, None, AvatarKey(key), avatar, index)
            for index, (key, avatar) in enumerate(config.avatars.items())
        ),
        demonstration=False,
    )


def _api_key(secrets: Mapping[str, SecretStr] | None) -> SecretStr | None:
    return None if secrets is None else secrets.get(API_KEY)


def sections_chosen(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the sections of the configuration that variables say something about."""
    names = (name.removeprefix(PREFIX) for name in environ if name.startswith(PREFIX))
    return frozenset(name.partition("__")[0].lower() for name in names)


def _stories() -> ModuleType:
    """Load what only a simulated grid needs: a whole world, which a service in a live one need not carry."""
    from gridagent.cli import story  # noqa: PLC0415 - on use

    return story


# --- one avatar -----------------------------------------------------------------------------------


def _avatar(config: Config, scenario: Scenario | None, key: AvatarKey, avatar: AvatarConfig, index: int) -> _Avatar:
    return _Avatar(
        key=key,
        account_id=None if scenario is None else _stories().account_id(scenario, avatar),
        settings=_settings(config, scenario, key, index),
        policy=policy_of(config, key),
        mind=prepare_mind(config, key, avatar),
    )


def _settings(config: Config, scenario: Scenario | None, key: AvatarKey, index: int) -> SessionSettings:
    session, reconnect = config.session, config.reconnect
    fails = config.failure_rule is FailureRule.FAIL and not (
        config.session.on_backend_failure is FailureRule.AUTO
        and scenario is not None
        and _stories().is_stormy(scenario)
    )
    return SessionSettings(
        key=key,
        on_backend_failure=OnBackendFailure.FAIL if fails else OnBackendFailure.RECONNECT,
        start_after_s=index * session.login_stagger_s,
        grid_events_max=config.queues.grid_events,
        controls_max=config.queues.controls,
        errands_max=config.llm.max_concurrent_requests,
        observables_max=config.queues.observables,
        offline_work_max=reconnect.offline_work_capacity,
        shutdown_timeout_s=session.shutdown_timeout_s,
        logout_timeout_s=session.logout_timeout_s,
        doubts_settle_s=session.doubts_settle_s,
        delays=ReconnectDelays(
            short_wait_s=reconnect.short_wait_s,
            long_wait_s=reconnect.long_wait_s,
            stay_away_s=reconnect.stay_away_s,
            backoff_base_s=reconnect.backoff_base_s,
            backoff_cap_s=reconnect.backoff_cap_s,
            healthy_after_s=session.healthy_after_s,
        ),
        fault_intensity=RestartIntensity(max_restarts=session.max_restarts, window_s=session.restart_window_s),
    )


def _keep_level(level: LogLevel) -> None:
    """Have no log whose level could change."""


# --- running ----------------------------------------------------------------------------------------


def _ignore(code: str, error: BaseException) -> None:
    """Log nowhere."""


@asynccontextmanager
async def open_running(
    prepared: Prepared,
    *,
    ports: Ports,
    log_error: LogError = _ignore,
    audit: AuditTrail | None = None,
    set_level: SetLevel = _keep_level,
    environ: Mapping[str, str] | None = None,
    base: Path | None = None,
    faults: Faults | None = None,
    store: Store | None = None,
    log: Log | None = None,
    second_factors: SecondFactors | None = None,
) -> AsyncIterator[Running]:
    """Run a prepared configuration until the block is left.

    Args:
        prepared: from `prepare`.
        ports: clock, randomness and ids of the service; the simulated world follows from the seed alone.
        log_error: takes a stable code and an error.
        audit: where decisions are recorded; None keeps the newest in memory.
        set_level: changes the log's level on a reload.
        environ: variables that a reloaded configuration is laid under; None means none.
        base: directory that relative paths of a reloaded configuration start from.
        faults: knobs of the simulated grid; None takes the scenario's own.
        store: where effects and conversations survive; None keeps them for this process only.
        log: takes what a model's provider says, redacted.
        second_factors: of accounts in a live grid; None remembers for this process only what such a code proved.

    Cancellation: the same orderly stop, bounded by each avatar's shutdown time-out.
    """
    reloading = partial(Reloading, prepared.config, environ=environ or {}, base=base, set_level=set_level)
    factors = second_factors_of(prepared, second_factors or SecondFactors())
    async with (
        _open_grid(prepared, ports, faults, log_error, factors) as (grid, backends),
        open_model(prepared.config, prepared.api_key, ports=ports, log=log) as model,
    ):
        config = prepared.config
        think = partial(
            open_mind,
            ports=ports,
            model=model,
            accounts=Accounts(spend_limits(config)),
            prices=prices_of(config),
            # one list for all of them: in a live grid, each is known from its login on
            own=OwnAvatars(each.account_id for each in prepared.avatars if each.account_id is not None),
        )
        specs = [
            AvatarSpec(
                settings=avatar.settings,
                policy=avatar.policy,
                mind=partial(think, avatar.mind, know=reload.know),
                backend=backends[avatar.key],
                reload=reload,
                give_code=factors[avatar.key].give if avatar.key in factors else None,
            )
            for avatar, reload in ((each, reloading(each.mind)) for each in prepared.avatars)
        ]
        async with open_service(specs, ports=ports, log_error=log_error, audit=audit, store=store) as service:
            yield Running(service=service, grid=grid, prepared=prepared)


def second_factors_of(prepared: Prepared, factors: SecondFactors) -> dict[str, AccountFactor]:
    """Return what each account of a live grid has besides its password; nothing in the simulated one."""
    address = prepared.config.grid.live.address
    if prepared.live is None or address is None:
        return {}
    return {key: factors.of(AvatarKey(key), each, address) for key, each in prepared.config.avatars.items()}


@asynccontextmanager
async def _open_grid(
    prepared: Prepared, ports: Ports, faults: Faults | None, log_error: LogError, factors: Mapping[str, AccountFactor]
) -> AsyncIterator[tuple[SimulatedGrid | None, Mapping[str, BackendFactory]]]:
    """Open what the avatars live in, and give the factory of each one's backends."""
    scenario = prepared.scenario
    if scenario is None:
        assert prepared.live is not None  # noqa: S101 - one of the two is there
        yield None, prepared.live.factories(ports, factors)
        return
    story, book = _stories(), prepared.config.grid.simulated.book_file
    async with story.open_world(
        scenario, seed=prepared.seed, ports=ports, faults=faults, book=book, log_error=log_error
    ) as grid:
        yield (
            grid,
            {
                each.key: grid.backend_factory(
                    each.account_id, home=prepared.config.avatars[each.key].home, heeded=each.mind.authorised
                )
                for each in prepared.avatars
                if each.account_id is not None
            },
        )
