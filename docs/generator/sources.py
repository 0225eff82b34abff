"""What the sources say about themselves: docstrings of classes and fields, read without importing anything."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

__all__ = ("ROOT", "ClassText", "class_text", "is_there", "load", "modules_that_call", "summary")

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("gridagent", "live_grid")


@dataclass(frozen=True, kw_only=True)
class ClassText:
    """A class in its own words."""

    doc: str
    fields: dict[str, str]
    """Text under each field or member, empty where there is none."""
    annotations: dict[str, str]
    """Source text of each field's annotation."""


def is_there(module: str) -> bool:
    """Tell whether the checkout has the module or package."""
    path = ROOT / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def load(module: str) -> ModuleType:
    """Import a module of the checkout."""
    return importlib.import_module(module)


def modules_that_call(name: str) -> Iterator[str]:
    """Yield the modules in which ``name`` is called to make a module-level value, in order of their paths."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            values = [node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
            if any(
                isinstance(value, ast.Call) and re.split(r"[.\[]", ast.unparse(value.func))[-1] == name
                for value in values
            ):
                yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def class_text(cls: type) -> ClassText:
    """Read what stands in the source of ``cls`` and its bases of ours; the nearest text wins."""
    doc, fields, annotations = "", dict[str, str](), dict[str, str]()
    for base in reversed(cls.__mro__):
        node = _class_nodes(base.__module__).get(base.__qualname__) if _is_ours(base) else None
        if node is None:
            continue
        doc = ast.get_docstring(node) or ""
        for part, following in zip(node.body, [*node.body[1:], None], strict=True):
            name = _field_name(part)
            if name is None:
                continue
            fields[name] = _text(following)
            if isinstance(part, ast.AnnAssign):
                annotations[name] = ast.unparse(part.annotation)
    return ClassText(doc=doc, fields=fields, annotations=annotations)


def summary(doc: str) -> str:
    """Return the first paragraph on one line, without the ids of requirements."""
    first = doc.split("\n\n", maxsplit=1)[0]
    return re.sub(r"\s*\((?:Spec|Fault): [^)]*\)", "", re.sub(r"\s+", " ", first)).replace("``", "`").strip()


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in PACKAGES


@functools.cache
def _class_nodes(module: str) -> dict[str, ast.ClassDef]:
    source = inspect.getsource(load(module))
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}


def _field_name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _text(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return inspect.cleandoc(node.value.value)
    return ""
