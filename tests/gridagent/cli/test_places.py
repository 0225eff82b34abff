"""Where files are kept."""

from __future__ import annotations

import warnings

from gridagent.cli.places import find_places
from gridagent.config.model import PathsConfig


def test_a_machine_without_a_runtime_directory_gets_one_without_a_warning(monkeypatch) -> None:
    """A container has no XDG_RUNTIME_DIR, and its operator no use for a library's remark. Spec: CFG-4, OPS-1."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        places = find_places(PathsConfig())
    assert places.runtime_dir.name == "gridagent"
    assert not said


def test_every_path_can_be_set() -> None:
    """What the configuration says is taken as it is. Spec: CFG-4."""
    places = find_places(PathsConfig(state_dir="/a", runtime_dir="/b", log_file="/c/log"))
    assert [str(each) for each in (places.state_dir, places.runtime_dir, places.log_file)] == ["/a", "/b", "/c/log"]
