"""`gridagent run` in this process: how it begins, what ends it, and what is left."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from pathlib import Path

import pytest
import trio
import trio.testing

from gridagent.cli import run as run_module
from gridagent.cli.blocked import what_helps
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.main import main
from gridagent.cli.run import Process
from gridagent.config.secrets import SecretStr
from gridagent.controls import ReloadConfig
from gridagent.errors import OperatorError
from gridagent.fronts.control.rendezvous import find_endpoint
from gridagent.session import SessionHandle


def log_of(room: Path) -> list[dict]:
    """Every record of the log."""
    return [json.loads(line) for line in (room / "gridagent.log").read_text(encoding="utf-8").splitlines()]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


# --- beginning and end --------------------------------------------------------------------------


def test_it_runs_for_as_long_as_it_is_told_and_leaves_nothing(gridagent) -> None:
    """In order, with exit code 0; locks stay as files, the endpoint's files do not. Spec: OPS-1, OPS-4."""
    done = gridagent("run", "--for", "20s")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("gridagent 0.1.0: Robin Resident (robin) in the simulated grid, scenario plaza")
    assert "no configuration file" in lines[1]
    assert "the avatar is running" in done.out
    assert lines[-1].endswith("the avatar is stopped")
    assert [each.name for each in (gridagent.room / "run").iterdir()] == ["service.lock"]
    events = [record["event"] for record in log_of(gridagent.room)]
    assert (events[0], events[-1]) == ("service_started", "service_ended")


def test_without_a_terminal_it_runs_a_minute(gridagent) -> None:
    """Nobody watches and nobody said how long: 60 s, then 0. Spec: OPS-1."""
    done = gridagent("run", "--json")
    assert done.code == 0
    times = [json.loads(line)["at"] for line in done.out.splitlines()]
    assert times[-1] - times[0] == pytest.approx(60.0)


def test_with_json_there_is_one_observation_a_line_and_nothing_else(gridagent) -> None:
    """Programs read every line, from the first. Spec: OPS-1."""
    done = gridagent("run", "--json", "--for", "20s")
    assert {"seq", "avatar", "generation", "at", "body"} == set(json.loads(done.out.splitlines()[0]))
    assert [json.loads(line)["seq"] for line in done.out.splitlines()][:3] == [1, 2, 3]
    assert done.err == ""


def test_piped_lines_are_obeyed(gridagent) -> None:
    """`echo 'say hi' | gridagent run` says hi. Spec: OPS-1."""
    done = gridagent("run", "--json", "--for", "20s", stdin="say hi\n")
    said = [json.loads(line)["body"] for line in done.out.splitlines()]
    heard = [
        body["event"]["text"] for body in said if body["kind"] == "event" and body["event"]["event"] == "chat_heard"
    ]
    assert "hi" in heard
    assert done.code == 0


def test_quit_ends_it_at_once(gridagent) -> None:
    """The time that is left is not waited for."""
    done = gridagent("run", "--for", "1h", stdin="quit\n")
    assert done.code == 0
    assert log_of(gridagent.room)[-1]["why"] == "quit"


def test_the_same_seed_tells_the_same_story(gridagent) -> None:
    """Two runs of one seed begin alike; another seed doesn't. Spec: SIM-2."""

    def story(seed: str) -> list[str]:
        done = gridagent("run", "--json", "--for", "2m", "--seed", seed)
        lines = (json.loads(line)["body"] for line in done.out.splitlines())
        return [str(body) for body in lines if body["kind"] == "event"]

    assert story("3") == story("3")
    assert story("3") != story("4")


def test_run_ever_waits_for_a_reason(gridagent) -> None:
    """Without a terminal it lasts when somebody says so."""
    done = gridagent("run", "--for", "ever", stdin="say hi\nquit\n")
    assert done.code == 0
    assert "until it is stopped" in done.out


def test_on_a_terminal_it_lasts_until_it_is_stopped(gridagent) -> None:
    """A terminal at one end is enough; `--plain` keeps to lines."""
    out = Terminal()
    code = main(
        ["run", "--plain"],
        stdin=io.StringIO("quit\n"),
        stdout=out,
        stderr=io.StringIO(),
        environ={**gridagent.environ, "TERM": "xterm"},
        process=Process(clock=trio.testing.MockClock(autojump_threshold=0)),
    )
    assert code == 0
    assert "until it is stopped" in out.getvalue()
    assert "\x1b" not in out.getvalue()


@pytest.mark.parametrize(("term", "picture"), [("xterm", True), ("dumb", False), ("", False)])
def test_a_picture_is_drawn_where_the_terminal_can(gridagent, term, picture) -> None:
    """A terminal at both ends and a TERM that moves the cursor. Spec: OPS-7."""

    class Typing(Terminal):
        """A terminal on which somebody thinks before they quit."""

        lines = iter(["help\n", "status\n", "say hi\n", "quit\n", ""])

        def readline(self, size: int = -1, /) -> str:
            return next(self.lines)

    Typing.lines = iter(["help\n", "status\n", "say hi\n", "quit\n", ""])
    out = Terminal()
    code = main(
        ["run"],
        stdin=Typing(),
        stdout=out,
        stderr=io.StringIO(),
        environ={**gridagent.environ, "TERM": term, "NO_COLOR": "1"},
        process=Process(clock=trio.testing.MockClock(autojump_threshold=0)),
    )
    assert code == 0
    assert ("\x1b[?1049h" in out.getvalue()) is picture
    assert out.getvalue().count("\x1b[?1049h") == out.getvalue().count("\x1b[?1049l")


def test_a_configuration_file_is_used(gridagent) -> None:
    """What it says holds; it is no demonstration then. Spec: CFG-1."""
    path = gridagent.write("config.json", '{"grid": {"simulated": {"scenario": "quiet-room", "seed": 9}}}')
    done = gridagent("run", "--config", str(path), "--for", "5s")
    assert "scenario quiet-room, seed 9" in done.out
    assert "no configuration file" not in done.out
    gridagent.environ["GRIDAGENT_CONFIG"] = str(path)
    assert "scenario quiet-room" in gridagent("run", "--for", "5s").out


def test_every_unsafe_configuration_is_refused_before_anything_starts(gridagent) -> None:
    """All problems at once, exit code 3, no directory made. Spec: CFG-1."""
    path = gridagent.write("config.json", '{"queues": {"controls": 0}, "roles": {"owners": ["*"]}, "nonsense": 1}')
    done = gridagent("run", "--config", str(path))
    assert done.code == 3
    assert "has 3 problems" in done.err
    assert done.out == ""
    assert not (gridagent.room / "run").exists()


def test_the_log_can_go_to_standard_error(gridagent) -> None:
    """Containers want it there."""
    gridagent.environ["GRIDAGENT_LOG__DESTINATION"] = "stderr"
    done = gridagent("run", "--for", "5s")
    assert json.loads(done.err.splitlines()[0])["event"] == "service_started"
    assert "this terminal's error output" in done.out
    assert not (gridagent.room / "gridagent.log").exists()


def test_two_services_in_one_directory_are_refused(gridagent, monkeypatch) -> None:
    """The second one names the first and touches nothing. Spec: OPS-4."""
    answers = []
    original = run_module._Run.main

    async def main_with_a_second(self) -> ExitCode:
        out, err = io.StringIO(), io.StringIO()
        answers.append(
            (main(["run"], stdout=out, stderr=err, environ=gridagent.environ), out.getvalue(), err.getvalue())
        )
        return await original(self)

    monkeypatch.setattr(run_module._Run, "main", main_with_a_second)
    assert gridagent("run", "--for", "1s").code == 0
    ((code, out, err),) = answers
    assert (code, out) == (ExitCode.ALREADY_RUNNING, "")
    assert f"a service runs already in {gridagent.room / 'run'}, by process {os.getpid()} since " in err
    assert err.count("\n") == 1


# --- how avatars end ------------------------------------------------------------------------------


def test_an_avatar_that_failed_has_its_own_exit_code(gridagent) -> None:
    """Offline, a lost connection ends the avatar: code 6, and the run ends with its last avatar. Spec: SUP-7."""
    scenario = {
        "name": "doomed",
        "regions": [{"name": "Room"}],
        "avatars": [{"name": "Robin Resident", "start": {"region": "Room", "x": 1, "y": 1}}],
        "incidents": [{"kind": "kick", "at_s": 10, "avatar": "Robin Resident"}],
    }
    path = gridagent.write("doomed.json", json.dumps(scenario))
    # A scenario that breaks connections is told to its end unless the configuration says otherwise.
    config = gridagent.write("config.json", '{"session": {"on_backend_failure": "fail"}}')
    done = gridagent("run", "--config", str(config), "--scenario", str(path), "--for", "1h")
    assert done.code == ExitCode.AVATAR_FAILED
    assert log_of(gridagent.room)[-1]["why"] == "stopped"


def test_a_blocked_avatar_has_its_own_exit_code(gridagent, monkeypatch) -> None:
    """An account that needs an operator: code 7. Spec: SUP-6, SUP-7."""
    from gridagent.events import DisconnectCause  # noqa: PLC0415
    from gridagent.grid.simulated.faults import Faults  # noqa: PLC0415

    faults = Faults(login_refused=1.0, login_causes=(DisconnectCause.BANNED,))
    original = run_module.open_running
    monkeypatch.setattr(run_module, "open_running", lambda *given, **named: original(*given, **named, faults=faults))
    gridagent.environ["GRIDAGENT_SESSION__ON_BACKEND_FAILURE"] = "reconnect"
    done = gridagent("run", "--for", "1h")
    assert done.code == ExitCode.AUTHENTICATION_BLOCKED
    assert "authentication-blocked" in done.out
    assert done.err == (
        "gridagent: robin may not log in (banned); mend its account or its password file, then start again\n"
    )
    # Nobody is left who may log in, so the hour is not waited for.
    assert log_of(gridagent.room)[-1]["why"] == "blocked"


@pytest.mark.parametrize(
    ("reachable", "why", "advice"),
    [("true", "time_up", "give it with: gridagent connect --code CODE"), ("false", "blocked", "connect --code CODE")],
)
def test_who_waits_for_a_code_is_waited_for_while_somebody_can_give_it(
    gridagent, monkeypatch, reachable, why, advice
) -> None:
    """With a control endpoint the run goes on; without one nobody could, and it ends. Spec: SUP-6, SUP-7."""
    from gridagent.events import DisconnectCause  # noqa: PLC0415
    from gridagent.grid.simulated.faults import Faults  # noqa: PLC0415

    faults = Faults(login_refused=1.0, login_causes=(DisconnectCause.MFA_REQUIRED,))
    original = run_module.open_running
    monkeypatch.setattr(run_module, "open_running", lambda *given, **named: original(*given, **named, faults=faults))
    gridagent.environ["GRIDAGENT_SESSION__ON_BACKEND_FAILURE"] = "reconnect"
    gridagent.environ["GRIDAGENT_CONTROL__ENABLED"] = reachable
    done = gridagent("run", "--for", "1h")
    assert done.code == ExitCode.AUTHENTICATION_BLOCKED
    assert advice in done.err
    assert f"cause=mfa_required: {what_helps('mfa_required')}" in done.out
    assert log_of(gridagent.room)[-1]["why"] == why


def test_nobody_reading_the_output_ends_it_in_order(gridagent) -> None:
    """`gridagent run | head` is no reason for an error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        code = main(["run", "--for", "30s"], stdout=out, stderr=io.StringIO(), environ=gridagent.environ)
    assert code == 0
    assert log_of(gridagent.room)[-1]["why"] == "unread"


def test_an_error_that_never_should_be_is_one_sentence_and_in_the_log(gridagent, monkeypatch) -> None:
    """Never a traceback: what happened, where the whole of it is, exit code 1. Spec: OPS-1, SUP-10."""

    async def broken(self, *_: object) -> ExitCode:
        raise RuntimeError("a promise was broken")

    monkeypatch.setattr(run_module._Run, "_serve", broken)
    done = gridagent("run", "--for", "5s")
    assert done.code == ExitCode.INTERNAL
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert str(gridagent.room / "gridagent.log") in done.err
    assert "a promise was broken" in (gridagent.room / "gridagent.log").read_text(encoding="utf-8")


def test_an_endpoint_that_cannot_be_opened_is_one_sentence(gridagent, monkeypatch) -> None:
    """A port that is taken stops the start, in words. Spec: OPS-6, OPS-1."""

    async def taken(*_: object, **__: object) -> None:
        await trio.lowlevel.checkpoint()
        raise OperatorError("the control endpoint cannot listen; set control.port to 0")

    monkeypatch.setattr(run_module, "serve_control", taken)
    gridagent.environ["GRIDAGENT_CONTROL__ENABLED"] = "true"
    done = gridagent("run", "--for", "5s")
    assert done.code == ExitCode.CONFIGURATION
    assert done.err == "gridagent: the control endpoint cannot listen; set control.port to 0\n"


# --- signals ----------------------------------------------------------------------------------------


_WHEN_UNREAD = run_module._Run._when_unread


class Signalled:
    """A run that gets signals once its avatar is running."""

    def __init__(self, gridagent, monkeypatch, *numbers: int, arguments: tuple[str, ...] = ()) -> None:
        async def and_signals(run) -> None:
            await trio.sleep(3)
            for number in numbers:
                signal.raise_signal(number)
                await trio.sleep(0.5)
            await _WHEN_UNREAD(run)

        monkeypatch.setattr(run_module._Run, "_when_unread", and_signals)
        self.done = gridagent("run", "--for", "30s", *arguments)
        self.log = log_of(gridagent.room)


def test_an_interrupt_drains_and_says_so(gridagent, monkeypatch) -> None:
    """Ctrl-C stops in order; scripts see 130. Spec: OPS-4."""
    run = Signalled(gridagent, monkeypatch, signal.SIGINT)
    assert run.done.code == ExitCode.INTERRUPTED
    assert run.done.out.endswith("the avatar is stopped\n")
    assert "logged out" in run.done.out


def test_a_termination_in_order_is_no_error(gridagent, monkeypatch) -> None:
    """What a supervisor sends ends the service in order, with 0. Spec: OPS-4."""
    run = Signalled(gridagent, monkeypatch, signal.SIGTERM)
    assert run.done.code == ExitCode.OK
    assert run.log[-1]["why"] == "terminate"


def test_the_kill_switch_is_a_signal_too(gridagent, monkeypatch) -> None:
    """SIGUSR1 holds every avatar without the endpoint. Spec: POL-12."""
    run = Signalled(gridagent, monkeypatch, signal.SIGUSR1)
    assert run.done.code == 0
    assert "HELD: the avatar hears and causes nothing" in run.done.out


def test_a_hang_up_reloads_the_configuration(gridagent, monkeypatch) -> None:
    """SIGHUP reads the file again; the answer is shown. Spec: SUP-8."""
    path = gridagent.write("config.json", "{}")
    run = Signalled(gridagent, monkeypatch, signal.SIGHUP, arguments=("--config", str(path)))
    assert run.done.code == 0
    assert "reload: " in run.done.out


def test_a_hang_up_without_a_file_or_with_a_broken_one_changes_nothing(gridagent, monkeypatch) -> None:
    """It is written to the log, and the avatar lives on."""
    assert "nothing_to_reload" in [record["event"] for record in Signalled(gridagent, monkeypatch, signal.SIGHUP).log]
    path = gridagent.write("config.json", "{}")
    original = run_module._Run._reload

    def gone(self, *given: object) -> None:
        path.unlink()
        original(self, *given)

    monkeypatch.setattr(run_module._Run, "_reload", gone)
    run = Signalled(gridagent, monkeypatch, signal.SIGHUP, arguments=("--config", str(path)))
    assert "reload_failed" in [record["event"] for record in run.log]
    assert run.done.code == 0


def test_a_second_signal_ends_it_at_once(gridagent, monkeypatch) -> None:
    """Nothing is waited for; the files of the endpoint are gone all the same. Spec: OPS-4."""

    async def stuck(self, *_: object) -> ExitCode:
        await trio.sleep(20)
        return ExitCode.OK

    monkeypatch.setattr(run_module._Run, "_stop", stuck)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with pytest.raises(BaseException, match=str(code)) as caught:
            Signalled(gridagent, monkeypatch, number, number)
        assert "Left" in repr(caught.value)


def test_a_stop_that_takes_too_long_is_cut_off(gridagent, monkeypatch) -> None:
    """After the shutdown time-out the rest is cancelled: 143 for SIGTERM. Spec: OPS-4, SUP-3."""

    async def never(self: object) -> None:
        await trio.sleep(60)

    monkeypatch.setattr("gridagent.grid.simulated.backend.SimulatedBackend.logout", never)
    gridagent.environ["GRIDAGENT_SESSION__SHUTDOWN_TIMEOUT_S"] = "0.5"
    gridagent.environ["GRIDAGENT_SESSION__LOGOUT_TIMEOUT_S"] = "0.5"
    run = Signalled(gridagent, monkeypatch, signal.SIGTERM)
    assert run.done.code in {ExitCode.OK, ExitCode.TERMINATED}
    late = "shutdown_late" in [record["event"] for record in run.log]
    assert late is (run.done.code == ExitCode.TERMINATED)


# --- with the control endpoint, in real time -----------------------------------------------------------


@pytest.mark.slow
def test_the_endpoint_is_open_while_it_runs_and_gone_afterwards(gridagent) -> None:
    """A client on loopback reads the status and stops the service. Spec: OPS-6."""
    gridagent.environ["GRIDAGENT_CONTROL__ENABLED"] = "true"
    answers: list[object] = []
    directory = gridagent.room / "run"

    def operate() -> None:
        while find_endpoint(directory) is None:
            threading.Event().wait(0.02)
        endpoint, token = find_endpoint(directory)
        answers.extend([endpoint, isinstance(token, SecretStr)])
        answers.append(gridagent("status", "--json", real_time=True))
        answers.append(gridagent("stop", real_time=True))

    operator = threading.Thread(target=operate)
    operator.start()
    done = gridagent("run", "--for", "15s", real_time=True)
    operator.join()
    endpoint, has_token, status, stopped = answers
    assert (endpoint.host, endpoint.pid, has_token) == ("127.0.0.1", os.getpid(), True)
    assert json.loads(status.out)["key"] == "robin"
    assert (stopped.code, done.code) == (0, 0)
    assert log_of(gridagent.room)[-1]["why"] == "stopped"
    assert find_endpoint(directory) is None


async def test_a_control_for_an_avatar_that_stopped_is_noted(gridagent, autojump_clock) -> None:
    """A signal that comes too late is no error."""
    from gridagent import open_service  # noqa: PLC0415
    from gridagent.runtime.deterministic import simulated_ports  # noqa: PLC0415

    events: list[str] = []

    class Log:
        def info(self, event: str, **_: object) -> None:
            events.append(event)

    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        handle: SessionHandle = service.avatar()
        await handle.shut_down()
        run = object.__new__(run_module._Run)
        run._log = Log()
        await run._tell(handle, ReloadConfig(config_json=b"{}"))
    assert events == ["avatar_stopped_already"]
