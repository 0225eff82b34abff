"""An account and how to reach its grid: all that a live connection is made from.

Owns the settings and their defaults; reads no configuration. The password is a secret and is shown by nothing
(Spec: CFG-3, LIV-1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import attrs

from gridagent.actions import TeleportTo
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.grid.second_factor import SecondFactor
from live_grid.errors import LocalProtocolError
from live_grid.handover import SessionSettings
from live_grid.io import Network, ReadLarge, RealNetwork, is_second_life
from live_grid.login import LoginRequest, StartLocation, parse_start, password_hash
from live_grid.login.start import start_at

__all__ = ("LiveAccount", "LiveSettings", "login_request", "start_of")

CHANNEL = "gridagent"


@attrs.frozen(kw_only=True, eq=False)
class LiveAccount:
    """Who logs in."""

    first_name: str
    last_name: str
    password: SecretStr = attrs.field(repr=False)
    start: str = "last"
    """``last``, ``home``, or a place as ``Region/x/y/z``."""
    home: TeleportTo | None = None
    """Where it goes that is sent home; None leaves that to the grid."""
    heeded: frozenset[str] = frozenset()
    """Avatars whose words a flood of others' cannot push out, by UUID."""


@attrs.frozen(kw_only=True)
class LiveSettings:
    """How to reach a grid, and how the connection behaves."""

    login_url: str
    version: str = "0"
    login_timeout_s: float = 60.0
    """Longest a login may take, pauses included."""
    session: SessionSettings = attrs.field(factory=SessionSettings)
    fetch_inventory: bool = True
    """Learn what we hold once we are in; without it nothing can be given or worn by name."""
    agree_to_terms: bool = False
    """The operator has read and accepted the grid's terms."""
    second_factor: SecondFactor | None = None
    """What the account has besides its password: a one-time code from the operator, and what is left of an old one."""
    network: Network = attrs.field(factory=RealNetwork)
    """What the connection stands on."""
    read_large: ReadLarge | None = None
    """Reads long answers off the loop; None reads them on it."""
    record: Callable[[bytes], object] | None = None
    """Takes the wire line by line, with its secrets taken out (Spec: LIV-13)."""


def start_of(text: str) -> StartLocation:
    """Read a start location as the configuration writes it.

    Raises:
        ConfigError: it names no place.
    """
    if text in {"last", "home"}:
        return parse_start(text)
    region, *numbers = text.rsplit("/", 3)
    try:
        x, y, z = map(int, numbers)
        return start_at(region, x, y, z)
    except (LocalProtocolError, ValueError):
        problem = ConfigProblem(
            path="$.avatars.*.start",
            what="names no place",
            shape=f"text of {len(text)} characters",
            mend="use last, home, or Region/x/y/z with whole metres",
        )
        raise ConfigError((problem,)) from None


def login_request(account: LiveAccount, settings: LiveSettings, proof: SecretStr | None = None) -> LoginRequest:
    """Write the request that logs an account in.

    Args:
        account: who.
        settings: where, and with which consents.
        proof: of a one-time code that was taken before.

    The two device numbers are made from what stays the same: grids tie trust and bans to them.
    """
    name = f"{settings.login_url} {account.first_name} {account.last_name}".casefold()
    return LoginRequest(
        first=account.first_name,
        last=account.last_name,
        password=password_hash(account.password.reveal(), second_life=is_second_life(settings.login_url)),
        start=start_of(account.start),
        channel=CHANNEL,
        version=settings.version,
        mac=_number(CHANNEL),
        id0=_number(name),
        agree_to_tos=settings.agree_to_terms,
        read_critical=settings.agree_to_terms,
        mfa_hash="" if proof is None else proof.reveal(),
    )


def _number(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
