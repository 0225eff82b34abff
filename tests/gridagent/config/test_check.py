"""Validating without running."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gridagent.config import Config, check_config
from gridagent.errors import ConfigError

ADA = "01234567-89ab-4cde-8f01-23456789abcd"


def test_the_defaults_are_noted() -> None:
    """An operator reads what would happen, offline. Spec: CFG-5."""
    config, notes = check_config(None, {})
    assert config == Config()
    assert notes == (
        "The avatars live in the simulated grid; no grid is contacted.",
        "The built-in offline model thinks for them; nothing is sent anywhere.",
        "robin has no owner: only the operator can give orders (set roles.owners).",
    )


def test_everything_worth_a_second_look_is_noted(tmp_path: Path) -> None:
    """Plain HTTP, dry runs and a missing control endpoint are allowed, and told; queries are not shown. Spec: CFG-5."""
    for name in ("password", "key"):
        (tmp_path / name).write_text("canary-secret\n")
        (tmp_path / name).chmod(0o600)
    file = tmp_path / "config.json"
    file.touch(0o600)
    file.write_text(
        json.dumps(
            {
                "avatars": {
                    "ada": {"first_name": "Ada", "password_file": "password", "dry_run": True},
                    "bob": {"first_name": "Bob", "password_file": "password", "policy": {"dry_run": True}},
                    "eve": {"first_name": "Eve", "password_file": "password"},
                },
                "grid": {
                    "backend": "live",
                    "live": {"login_url": "http://grid/in?x=canary-secret", "allow_plain_http": True},
                },
                "llm": {
                    "provider": "chat_completions",
                    "endpoint": "http://model/v1?x=canary-secret",
                    "allow_plain_http": True,
                    "model": "small",
                    "api_key_file": "key",
                },
                "roles": {"owners": [ADA]},
                "control": {"enabled": False},
            }
        )
    )
    _, notes = check_config(file, {})
    assert notes == (
        "The avatars log in at http://grid/in?***.",
        "The login may go over unencrypted HTTP: whoever can read it can log in as the avatar.",
        "Conversations are sent to http://model/v1?*** (small), with a key.",
        "Conversations may go over unencrypted HTTP: whoever is in between can read and change them.",
        "ada runs dry: it decides and records, and changes nothing in the world.",
        "bob runs dry: it decides and records, and changes nothing in the world.",
        "The control endpoint is off: commands and the kill switch cannot reach the service.",
    )


def test_encrypted_connections_need_no_warning(tmp_path: Path) -> None:
    """The notes say where conversations go, and no more."""
    environ = {
        "GRIDAGENT_LLM__PROVIDER": "anthropic",
        "GRIDAGENT_LLM__ENDPOINT": "https://api/v1",
        "GRIDAGENT_GRID__BACKEND": "live",
        "GRIDAGENT_GRID__LIVE__LOGIN_URL": "https://grid/",
        "GRIDAGENT_AVATARS__ROBIN__PASSWORD_FILE": "password",
    }
    (tmp_path / "password").touch(0o600)
    (tmp_path / "password").write_text("secret word")
    _, notes = check_config(None, environ, cwd=tmp_path)
    assert notes[:2] == (
        "The avatars log in at https://grid/.",
        "Conversations are sent to https://api/v1 (built-in), without a key.",
    )


def test_where_traces_go_is_noted(tmp_path: Path) -> None:
    """And whether words go with them; a query stays where it is. Spec: CFG-5, OPS-2."""
    options = {"tracing.enabled": "true", "tracing.endpoint": "https://otlp/v1/traces?key=canary-key"}
    assert "Traces go to https://otlp/v1/traces?***." in check_config(None, {}, options, cwd=tmp_path)[1]
    options = {"tracing.enabled": "true", "tracing.file": "spans", "tracing.content": "true"}
    (note,) = [each for each in check_config(None, {}, options, cwd=tmp_path)[1] if "Traces" in each]
    assert note == f"Traces go to {tmp_path / 'spans'}, with the beginning of what avatars say."


def test_secret_files_are_checked_too(tmp_path: Path) -> None:
    """What would stop the start is found without starting. Spec: CFG-5, CFG-2."""
    options = {"llm.provider": "anthropic", "llm.endpoint": "https://api/v1", "llm.api_key_file": "none"}
    with pytest.raises(ConfigError, match="does not exist") as caught:
        check_config(None, {}, options, cwd=tmp_path)
    assert [problem.path for problem in caught.value.problems] == ["$.llm.api_key_file"]
