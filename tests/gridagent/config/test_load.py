"""Loading as a whole: every unsafe configuration is refused with its own sentence, all of them at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gridagent.config import Config, LoadedConfig, load_config, load_config_and_secrets, parse_config
from gridagent.config.load import secret_from
from gridagent.config.model import FailureRule, LogLevel
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError

ADA = "01234567-89ab-4cde-8f01-23456789abcd"
AVATAR = {"first_name": "Ada"}


def _problems_of(text: str | bytes, environ: dict[str, str] | None = None) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    try:
        parse_config(data, environ or {})
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return []


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """An empty private configuration file."""
    path = tmp_path / "config.json"
    path.write_text("{}")
    path.chmod(0o600)
    return path


# --- what must be refused ---------------------------------------------------------------------------

LIVE = '"grid": {"backend": "live", "live": {"login_url": "https://grid/"}}'
UNSAFE = {
    "unknown section": ('{"quues": {}}', "$.quues", "is not a known key", "did you mean 'queues'?"),
    "unknown key": ('{"log": {"levl": "info"}}', "$.log.levl", "is not a known key", "did you mean 'level'?"),
    "duplicate key": (
        '{"log": {"level": "info", "level": "info"}}',
        "$.log.level",
        "is given more than once",
        "keep one",
    ),
    "duplicate section": ('{"log": {}, "log": {}}', "$.log", "is given more than once", "keep one"),
    "wrong type": ('{"queues": {"controls": "64"}}', "$.queues.controls", "must be a whole number", "without quotes"),
    "invalid boolean": (
        '{"control": {"enabled": "yes"}}',
        "$.control.enabled",
        "must be true or false",
        "without quotes",
    ),
    "number as boolean": (
        '{"control": {"enabled": 1}}',
        "$.control.enabled",
        "must be true or false",
        "without quotes",
    ),
    "NaN": ('{"session": {"shutdown_timeout_s": NaN}}', "$.session.shutdown_timeout_s", "from 0.1 to 120", "digits"),
    "Infinity": ('{"session": {"shutdown_timeout_s": Infinity}}', "$.session.shutdown_timeout_s", "from 0.1", "digits"),
    "1e999": ('{"reconnect": {"stay_away_s": 1e999}}', "$.reconnect.stay_away_s", "must be a number", "digits"),
    "grid queue over its ceiling": (
        '{"queues": {"grid_events": 8193}}',
        "$.queues.grid_events",
        "must be a whole number from 1 to 8192 (found the number 8193)",
        "lower it to 8192 or less",
    ),
    "control queue over its ceiling": (
        '{"queues": {"controls": 257}}',
        "$.queues.controls",
        "from 1 to 256",
        "lower it",
    ),
    "observables over their ceiling": (
        '{"queues": {"observables": 9000}}',
        "$.queues.observables",
        "to 8192",
        "lower it",
    ),
    "offline work over its ceiling": (
        '{"reconnect": {"offline_work_capacity": 1025}}',
        "$.reconnect.offline_work_capacity",
        "from 0 to 1024",
        "lower it to 1024",
    ),
    "requests over their ceiling": (
        '{"llm": {"max_concurrent_requests": 257}}',
        "$.llm.max_concurrent_requests",
        "from 1 to 256 (found the number 257)",
        "lower it to 256",
    ),
    "model turns over their ceiling": (
        '{"llm": {"max_model_turns": 33}}',
        "$.llm.max_model_turns",
        "to 32",
        "lower it",
    ),
    "tool calls over their ceiling": ('{"llm": {"max_tool_calls": 257}}', "$.llm.max_tool_calls", "to 256", "lower it"),
    "an empty queue": ('{"queues": {"controls": 0}}', "$.queues.controls", "from 1 to 256", "raise it to 1"),
    "no avatar": ('{"avatars": {}}', "$.avatars", "must have at least 1 entry", "add one"),
    "avatar without a name": ('{"avatars": {"a": {}}}', "$.avatars.a.first_name", "is missing", "set it to text"),
    "bad avatar key": (
        '{"avatars": {"A b": {"first_name": "A"}}}',
        "$.avatars.<key of 3 characters>",
        "a short name",
        "",
    ),
    "place that is none": (
        '{"avatars": {"a": {"first_name": "A", "start": "x"}}}',
        "$.avatars.a.start",
        "'Region/x/y/z'",
        "",
    ),
    "alias twice": (
        '{"avatars": {"a": {"first_name": "A", "aliases": ["b", "b"]}}}',
        "$.avatars.a.aliases[1]",
        "already",
        "",
    ),
    "same account twice": (
        '{"avatars": {"a": {"first_name": "Ada"}, "b": {"first_name": "ADA"}}}',
        "$.avatars.b",
        "is the same account as $.avatars.a",
        "an account of its own",
    ),
    "FTP": (
        '{"llm": {"endpoint": "ftp://h/"}}',
        "$.llm.endpoint",
        "does not begin with http:// or https://",
        "https://host",
    ),
    "file URL": (
        '{"llm": {"endpoint": "file:///x"}}',
        "$.llm.endpoint",
        "does not begin with http://",
        "https://host/path",
    ),
    "URL fragment": ('{"llm": {"endpoint": "https://h/#x"}}', "$.llm.endpoint", "has a fragment", "https://host/path"),
    "URL user info": (
        '{"llm": {"endpoint": "https://u:p@h/"}}',
        "$.llm.endpoint",
        "holds user info",
        "a file of their own",
    ),
    "malformed UUID": (
        f'{{"roles": {{"owners": ["{ADA[:-1]}"]}}}}',
        "$.roles.owners[0]",
        "not an avatar UUID",
        "lower case",
    ),
    "name as UUID": (
        '{"roles": {"owners": ["Ada Resident"]}}',
        "$.roles.owners[0]",
        "not an avatar UUID",
        "never accepted",
    ),
    "non-canonical UUID": (
        f'{{"roles": {{"owners": ["{ADA.upper()}"]}}}}',
        "$.roles.owners[0]",
        "lower case",
        "lower case",
    ),
    "nil UUID": (
        '{"roles": {"owners": ["00000000-0000-0000-0000-000000000000"]}}',
        "$.roles.owners[0]",
        "the nil UUID is nobody",
        "lower case",
    ),
    "wildcard": ('{"roles": {"trusted": ["*"]}}', "$.roles.trusted[0]", "a wildcard would authorise everybody", "UUID"),
    "avatar twice": (
        f'{{"roles": {{"owners": ["{ADA}"], "trusted": ["{ADA}"]}}}}',
        "$.roles.trusted[0]",
        "already",
        "once",
    ),
    "roles as text": ('{"roles": {"owners": "*"}}', "$.roles.owners", "must be a list", '["one", "two"]'),
    "too many authorised avatars": (
        json.dumps({"roles": {"owners": [f"{number:08x}{ADA[8:]}" for number in range(1_025)]}}),
        "$.roles.owners",
        "must have at most 1024 entries (found a list of 1025 items)",
        "remove 1",
    ),
    "objects may act": (
        '{"policy": {"matrix": {"object_text": {"speak": "anyone"}}}}',
        "$.policy.matrix.object_text.speak",
        "object and script text may never cause anything",
        "remove this cell",
    ),
    "objects may act for one avatar": (
        '{"avatars": {"a": {"first_name": "A", "policy": {"matrix": {"object_text": {"money": "owner"}}}}}}',
        "$.avatars.a.policy.matrix.object_text.money",
        "object and script text may never cause anything",
        "remove this cell",
    ),
    "a wildcard role for one avatar": (
        '{"avatars": {"a": {"first_name": "A", "roles": {"owners": ["*"]}}}}',
        "$.avatars.a.roles.owners[0]",
        "a wildcard would authorise everybody",
        "UUID",
    ),
    "budget over its ceiling": (
        '{"policy": {"budgets": {"linden": [{"per": "global", "limit": 9999999999, "window_s": 60}]}}}',
        "$.policy.budgets.linden[0].limit",
        "over its hard ceiling (found 9999999999)",
        "use at most",
    ),
    "control endpoint for everybody": (
        '{"control": {"host": "0.0.0.0"}}',
        "$.control.host",
        "must be a loopback address",
        "correct it",
    ),
    "port beyond all ports": ('{"control": {"port": 65536}}', "$.control.port", "from 0 to 65535", "lower it to 65535"),
    "live without address": (
        '{"avatars": {"a": {"first_name": "A", "password_file": "p"}}, "grid": {"backend": "live"}}',
        "$.grid.live.login_url",
        "is missing for a live grid",
        "set it to the grid's login URL",
    ),
    "live without password": (
        f'{{"avatars": {{"a": {{"first_name": "A"}}}}, {LIVE}}}',
        "$.avatars.a.password_file",
        "is missing for a live grid",
        "name the file",
    ),
    "live settings in the simulated grid": (
        '{"grid": {"live": {"login_url": "https://grid/"}}}',
        "$.grid.live.login_url",
        "a login address is set, but grid.backend is simulated",
        "set grid.backend to live",
    ),
    "a grid by name in the simulated grid": (
        '{"grid": {"live": {"grid": "osgrid"}}}',
        "$.grid.live.grid",
        "a grid is named, but grid.backend is simulated",
        "set grid.backend to live",
    ),
    "a grid nobody knows": (
        '{"grid": {"live": {"grid": "second_life"}}}',
        "$.grid.live.grid",
        "must be one of: secondlife, secondlife_beta, osgrid, kitely, or null",
        "did you mean 'secondlife'?",
    ),
    "password in the simulated grid": (
        '{"avatars": {"a": {"first_name": "A", "password_file": "p"}}}',
        "$.avatars.a.password_file",
        "a password is given, but grid.backend is simulated",
        "set grid.backend to live",
    ),
    "endpoint for the offline model": (
        '{"llm": {"endpoint": "https://h/"}}',
        "$.llm.endpoint",
        "is set, but llm.provider is offline",
        "set llm.provider",
    ),
    "key for the offline model": (
        '{"llm": {"api_key_file": "k"}}',
        "$.llm.api_key_file",
        "llm.provider is offline",
        "remove",
    ),
    "model without endpoint": (
        '{"llm": {"provider": "anthropic"}}',
        "$.llm.endpoint",
        "is missing for llm.provider",
        "URL",
    ),
    "key over plain HTTP": (
        '{"llm": {"provider": "anthropic", "endpoint": "http://h/"}}',
        "$.llm.endpoint",
        "unencrypted to another machine",
        "https://",
    ),
    "logout longer than shutdown": (
        '{"session": {"logout_timeout_s": 20}}',
        "$.session.logout_timeout_s",
        "is longer (20 s) than session.shutdown_timeout_s (10 s)",
        "lower it to 10 or less",
    ),
    "back-off upside down": (
        '{"reconnect": {"backoff_base_s": 90}}',
        "$.reconnect.backoff_base_s",
        "is longer (90 s) than reconnect.backoff_cap_s (60 s)",
        "lower it",
    ),
    "line break in a text": (
        '{"llm": {"model": "a\\nb"}}',
        "$.llm.model",
        "a line break or another control",
        "one line",
    ),
    "not an object": ("[]", "$", "must be an object", "as one object"),
    "not JSON": ("{'a': 1}", "$", "is not JSON at line 1, column 2", "mend it there"),
    "trailing comma": ('{"log": {},}', "$", "is not JSON at line 1, column", "mend it there"),
    "nothing at all": ("", "$", "is not JSON at line 1, column 1", "mend it there"),
    "nested too deep": ("[" * 50_000, "$", "is nested deeper than 16 levels", "remove levels"),
    "too large": (" " * 65_537, "$", "is larger than 65536 bytes (found 65537 bytes)", "make it smaller"),
    "byte order mark": (b"\xef\xbb\xbf{}", "$", "begins with a byte order mark", "without one"),
    "not UTF-8": (b'{"\xff": 1}', "$", "is not UTF-8 at byte 2", "save it as UTF-8"),
}


@pytest.mark.parametrize(("text", "path", "what", "mend"), UNSAFE.values(), ids=UNSAFE)
def test_an_unsafe_configuration_is_refused_with_its_own_sentence(
    text: str | bytes, path: str, what: str, mend: str
) -> None:
    """One mistake, one problem: at its path, with the value's shape and how to mend it. Spec: CFG-1."""
    problems = _problems_of(text)
    assert len(problems) == 1, problems
    assert problems[0].startswith(f"{path}: ")
    assert what in problems[0]
    assert mend in problems[0]


def test_one_message_lists_every_problem() -> None:
    """The operator mends everything in one go. Spec: CFG-1."""
    environ = {"GRIDAGENT_CONTROL__ENABLED": "maybe", "GRIDAGENT_NONSENSE": "1"}
    data = json.dumps(
        {
            "quues": {},
            "avatars": {"a": {"first_name": "", "start": "nowhere"}, "b": {}},
            "grid": {"backend": "life"},
            "queues": {"grid_events": 9_000, "controls": "many"},
            "roles": {"owners": ["*", 5, "nobody"]},
            "policy": {"preset": "wizard", "matrix": {"object_text": {"money": "anyone"}}},
            "control": {"host": "example.org", "port": -1},
            "session": {"logout_timeout_s": 20},
        }
    ).encode()
    with pytest.raises(ConfigError) as caught:
        parse_config(data, environ)
    paths = [problem.path for problem in caught.value.problems]
    assert paths == [
        "$.quues",
        "$.nonsense",
        "$.avatars.a.first_name",
        "$.avatars.a.start",
        "$.avatars.b.first_name",
        "$.grid.backend",
        "$.queues.grid_events",
        "$.queues.controls",
        "$.policy.preset",
        "$.roles.owners[1]",
        "$.control.enabled",
        "$.control.host",
        "$.control.port",
        "$.session.logout_timeout_s",
        "$.policy.matrix.object_text.money",
        "$.roles.owners[0]",
        "$.roles.owners[2]",
    ]
    assert str(caught.value).startswith("configuration has 17 problems:\n  $.quues: ")
    assert len(str(caught.value).splitlines()) == 18


def test_what_follows_from_a_known_mistake_is_not_told_again() -> None:
    """A misspelt backend does not also make the password a conflict."""
    text = '{"grid": {"backend": "life"}, "avatars": {"a": {"first_name": "A", "password_file": "p"}}}'
    assert [problem.split(":")[0] for problem in _problems_of(text)] == ["$.grid.backend"]


# --- what is loaded -----------------------------------------------------------------------------------


def test_nothing_at_all_gives_the_defaults() -> None:
    """No file and no variable is a complete configuration. Spec: CFG-1."""
    assert load_config(None, {}) == Config()


def test_sources_win_in_order(config_file: Path) -> None:
    """Defaults, file, environment, options: the later wins. Spec: CFG-1."""
    config_file.write_text('{"log": {"level": "warning", "format": "console"}, "queues": {"controls": 7}}')
    assert load_config(config_file, {}).log.level is LogLevel.WARNING
    environ = {"GRIDAGENT_LOG__LEVEL": "error", "GRIDAGENT_QUEUES__OBSERVABLES": "9"}
    config = load_config(config_file, environ)
    assert (config.log.level, config.log.format.value, config.queues.controls, config.queues.observables) == (
        LogLevel.ERROR,
        "console",
        7,
        9,
    )
    assert load_config(config_file, environ, {"log.level": "debug"}).log.level is LogLevel.DEBUG


def test_reconnecting_is_allowed_in_the_simulated_grid() -> None:
    """The rule for failures is the operator's choice; auto follows the grid. Spec: SUP-1."""
    assert parse_config(b'{"session": {"on_backend_failure": "reconnect"}}').failure_rule is FailureRule.RECONNECT
    assert Config().failure_rule is FailureRule.FAIL


def test_relative_paths_start_from_the_file_or_the_working_directory(config_file: Path, tmp_path: Path) -> None:
    """In the file: its own directory. In a variable: where the command was given. Spec: CFG-4."""
    config_file.write_text('{"paths": {"state_dir": "state", "log_file": "~/log"}}')
    environ = {"HOME": "/users/me", "GRIDAGENT_PATHS__RUNTIME_DIR": "run"}
    paths = load_config(config_file, environ, cwd=Path("/start")).paths
    assert paths.state_dir == str(tmp_path / "state")
    assert paths.runtime_dir == "/start/run"
    assert paths.log_file == "/users/me/log"
    config = load_config(Path("config.json"), environ, cwd=tmp_path)
    assert config.paths.state_dir == str(tmp_path / "state")


def _live(directory: Path, **avatar: str) -> bytes:
    return json.dumps(
        {
            "avatars": {"ada": {**AVATAR, "password_file": "password", **avatar}},
            "grid": {"backend": "live", "live": {"login_url": "https://grid/login"}},
            "llm": {"provider": "anthropic", "endpoint": "https://api/?tag=1", "api_key_file": str(directory / "key")},
        }
    ).encode()


def test_secrets_are_loaded_by_their_path(config_file: Path, tmp_path: Path) -> None:
    """Each secret is found under the key that names its file; endpoints join the registry. Spec: CFG-2, CFG-3."""
    config_file.write_bytes(_live(tmp_path))
    for name, text in (("password", "correct horse\n"), ("key", "sk-0123456789\r\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    loaded = load_config_and_secrets(config_file, {})
    assert isinstance(loaded, LoadedConfig)
    assert loaded.config.failure_rule is FailureRule.RECONNECT
    assert loaded.secrets["avatars.ada.password_file"].matches(b"correct horse")
    assert loaded.secrets["llm.api_key_file"].matches(b"sk-0123456789")
    assert {"correct horse", "sk-0123456789", "tag=1"} <= loaded.secrets.forms()
    assert "correct horse" not in repr(loaded)


def test_avatars_with_similar_names_keep_their_own_secrets(config_file: Path, tmp_path: Path) -> None:
    """Keys that look like tokens are still told apart once they are known to be right. Spec: CFG-3."""
    keys = ("bot-20260101", "bot-20260202")
    avatars = {key: {"first_name": key, "password_file": key} for key in keys}
    config_file.write_text(json.dumps({**json.loads(_live(tmp_path)), "avatars": avatars, "llm": {}}))
    for key in keys:
        (tmp_path / key).touch(0o600)
        (tmp_path / key).write_text(f"secret of {key}")
    secrets = load_config_and_secrets(config_file, {}).secrets
    assert [secrets[f"avatars.{key}.password_file"].reveal() for key in keys] == [f"secret of {key}" for key in keys]


def test_problems_of_secret_files_join_the_others(config_file: Path, tmp_path: Path) -> None:
    """One message, also for what only the disk knows. Spec: CFG-1, CFG-2."""
    config_file.write_bytes(_live(tmp_path, start="nowhere"))
    (tmp_path / "password").write_text("one\ntwo\n")
    (tmp_path / "password").chmod(0o600)
    (tmp_path / "key").write_text("sk-0123456789")
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        load_config_and_secrets(config_file, {})
    assert [problem.path for problem in caught.value.problems] == [
        "$.avatars.ada.start",
        "$.avatars.ada.password_file",
        "$.llm.api_key_file",
    ]
    assert "has more than one line" in str(caught.value)
    assert "run chmod 600" in str(caught.value)
    assert caught.value.source == str(config_file)


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b"one\ntwo", "more than one line"),
        (b"one\n\n", "more than one line"),
        (b"one\rtwo", "more than one line"),
        ("one\u2028two".encode(), "more than one line"),
        (b"nul\0byte", "control character"),
        (b"\xff\xfe\xfd\xfc", "is not UTF-8"),
        (b"\xef\xbb\xbfsecret", "byte order mark"),
        (b"", "fewer than 4"),
        (b"\n", "fewer than 4"),
        (b"abc\n", "fewer than 4"),
    ],
)
def test_a_secret_is_one_clean_line(data: bytes, phrase: str) -> None:
    """Multi-line, empty, binary and marked files are refused without content. Spec: CFG-1, CFG-3."""
    refused = secret_from(data)
    assert isinstance(refused, tuple)
    assert phrase in refused[0]


@pytest.mark.parametrize("data", [b"pass word", b"pass word\n", b"pass word\r\n"])
def test_a_line_end_is_no_part_of_a_secret(data: bytes) -> None:
    """Editors add one; spaces belong to the secret."""
    secret = secret_from(data)
    assert isinstance(secret, SecretStr)
    assert secret.reveal() == "pass word"


# --- the file itself ------------------------------------------------------------------------------------


def test_a_file_that_is_not_safe_is_refused(config_file: Path, tmp_path: Path) -> None:
    """Links, pipes and strangers' files stop the start with one line. Spec: CFG-2. Fault: 40."""
    (tmp_path / "link.json").symlink_to(config_file)
    os.mkfifo(tmp_path / "pipe.json")
    for name, phrase in (("link.json", "symbolic link"), ("pipe.json", "named pipe"), ("none.json", "does not exist")):
        with pytest.raises(ConfigError, match=phrase) as caught:
            load_config(tmp_path / name, {})
        assert [problem.path for problem in caught.value.problems] == ["$"]


def test_a_home_that_is_not_known_is_told() -> None:
    """The tilde needs a home directory in the environment that was given."""
    with pytest.raises(ConfigError, match="no home directory is known"):
        load_config(Path("~/config.json"), {})


def test_a_broken_file_does_not_hide_a_broken_variable(config_file: Path) -> None:
    """Both are told, and no rule is judged on what was never read. Spec: CFG-1."""
    config_file.write_text("{")
    environ = {"GRIDAGENT_LOG__LEVEL": "loud", "GRIDAGENT_GRID__LIVE__LOGIN_URL": "https://g/"}
    with pytest.raises(ConfigError) as caught:
        load_config(config_file, environ)
    assert [problem.path for problem in caught.value.problems] == ["$", "$.log.level"]


def test_a_public_file_may_hold_no_key_in_a_query(config_file: Path) -> None:
    """A query may be a credential; then the file is a secret file. Spec: CFG-2. Fault: 40."""
    config_file.write_text('{"llm": {"provider": "anthropic", "endpoint": "https://api/v1?key=canary"}}')
    load_config(config_file, {})
    config_file.chmod(0o644)
    with pytest.raises(ConfigError, match="run chmod 600") as caught:
        load_config(config_file, {})
    assert "found https://api/v1?***" in str(caught.value)
    assert "canary" not in str(caught.value)
    environ = {"GRIDAGENT_LLM__ENDPOINT": "https://api/v1?key=canary"}
    assert load_config(config_file, environ).llm.endpoint is not None


# --- any bytes ------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["avatars", "grid", "log", "level", "live", "roles", "owners", "a", "", "*", "first_name", "é"])
TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["*", "live", "info"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def _outcome(data: bytes, environ: dict[str, str] | None = None) -> Config | ConfigError:
    try:
        return parse_config(data, environ or {})
    except ConfigError as error:
        return error


@given(st.binary(max_size=300) | TREES.map(lambda tree: json.dumps(tree).encode("utf-8", "surrogatepass")))
@example(b"[" * 100_000)
@example(b'{"a":' * 13_000)
@example(b'{"avatars": {"a": {"first_name": "\\ud800"}}}')
@example(b'{"log": {"level": ' + b"9" * 60_000 + b"}}")
@example(b'{"' + b'\\"' * 32_000)
def test_any_bytes_give_a_configuration_or_one_error(data: bytes) -> None:
    """No input gives any other exception. Spec: CFG-1."""
    assert isinstance(_outcome(data), Config | ConfigError)


@given(
    st.dictionaries(
        st.text(alphabet="ABLOGEVRIDSN_-.*é", max_size=30).map(lambda name: f"GRIDAGENT_{name}")
        | st.sampled_from(
            ["GRIDAGENT_LOG", "GRIDAGENT_LOG__LEVEL", "GRIDAGENT_AVATARS", "GRIDAGENT_GRID__LIVE__LOGIN_URL"]
        ),
        st.text(max_size=20) | st.sampled_from(["{}", "[]", "null", "info", "{" * 40_000, "https://u:p@h/"]),
        max_size=4,
    )
)
def test_any_environment_gives_a_configuration_or_one_error(environ: dict[str, str]) -> None:
    """Neither names nor values of variables give any other exception. Spec: CFG-1."""
    assert isinstance(_outcome(b"{}", environ), Config | ConfigError)
