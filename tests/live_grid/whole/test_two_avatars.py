"""Several avatars of one process in one grid over the wire: staggered, independent, each left once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs
import trio

from gridagent.actions import Say
from gridagent.cli.compose import Running, open_running, prepare
from gridagent.cli.grids import LiveGrid
from gridagent.config.load import parse_config
from gridagent.config.secrets import SecretStr
from gridagent.controls import ForceReconnect, RequestAction
from gridagent.events import ChatHeard
from gridagent.grid.simulated import SimulatedGrid, open_simulated_grid
from gridagent.grid.simulated.witness import Witness
from gridagent.observations import LinkState
from gridagent.runtime.deterministic import simulated_ports
from live_grid.backend import live_backends
from live_grid.simulator import MemoryWire, serve_grid
from live_grid.simulator.memory_network import MemoryNetwork
from tests.live_grid.whole.life import ADA, CLEO, OLIVE, a_world, configured
from tests.live_grid.whole.oracle import judge_logins

STAGGER_S = 7.0
PEOPLE = {"ada": ("Ada", "Actor"), "cleo": ("Cleo", "Collector")}


@asynccontextmanager
async def two_lives(room: Path) -> AsyncIterator[tuple[SimulatedGrid, Running]]:
    """One service with two accounts on one wire."""
    ports, wire = simulated_ports(3), MemoryWire()
    avatars = {
        key: {"first_name": first, "last_name": last, "password_file": str(room / "password")}
        for key, (first, last) in PEOPLE.items()
    }
    async with (
        open_simulated_grid(a_world(), ports=ports) as grid,
        serve_grid(grid, ports=ports, wire=wire) as server,
    ):
        sections = json.loads(configured(server.login_url, room / "password"))
        sections |= {"avatars": avatars, "session": {"login_stagger_s": STAGGER_S}}
        config = parse_config(json.dumps(sections).encode())
        live = LiveGrid(
            make=partial(live_backends, network=MemoryNetwork(wire)),
            config=config,
            passwords={f"avatars.{key}.password_file": SecretStr("simulated") for key in PEOPLE},
        )
        room.joinpath("password").write_text("unread\n", encoding="utf-8")
        room.joinpath("password").chmod(0o600)
        async with open_running(attrs.evolve(prepare(config), live=live), ports=ports) as running:
            yield grid, running
            running.service.close()
            await running.service.wait_stopped()


async def test_two_avatars_live_beside_each_other(tmp_path, autojump_clock) -> None:
    """The second logs in its stagger later; one that comes back anew does not touch the other. Spec: SUP-11, SUP-9."""
    async with two_lives(tmp_path) as (grid, running):
        ada, cleo = (running.service.avatar(key) for key in PEOPLE)
        with trio.fail_after(60.0):
            await ada.wait_link(LinkState.ONLINE)
            assert cleo.status().link is not LinkState.ONLINE
            await cleo.wait_link(LinkState.ONLINE)
        sessions = grid.world.sessions
        first, second = (next(each for each in sessions.recent() if each.avatar_id == who) for who in (ADA, CLEO))
        assert STAGGER_S - 1.0 <= second.began_at - first.began_at <= STAGGER_S + 1.0
        await ada.control(ForceReconnect())
        with trio.fail_after(60.0):
            await ada.wait_link(LinkState.BACKOFF, LinkState.CONNECTING)
            await ada.wait_link(LinkState.ONLINE)
        assert sessions.totals(ADA).logins == 2
        assert sessions.totals(CLEO).logins == 1
        olive = Witness(grid.world, OLIVE, grid.now())
        for who, words in ((ada, "Ada here."), (cleo, "Cleo here.")):
            assert (await who.control(RequestAction(action=Say(text=words)))).accepted
        await trio.sleep(5.0)
        said = {(each.source.id, each.text) for each in olive.saw(ChatHeard)}
        assert {(ADA, "Ada here."), (CLEO, "Cleo here.")} <= said
        world = grid.world
    for who in (ADA, CLEO):
        assert judge_logins([each for each in world.sessions.recent() if each.avatar_id == who]) == []
