"""How the composition root makes live backends out of a configuration: the entry point.

Owns the one step from the sections of the configuration to an account and settings. Found through the entry point
``live`` of the group ``gridagent.backends``, so that an install without this package has no live transport in it;
called once an avatar, before anything connects (Spec: LIV-14).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs

from gridagent.config.model import AvatarConfig, LiveGridConfig
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError, ConfigProblem, OutcomeUnknown
from gridagent.grid.base import BackendFactory, GridBackend, Redeem
from gridagent.grid.homing import home_of
from gridagent.grid.second_factor import SecondFactor
from gridagent.ids import Generation
from gridagent.runtime.ports import Blocking
from live_grid.backend.account import LiveAccount, LiveSettings, start_of
from live_grid.backend.backend import LiveBackend
from live_grid.backend.refuge import Refuge
from live_grid.circuit import CircuitConfig
from live_grid.handover import SessionSettings
from live_grid.io import Network, RealNetwork, WebFailed
from live_grid.llsd import LlsdValue, read_llsd_untrusted

__all__ = ("live_backends",)


def live_backends(
    avatar: AvatarConfig,
    grid: LiveGridConfig,
    *,
    password: SecretStr,
    new_id: Callable[[], str],
    version: str = "0",
    record: Callable[[bytes], object] | None = None,
    network: Network | None = None,
    return_after_s: float = 300.0,
    blocking: Blocking | None = None,
    second_factor: SecondFactor | None = None,
    heeded: frozenset[str] = frozenset(),
) -> BackendFactory:
    """Make the factory of one avatar's backends.

    Args:
        avatar: the account.
        grid: how to reach the grid.
        password: read from the avatar's file.
        new_id: makes ids nobody else has; the port's.
        version: of the program, as grids are told it.
        record: takes the wire line by line, with its secrets taken out.
        network: what connections stand on; None is this machine's.
        return_after_s: seconds in a fallback before the avatar goes back to where its region restarted.
        blocking: where long answers are read; None reads them on the loop.
        second_factor: the account's one-time code and what is left of an old one; None has neither.
        heeded: avatars whose words a flood of others' cannot push out, by UUID.

    Raises:
        ConfigError: there is no login address, or the start names no place.
    """
    address = grid.address
    if address is None:
        problem = ConfigProblem(
            path="$.grid.live.login_url",
            what="is missing for a live grid",
            shape="",
            mend="set it to the grid's login URL",
        )
        raise ConfigError((problem,))
    for place in (avatar.start, *avatar.fallbacks):
        start_of(place)
    settings = LiveSettings(
        login_url=address.reveal(),
        version=version,
        login_timeout_s=grid.login_timeout_s,
        agree_to_terms=grid.accept_terms,
        session=SessionSettings(circuit=CircuitConfig(dead_after_s=grid.idle_timeout_s)),
        record=record,
        network=network or RealNetwork(),
        read_large=None if blocking is None else partial(_read, blocking),
        second_factor=second_factor,
    )
    account = LiveAccount(
        first_name=avatar.first_name,
        last_name=avatar.last_name,
        password=password,
        start=avatar.start,
        home=home_of(avatar.home),
        heeded=heeded,
    )
    refuge = Refuge(avatar.start, avatar.fallbacks, return_after_s=return_after_s)
    return _Factory(account=account, settings=settings, new_id=new_id, refuge=refuge)


async def _read(blocking: Blocking, body: bytes) -> LlsdValue:
    """Read an answer where nothing waits for it.

    Raises:
        RemoteProtocolError: it cannot be read.
        WebFailed: it takes too long.
    """
    try:
        return await blocking.run(read_llsd_untrusted, body, name="live_grid.read")
    except OutcomeUnknown:
        raise WebFailed("too slow to be read") from None


@attrs.frozen(kw_only=True, eq=False)
class _Factory:
    """Makes one backend a generation; see `gridagent.grid.base.BackendFactory`."""

    account: LiveAccount
    settings: LiveSettings
    new_id: Callable[[], str]
    refuge: Refuge

    def __call__(self, *, generation: Generation, redeem: Redeem) -> GridBackend:
        """Return a backend that has not begun to connect."""
        del generation  # nothing of it goes over the wire
        account = attrs.evolve(self.account, start=self.refuge.start())
        return LiveBackend(account, self.settings, redeem=redeem, new_id=self.new_id, refuge=self.refuge)
