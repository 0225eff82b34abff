"""The page of requirements and the tests that name them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from docs.generator.markdown import page, table
from docs.generator.sources import ROOT
from docs.generator.spec import FAMILIES, FAULTS, REQUIREMENTS

__all__ = ("named_in", "requirements")

INTRO = """Each requirement with the tests whose docstrings name it (`Spec: POL-4`), and each fault of the catalogue of
bad inputs with its own (`Fault: 27`). A row without tests is not yet shown."""

_ID = re.compile(rf"\b(?:{'|'.join(FAMILIES)})-\d+\b")
_FAULTS = re.compile(r"\bFaults?: (\d+(?:(?:, | and )\d+)*)")


def named_in(docstring: str) -> Iterator[str]:
    """Yield the ids and fault numbers (as ``Fault 27``) that a docstring names."""
    yield from _ID.findall(docstring)
    for numbers in _FAULTS.findall(docstring):
        yield from (f"Fault {number}" for number in re.findall(r"\d+", numbers))


def _proofs() -> dict[str, dict[str, list[str]]]:
    proofs: dict[str, dict[str, list[str]]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                for name in dict.fromkeys(named_in(ast.get_docstring(node) or "")):
                    proofs.setdefault(name, {}).setdefault(file, []).append(node.name)
    return proofs


def _tests(files: dict[str, list[str]]) -> str:
    return "; ".join(
        f"[{file.removeprefix('tests/')}](../../{file}): {', '.join(f'`{name}`' for name in sorted(names))}"
        for file, names in files.items()
    )


def requirements() -> str:
    """Write the page."""
    proofs = _proofs()
    missing = [name for name in REQUIREMENTS if name not in proofs]
    parts = [
        f"{len(REQUIREMENTS) - len(missing)} of {len(REQUIREMENTS)} requirements and "
        f"{sum(f'Fault {number}' in proofs for number in FAULTS)} of {len(FAULTS)} faults are named by tests."
        + (f"\n\nNot yet: {', '.join(missing)}." if missing else "")
    ]
    for family, title in FAMILIES.items():
        rows = [
            [name, what, _tests(proofs.get(name, {}))]
            for name, what in REQUIREMENTS.items()
            if name.startswith(f"{family}-")
        ]
        parts.append(f"## {title}\n\n{table(['id', 'requirement', 'tests'], rows)}")
    rows = [[str(number), what, _tests(proofs.get(f"Fault {number}", {}))] for number, what in FAULTS.items()]
    parts.append(f"## Faults\n\n{table(['number', 'fault', 'tests'], rows)}")
    return page("Requirements and their tests", INTRO, parts)
