"""`__all__` tells the truth, packages show few names, and nobody reaches for another's private ones."""

from __future__ import annotations

import ast
import re

from tests.architecture.source_tree import PACKAGES, Module, modules_of_packages, report, sample

RE_EXPORTS_MAX = 16

MANY_NAMES: dict[str, str] = {
    # package → why it shows more
}


def _declared(tree: ast.Module) -> tuple[ast.AST, object] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            try:
                return node, ast.literal_eval(node.value)
            except ValueError:
                return node, None
    return None


def _bound(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return names


def _defined_here(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _order(name: str) -> tuple[int, list[tuple[str, int]]]:
    """Sort as ruff does: constants, classes, then the rest; digits by their value."""
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name)]


def untrue_exports(module: Module) -> list[str]:
    """Find an ``__all__`` that is no sorted tuple, names what isn't there, or is missing."""
    package = module.path.endswith("/__init__.py")
    declared = _declared(module.tree)
    if declared is None:
        public = {name for name in _defined_here(module.tree) if not name.startswith("_")}
        re_exports = package and any(isinstance(node, ast.ImportFrom) for node in module.tree.body)
        return [module.finding(module.tree, "no __all__")] if public or re_exports else []
    node, value = declared
    if not isinstance(value, tuple):
        return [module.finding(node, "__all__ is a literal tuple")]
    found = []
    if list(value) != sorted(value, key=_order) and list(value) != sorted(value):
        found.append(module.finding(node, "__all__ is sorted"))
    if len(set(value)) != len(value):
        found.append(module.finding(node, "__all__ names something twice"))
    bound = _bound(module.tree)
    found += [module.finding(node, f"__all__ names {name}, which isn't there") for name in value if name not in bound]
    if package and len(value) > RE_EXPORTS_MAX and module.name not in MANY_NAMES:
        found.append(module.finding(node, f"shows {len(value)} names; at most {RE_EXPORTS_MAX}"))
    return found


def private_reaches(module: Module) -> list[str]:
    """Find imports of another package's ``_name`` or ``_module``, and ``module._name`` on an imported package."""
    room = module.name if module.path.endswith("/__init__.py") else module.name.rpartition(".")[0]
    found = []
    for node in module.nodes:
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module:
            continue
        if node.module.partition(".")[0] not in PACKAGES:
            continue
        private = [part for part in node.module.split(".") if part.startswith("_")]
        private += [alias.name for alias in node.names if alias.name.startswith("_") and alias.name != "__version__"]
        owner = node.module.rpartition(".")[0] if "." in node.module else node.module
        if private and room not in {node.module, owner}:
            found.append(module.finding(node, f"reaches for {private[0]} of {node.module}"))
    return found


def test_all_tells_the_truth() -> None:
    """Every public module declares what it shows, sorted, and shows what it declares."""
    assert not report(finding for module in modules_of_packages() for finding in untrue_exports(module))


def test_nobody_reaches_for_private_names() -> None:
    """What begins with an underscore stays in its package."""
    assert not report(finding for module in modules_of_packages() for finding in private_reaches(module))


def test_the_rule_sees_untrue_exports() -> None:
    """Lists, wrong order, doubles, absent names, no declaration and too many names are found."""
    assert untrue_exports(sample("__all__ = ['a']\na = 1"))
    assert untrue_exports(sample("__all__ = ('b', 'a')\na = b = 1"))
    assert untrue_exports(sample("__all__ = ('a', 'a')\na = 1"))
    assert untrue_exports(sample("__all__ = ('a', 'b')\na = 1"))
    assert untrue_exports(sample("def f(): ..."))
    names = tuple(f"n{i:02}" for i in range(17))
    text = f"from x import {', '.join(names)}\n__all__ = {names}"
    assert untrue_exports(sample(text, "gridagent/x/__init__.py"))
    assert untrue_exports(sample(text)) == []
    assert untrue_exports(sample("__all__ = ('B', 'a')\na = B = 1\ndef _f(): ...")) == []


def test_the_rule_sees_private_reaches() -> None:
    """Another package's private name is found; one's own sibling's is not."""
    assert private_reaches(sample("from gridagent.b.c import _x", "gridagent/a/d.py"))
    assert private_reaches(sample("from gridagent.b._c import x", "gridagent/a/d.py"))
    assert private_reaches(sample("from gridagent.a.c import _x", "gridagent/a/d.py")) == []
    assert private_reaches(sample("from trio._core import x", "gridagent/a/d.py")) == []
