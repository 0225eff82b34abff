"""`gridagent run` as a process of its own in a grid that is another, driven as an operator would."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.gridagent.cli.installed import process_environment
from tests.live_grid.whole.life import configured

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

PASSWORD = "canary-of-this-grid"
ROBIN = {"first_name": "Robin", "last_name": "Resident"}
QUICK = {
    "grid": {"idle_timeout_s": 5.0},
    "reconnect": {"backoff_base_s": 0.2, "backoff_cap_s": 1.0, "short_wait_s": 1.0},
    "session": {"logout_timeout_s": 1.0},
}


class Running:
    """A process whose output is read line by line."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._rest = b""

    async def line(self, wanted: Callable[[str], object], *, within_s: float = 30.0) -> str:
        """Read on until a line is as wanted."""
        with trio.fail_after(within_s):
            while True:
                *whole, self._rest = self._rest.split(b"\n")
                for at, raw in enumerate(whole):
                    self.lines.append(raw.decode())
                    if wanted(self.lines[-1]):
                        self._rest = b"\n".join([*whole[at + 1 :], self._rest])
                        return self.lines[-1]
                more = await self.process.stdout.receive_some(65_536)
                assert more, (self.lines, await self.complaint())
                self._rest += more

    async def link(self, state: str, **options: float) -> None:
        """Read on until the link is in a state."""
        await self.line(lambda line: json.loads(line)["body"].get("state") == state and "retry_in_s" in line, **options)

    async def complaint(self) -> str:
        """What it said on standard error."""
        said = b""
        async for part in self.process.stderr:
            said += part
        return said.decode()

    async def end(self, number: int | None = None, *, within_s: float = 15.0) -> int:
        """Send a signal, read what is left, and return the exit code."""
        if number is not None:
            self.process.send_signal(number)
        with trio.fail_after(within_s):
            async for part in self.process.stdout:
                self._rest += part
            self.lines += self._rest.decode().splitlines()
            return await self.process.wait()


class Machine:
    """A directory, an environment, and what runs in it."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self.environ = process_environment(room)
        paths = {"STATE_DIR": "state", "RUNTIME_DIR": "run", "LOG_FILE": "gridagent.log"}
        self.environ |= {f"GRIDAGENT_PATHS__{name}": str(room / each) for name, each in paths.items()}

    @asynccontextmanager
    async def running(self, *arguments: str) -> AsyncIterator[Running]:
        """Run a module of ours; killed at the end if it is still there."""
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ,
            cwd=self.room,
        )
        try:
            yield Running(process)
        finally:
            with trio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()
                await process.stdout.aclose()
                await process.stderr.aclose()

    @asynccontextmanager
    async def grid(self, port: int = 0, *more: str) -> AsyncIterator[tuple[Running, str]]:
        """Serve the quiet room."""
        quiet = ("live_grid.simulator", "--scenario", "quiet-room", "--port", str(port), "--password", PASSWORD)
        async with self.running(*quiet, "--json", *more) as running:
            told = json.loads(await running.line(lambda line: line.startswith("{")))
            yield running, told["login"]

    def configure(self, login_url: str, password: str = PASSWORD) -> str:
        """Write a configuration; return its path."""
        secret = self.room / "password"
        secret.write_text(f"{password}\n", encoding="utf-8")
        secret.chmod(0o600)
        sections = json.loads(configured(login_url, secret, avatar=ROBIN))
        sections["grid"]["live"] |= QUICK["grid"]
        sections |= {name: QUICK[name] for name in ("reconnect", "session")}
        file = self.room / "live.json"
        file.write_text(json.dumps(sections), encoding="utf-8")
        file.chmod(0o600)
        return str(file)

    def avatar(self, config: str) -> object:
        """Run the service."""
        return self.running("gridagent", "run", "--config", config, "--json", "--for", "80s")

    async def tell(self, *words: str, stdin: bytes = b"") -> tuple[int, str]:
        """Perform another command line."""
        done = await trio.run_process(
            [sys.executable, "-m", "gridagent", *words],
            stdin=stdin,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env=self.environ,
            cwd=self.room,
        )
        return done.returncode, (done.stdout + done.stderr).decode()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of its own."""
    return Machine(tmp_path)


async def test_an_operator_drives_it_by_commands_and_signals(machine) -> None:
    """It comes in world, speaks, is held, is looked at, and drains in order. Spec: OPS-4, OPS-6, SUP-8."""
    async with machine.grid() as (grid, url):
        config = machine.configure(url)
        async with machine.avatar(config) as avatar:
            await avatar.link("online")
            assert (await machine.tell("say", "Hello, room.", "--config", config))[0] == 0
            await avatar.line(lambda line: '"chat_heard"' in line and "Hello, room." in line)
            code, shown = await machine.tell("status", "--json", "--config", config)
            assert (code, json.loads(shown)["link"]) == (0, "online")
            assert (await machine.tell("hold", "--config", config))[0] == 0
            assert (await machine.tell("say", "Not now.", "--config", config))[0] == 5
            # Another service for the same avatar is refused while this one lives.
            code, said = await machine.tell("run", "--config", config, "--for", "5s")
            assert code == 8
            assert "by process" in said
            assert await avatar.end(signal.SIGTERM) == 0
            ends = [json.loads(line)["body"] for line in avatar.lines if '"generation_closed"' in line]
            assert [(each["cause"], each["logged_out"]) for each in ends] == [("requested", True)]
        assert await grid.end(signal.SIGINT) == 0
    assert PASSWORD not in (machine.room / "gridagent.log").read_text(encoding="utf-8")


async def test_a_wrong_password_stops_it_with_its_own_code(machine) -> None:
    """Said once, tried once, exit code 7. Spec: SUP-6, SUP-7, OPS-1."""
    async with machine.grid() as (_, url), machine.avatar(machine.configure(url, "not that one")) as avatar:
        assert await avatar.end() == 7
        attempts = [line for line in avatar.lines if '"generation_opened"' in line]
        assert len(attempts) == 1
        assert [line for line in avatar.lines if '"bad_credentials"' in line]
        assert "not that one" not in "".join(avatar.lines) + (machine.room / "gridagent.log").read_text("utf-8")


async def test_a_grid_that_is_killed_and_started_again_has_it_back(machine) -> None:
    """Lost by silence, asked for until it is there again. Spec: SUP-6, SIM-4."""
    async with machine.grid() as (grid, url):
        config, port = machine.configure(url), int(url.rstrip("/").rpartition(":")[2])
        async with machine.avatar(config) as avatar:
            await avatar.link("online")
            assert await grid.end(signal.SIGKILL) == -signal.SIGKILL
            await avatar.link("backoff")
            async with machine.grid(port):
                await avatar.link("online")
                assert (await machine.tell("say", "Back again.", "--config", config))[0] == 0
                await avatar.line(lambda line: '"chat_heard"' in line and "Back again." in line)
                assert await avatar.end(signal.SIGINT) == 130


async def test_a_service_that_is_killed_is_back_beside_its_ghost(machine) -> None:
    """The grid thinks that it is still in; the next run is in the world all the same. Spec: SUP-6, OPS-4."""
    async with machine.grid() as (_, url):
        config = machine.configure(url)
        async with machine.avatar(config) as avatar:
            await avatar.link("online")
            assert await avatar.end(signal.SIGKILL) == -signal.SIGKILL
        async with machine.avatar(config) as avatar:
            await avatar.link("online")
            assert await avatar.end(signal.SIGTERM) == 0


async def test_a_one_time_code_is_given_while_it_runs_and_spared_after_a_restart(machine) -> None:
    """Status says what is wanted; a wrong code is told; the right one, and later its proof, get in; no output has them.

    Spec: LIV-1, SUP-6, SUP-8, CFG-3.
    """
    code = "971246"
    async with machine.grid(0, "--code", code) as (_, url):
        config = machine.configure(url)
        async with machine.avatar(config) as avatar:
            await avatar.link("authentication-blocked")
            told, shown = await machine.tell("status", "--config", config)
            assert (told, "the grid wants a one-time code; give it with: gridagent connect --code" in shown) == (
                0,
                True,
            )
            assert (await machine.tell("connect", "--code", "000000", "--config", config))[0] == 0
            await avatar.link("authentication-blocked")
            assert "did not take the one-time code" in (await machine.tell("status", "--config", config))[1]
            given = await machine.tell("connect", "--code", "-", "--config", config, stdin=b"971 246\n")
            assert given[0] == 0
            await avatar.link("online")
            assert await avatar.end(signal.SIGTERM) == 0
            heard = "".join(avatar.lines) + await avatar.complaint() + given[1]
        async with machine.avatar(config) as avatar:
            await avatar.link("online")
            assert await avatar.end(signal.SIGTERM) == 0
            heard += "".join(avatar.lines)
    [proof] = ((machine.room / "state") / "second-factor").iterdir()
    heard += (machine.room / "gridagent.log").read_text(encoding="utf-8")
    assert not [secret for secret in (code, proof.read_text(encoding="utf-8").strip()) if secret in heard]
