"""From an account to a session; the way in is also walked in the tests of the backend."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from gridagent.config.secrets import SecretStr
from gridagent.errors import BackendError
from gridagent.events import DisconnectCause
from live_grid.backend.account import LiveAccount, LiveSettings
from live_grid.backend.joining import join
from live_grid.io import udp
from tests.live_grid.backend.scene import connected

ACCOUNT = LiveAccount(first_name="Ada", last_name="Actor", password=SecretStr("simulated"))


def nothing(_: object) -> None:
    """Take an event."""


@pytest.mark.slow
async def test_a_machine_without_a_socket_is_a_fault_of_ours(monkeypatch) -> None:
    """Not the grid's. Spec: SUP-6."""

    def no_socket(*_: object) -> None:
        raise OSError("no buffer space")

    async with connected(run=False) as client:
        settings = LiveSettings(login_url=client.server.login_url)
        with monkeypatch.context() as patch, pytest.raises(BackendError) as failed:
            patch.setattr(udp.socket.socket, "bind", no_socket)
            await join(ACCOUNT, settings, nothing)
    assert failed.value.cause is DisconnectCause.BACKEND_FAULT
    assert failed.value.detail == "no buffer space"


@pytest.mark.slow
async def test_a_wrong_password_says_so_in_the_detail_only() -> None:
    """The grid's own words are for the log. Spec: SUP-10, LIV-1."""
    wrong = LiveAccount(first_name="Ada", last_name="Actor", password=SecretStr("wrong"))
    async with connected(run=False) as client:
        with pytest.raises(BackendError) as failed:
            await join(wrong, LiveSettings(login_url=client.server.login_url), nothing)
    assert failed.value.cause is DisconnectCause.BAD_CREDENTIALS
    assert failed.value.detail
    assert failed.value.detail not in str(failed.value)
    await trio.lowlevel.checkpoint()
