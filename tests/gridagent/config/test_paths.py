"""Default places for files."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridagent.config import resolve_paths
from gridagent.config.model import PathsConfig


def test_paths_come_from_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing configured: the usual places of this user, and nothing is made. Spec: CFG-4."""
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("HOME", str(tmp_path))
    paths = resolve_paths(PathsConfig())
    assert all(path.is_absolute() and "gridagent" in str(path) for path in (paths.state_dir, paths.runtime_dir))
    assert paths.log_file.name == "gridagent.log"
    assert list(tmp_path.iterdir()) == []


def test_every_path_can_be_overridden() -> None:
    """What is configured is taken. Spec: CFG-4."""
    paths = resolve_paths(PathsConfig(state_dir="/s", runtime_dir="/r", log_file="/l/log"))
    assert (paths.state_dir, paths.runtime_dir, paths.log_file) == (Path("/s"), Path("/r"), Path("/l/log"))
