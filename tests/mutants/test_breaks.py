"""The breaks of the mutation run: each kind is made, names hold still, and what no test could notice is left alone."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.breaks import breaks_of, broken


def named(source: str) -> list[str]:
    """List the breaks of a source by name."""
    return [each.name for each in breaks_of(source)]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(a): return a < 1", "f: a < 1 -> a <= 1"),
        ("def f(a): return a is None", "f: a is None -> a is not None"),
        ("def f(a): return a in b", "f: a in b -> a not in b"),
        ("def f(a, b): return a and b", "f: a and b -> a or b"),
        ("def f(a): return not a", "f: not a -> not not a"),
        ("def f(a): return a + b", "f: a + b -> a - b"),
        ("def f(a): return a // b", "f: a // b -> a * b"),
        ("def f(): return True", "f: True -> False"),
        ("def f(): return 3", "f: 3 -> 4"),
        ("def f(): return 'x'", "f: 'x' -> 'xX'"),
        ("def f(): return b'x'", "f: b'x' -> b'xX'"),
        ("def f(a): return max(a)", "f: max(a) -> min(a)"),
        ("def f(a): return any(a)", "f: any(a) -> all(a)"),
        ("def f(a):\n if a: g()", "f: if a -> if not a"),
        ("def f(a):\n while a: g()", "f: while a -> while not a"),
        ("def f(a): return 1 if a else 2", "f: 1 if a else 2 -> 1 if not a else 2"),
        ("def f(a): return [b for b in a if b]", "f:  for b in a if b ->  for b in a if not b"),
        ("def f(a): return a", "f: return a -> return None"),
        ("def f(a): g(a)", "f: g(a) -> None"),
        ("def f(a): a.b = c", "f: a.b = c -> _broken = c"),
        ("def f(a): a += 2", "f: a += 2 -> a += 0"),
        ("def f(a): a += 2", "f: a += 2 -> a -= 2"),
        ("class A:\n def f(self): g()", "A.f: g() -> None"),
        ("A = 1", "module: 1 -> 2"),
    ],
)
def test_each_kind_of_break_is_made(source, wanted) -> None:
    """Every kind is in the list, and the broken source differs from the whole one."""
    found = {each.name: each for each in breaks_of(source)}
    assert wanted in found
    assert ast.dump(broken(source, found[wanted].place)) != ast.dump(ast.parse(source))
    compile(broken(source, found[wanted].place), "broken", "exec")


@pytest.mark.parametrize(
    "source",
    [
        '"""Text of a module."""',
        'def f(): "Text of a function."',
        "def f(a: Annotated[int, 5]) -> Literal[3]: pass",
        "a: Annotated[int, 5]",
        "__all__ = ('f',)",
        "__slots__ = ('f',)",
        "def f(): raise ValueError('wrong' + str(1))",
        "def f(): return None",
        "from a import b",
        "A: TypeAlias = 'B | None'",
        "T = TypeVar('T')",
    ],
)
def test_what_no_test_should_notice_is_left_alone(source) -> None:
    """Texts, annotations, messages and declarations have no breaks."""
    assert named(source) == []


def test_names_hold_still_and_are_unique() -> None:
    """Alike breaks of one function are numbered; moving the function changes no name."""
    source = "def f(): return g(1, 1, 1)\ndef h(): return 1"
    assert named(source) == [
        "f: return g(1, 1, 1) -> return None", "f: 1 -> 2", "f: 1 -> 2 #2", "f: 1 -> 2 #3",
        "h: return 1 -> return None", "h: 1 -> 2",
    ]  # fmt: skip
    assert named("\n\nA = b\n" + source) == named(source)


def test_what_takes_effect_on_import_is_told_apart() -> None:
    """Defaults, tables and class bodies belong to no function; a nested function belongs to the outermost."""
    source = "A = 1\nclass B:\n c = 2\n def f(self, d=3):\n  def g(): return 4\n  return 5"
    inside = {each.name: each.function for each in breaks_of(source)}
    assert inside["module: 1 -> 2"] == inside["B: 2 -> 3"] == ""
    assert inside["B.f: 3 -> 4"] == ""
    assert inside["B.f.g: 4 -> 5"] == inside["B.f: 5 -> 6"] == "B.f"
