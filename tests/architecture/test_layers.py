"""The import contracts name every room there is, and really bite."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT

PURE = ("conversation", "goals", "memory", "mind", "policy", "presence", "thinking", "tools", "turn")
WORDS = (
    "actions",
    "authority",
    "controls",
    "errors",
    "events",
    "ids",
    "language",
    "limits",
    "observations",
    "state_table",
)
MECHANISM = ("observability", "runtime")
SHELLS = ("backend", "check", "io", "simulator")
MEETS_GRIDAGENT = ("backend", "check", "simulator")
IO_LIBRARIES = {"asyncio", "socket", "threading", "time", "trio"}

CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}


def rooms(package: Path) -> set[str]:
    """Name the rooms of a package: its modules and the folders that hold any."""
    names = {path.stem for path in package.glob("*.py")}
    names |= {path.parent.name for path in package.glob("*/__init__.py")}
    return names - {"__init__"}


GRIDAGENT, LIVE_GRID = rooms(ROOT / "gridagent"), rooms(ROOT / "live_grid")


def _contract(start: str) -> dict:
    (found,) = [contract for name, contract in CONTRACTS.items() if name.startswith(start)]
    return found


def test_every_pure_room_is_kept_from_trio_and_runtime() -> None:
    """Each pure room that exists, and the vocabulary, stand in the contract. Spec: SIM-2."""
    contract = _contract("pure rooms")
    assert set(contract["source_modules"]) == {f"gridagent.{room}" for room in (*PURE, *WORDS) if room in GRIDAGENT}
    forbidden = set(contract["forbidden_modules"])
    assert forbidden >= IO_LIBRARIES | {f"gridagent.{room}" for room in MECHANISM if room in GRIDAGENT}


def test_every_protocol_core_is_kept_from_io_and_from_gridagent() -> None:
    """Each core of the protocol package stands in both contracts; only the shells do IO. Spec: LIV-2, LIV-14."""
    cores = _contract("protocol cores")
    assert set(cores["source_modules"]) == {f"live_grid.{room}" for room in LIVE_GRID - set(SHELLS)}
    assert set(cores["forbidden_modules"]) >= IO_LIBRARIES | {"random", "httpx"}
    alone = _contract("only live_grid.backend")
    assert set(alone["source_modules"]) == {f"live_grid.{room}" for room in LIVE_GRID - set(MEETS_GRIDAGENT)}


def test_mechanism_is_kept_from_every_domain_room() -> None:
    """Runtime and observability know errors, limits, ids and tables, and nothing else of ours."""
    above = {"__main__", "cli", "fronts", "simulation", "service", "session", "grid", "llm", "storage"}
    domain = GRIDAGENT - {*MECHANISM, *above, "errors", "ids", "limits", "state_table"}  # layers keep the rest away
    runtime, observability = _contract("runtime knows"), _contract("observability knows")
    assert set(runtime["forbidden_modules"]) == {f"gridagent.{room}" for room in domain}
    assert set(observability["forbidden_modules"]) == {f"gridagent.{room}" for room in domain - {"config"}}


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("gridagent/errors.py", "import gridagent.actions", "gridagent: every room"),
        ("gridagent/policy/authorized.py", "import trio", "pure rooms"),
        ("gridagent/actions.py", "import live_grid.errors", "gridagent never imports"),
        ("live_grid/limits.py", "import gridagent.errors", "only live_grid.backend"),
        ("live_grid/errors.py", "import socket", "protocol cores"),
        ("gridagent/newroom.py", '"""Nobody put me into a layer."""', "gridagent: every room"),
    ],
)
def test_the_contracts_bite(file: str, line: str, broken: str, tmp_path: Path) -> None:
    """One bad import, or one room without a layer, breaks the contract that is there for it."""
    for package in ("gridagent", "live_grid"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    target = tmp_path / file
    before = target.read_text(encoding="utf-8") if target.exists() else ""
    target.write_text(f"{before}\n{line}\n", encoding="utf-8")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    run = subprocess.run([*command, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.returncode == 1
    assert [each for each in run.stdout.splitlines() if each.startswith(broken) and " BROKEN" in each], run.stdout
