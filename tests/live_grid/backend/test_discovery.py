"""A grid asked about itself, for a configuration."""

from __future__ import annotations

import pytest
import trio

from gridagent.errors import OperatorError
from gridagent.grid.discovery import FoundGrid
from live_grid.backend.discovery import discover_grid
from tests.live_grid.backend.scene import connected
from tests.live_grid.io.loopback import HttpServer

PAGE = b"<gridinfo><gridname>My Grid</gridname><login>http://127.0.0.1:8002/</login><platform>OpenSim</platform></gridinfo>"


async def asked(status: int, body: bytes, path: str = "/welcome") -> FoundGrid:
    """Ask a server that answers so."""
    seen: list[str] = []

    async def answer(method: str, where: str, _: bytes) -> tuple[int, bytes, str]:
        seen.append(f"{method} {where}")
        return status, body, ""

    server = HttpServer(answer)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        try:
            return await discover_grid(server.url(path))
        finally:
            nursery.cancel_scope.cancel()
            assert seen == ["GET /get_grid_info"]


async def test_a_grid_says_its_name_and_where_one_logs_in() -> None:
    """At whatever address of it one asks. Spec: LIV-1."""
    assert await asked(200, PAGE) == FoundGrid(name="My Grid", login_url="http://127.0.0.1:8002/")


@pytest.mark.parametrize(("status", "body"), [(404, PAGE), (200, b"<html></html>"), (200, b"\xff"), (302, b"")])
async def test_what_is_no_grid_is_said_to_be_none(status: int, body: bytes) -> None:
    """Nothing of what it answers is in the sentence. Spec: LIV-1, OPS-1."""
    with pytest.RaisesGroup(pytest.RaisesExc(OperatorError, match="what answers there has no page about a grid")):
        await asked(status, body)


async def test_an_address_where_nobody_is_is_said_to_be_one() -> None:
    """One sentence with what to do. Spec: LIV-1, OPS-1."""
    with pytest.raises(OperatorError, match=r"nobody answers there \(connection failed\); see that the address"):
        await discover_grid("http://127.0.0.1:9/")


async def test_the_simulator_on_the_wire_says_where_one_logs_in() -> None:
    """As a real grid does: a configuration is written for it in the same way. Spec: LIV-1, LIV-15."""
    async with connected(run=False) as client:
        found = await discover_grid(f"{client.server.login_url}welcome.html")
        assert found.login_url == client.server.login_url
        assert found.name
