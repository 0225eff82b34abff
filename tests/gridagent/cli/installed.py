"""The entry points of this checkout, as an installation would offer them."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def write_entry_points(room: Path, **groups: dict[str, str]) -> Path:
    """Write the metadata of an installed distribution; return the directory that belongs on the import path.

    Args:
        room: where to.
        groups: what else it offers, or instead of what the project's own table says.
    """
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    metadata = room / "site" / "gridagent-0.0.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: gridagent\nVersion: 0.0.0\n", encoding="utf-8")
    lines: list[str] = []
    for group, names in {**table, **{name.replace("_", "."): each for name, each in groups.items()}}.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in names.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return metadata.parent


def process_environment(room: Path) -> dict[str, str]:
    """Return the environment of a process that finds this checkout and its entry points."""
    path = os.pathsep.join((str(write_entry_points(room)), str(ROOT)))
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(room), "PYTHONPATH": path, "TERM": "dumb"}
