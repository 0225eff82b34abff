"""Two independent clients, written by other people, judge the simulator: they log in to it and live there for a while.

Each runs in a process of its own and is skipped unless it is installed: ``GRIDAGENT_HIPPOLYZER`` names a Python that
has Hippolyzer 0.15.6 (PyPI); ``GRIDAGENT_NODE_METAVERSE`` names a ``node_modules`` with @caspertech/node-metaverse
(npm; its dependency xmlrpc is an address there, override it with npm's xmlrpc), and ``node`` has to be found.

Known faults of theirs, which a running OpenSimulator shows as well, and for whose sake the visit is as it is:

- Both fail a teleport back to a region that they were in before: so they go there, and log out there.
- Hippolyzer's event queue ends with the first parcel whose numbers are LLSD integers, as an OpenSimulator writes them:
  its script lets them through.
- Hippolyzer closes its socket right after its logout: its script waits a moment.
- node-metaverse waits for no event queue by itself before it teleports, and then misses the teleport's end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from gridagent.actions import Say, SendIm
from gridagent.events import ChatHeard, ImReceived
from gridagent.grid.simulated import open_simulated_grid
from gridagent.grid.simulated.witness import Witness
from gridagent.runtime.system import system_ports
from live_grid.simulator import OPENSIM, SECOND_LIFE, WireProfile, serve_grid
from tests.live_grid.backend.scene import ADA, BEN, a_world

PEERS = Path(__file__).resolve().parent / "peers"
HIPPOLYZER = os.environ.get("GRIDAGENT_HIPPOLYZER", "")
MODULES = os.environ.get("GRIDAGENT_NODE_METAVERSE", "")
NODE = shutil.which("node")
STEPS = ["login", "hear", "speak", "im", "answer", "teleport", "logout"]

pytestmark = [pytest.mark.peer, pytest.mark.slow, pytest.mark.timeout(120)]


class Visitor:
    """A client in a process of its own, and what it says it did."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.said: list[dict[str, str]] = []
        self.changed = trio.Event()

    async def listen(self) -> None:
        """Read its lines until it ends."""
        rest = b""
        assert self.process.stdout is not None
        async with self.process.stdout as stream:
            async for chunk in stream:
                *lines, rest = (rest + chunk).split(b"\n")
                self.said += [row for line in lines if isinstance(row := _row(line), dict) and "did" in row]
                self.changed.set()

    async def until(self, what: str) -> dict[str, str]:
        """Wait until it has done something."""
        with trio.fail_after(60):
            while not (found := [row for row in self.said if row["did"] == what]):
                self.changed = trio.Event()
                await self.changed.wait()
        return found[0]


def _row(line: bytes) -> object:
    """Read a line, if it is one of ours; clients print what they like."""
    try:
        return json.loads(line)
    except ValueError:
        return None


async def visit(profile: WireProfile, arguments: list[str], *, by_handle: bool, place: Path) -> list[str]:
    """Let a client visit, and return what it did; all of it is seen by Ben, who is there already."""
    world, ports = a_world(), system_ports()
    async with (
        open_simulated_grid(world, ports=ports) as grid,
        serve_grid(grid, ports=ports, profile=profile) as server,
        trio.open_nursery() as nursery,
    ):
        ben = Witness(world, BEN, grid.now())
        far = next(region for region in world.regions() if region.name == "Far")
        target = str(far.x_m << 32 | far.y_m) if by_handle else far.name
        command = [*arguments, server.login_url, "Ada Actor", "simulated", target]
        with (place / "errors").open("wb") as errors:
            process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=errors)
        visitor = Visitor(process)
        nursery.start_soon(visitor.listen)
        try:
            assert (await visitor.until("login"))["region"] == "Plaza"
            world.perform(BEN, Say(text="Good day, whoever you are."), grid.now())
            assert (await visitor.until("hear"))["text"] == "Good day, whoever you are."
            await visitor.until("speak")
            world.perform(BEN, SendIm(to=ADA, text="A word in private."), grid.now())
            assert (await visitor.until("im"))["text"] == "A word in private."
            await visitor.until("answer")
            assert (await visitor.until("teleport"))["region"] == "Far"
            await visitor.until("logout")
            with trio.fail_after(30):
                while world.avatar(ADA).body is not None:  # noqa: ASYNC110 - the world has no event for it
                    await trio.sleep(0.1)
        except trio.TooSlowError:
            pytest.fail(f"it did {[row['did'] for row in visitor.said]}; {(place / 'errors').read_text()[-2_000:]}")
        finally:
            process.kill()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 10.0):
                await process.wait()
            nursery.cancel_scope.cancel()
        assert [heard.source.name for heard in ben.saw(ChatHeard) if "Good day from" in heard.text] == ["Ada Actor"]
        assert [(got.text, got.source.name) for got in ben.saw(ImReceived)] == [("And back.", "Ada Actor")]
        assert server.statistics().malformed == 0
        return [row["did"] for row in visitor.said]


@pytest.mark.skipif(not HIPPOLYZER, reason="Hippolyzer is not installed")
@pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=lambda profile: profile.name)
async def test_hippolyzer_lives_in_our_grid(profile: WireProfile, tmp_path: Path) -> None:
    """It logs in, hears, speaks, takes and sends an IM, teleports and logs out. Spec: LIV-15."""
    script = str(PEERS / "hippolyzer_visit.py")
    assert await visit(profile, [HIPPOLYZER, script], by_handle=True, place=tmp_path) == STEPS


@pytest.mark.skipif(not MODULES or NODE is None, reason="node-metaverse is not installed")
@pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=lambda profile: profile.name)
async def test_node_metaverse_lives_in_our_grid(profile: WireProfile, tmp_path: Path) -> None:
    """It logs in, hears, speaks, takes and sends an IM, teleports and logs out. Spec: LIV-15."""
    script = str(PEERS / "node_metaverse_visit.js")
    assert await visit(profile, [str(NODE), script, MODULES], by_handle=False, place=tmp_path) == STEPS
