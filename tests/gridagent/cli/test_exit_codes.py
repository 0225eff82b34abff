"""The exit codes."""

from __future__ import annotations

import re
from pathlib import Path

from gridagent.cli.exit_codes import ExitCode

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "command-line.md"


def test_codes_are_distinct_and_keep_their_numbers() -> None:
    """Scripts rely on them. Spec: OPS-1, SUP-7."""
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "INTERNAL": 1,
        "USAGE": 2,
        "CONFIGURATION": 3,
        "NOT_RUNNING": 4,
        "REFUSED": 5,
        "AVATAR_FAILED": 6,
        "AUTHENTICATION_BLOCKED": 7,
        "ALREADY_RUNNING": 8,
        "STORAGE": 9,
        "PROBLEM_FOUND": 10,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


def test_every_code_is_documented() -> None:
    """The reference lists each code, and no other. Spec: OPS-1."""
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {(int(number), name) for number, name in rows} == {(code.value, code.name.lower()) for code in ExitCode}
