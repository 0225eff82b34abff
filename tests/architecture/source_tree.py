"""The tree as the house rules see it: every module of the packages and tests, parsed once.

Owns reading and name resolution; knows no rule. A rule is a function from a `Module` to findings, so that
each is also shown to bite: on a bad source given as text, beside the test that walks the tree.
"""

from __future__ import annotations

import ast
import builtins
import functools
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCAL = "(local)"
PACKAGES = ("gridagent", "live_grid")


@dataclass(frozen=True, kw_only=True)
class Module:
    """One source file."""

    path: str
    """Relative to the repository, with ``/``."""
    text: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.text, self.path)

    @functools.cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree; walking is what costs."""
        return tuple(ast.walk(self.tree))

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """Each name that an import binds, with the dotted thing it stands for."""
        return imported_names(self.nodes)

    @property
    def name(self) -> str:
        """The dotted name it is imported by."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def finding(self, node: ast.AST, what: str) -> str:
        """Put a place before what was found there."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {what}"


def sample(text: str, path: str = "gridagent/sample.py") -> Module:
    """A bad source that is in no file."""
    return Module(path=path, text=text)


def _read(folder: str) -> Iterator[Module]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield Module(path=path.relative_to(ROOT).as_posix(), text=path.read_text(encoding="utf-8"))


@functools.cache
def modules_of_packages() -> tuple[Module, ...]:
    """Every module of the packages."""
    return tuple(module for package in PACKAGES for module in _read(package))


@functools.cache
def modules_of_tests() -> tuple[Module, ...]:
    """Every test module, conftest and fixtures included."""
    return tuple(_read("tests"))


@functools.cache
def tracked_files() -> tuple[Path, ...]:
    """Every file under version control, or every file at all where there is no version control."""
    asked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607
    if asked.returncode == 0 and asked.stdout:
        found = [ROOT / name for name in asked.stdout.decode().split("\0") if name]
        return tuple(path for path in found if path.is_file())
    return tuple(
        path for path in ROOT.rglob("*") if path.is_file() and not any(part.startswith(".") for part in path.parts)
    )


def report(findings: Iterable[str]) -> str:
    """Lay findings out one a line; empty when there are none, so that a failing assertion says them all."""
    return "\n".join(["", *found]) if (found := list(findings)) else ""


def imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Map each name that an import binds to the dotted thing it stands for, and each that is only local to `LOCAL`."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, LOCAL)
        elif isinstance(node, ast.arg):
            names.setdefault(node.arg, LOCAL)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                names[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def dotted(node: ast.AST, names: Mapping[str, str]) -> str | None:
    """Resolve ``a.b.c`` through the imports and builtins; None for local names and for what isn't a chain of names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    if names.get(node.id) == LOCAL:
        return None
    root = names.get(node.id) or (f"builtins.{node.id}" if hasattr(builtins, node.id) else None)
    return None if root is None else ".".join([root, *reversed(parts)])


def uses(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every import and every resolved chain of names, as ``(node, dotted name)``."""
    names = module.names
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Attribute | ast.Name):
            full = dotted(node, names)
            if full is not None:
                yield node, full


def within(name: str, roots: frozenset[str]) -> str | None:
    """Return the longest root that ``name`` is or lies under."""
    while name not in roots:
        name, dot, _ = name.rpartition(".")
        if not dot:
            return None
    return name
