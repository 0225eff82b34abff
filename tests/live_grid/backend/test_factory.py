"""The entry point that the composition root calls."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gridagent.config.known_grids import KnownGrid
from gridagent.config.model import AvatarConfig, LiveGridConfig
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import ConfigError, OutcomeUnknown
from gridagent.ids import Generation
from gridagent.runtime.deterministic import simulated_ports
from live_grid.backend import LiveBackend, live_backends
from live_grid.backend.account import login_request
from live_grid.errors import RemoteProtocolError
from live_grid.io import WebFailed
from tests.live_grid.backend.scene import Ledger

PASSWORD = SecretStr("secret")
AVATAR = AvatarConfig(first_name="Ada", last_name="Actor", start="Plaza/1/2/3")


def test_each_generation_gets_a_backend_of_its_own() -> None:
    """From the configuration's own sections. Spec: LIV-14, SUP-5."""
    grid = LiveGridConfig(login_url=EndpointUrl("http://127.0.0.1:8002/"), login_timeout_s=7.0, idle_timeout_s=33.0)
    factory = live_backends(AVATAR, grid, password=PASSWORD, new_id=lambda: "", version="9")
    ledger = Ledger()
    one, other = (factory(generation=Generation(number), redeem=ledger.redeem) for number in (1, 2))
    assert isinstance(one, LiveBackend)
    assert one is not other
    settings = one._settings
    assert (settings.login_timeout_s, settings.session.circuit.dead_after_s, settings.version) == (7.0, 33.0, "9")
    assert not settings.agree_to_terms
    assert "secret" not in repr(factory)


def test_whom_the_avatar_heeds_no_flood_pushes_out() -> None:
    """A backend's buffer knows the authorised avatars. Spec: BND-1."""
    grid = LiveGridConfig(login_url=EndpointUrl("http://127.0.0.1:8002/"))
    factory = live_backends(AVATAR, grid, password=PASSWORD, new_id=str, heeded=frozenset({"owner"}))
    backend = factory(generation=Generation(1), redeem=Ledger().redeem)
    assert backend._buffer._heeded == {"owner"}


def test_a_grid_that_is_named_is_logged_in_to_at_its_address() -> None:
    """The name stands for the address. Spec: LIV-1."""
    grid = LiveGridConfig(grid=KnownGrid.SECONDLIFE_BETA)
    backend = live_backends(AVATAR, grid, password=PASSWORD, new_id=str)(
        generation=Generation(1), redeem=Ledger().redeem
    )
    assert backend._settings.login_url == "https://login.aditi.lindenlab.com/cgi-bin/login.cgi"


def test_terms_are_accepted_by_the_operator_only() -> None:
    """By a key of the configuration, which the login then tells. Spec: LIV-1."""
    grid = LiveGridConfig(login_url=EndpointUrl("http://127.0.0.1:8002/"), accept_terms=True)
    factory = live_backends(AVATAR, grid, password=PASSWORD, new_id=lambda: "")
    backend = factory(generation=Generation(1), redeem=Ledger().redeem)
    assert login_request(backend._account, backend._settings).agree_to_tos


@pytest.mark.parametrize(
    ("avatar", "grid", "problem"),
    [
        (AVATAR, LiveGridConfig(), "login_url: is missing"),
        (
            AvatarConfig(first_name="Ada", start="Nowhere"),
            LiveGridConfig(login_url=EndpointUrl("http://127.0.0.1:8002/")),
            "names no place",
        ),
    ],
    ids=["no address", "no place"],
)
def test_what_is_missing_is_told_before_anything_connects(
    avatar: AvatarConfig, grid: LiveGridConfig, problem: str
) -> None:
    """Each problem has its place and its mend. Spec: CFG-1."""
    with pytest.raises(ConfigError, match=problem):
        live_backends(avatar, grid, password=PASSWORD, new_id=lambda: "")


class Slow:
    """A thread that never ends in time."""

    async def run(self, fn: object, *args: object, name: str) -> object:
        """Give up at once."""
        raise OutcomeUnknown(name)


async def test_long_answers_are_read_where_nothing_waits(autojump_clock) -> None:
    """On the port for blocking work, which may give up on them. Spec: LIV-9."""
    grid = LiveGridConfig(login_url=EndpointUrl("http://127.0.0.1:8002/"))

    def reader(blocking: object) -> Callable[[bytes], Awaitable[object]]:
        factory = live_backends(AVATAR, grid, password=PASSWORD, new_id=lambda: "", blocking=blocking)
        return factory(generation=Generation(1), redeem=Ledger().redeem)._settings.read_large

    read = reader(simulated_ports(1).blocking)
    assert await read(b"<llsd><array><integer>7</integer></array></llsd>") == [7]
    with pytest.raises(RemoteProtocolError):
        await read(b"<html>")
    with pytest.raises(WebFailed, match="too slow"):
        await reader(Slow())(b"<llsd/>")


def test_the_entry_point_leads_here() -> None:
    """As it stands in the project's own table. Spec: LIV-14."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    [(name, value)] = project["entry-points"]["gridagent.backends"].items()
    assert name == "live"
    assert EntryPoint(name=name, value=value, group="gridagent.backends").load() is live_backends
