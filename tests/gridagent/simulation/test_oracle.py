"""Claims about the judge: what it keeps of a breach, and that it shares no code with what it judges."""

from __future__ import annotations

import ast
from pathlib import Path

from gridagent import simulation
from gridagent.simulation.oracle import VIOLATIONS_MAX

REFERENCE = "e" * 16


def test_a_violation_names_seed_time_and_what_came_before(a_court) -> None:
    """Enough to find it again. Spec: SIM-3."""
    court = a_court()
    court.now = 12.5
    court.connect()
    court.perform()
    found = court.oracle.violations[0]
    assert (found.seed, found.at_s, found.avatar, found.rule) == (7, 12.5, "robin", "only what was authorised is done")
    assert found.trace == ("12.500 robin generation 1", f"12.500 robin performed say {REFERENCE[:8]}")


def test_violations_are_bounded(a_court) -> None:
    """A run that breaks everything keeps the first few."""
    court = a_court()
    for _ in range(VIOLATIONS_MAX + 5):
        court.account.breach("x", "y")
    assert len(court.oracle.violations) == VIOLATIONS_MAX


def test_the_oracle_shares_no_code_with_what_it_judges() -> None:
    """It imports the vocabulary, JSON and its own rooms, and nothing of policy, session or runtime. Spec: SIM-3."""
    folder = Path(simulation.__file__).parent
    allowed = {"gridagent.actions", "gridagent.events"}
    rooms = ("oracle", "account", "evidence", "examination", "history", "questions", "rulebook", "views")
    own = {f"gridagent.simulation.{room}" for room in rooms}
    for module in (*rooms, "counters"):
        tree = ast.parse((folder / f"{module}.py").read_text(encoding="utf-8"))
        names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert {name for name in names if name.startswith("gridagent")} <= allowed | own, module
