"""What a session stands on when nobody chose."""

from __future__ import annotations

from live_grid.io.network import RealNetwork
from live_grid.io.web import Web


async def test_the_real_network_is_this_machines() -> None:
    """A grid on this machine is talked to from the loopback interface alone. Spec: LIV-14."""
    network = RealNetwork()
    web = network.open_web()
    assert isinstance(web, Web)
    await web.aclose()
    near = await network.open_datagrams(loopback=True)
    assert near.address[0] == "127.0.0.1"
    near.close()
