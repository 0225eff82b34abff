"""The doctor, from the command line and with a network and a clock of its own."""

from __future__ import annotations

import io
import json
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import attrs
import pytest
import trio

from gridagent.cli import doctor, doctor_reach
from gridagent.cli.doctor import doctor_command
from gridagent.cli.doctor_checks import Verdict
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.grids import LiveGrid
from gridagent.cli.instance import Holder, InstanceLocks, avatar_locks_directory
from gridagent.errors import OutcomeUnknown
from gridagent.events import DisconnectCause
from gridagent.fronts.control.rendezvous import RuntimeDirectory
from gridagent.grid.puppet import Puppet
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import SystemClock, system_ports
from gridagent.storage.base import StorageFailed, StorageFault
from gridagent.storage.database import Holder as DatabaseHolder
from gridagent.storage.database import open_database
from gridagent.storage.files import SystemFiles
from tests.gridagent.cli.installed import write_entry_points
from tests.gridagent.cli.test_doctor_reach import Line, Lines

PASSWORDS = [f"avatars.{key}.password_file" for key in ("robin", "wren", "tern")]
NOW = 1_796_097_600.0
TOLD = b"HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 04:00:00 GMT\r\n\r\n"
OWNED = {"roles": {"owners": ["5eed0000-0000-4000-8000-000000000001"]}}

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class Clock(SystemClock):
    """A wall clock that stands still."""

    def __init__(self, wall: float) -> None:
        self.now = wall

    def wall(self) -> float:
        """Return always the same."""
        return self.now


class Fresh(Lines):
    """A network in which every server says the same."""

    def __init__(self, answer: bytes | Exception) -> None:
        super().__init__()
        self.answer = answer

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:
        """Connect to a new line."""
        self.line = Line(self.answer) if isinstance(self.answer, bytes) else self.answer
        return await super().connect_tcp(host, port, timeout_s=timeout_s)


@pytest.fixture
def examine(gridagent, monkeypatch: pytest.MonkeyPatch):
    """Write a configuration and have it examined: verdicts and sentences by check, the exit code, the raw output."""
    monkeypatch.syspath_prepend(str(write_entry_points(gridagent.room)))
    monkeypatch.setattr(doctor_reach, "encrypted", lambda stream, host: stream)

    def run(
        config: dict[str, object], *, log_in: bool = False, **changes: object
    ) -> tuple[dict[str, tuple[str, str]], ExitCode, str]:
        path = gridagent.write("c.json", json.dumps(config))
        ports: Ports = attrs.evolve(
            system_ports(), **{"network": Fresh(OSError("nobody may ask")), "clock": Clock(NOW), **changes}
        )
        out = io.StringIO()
        code = doctor_command(path, gridagent.environ, out=out, json=True, log_in=log_in, ports=ports)
        rows = [json.loads(line) for line in out.getvalue().splitlines()]
        return {each["check"]: (each["verdict"], each["sentence"]) for each in rows}, code, out.getvalue()

    return run


def test_a_sound_installation_is_said_to_be_one(gridagent) -> None:
    """One line a check, in order, and a last one that counts; nothing is left behind. Spec: OPS-1, CFG-5."""
    path = gridagent.write("c.json", json.dumps(OWNED))
    done = gridagent("doctor", "--config", str(path))
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line.split(":")[0].split(maxsplit=1) for line in lines[:-1]] == [
        ["ok", "configuration"],
        ["ok", "state directory"],
        ["ok", "runtime directory"],
        ["ok", "log directory"],
        ["ok", "database"],
        ["ok", "instance"],
        ["ok", "roles"],
        ["ok", "policy"],
        ["ok", "model"],
        ["ok", "encryption"],
        ["ok", "open files"],
        ["skipped", "grid"],
        ["skipped", "model endpoint"],
        ["skipped", "clock"],
    ]
    assert lines[-1] == "0 problems, 0 warnings, 11 ok, 3 skipped"
    assert sorted(each.name for each in gridagent.room.iterdir()) == ["c.json"]


def test_without_a_file_it_is_about_the_demonstration(gridagent) -> None:
    """As run is. Spec: CFG-5."""
    done = gridagent("doctor", "--json")
    first = json.loads(done.out.splitlines()[0])
    assert done.code == 0
    assert first["sentence"].startswith("the built-in configuration can be used: avatars robin")


def test_every_problem_of_the_configuration_is_a_line_and_the_rest_is_skipped(examine, gridagent) -> None:
    """What a run would need it for cannot be looked at. Spec: CFG-1, CFG-5."""
    found, code, out = examine({"queues": {"controls": 0, "observables": 0}})
    assert code is ExitCode.PROBLEM_FOUND
    assert out.count('"configuration","verdict":"problem"') == 2
    assert {verdict for check, (verdict, _) in found.items() if check != "configuration"} == {"skipped"}
    assert len(found) == 15
    story = {"grid": {"simulated": {"scenario": "no-such-story"}}}
    found, code, _ = examine(story)
    assert (found["configuration"][0], code) == ("problem", 10)
    missing = gridagent("doctor", "--config", str(gridagent.room / "none.json"))
    assert missing.code == 10
    assert "problem  configuration: " in missing.out


def test_directories_that_are_there_are_tried_and_left_as_they_were(examine, gridagent, monkeypatch) -> None:
    """Written through to the disk. Spec: OPS-1."""
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for name in ("state", "run"):
        (gridagent.room / name).mkdir(mode=0o700)
    found, code, _ = examine(OWNED)
    assert [found[f"{each} directory"][1].split(", ")[0] for each in ("state", "runtime", "log")] == [
        f"{gridagent.room / 'state'} can be written",
        f"{gridagent.room / 'run'} can be written",
        f"{gridagent.room} can be written",
    ]
    assert (code, len(synced)) == (0, 3)
    assert [list((gridagent.room / each).iterdir()) for each in ("state", "run")] == [[], []]
    found, _, _ = examine({**OWNED, "log": {"destination": "stderr"}})
    assert "log directory" not in found


def test_directories_that_cannot_be_used_are_problems(examine, gridagent, monkeypatch) -> None:
    """A file in the way, a disk that fails, a directory that others may enter, a parent that refuses. Spec: OPS-1."""
    (gridagent.room / "state").write_text("in the way", encoding="utf-8")
    (gridagent.room / "run").mkdir(mode=0o755)
    (gridagent.room / "run").chmod(0o755)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device", str(descriptor))

    monkeypatch.setattr(os, "fsync", full)
    found, code, _ = examine(OWNED)
    assert code is ExitCode.PROBLEM_FOUND
    assert f"({gridagent.room / 'state'} is no directory)" in found["state directory"][1]
    assert found["runtime directory"][0] == "problem"
    assert "(No space left on device)" in found["log directory"][1]
    assert [each.name for each in gridagent.room.iterdir() if "doctor" in each.name] == []
    (gridagent.room / "state").unlink()
    monkeypatch.setattr(os, "access", lambda path, mode: not mode)
    found, _, _ = examine(OWNED)
    assert f"(it cannot be made in {gridagent.room})" in found["state directory"][1]


def begin(gridagent) -> Path:
    """Have a database."""
    path = gridagent.room / "state" / "gridagent.db"
    path.parent.mkdir(mode=0o700)
    open_database(
        str(path), files=SystemFiles(), holder=DatabaseHolder(pid=1, since="now"), new_ledger="ledger"
    ).close()
    return path


def test_the_database_is_opened_and_its_tables_are_checked(examine, gridagent, monkeypatch) -> None:
    """Whole, of an older schema, damaged, gone, on a disk that fails. Spec: EFX-4, OPS-6."""
    path = begin(gridagent)
    assert examine(OWNED)[0]["database"] == ("ok", f"{path} can be used, and its tables are whole")

    def fails(*_: object, **__: object) -> None:
        raise StorageFailed(StorageFault.DISK_FULL, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(doctor, "StoppedDatabase", fails)
        verdict, sentence = examine(OWNED)[0]["database"]
        assert (verdict, "see that its disk has room" in sentence) == ("problem", True)
    database = open_database(str(path), files=SystemFiles(), holder=DatabaseHolder(pid=1, since="now"), new_ledger="")
    database.connection.execute("PRAGMA user_version = 1")
    database.close()
    verdict, sentence = examine(OWNED)[0]["database"]
    assert (verdict, "next start makes or upgrades" in sentence) == ("ok", True)
    path.write_bytes(b"no database" * 999)
    assert examine(OWNED)[0]["database"][0] == "problem"
    path.unlink()
    verdict, sentence = examine(OWNED)[0]["database"]
    assert (verdict, "is missing" in sentence) == ("problem", True)


def test_a_state_directory_without_a_database_is_a_first_start(examine, gridagent) -> None:
    """Nothing was ever begun there. Spec: EFX-4."""
    (gridagent.room / "state").mkdir(mode=0o700)
    assert examine(OWNED)[0]["database"][0] == "ok"


def test_a_service_that_runs_is_named_and_its_database_left_alone(examine, gridagent, monkeypatch) -> None:
    """By its process; a lock that cannot be read is a problem. Spec: OPS-4."""
    path = begin(gridagent)
    database = open_database(str(path), files=SystemFiles(), holder=DatabaseHolder(pid=1, since="now"), new_ledger="")
    with (
        RuntimeDirectory(gridagent.room / "run") as run,
        RuntimeDirectory(avatar_locks_directory(gridagent.room / "state")) as state,
        InstanceLocks(Holder(pid=7, since="noon")) as locks,
    ):
        locks.take_service(run)
        locks.take_avatars(state, ["robin"])
        found, code, _ = examine(OWNED)
    database.close()
    assert code is ExitCode.OK
    assert "in use by a running service" in found["database"][1]
    assert found["instance"][1] == (
        "a service is running, held by process 7 since noon; the avatar robin is running, held by process 7 since noon;"
        " ask it with: gridagent status"
    )
    assert examine(OWNED)[0]["instance"][1] == "no service runs here"

    def refused(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor, "holder_of", refused)
    assert examine(OWNED)[0]["instance"][0] == "problem"


def test_open_files_are_those_of_this_process(examine, monkeypatch) -> None:
    """Without a bound there are enough; where no platform says, it is skipped. Spec: BND-1."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (79, 4096))
    found, code, _ = examine(OWNED)
    assert (found["open files"][0], code) == ("problem", 10)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert examine(OWNED)[0]["open files"][0] == "ok"
    monkeypatch.setitem(sys.modules, "resource", None)
    assert examine(OWNED)[0]["open files"][0] == "skipped"


def a_live_configuration(gridagent, **changes: object) -> dict[str, object]:
    """A live grid and a model on this machine, each with a secret."""
    password, key = gridagent.write("password", "secret-canary\n"), gridagent.write("key", "secret-canary-key\n")
    return {
        "grid": {"backend": "live", "live": {"login_url": "https://login.example/cgi-bin/login.cgi"}},
        "avatars": {"robin": {"first_name": "Robin", "password_file": str(password)}},
        "llm": {
            "provider": "anthropic",
            "endpoint": "http://127.0.0.1:9/v1/messages?key=canary-canary",
            "api_key_file": str(key),
        },
        **OWNED,
        **changes,
    }


def test_grid_and_model_are_reached_and_the_clock_is_compared(examine, gridagent) -> None:
    """No secret is sent or shown; how a login is tried is said. Spec: CFG-3, LIV-1, MND-1."""
    network = Fresh(TOLD)
    found, code, out = examine(a_live_configuration(gridagent), network=network)
    assert (code, network.asked) == (0, [("login.example", 443), ("127.0.0.1", 9)])
    assert [found[each][0] for each in ("grid", "model endpoint", "clock")] == ["ok"] * 3
    assert found["login"][0] == "skipped"
    assert "--live-check logs each avatar in and out once" in found["login"][1]
    assert "canary" not in out
    found, code, _ = examine(a_live_configuration(gridagent), network=network, clock=Clock(NOW + 3_600))
    assert (code, "3600 s ahead" in found["clock"][1]) == (10, True)


def test_each_avatar_logs_in_and_out_where_that_is_asked_for(examine, gridagent, monkeypatch) -> None:
    """But for those that a service runs: a second login would throw them out. Spec: LIV-1, OPS-4."""
    puppets = {key: Puppet() for key in ("robin", "wren", "tern")}

    def factory(grid: LiveGrid, key: str, *_: object) -> Puppet:
        assert all(each.matches(b"secret-canary") for each in map(grid.passwords.__getitem__, PASSWORDS))
        return puppets[key]

    monkeypatch.setattr(LiveGrid, "backend_factory", factory)
    config = a_live_configuration(gridagent, session={"login_stagger_s": 0.01})
    password = str(gridagent.room / "password")
    config["avatars"] = {
        each.lower(): {"first_name": each, "password_file": password} for each in ("Robin", "Wren", "Tern")
    }
    puppets["tern"].refuse_login = DisconnectCause.BANNED
    with (
        RuntimeDirectory(avatar_locks_directory(gridagent.room / "state")) as state,
        InstanceLocks(Holder(pid=7, since="noon")) as locks,
    ):
        locks.take_avatars(state, ["robin"])
        _, code, out = examine(config, log_in=True, network=Fresh(TOLD))
    logins = [each for each in map(json.loads, out.splitlines()) if each["check"] == "login"]
    assert code is ExitCode.PROBLEM_FOUND
    assert [each["verdict"] for each in logins] == ["skipped", "ok", "problem"]
    assert [each["sentence"].partition(" ")[0] for each in logins] == ["robin", "wren", "tern"]
    assert [len(puppets[each].backends) for each in ("robin", "wren", "tern")] == [0, 1, 1]
    assert "canary" not in out
    examine(config, log_in=True, network=Fresh(TOLD))
    assert [len(puppets[each].backends) for each in ("robin", "wren", "tern")] == [1, 2, 2]


def test_the_command_line_asks_for_a_login_by_its_flag(gridagent) -> None:
    """In a simulated grid there is nothing to log in to. Spec: CFG-5."""
    done = gridagent("doctor", "--live-check")
    assert (done.code, "login" in done.out) == (0, False)


def test_servers_that_do_not_answer_are_problems(examine, gridagent) -> None:
    """The grid by the key that names it. Spec: OPS-1."""
    live = {"backend": "live", "live": {"grid": "secondlife"}}
    config = a_live_configuration(gridagent, grid=live)
    found, code, _ = examine(config, network=Fresh(OSError(111, "Connection refused")))
    assert code is ExitCode.PROBLEM_FOUND
    assert [found[each][0] for each in ("grid", "model endpoint", "clock")] == ["problem", "problem", "skipped"]
    assert "no connection (Connection refused); see that grid.live.grid" in found["grid"][1]


@pytest.mark.parametrize("error", [OutcomeUnknown("it hangs"), trio.TooSlowError()])
def test_a_disk_that_hangs_is_a_problem_and_not_the_end(examine, error) -> None:
    """Each look at it has its time-out. Spec: OPS-1, BND-7."""

    class Hanging:
        async def run(self, fn: Callable[[*Ts], T], *args: *Ts, name: str) -> T:
            assert callable(fn)
            assert not args
            assert name.startswith("doctor: ")
            await trio.lowlevel.checkpoint()
            raise error

    found, code, _ = examine(OWNED, blocking=Hanging())
    hung = [check for check, (verdict, _) in found.items() if verdict == Verdict.PROBLEM]
    assert (code, hung) == (
        10,
        ["state directory", "runtime directory", "log directory", "database", "instance"],
    )
    assert "did not answer within 20 s" in found["database"][1]
