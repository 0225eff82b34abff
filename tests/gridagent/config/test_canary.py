"""Canary secrets seeded everywhere a configuration can hold one: no failing path shows them (Fault: 42).

The canaries are module globals: the frames of this file, which are part of every traceback, hold no copy.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest

from gridagent.config import check_config, load_config, load_config_and_secrets, parse_config
from gridagent.config.model import LogFormat
from gridagent.config.secrets import derived_forms
from gridagent.errors import ConfigError
from gridagent.observability import Redactor, open_log

PASSWORD = 'pwCanary-8d1f&"é'
API_KEY = "sk-Canary-0a9b8c7d6e5f"
QUERY = "queryCanary42424242"
USER_INFO = "userCanary:infoCanary"
VARIABLE = "variableCanary-314159"
PIN = 824613579
CANARIES = (PASSWORD, API_KEY, QUERY, USER_INFO, VARIABLE, str(PIN))
FORMS = frozenset(form for canary in CANARIES for form in derived_forms(canary))
ENVIRON = MappingProxyType({"UNRELATED_TOKEN": VARIABLE, "HOME": "/nowhere"})

GOOD = {
    "avatars": {"ada": {"first_name": "Ada", "password_file": "password"}},
    "grid": {"backend": "live", "live": {"login_url": f"https://grid/login?token={QUERY}"}},
    "llm": {"provider": "anthropic", "endpoint": f"https://api/v1?key={QUERY}", "api_key_file": "key"},
}


def _with_value(path: str, value: object) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        config = json.loads(json.dumps(GOOD))
        here = config
        *outer, last = path.split(".")
        for key in outer:
            here = here.setdefault(key, {})
        here[last] = value
        (directory / "config.json").write_text(json.dumps(config))

    return change


def _with_text(text: bytes) -> Callable[[Path], None]:
    return lambda directory: (directory / "config.json").write_bytes(text) and None


def _secret_file(name: str, text: bytes, mode: int = 0o600) -> Callable[[Path], None]:
    def change(directory: Path) -> None:
        (directory / name).write_bytes(text)
        (directory / name).chmod(mode)

    return change


def _linked(directory: Path) -> None:
    os.link(directory / "password", directory / "second")


FAILURES: dict[str, Callable[[Path], None]] = {
    "password file others can read": _secret_file("password", PASSWORD.encode(), 0o644),
    "password file with two lines": _secret_file("password", f"{PASSWORD}\n{PASSWORD}".encode()),
    "password file that is not UTF-8": _secret_file("password", PASSWORD.encode() + b"\xff"),
    "password file with a mark": _secret_file("password", b"\xef\xbb\xbf" + PASSWORD.encode()),
    "password file that is too large": _secret_file("password", PASSWORD.encode() * 2_000),
    "password file with another name": _linked,
    "key file others can write": _secret_file("key", API_KEY.encode(), 0o622),
    "key file with a control character": _secret_file("key", API_KEY.encode() + b"\x1b"),
    "configuration others can read": lambda directory: (directory / "config.json").chmod(0o644),
    "password in the configuration": _with_value("avatars.ada.password", PASSWORD),
    "password as a number": _with_value("avatars.ada.password", PIN),
    "password instead of its file, as a number": _with_value("avatars.ada.password_file", PIN),
    "password as two lines in place of a file": _with_value("avatars.ada.password_file", f"{PASSWORD}\n"),
    "password in place of its file": _with_value("avatars.ada.password_file", PASSWORD),
    "key in place of its file": _with_value("llm.api_key_file", f"/{API_KEY}/x"),
    "password as a key": _with_value(f"llm.{API_KEY}", 1),
    "key in place of a choice": _with_value("llm.provider", API_KEY),
    "key in place of a model": _with_value("llm.model", API_KEY * 20),
    "key in place of a UUID": _with_value("roles.owners", [API_KEY, PASSWORD]),
    "key in place of a number": _with_value("queues.controls", API_KEY),
    "key in place of a boolean": _with_value("control.enabled", API_KEY),
    "key in place of a section": _with_value("queues", API_KEY),
    "key in place of a list": _with_value("roles.owners", API_KEY),
    "key in place of a place": _with_value("avatars.ada.start", API_KEY),
    "key in a pattern": _with_value("policy.patterns", {"x": {"action": API_KEY, "argument": API_KEY, "then": "deny"}}),
    "user info in an endpoint": _with_value("llm.endpoint", f"https://{USER_INFO}@api/v1?key={QUERY}"),
    "fragment in an endpoint": _with_value("llm.endpoint", f"https://api/v1?key={QUERY}#x"),
    "endpoint over plain HTTP": _with_value("llm.endpoint", f"http://api/v1?key={QUERY}"),
    "login over plain HTTP": _with_value("grid.live.login_url", f"http://grid/login?key={QUERY}"),
    "endpoint that is no URL": _with_value("llm.endpoint", f"ftp://{USER_INFO}@api/{QUERY}"),
    "endpoint of the offline model": _with_value("llm.provider", "offline"),
    "mode that conflicts": _with_value("grid.backend", "simulated"),
    "syntax error": _with_text(f'{{"password": "{API_KEY}", }}'.encode()),
    "byte that is not UTF-8": _with_text(f'{{"password": "{API_KEY}'.encode() + b'\xff"}'),
    "duplicate keys": _with_text(f'{{"log": {{"level": "{API_KEY}", "level": "{API_KEY}"}}}}'.encode()),
    "nested too deep": _with_text(f'{{"{API_KEY}": '.encode() * 100),
    "configuration that is too large": _with_text(API_KEY.encode() * 4_000),
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with a good configuration and its secret files."""
    for name, text in (("config.json", json.dumps(GOOD)), ("password", PASSWORD), ("key", API_KEY)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    return tmp_path


def _leaks(text: str) -> list[str]:
    return sorted(form for form in FORMS if form in text)


def outputs_of(error: BaseException) -> str:
    """Return everything that could be printed of an error, in every format there is."""
    lines: list[str] = []
    for style in LogFormat:
        log = open_log(lines.append, Redactor(), format=style, clock=lambda: 0.0)
        log.error("configuration_refused", exc_info=error, error=error, arguments=error.args)
    attempts = [str(error), repr(error), f"{error!a:>10}", "%s %r" % (error, error), *lines]  # noqa: UP031 - one of the ways out
    attempts += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    attempts += [repr(problem) for problem in getattr(error, "problems", ())]
    attempts += [str(error.__context__), str(error.__cause__)]
    return "\n".join(attempts)


def _fail(action: Callable[[], object]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        action()
    return caught.value


@pytest.mark.parametrize("change", FAILURES.values(), ids=FAILURES)
def test_no_failing_load_shows_a_canary(directory: Path, change: Callable[[Path], None]) -> None:
    """Messages, tracebacks with locals and log lines of a refused start. Spec: CFG-1, CFG-3. Fault: 42."""
    change(directory)
    file = directory / "config.json"
    for action in (lambda: load_config_and_secrets(file, ENVIRON), lambda: check_config(file, ENVIRON)):
        shown = outputs_of(_fail(action))
        assert "Traceback" in shown
        assert _leaks(shown) == []


@pytest.mark.parametrize(
    "name",
    [
        "GRIDAGENT_PASSWORD",
        "GRIDAGENT_LOG",
        "GRIDAGENT_LOG__LEVEL",
        "GRIDAGENT_QUEUES__CONTROLS",
        "GRIDAGENT_ROLES__OWNERS",
        "GRIDAGENT_",
    ],
)
def test_no_variable_shows_its_value(name: str) -> None:
    """A token in the wrong variable, or in one that is not ours, is not printed. Spec: CFG-1, CFG-3. Fault: 42."""
    action = _variables(name)
    assert _leaks(outputs_of(_fail(action))) == []


def _variables(name: str) -> Callable[[], object]:
    return lambda: load_config(None, MappingProxyType({**ENVIRON, name: VARIABLE}), _options())


def _options() -> dict[str, str]:
    return {"llm.mode": API_KEY}


def test_no_reload_shows_its_text() -> None:
    """The bytes of a refused reload stay out of its traceback. Spec: SUP-8, CFG-3. Fault: 42."""
    action = _reload
    assert _leaks(outputs_of(_fail(action))) == []


def _reload() -> object:
    return parse_config(
        json.dumps({"llm": {"endpoint": f"https://{USER_INFO}@api/"}, "log": {"level": API_KEY}}).encode()
    )


def test_what_was_loaded_cannot_be_written_out(directory: Path) -> None:
    """A good configuration prints, formats and encodes without its secrets, or not at all. Spec: CFG-3. Fault: 42."""
    loaded = load_config_and_secrets(directory / "config.json", ENVIRON)
    lines: list[str] = []
    for style in LogFormat:
        log = open_log(lines.append, Redactor(loaded.secrets.forms()), format=style, clock=lambda: 0.0)
        log.info("loaded", config=loaded.config, secrets=loaded.secrets, first=loaded.secrets["llm.api_key_file"])
        log.info(
            "careless",
            password=loaded.secrets["avatars.ada.password_file"].reveal(),
            url=loaded.config.llm.endpoint.reveal(),
        )  # type: ignore[union-attr]
    shown = [repr(loaded), str(loaded), f"{loaded}", repr(msgspec.structs.asdict(loaded.config)), *lines]
    assert _leaks("\n".join(shown)) == []
    for encode in (msgspec.json.encode, msgspec.msgpack.encode, msgspec.to_builtins):
        for value in (loaded, loaded.config, loaded.secrets["llm.api_key_file"]):
            error = _refused(encode, value)
            assert _leaks(outputs_of(error)) == []


def _refused(encode: Callable[[object], object], value: object) -> TypeError:
    with pytest.raises(TypeError) as caught:
        encode(value)
    return caught.value


def test_the_scan_would_find_a_leak() -> None:
    """The net has no hole: each canary, however it is dressed, is found by it."""
    for canary in CANARIES:
        assert _leaks(outputs_of(ValueError(canary)))
        assert _leaks(canary.encode().hex())
