"""Small breaks of a module's source, each of which some test should notice.

Owns the list of breaks and how one is made; runs nothing. A break has a name that stays the same when lines move:
the function it is in, and the piece of source before and after. Annotations, docstrings, messages of errors and
``__slots__`` are left alone: nothing that a test should notice depends on them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATIONS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.BitAnd: ast.BitOr, ast.RShift: ast.LShift,
}  # fmt: skip
OPPOSITES = {"max": "min", "min": "max", "any": "all", "all": "any"}
UNNOTICED = frozenset({"__all__", "__slots__"})


@dataclass(frozen=True)
class Break:
    """One break of one module."""

    name: str
    """``function: before -> after``; with a number behind it where one function has several alike."""
    line: int
    function: str
    """Outermost function it is in the body of; empty when it takes effect on import."""
    place: tuple[int, int]
    """Which node, and which of its breaks."""


def _not(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=node), node)


def _nothing(node: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value=None), node)


def _changes(node: ast.AST) -> Iterator[Callable[[], None]]:  # noqa: C901, PLR0912 - one branch a kind of node
    """Yield every way to break one node, each to be called on a fresh tree."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                yield lambda index=index, operator=operator: node.ops.__setitem__(index, COMPARISONS[type(operator)]())
        case ast.BoolOp():
            yield lambda: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield lambda: setattr(node, "operand", _not(node.operand))
        case ast.BinOp() if type(node.op) in OPERATIONS:
            yield lambda: setattr(node, "op", OPERATIONS[type(node.op)]())
        case ast.Constant(value=bool()):
            yield lambda: setattr(node, "value", not node.value)
        case ast.Constant(value=int() | float()):
            yield lambda: setattr(node, "value", node.value + 1)
        case ast.Constant(value=str() | bytes()):
            yield lambda: setattr(node, "value", node.value + node.value[:0].__class__(*_x(node.value)))
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITES:
            yield lambda: setattr(node.func, "id", OPPOSITES[name])
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            yield lambda: setattr(node, "test", _not(node.test))
        case ast.comprehension():
            for index, test in enumerate(node.ifs):
                yield lambda index=index, test=test: node.ifs.__setitem__(index, _not(test))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield lambda: setattr(node, "value", _nothing(value))
        case ast.Expr(value=ast.Call()):
            yield lambda: setattr(node, "value", _nothing(node))
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield lambda: setattr(node, "targets", [ast.copy_location(ast.Name("_broken", ast.Store()), node)])
        case ast.AugAssign():
            yield lambda: setattr(node, "value", ast.copy_location(ast.Constant(value=0), node))
            if type(node.op) in OPERATIONS:
                yield lambda: setattr(node, "op", OPERATIONS[type(node.op)]())


def _x(value: str | bytes) -> tuple[object, ...]:
    return ("X",) if isinstance(value, str) else (b"X",)


def _skipped(parent: ast.AST, field: str) -> bool:
    """Tell whether nothing under a field is broken."""
    if field in {"annotation", "returns", "decorator_list", "type_params"}:
        return True
    if isinstance(parent, ast.Raise | ast.ImportFrom | ast.Import | ast.JoinedStr):
        return True
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "TypeVar":
        return True
    if isinstance(parent, ast.AnnAssign) and "TypeAlias" in ast.unparse(parent.annotation):
        return True
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return any(isinstance(target, ast.Name) and target.id in UNNOTICED for target in targets)
    return isinstance(parent, ast.Expr) and isinstance(parent.value, ast.Constant)  # a docstring


def _walk(node: ast.AST, function: str, where: str) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield every node that may be broken, the outermost function it is in the body of, and its full place."""
    for field, value in ast.iter_fields(node):
        if _skipped(node, field):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            inside, path = function, where
            if isinstance(node, ast.FunctionDef) and field == "body":
                inside = function or where
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                path = f"{where}.{child.name}".lstrip(".")
            yield child, inside, path
            yield from _walk(child, inside, path)


def _nodes(tree: ast.Module) -> list[tuple[ast.AST, str, str]]:
    return list(_walk(tree, "", ""))


def breaks_of(source: str) -> list[Break]:
    """List every break of a module."""
    found: list[tuple[str, int, str, tuple[int, int]]] = []
    count = [sum(1 for _ in _changes(node)) for node, _, _ in _nodes(ast.parse(source))]
    for index, ways in enumerate(count):
        for way in range(ways):
            tree = ast.parse(source)
            node, function, where = _nodes(tree)[index]
            shown = node if isinstance(node, ast.expr | ast.stmt) else None
            before = _text(node, shown)
            list(_changes(node))[way]()
            after = _text(node, shown)
            line = node.target.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", 0)
            found.append((f"{where or 'module'}: {before} -> {after}", line, function, (index, way)))
    times: Counter[str] = Counter()
    named = []
    for name, line, function, place in found:
        times[name] += 1
        number = f" #{times[name]}" if times[name] > 1 else ""
        named.append(Break(name=name + number, line=line, function=function, place=place))
    return named


def _text(node: ast.AST, shown: ast.AST | None) -> str:
    """Return the first line of the source of a node; of a whole statement with a body, its head."""
    if shown is None:
        return ast.unparse(node)[:160]
    if isinstance(shown, ast.If | ast.While):
        return f"{type(shown).__name__.lower()} {ast.unparse(shown.test)}"[:160]
    return ast.unparse(ast.fix_missing_locations(shown)).replace("\n", " ")[:160]


def broken(source: str, place: tuple[int, int]) -> ast.Module:
    """Return a module's tree with one break in it."""
    tree = ast.parse(source)
    node = _nodes(tree)[place[0]][0]
    list(_changes(node))[place[1]]()
    return ast.fix_missing_locations(tree)
