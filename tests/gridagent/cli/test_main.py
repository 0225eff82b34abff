"""From arguments to an exit code."""

from __future__ import annotations

import io
import json

import pytest

from gridagent.cli import main as main_module
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.instance import AlreadyRunning
from gridagent.cli.main import _COMMANDS, main
from gridagent.cli.parser import build_parser
from gridagent.cli.vocabulary import UsageProblem
from gridagent.errors import ConfigError, ConfigProblem, InternalError, OperatorError
from gridagent.fronts.control import Endpoint, EndpointRefused, NotRunning, RuntimeDirectory
from tests.gridagent.cli.installed import write_entry_points

PROBLEM = ConfigProblem(path="$.a", what="is wrong", shape="", mend="mend it")


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException, command: str = "status") -> None:
    """Let a command raise."""

    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(main_module, "_COMMANDS", {**_COMMANDS, command: fail})


def test_every_command_of_the_grammar_is_performed_by_something() -> None:
    """No command is only help."""
    (commands,) = (action for action in build_parser("9")._actions if hasattr(action, "choices") and action.choices)
    assert set(commands.choices) == set(_COMMANDS)


@pytest.mark.parametrize("arguments", [("--version",), ("-V",), ("--help",), ("run", "--help"), ("say", "--help")])
def test_help_and_version_end_with_zero(gridagent, arguments, capsys) -> None:
    """They are answers, not errors. Spec: OPS-1."""
    assert gridagent(*arguments).code == 0
    assert "gridagent" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [(), ("fly",), ("run", "--for", "x"), ("say",), ("\x1b[2J",)])
def test_a_wrong_command_line_is_one_sentence_and_two(gridagent, arguments) -> None:
    """Exit code 2, one line on standard error, harmless to look at. Spec: OPS-1."""
    done = gridagent(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("gridagent: ")
    assert done.err.count("\n") == 1
    assert "\x1b" not in done.err


@pytest.mark.parametrize(
    ("error", "command", "code"),
    [
        (UsageProblem("x"), "status", ExitCode.USAGE),
        (ConfigError((PROBLEM,)), "status", ExitCode.CONFIGURATION),
        (OperatorError("x"), "run", ExitCode.CONFIGURATION),
        (OperatorError("x"), "status", ExitCode.REFUSED),
        (NotRunning("x"), "status", ExitCode.NOT_RUNNING),
        (EndpointRefused("unauthenticated", "x"), "status", ExitCode.REFUSED),
        (AlreadyRunning("x"), "run", ExitCode.ALREADY_RUNNING),
        (KeyboardInterrupt(), "status", ExitCode.INTERRUPTED),
        (BrokenPipeError(), "status", ExitCode.OK),
        (InternalError("x"), "status", ExitCode.INTERNAL),
        (ZeroDivisionError("x"), "status", ExitCode.INTERNAL),
        (ModuleNotFoundError("x", name="msgspec"), "status", ExitCode.INTERNAL),
        (ExceptionGroup("g", [ExceptionGroup("h", [OperatorError("x")])]), "run", ExitCode.CONFIGURATION),
        (ExceptionGroup("g", [OperatorError("x"), OperatorError("y")]), "run", ExitCode.INTERNAL),
    ],
)
def test_every_error_has_its_code_and_no_traceback(gridagent, monkeypatch, error, command, code) -> None:
    """One table of exit codes; whatever is raised, an operator reads a sentence. Spec: OPS-1, SUP-7."""
    failing(monkeypatch, error, command)
    done = gridagent(command)
    assert done.code == code
    assert "Traceback" not in done.err
    assert done.out == ""


def test_an_unexpected_error_names_the_log_and_keeps_its_text_out_of_the_terminal(gridagent, monkeypatch) -> None:
    """The whole of it is in the log. Spec: SUP-10. Fault: 42."""
    failing(monkeypatch, RuntimeError("inner workings \x1b[2J"))
    done = gridagent("status")
    assert done.code == ExitCode.INTERNAL
    assert "inner workings" not in done.err
    assert str(gridagent.room / "gridagent.log") in done.err
    assert "inner workings" in (gridagent.room / "gridagent.log").read_text(encoding="utf-8")


def test_an_exit_is_let_through(gridagent, monkeypatch) -> None:
    """What means to end the process ends it."""
    failing(monkeypatch, GeneratorExit())
    with pytest.raises(GeneratorExit):
        gridagent("status")


def test_hostile_text_in_an_error_is_written_out(gridagent, monkeypatch) -> None:
    """A name from a file or an argument cannot touch the terminal. Spec: OPS-7."""
    failing(monkeypatch, OperatorError("no \x1b]52;c;eA==\a\u202e"))
    assert all(char.isprintable() or char == "\n" for char in gridagent("status").err)


def test_every_problem_of_a_configuration_stands_on_its_own_line(gridagent, monkeypatch) -> None:
    """The list stays readable. Spec: CFG-1."""
    failing(monkeypatch, ConfigError((PROBLEM, PROBLEM)))
    assert gridagent("status").err.splitlines()[1:] == ["  $.a: is wrong; mend it"] * 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("say", "hello", "there"),
        ("settle", "e1", "happened"),
        ("hold",),
        ("approvals",),
        ("approvals", "allow", "a1"),
        ("watch", "--for", "1s"),
        ("audit", "--last", "0"),
        ("stop", "--json"),
    ],
)
def test_commands_without_a_service_say_so(gridagent, arguments) -> None:
    """Exit code 4 and how to start one. Spec: OPS-1."""
    done = gridagent(*arguments, real_time=True)
    assert done.code == ExitCode.NOT_RUNNING
    assert "start one with: gridagent run" in done.err


@pytest.mark.parametrize("arguments", [("status",), ("hold",), ("watch",)])
def test_commands_to_a_service_that_is_gone_say_so(gridagent, arguments) -> None:
    """What a killed service left behind leads to nobody. Spec: OPS-1."""
    endpoint = Endpoint(host="127.0.0.1", port=1, pid=77, started_at=0.0, protocol=1, instance="i")
    with RuntimeDirectory(gridagent.room / "run") as directory:
        directory.publish(endpoint, "canary-70ken-gone")
    done = gridagent(*arguments, real_time=True)
    assert done.code == ExitCode.NOT_RUNNING
    assert "process 77" in done.err
    assert "canary" not in done.err


def test_what_contradicts_itself_is_a_usage_error(gridagent) -> None:
    """An avatar and all of them; an answer without an approval."""
    assert gridagent("pause", "--avatar", "robin", "--all").code == ExitCode.USAGE
    done = gridagent("approvals", "allow")
    assert done.code == ExitCode.USAGE
    assert "ID is missing" in done.err


def test_the_environment_names_the_configuration(gridagent) -> None:
    """GRIDAGENT_CONFIG stands in for --config. Spec: CFG-1."""
    path = gridagent.write("config.json", json.dumps({"paths": {"runtime_dir": str(gridagent.room / "other")}}))
    del gridagent.environ["GRIDAGENT_PATHS__RUNTIME_DIR"]
    gridagent.environ["GRIDAGENT_CONFIG"] = str(path)
    assert str(gridagent.room / "other") in gridagent("status", real_time=True).err


def test_standard_streams_are_the_default(capsys) -> None:
    """Without streams of its own it writes where everybody does."""
    assert main(["policy", "list"], environ={}) == 0
    assert main(["fly"], environ={}, stdin=io.StringIO()) == 2
    captured = capsys.readouterr()
    assert "observer" in captured.out
    assert captured.err.startswith("gridagent: ")


def test_the_grid_is_served_by_what_is_installed(gridagent, tmp_path, monkeypatch, capsys) -> None:
    """The rest of the line is its own, and so are its help and its exit codes. Spec: OPS-1, OPS-5."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path)))
    assert gridagent("grid", "--help").code == 0
    assert "usage: gridagent grid" in capsys.readouterr().out
    assert gridagent("grid", "--scenario", "atlantis").code == 2
    assert "no scenario named 'atlantis'" in capsys.readouterr().err
    assert gridagent("grid", "--port", "many").code == 2


def test_a_command_that_is_not_installed_says_how_to_install_it(gridagent, tmp_path, monkeypatch) -> None:
    """One sentence. Spec: OPS-1, LIV-14."""
    offered = {"grid": "a_package_nobody_has:main"}
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path, gridagent_commands=offered)))
    done = gridagent("grid")
    assert done.code == 3
    assert done.err == (
        "gridagent: 'grid' needs the package a_package_nobody_has, which is not installed; "
        "run: pip install 'gridagent[live]'\n"
    )
