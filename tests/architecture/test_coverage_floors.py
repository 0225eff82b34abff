"""The coverage floors are held module by module, and a shortfall is named."""

from __future__ import annotations

import json

from tests.architecture.coverage_floors import WHOLE, main, shortfalls
from tests.architecture.source_tree import ROOT


def _report(total: float = 96.0, **files: tuple[list[int], list[list[int]]]) -> dict:
    return {
        "totals": {"percent_covered": total},
        "files": {
            path.replace("__", "/") + ".py": {
                "summary": {
                    "percent_covered": 99.0 if lines or branches else 100.0,
                    "missing_lines": len(lines),
                    "missing_branches": len(branches),
                },
                "missing_lines": lines,
                "missing_branches": branches,
            }
            for path, (lines, branches) in files.items()
        },
    }


def test_pure_rooms_are_covered_whole() -> None:
    """A line or branch that no test took in a pure room is named; elsewhere only the total counts."""
    found = shortfalls(
        _report(gridagent__policy__gateway=([], [[3, 5]]), gridagent__ids=([7], []), gridagent__cli__view=([1], []))
    )
    assert found == [
        "gridagent/ids.py: 99.0 %, wanted 100 %; lines 7; branches -",
        "gridagent/policy/gateway.py: 99.0 %, wanted 100 %; lines -; branches 3->5",
    ]


def test_the_total_has_a_floor_and_nothing_is_a_shortfall() -> None:
    """Too little in all, or no measurement at all, fails."""
    assert shortfalls(_report(94.99, gridagent__ids=([], []))) == ["all modules together: 94.99 %, wanted 95 %"]
    assert shortfalls(_report()) == ["nothing was measured"]
    assert shortfalls(_report(gridagent__ids=([], []))) == []


def test_the_command_fails_on_a_shortfall(tmp_path, capsys) -> None:
    """The exit code is what make sees."""
    file = tmp_path / "coverage.json"
    file.write_text(json.dumps(_report(gridagent__ids=([7], []))), encoding="utf-8")
    assert main([str(file)]) == 1
    assert "gridagent/ids.py" in capsys.readouterr().err
    file.write_text(json.dumps(_report(gridagent__ids=([], []))), encoding="utf-8")
    assert main([str(file)]) == 0


def test_the_floors_name_modules_by_prefix() -> None:
    """Every single module that is listed exists; a room may come later."""
    assert [path for path in WHOLE if path.endswith(".py") and not (ROOT / path).is_file()] == []
