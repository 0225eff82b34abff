"""The unit and the container file: every option, exit code, path and variable in them exists and fits."""

from __future__ import annotations

import ast
import json
import re
import shlex
import signal
from pathlib import Path

import pytest

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.health import TOKEN_FILE
from gridagent.cli.parser import build_parser
from gridagent.cli.run import AFTER_AVATARS_S
from gridagent.cli.signals import Summons, signals_here
from gridagent.config import Config, load_config, parse_config
from gridagent.service.metering import Meter
from gridagent.service.progress import PROBE_EVERY_S, STALL_AFTER_S

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "docs" / "deploy" / "gridagent@.service"
CONTAINER = ROOT / "docs" / "deploy" / "Containerfile"
PAGE = ROOT / "docs" / "how-to" / "keep-it-running.md"
INSTANCE = "robin"
MENDED_BY_AN_OPERATOR = {
    ExitCode.USAGE,
    ExitCode.CONFIGURATION,
    ExitCode.AUTHENTICATION_BLOCKED,
    ExitCode.ALREADY_RUNNING,
    ExitCode.STORAGE,
}


def unit() -> dict[str, list[str]]:
    """Every value of each key, in order; keys of all sections together, since no two share one."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "[")):
            key, sign, value = line.partition("=")
            assert sign, line
            found.setdefault(key, []).append(value.replace("%i", INSTANCE))
    return found


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the container file with its text on one line."""
    text = re.sub(r"^#.*\n", "", CONTAINER.read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in text.splitlines() if line]


def of(name: str) -> list[str]:
    """The texts of every instruction of one kind."""
    return [text for each, text in instructions() if each == name]


def blocks(language: str) -> list[str]:
    """The page's examples in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def variables() -> dict[str, str]:
    """What the image sets."""
    pairs = (pair.split("=", 1) for text in of("ENV") for pair in shlex.split(text))
    return {name: value for name, value in pairs if name.startswith("GRIDAGENT_")}


def health_command() -> list[str]:
    """The command of the image's health check."""
    (check,) = of("HEALTHCHECK")
    command = json.loads(check.partition("CMD ")[2])
    assert all(isinstance(word, str) for word in command)
    return list(command)


# --- the unit -------------------------------------------------------------------------------------


def test_the_unit_starts_a_command_there_is() -> None:
    """Its options parse, it lasts until it is stopped, and it reads the instance's file. Spec: OPS-3, OPS-1."""
    (start,) = unit()["ExecStart"]
    program, *arguments = shlex.split(start)
    given = build_parser("0").parse_args(arguments)
    assert program.endswith("/gridagent")
    assert given.command == "run"
    assert str(given.config) == f"/etc/gridagent/{INSTANCE}.json"
    assert arguments[-2:] == ["--for", "ever"]


def test_the_unit_speaks_the_protocol_that_the_service_speaks() -> None:
    """Ready, watchdog and reload, from the main process. Spec: OPS-3."""
    keys = unit()
    assert (keys["Type"], keys["NotifyAccess"]) == (["notify"], ["main"])
    assert keys["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert signals_here()[signal.SIGHUP] is Summons.RELOAD
    assert signals_here()[signal.SIGTERM] is Summons.TERMINATE
    assert "KillSignal" not in keys
    assert "AF_UNIX" in keys["RestrictAddressFamilies"][0].split()


def test_an_exit_that_only_an_operator_can_mend_is_not_tried_again() -> None:
    """A wrong password in a loop locks an account; every other failure is tried again. Spec: OPS-3, SUP-6."""
    keys = unit()
    assert keys["Restart"] == ["on-failure"]
    assert {ExitCode(int(code)) for code in keys["RestartPreventExitStatus"][0].split()} == MENDED_BY_AN_OPERATOR
    assert keys["StartLimitIntervalSec"] == ["0"]
    page = PAGE.read_text(encoding="utf-8")
    assert "exit codes 2, 3, 7, 8 and 9" in page


def test_the_units_times_hold_what_happens_in_them() -> None:
    """A drain as long as it may be by default is not killed, and neither is a slow disk. Spec: OPS-3, OPS-4."""
    keys = unit()
    assert float(keys["TimeoutStopSec"][0]) > Config().session.shutdown_timeout_s + AFTER_AVATARS_S
    watchdog_s = float(keys["WatchdogSec"][0])
    assert watchdog_s / 2 > PROBE_EVERY_S
    assert watchdog_s > STALL_AFTER_S


def test_the_page_and_the_unit_name_the_same_places() -> None:
    """The configuration shown loads, and its directories and secrets are those that the unit makes. Spec: OPS-3."""
    keys = unit()
    (example,) = blocks("json")
    config = parse_config(example.encode(), base=Path("/etc/gridagent"))
    assert config.paths.state_dir == f"/var/lib/{keys['StateDirectory'][0]}"
    assert config.paths.runtime_dir == f"/run/{keys['RuntimeDirectory'][0]}"
    assert config.log.destination.value == "stderr"
    credentials = dict(line.split(":", 1) for line in keys["LoadCredential"])
    handed = f"/run/credentials/gridagent@{INSTANCE}.service/"
    assert config.avatars[INSTANCE].password_file == f"{handed}password"  # type: ignore[index]
    assert config.health.token_file == f"{handed}token"
    assert {"password", "token"} == set(credentials)
    page = PAGE.read_text(encoding="utf-8")
    for path in credentials.values():
        assert path.removeprefix("/etc/gridagent/") in page
    assert (keys["StateDirectoryMode"], keys["RuntimeDirectoryMode"]) == (["0700"], ["0700"])


def test_the_unit_is_hardened() -> None:
    """No privileges, nothing to write but its own directories, bounded memory. Spec: OPS-3."""
    keys = unit()
    for key in ("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "MemoryDenyWriteExecute"):
        assert keys[key] == ["yes"], key
    assert keys["ProtectSystem"] == ["strict"]
    assert keys["CapabilityBoundingSet"] == [""]
    assert keys["User"] == ["gridagent"]
    assert keys["MemoryMax"][0].endswith("M")


# --- the container --------------------------------------------------------------------------------


def test_the_image_starts_a_command_there_is() -> None:
    """Entry point and command parse; a run in a container lasts until it is stopped. Spec: OPS-1, OPS-3."""
    (entry,), (command,) = of("ENTRYPOINT"), of("CMD")
    assert json.loads(entry) == ["gridagent"]
    given = build_parser("0").parse_args(json.loads(command))
    assert given.command == "run"
    assert of("STOPSIGNAL") == [signal.SIGTERM.name]


def test_the_images_variables_are_keys_of_the_configuration() -> None:
    """They load, and say what the page says of them. Spec: CFG-1, OPS-3."""
    config = load_config(None, variables())
    assert config.health.enabled
    assert config.log.destination.value == "stderr"
    (volume,) = of("VOLUME")
    assert json.loads(volume) == [config.paths.state_dir]
    made = next(text for text in of("RUN") if "install --directory" in text)
    for place in (config.paths.state_dir, config.paths.runtime_dir):
        assert str(place) in made
    assert "--mode 0700" in made


def test_the_health_check_asks_the_port_that_is_opened() -> None:
    """With Python alone, and the page's probe is the same. Spec: OPS-3."""
    port = load_config(None, variables()).health.port
    assert port == Config().health.port
    program, option, source = health_command()
    assert (program, option) == ("python", "-c")
    assert ast.parse(source).body
    assert f"'127.0.0.1', {port}," in source
    assert "'/livez'" in source
    assert any(json.dumps(health_command()) in block for block in blocks("yaml"))


def test_the_image_is_made_of_locked_files_and_is_not_root() -> None:
    """Every package by hash, every copied path there, one user by number. Spec: OPS-5."""
    for text in of("RUN"):
        for step in text.split("&&"):
            if " pip install" in step or " pip wheel" in step:
                assert "--require-hashes" in step or "--no-index" in step, step
    for text in of("COPY"):
        if not text.startswith("--from"):
            *sources, _ = text.split()
            assert all((ROOT / source).exists() for source in sources), text
    locks = re.findall(r"-r (\S+)", CONTAINER.read_text(encoding="utf-8"))
    assert sorted(locks) == ["requirements/build.txt", "requirements/live.txt"]
    assert of("USER") == ["10001:10001"]
    assert len({text.split()[0] for text in of("FROM")}) == 1


# --- the page -------------------------------------------------------------------------------------


def test_every_metric_and_key_on_the_page_exists() -> None:
    """A rule over a metric that nobody counts never wakes anybody. Spec: OPS-2."""
    page = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"\bgridagent_[a-z_]+", page))
    counted = set(re.findall(r"^# TYPE (\S+)", Meter().exposition(), re.MULTILINE))
    assert named
    assert named <= counted
    keys = set(re.findall(r"`((?:health|log|session|paths)\.[a-z_.]+)`", page)) - {TOKEN_FILE}
    assert keys
    for key in keys:
        section, name = key.split(".")
        assert hasattr(getattr(Config(), section), name), key


@pytest.mark.parametrize(
    "line", re.findall(r"^\$ .*?\bgridagent (status .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
)
def test_every_command_on_the_page_parses(line: str) -> None:
    """What can be copied can be run. Spec: OPS-1."""
    assert build_parser("0").parse_args(shlex.split(line)).command == "status"
