"""The command as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gridagent
from gridagent import __main__ as entry
from gridagent.fronts.control.rendezvous import find_endpoint

ROOT = Path(__file__).resolve().parents[2]


def environment(room: Path) -> dict[str, str]:
    """Nothing of this machine's own configuration."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRIDAGENT_")}
    paths = {"STATE_DIR": "state", "RUNTIME_DIR": "run", "LOG_FILE": "log"}
    return {
        **kept,
        **{f"GRIDAGENT_PATHS__{name}": str(room / each) for name, each in paths.items()},
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
    }


def command(room: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Perform a command line in a process of its own."""
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "gridagent", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment(room),
        timeout=18,
        check=False,
    )


@contextmanager
def running(room: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A service in a process of its own, once its avatar is running; it is killed if it is left."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "gridagent", "run", "--json", "--for", "15s", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(room),
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            body = json.loads(line)["body"]
            if body["kind"] == "agent_state" and body["state"] == "running":
                break
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_version_is_answered_without_the_framework(monkeypatch, capsys) -> None:
    """`--version` imports nothing of weight. Spec: OPS-1."""
    for word in ("--version", "-V"):
        monkeypatch.setattr(sys, "argv", ["gridagent", word])
        assert entry.main() == 0
        assert capsys.readouterr().out == f"gridagent {gridagent.__version__}\n"
    code = (
        "import sys; sys.argv = ['gridagent', '--version']; from gridagent.__main__ import main; main();"
        "print(sorted({'trio', 'msgspec', 'argparse', 'gridagent.cli'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_is_handed_on(monkeypatch, capsys) -> None:
    """Everything else goes to the command line proper, with this process's arguments."""
    monkeypatch.setattr(sys, "argv", ["gridagent", "policy", "list"])
    assert entry.main() == 0
    assert "guide" in capsys.readouterr().out


def test_an_interrupt_while_it_loads_is_no_traceback(monkeypatch) -> None:
    """Ctrl-C in the first half second ends with 130. Spec: OPS-4."""
    monkeypatch.setattr(sys, "argv", ["gridagent", "policy", "list"])

    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("gridagent.cli.main.main", interrupted)
    assert entry.main() == 130


def test_help_needs_no_framework() -> None:
    """Help and usage errors come at once: trio, msgspec and rich stay out. Spec: OPS-1."""
    code = (
        "import sys; from gridagent.cli.main import main\n"
        "assert main(['run', '--help'], environ={}) == 0 and main(['fly'], environ={}) == 2\n"
        "print(sorted({'trio', 'msgspec', 'rich', 'httpx', 'jsonschema'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_a_run_starts_without_what_it_does_not_use(tmp_path) -> None:
    """Neither the HTTP client nor a schema checker nor the picture is loaded for lines. Spec: OPS-1."""
    code = (
        "import sys, os; from gridagent.cli.main import main\n"
        "assert main(['run', '--for', '1s', '--json'], environ=os.environ) == 0\n"
        "print(sorted({'httpx', 'jsonschema', 'jsonschema_rs', 'rich.live', 'apsw', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment(tmp_path)
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_piped_lines_reach_a_run_in_a_process_of_its_own(tmp_path) -> None:
    """`echo 'say hi' | gridagent run --json --for 2s`. Spec: OPS-1."""
    done = command(tmp_path, "run", "--json", "--for", "2s", stdin="say hi\n")
    bodies = [json.loads(line)["body"] for line in done.stdout.splitlines()]
    heard = [body["event"] for body in bodies if body["kind"] == "event" and body["event"]["event"] == "chat_heard"]
    assert (done.returncode, done.stderr) == (0, "")
    assert [event["text"] for event in heard if event["source"]["kind"] == "self"] == ["hi"]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_drains_a_process(tmp_path, number, code) -> None:
    """The avatar is logged out, the endpoint's files are gone, the code is the documented one. Spec: OPS-4, SUP-9."""
    with running(tmp_path) as process:
        assert find_endpoint(tmp_path / "run") is not None
        process.send_signal(number)
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read()
        process.wait(timeout=10)
    assert (process.returncode, err) == (code, "")
    closed = [json.loads(line)["body"] for line in out.splitlines()]
    assert [body["logged_out"] for body in closed if body["kind"] == "generation_closed"] == [True]
    assert find_endpoint(tmp_path / "run") is None


@pytest.mark.slow
def test_a_process_is_steered_through_its_endpoint(tmp_path) -> None:
    """Status, speech, the kill switch and the stop, each from a process of its own. Spec: OPS-6, POL-12, SUP-8."""
    with running(tmp_path) as process:
        assert command(tmp_path, "say", "hello").returncode == 0
        assert command(tmp_path, "hold").returncode == 0
        held = command(tmp_path, "say", "no")
        assert held.returncode == 5
        assert "held" in held.stdout
        assert json.loads(command(tmp_path, "status", "--json").stdout)["gateway"]["held"]
        assert command(tmp_path, "stop").returncode == 0
        process.communicate(timeout=10)
    assert process.returncode == 0
    assert command(tmp_path, "status").returncode == 4


@pytest.mark.slow
def test_a_second_service_is_refused_and_a_killed_one_leaves_the_way_free(tmp_path) -> None:
    """The lock names its holder and goes with it, however it ends. Spec: OPS-4. Fault: 38."""
    with running(tmp_path) as process:
        second = command(tmp_path, "run", "--for", "1s")
        assert second.returncode == 8
        assert f"by process {process.pid} " in second.stderr
        process.kill()
        process.wait(timeout=10)
        assert find_endpoint(tmp_path / "run") is not None
        third = command(tmp_path, "run", "--for", "1s")
    assert third.returncode == 0
    assert find_endpoint(tmp_path / "run") is None


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this platform has no pseudo-terminals")
def test_on_a_terminal_it_draws_a_picture_and_takes_typed_lines(tmp_path) -> None:
    """What is typed is said; the terminal is as it was afterwards. Spec: OPS-1, OPS-7."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gridagent", "run", "--for", "10s"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment(tmp_path), "TERM": "xterm-256color"},
    )
    os.close(theirs)
    shown, quitted = b"", False
    try:
        os.write(ours, b"say hello\n")
        while data := _read(ours):
            shown += data
            if not quitted and b"says: hello" in shown:
                quitted = bool(os.write(ours, b"quit\n"))
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert shown.count(b"\x1b[?1049h") == shown.count(b"\x1b[?1049l") == 1
    assert b"near robin" in shown
    assert shown.rstrip().endswith(b"robin: stopped, stopped \xc2\xb7 connection 1 \xc2\xb7 nowhere \xc2\xb7 0 near")


def _read(descriptor: int) -> bytes:
    """Read from a pseudo-terminal; the end of its other side is an error there."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""
