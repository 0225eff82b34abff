"""Direct dependencies are a named list with reasons, locked by hash, and nothing else is imported."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.architecture.source_tree import PACKAGES, ROOT, Module, modules_of_packages, report, sample, uses

PAGE = ROOT / "docs" / "explanation" / "dependencies.md"
ROW = re.compile(r"^\| `([a-z0-9_-]+)` \| ([^|]*\S) \| ([^|]*\S) \|$", re.MULTILINE)
PIN = re.compile(r"^([a-z0-9._-]+)==(\S+)(?: ; .+)? \\$")
LIVE_EXTRA = "live"
IMPORT_NAMES = {"opentelemetry-api": "opentelemetry", "opentelemetry-sdk": "opentelemetry"}


def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _declared() -> dict[str, set[str]]:
    """Map each direct dependency to where it is declared: ``run``, or the names of extras."""
    project = _project()
    places: dict[str, set[str]] = {}
    for line in project["dependencies"]:
        places.setdefault(Requirement(line).name, set()).add("run")
    for extra, lines in project["optional-dependencies"].items():
        for line in lines:
            name = Requirement(line).name
            if name != project["name"]:
                places.setdefault(name, set()).add(extra)
    return places


def _explained(page: str) -> dict[str, set[str]]:
    return {name: set(where.replace("`", "").split(", ")) for name, where, _ in ROW.findall(page)}


def lock_faults(text: str) -> list[str]:
    """Find lines of a lock that are no exact pin, no hash and no comment, and pins without a hash."""
    found, pinned = [], ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    --hash=sha256:"):
            pinned = ""
        elif match := PIN.match(line):
            if pinned:
                found.append(f"{number}: {pinned} has no hash")
            pinned = match[1]
        elif not line.startswith("    # ") and line.strip():
            found.append(f"{number}: {line}")
        if "://" in line or re.search(r"#.*(?:^|[\s=])/", line):
            found.append(f"{number}: names a place: {line.strip()}")
    return found + ([f"end: {pinned} has no hash"] if pinned else [])


def undeclared_imports(module: Module, allowed: frozenset[str]) -> list[str]:
    """Find imports of what is neither ours, nor the standard library's, nor declared."""
    roots = {name.partition(".")[0]: node for node, name in uses(module) if type(node).__name__.startswith("Import")}
    known = allowed | frozenset(sys.stdlib_module_names) | frozenset(PACKAGES)
    return [
        module.finding(node, f"{root} is not declared for this package")
        for root, node in roots.items()
        if root not in known
    ]


def _import_names(*places: str) -> frozenset[str]:
    declared = _declared()
    wanted = {name for name, where in declared.items() if where & set(places)}
    return frozenset(IMPORT_NAMES.get(name, name.replace("-", "_")) for name in wanted)


def test_every_direct_dependency_has_a_reason() -> None:
    """The page and pyproject list the same dependencies at the same places, each with a reason. Spec: OPS-5."""
    assert _explained(PAGE.read_text(encoding="utf-8")) == _declared()


def test_packages_import_only_what_is_declared() -> None:
    """The core imports run-time dependencies only; the live extra is the protocol package's. Spec: OPS-5, LIV-14."""
    extras = tuple(extra for extra in _project()["optional-dependencies"] if extra not in {"dev", LIVE_EXTRA})
    core, live = _import_names("run", *extras), _import_names("run", LIVE_EXTRA)
    findings = []
    for module in modules_of_packages():
        findings += undeclared_imports(module, live if module.path.startswith("live_grid/") else core)
    assert not report(findings)


@pytest.mark.parametrize("lock", ["run", "live", "build", "dev"])
def test_locks_are_exact_and_name_no_place(lock: str) -> None:
    """Each lock pins every release by hash and says nothing about where it comes from."""
    assert not report(lock_faults((ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")))


def _pins(path: Path) -> dict[str, str]:
    return {match[1]: match[2] for line in path.read_text(encoding="utf-8").splitlines() if (match := PIN.match(line))}


def test_locks_hold_what_pyproject_asks_for() -> None:
    """Each declared dependency is locked at a release that satisfies it, the same one in every lock."""
    run, live, build, dev = (_pins(ROOT / "requirements" / f"{name}.txt") for name in ("run", "live", "build", "dev"))
    project = _project()
    for wanted, lock in (
        (project["dependencies"], run),
        (project["dependencies"], dev),
        (project["optional-dependencies"]["live"], dev),
        (project["optional-dependencies"]["live"], live),
        (project["optional-dependencies"]["dev"][1:], dev),
    ):
        for requirement in map(Requirement, wanted):
            assert requirement.specifier.contains(lock[requirement.name]), requirement.name
    assert (run | live | build).items() <= dev.items()
    assert run.items() <= live.items()


def test_the_offline_install_has_no_transport_and_no_server() -> None:
    """The run-time lock holds nothing of the live, front, MCP or fleet extras. Spec: LIV-14."""
    run = set(_pins(ROOT / "requirements" / "run.txt"))
    assert not run & {"llsd", "defusedxml", "starlette", "hypercorn", "mcp", "psycopg", "opentelemetry-api"}


def test_the_rules_see_bad_locks_and_undeclared_imports() -> None:
    """A range, a missing hash, an address, an option and an undeclared import are found."""
    good = "a==1 \\\n    --hash=sha256:00\n    # via b\n"
    assert lock_faults(good) == []
    assert lock_faults("a>=1\n")
    assert lock_faults("a==1 \\\nb==1 \\\n    --hash=sha256:00\n")
    assert lock_faults("a==1 \\\n")
    assert lock_faults("--extra-index-url https://example.org\n" + good)
    assert lock_faults(good + "    # via -c /somewhere/run.txt\n")
    assert undeclared_imports(sample("import requests"), frozenset({"trio"}))
    assert undeclared_imports(sample("import trio, json, gridagent.ids"), frozenset({"trio"})) == []
