"""The same chat, with the protocol in between: the avatar logs in to the simulated plaza over LLUDP and capabilities.

Owns the change of backend and nothing else. The visitors stay in the world itself: what they see has come through.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import pytest

from gridagent.cli import compose
from gridagent.config.model import LiveGridConfig
from gridagent.config.secrets import EndpointUrl, SecretStr
from live_grid.backend import live_backends
from live_grid.simulator import MemoryWire, WireFaults, serve_grid
from live_grid.simulator.memory_network import MemoryNetwork

__all__ = ("over_the_wire",)

_in_process = compose._open_grid


@contextmanager
def over_the_wire(*, lost: float = 0.0) -> Iterator[None]:
    """Have every service that is opened meanwhile reach its simulated grid over a wire in memory.

    Args:
        lost: how likely each datagram is lost.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "_open_grid", partial(_on_the_wire, WireFaults(datagram_lost=lost)))
        yield


@asynccontextmanager
async def _on_the_wire(faults, prepared, ports, *rest) -> AsyncIterator:
    wire = MemoryWire()
    async with (
        _in_process(prepared, ports, *rest) as (grid, _),
        serve_grid(grid, ports=ports, wire=wire, faults=faults) as server,
    ):
        live = LiveGridConfig(login_url=EndpointUrl(server.login_url))
        yield (
            grid,
            {
                key: live_backends(
                    avatar, live, password=SecretStr("simulated"), new_id=ports.ids.uuid, network=MemoryNetwork(wire)
                )
                for key, avatar in prepared.config.avatars.items()
            },
        )
