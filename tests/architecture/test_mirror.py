"""Tests mirror the source, say what they prove, and can fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from docs.generator.spec import FAULTS, REQUIREMENTS
from tests.architecture.source_tree import Module, modules_of_packages, modules_of_tests, report, sample, uses, within

WITHOUT_TEST_MODULE: dict[str, str] = {
    # path, or folder ending in "/" → why nothing in it needs a test module of its own
    "live_grid/messages/": "rows of one catalogue, walked by tests/live_grid/messages/",
}
TESTED_BY: dict[str, str] = {
    # path, or folder ending in "/" → the one test module that covers the family
    "gridagent/authority.py": "tests/gridagent/test_vocabulary.py",
    "gridagent/controls.py": "tests/gridagent/test_vocabulary.py",
    "gridagent/events.py": "tests/gridagent/test_vocabulary.py",
    "gridagent/observations.py": "tests/gridagent/test_vocabulary.py",
    "gridagent/policy/reference/": "tests/gridagent/policy/test_reference.py",
    "live_grid/check/": "tests/live_grid/check/test_check.py",
}

ID = re.compile(r"\b(?:BND|SUP|CFG|POL|EFX|MND|MEM|PRS|LIV|GOL|FRT|OPS|SIM)-\d+\b")
FAULT = re.compile(r"\bFaults?: ([\d ,]+)")
PROVES = re.compile(r"raises|assert|check|expect|verify|fail|warns", re.IGNORECASE)
FORBIDDEN_IN_TESTS = frozenset({"unittest.mock", "time.sleep", "mock", "pytest_mock"})
MOCKS_ALLOWED: dict[str, str] = {
    # path → why a mock or sleep is the point of the test
    "tests/gridagent/policy/test_authorized.py": "a mocked handle must be refused (Fault 27)",
}


def _entry(path: str, table: dict[str, str]) -> str | None:
    """Return what a table says of a path, or of the folder it is in."""
    return next(
        (said for key, said in table.items() if path == key or (key.endswith("/") and path.startswith(key))), None
    )


def _does_something(node: ast.AST) -> bool:
    """Tell whether a node is a function with more in it than a docstring and ``...``."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not all(
        isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body
    )


def untested(
    sources: tuple[Module, ...], tests: tuple[Module, ...], exempt: dict[str, str], tested_by: dict[str, str]
) -> list[str]:
    """Find modules with behaviour that no ``tests/<room>/test_<module>*.py`` mirrors."""
    there = {module.path for module in tests}
    found = []
    for module in sources:
        folder, _, file = module.path.rpartition("/")
        if _entry(module.path, exempt) is not None or _entry(module.path, tested_by) in there:
            continue
        behaves = any(map(_does_something, module.nodes))
        stem = file.removesuffix(".py").strip("_")
        if not behaves:
            continue
        pattern = re.compile(rf"tests/{re.escape(folder)}/(?:[a-z_]+/)?test_{re.escape(stem)}(?:_[a-z_]+)?\.py")
        if not any(pattern.fullmatch(path) for path in there):
            found.append(f"{module.path}: no tests/{folder}/test_{stem}.py")
    return found


def _tests(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in module.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node


def _proves(node: ast.AST) -> bool:
    """Tell whether a node is a call of something that can fail a test, going by its name."""
    words = []
    called = node.func if isinstance(node, ast.Call) else None
    while isinstance(called, ast.Attribute):
        words.append(called.attr)
        called = called.value
    words.append(called.id if isinstance(called, ast.Name) else "")
    return PROVES.search(" ".join(words)) is not None


def silent_tests(module: Module) -> list[str]:
    """Find tests without a docstring, with an unknown id in it, or in which nothing could fail."""
    found = []
    for node in _tests(module):
        text = ast.get_docstring(node)
        if not text:
            found.append(module.finding(node, f"{node.name} has no docstring"))
        if not any(isinstance(part, ast.Assert) or _proves(part) for part in ast.walk(node)):
            found.append(module.finding(node, f"{node.name} asserts nothing"))
    return found


def shaky_names(module: Module) -> list[str]:
    """Find parameters named by ``repr``: an address in a name differs from process to process."""
    return [
        module.finding(node.value, "parameters named by repr")
        for node in module.nodes
        if isinstance(node, ast.keyword) and node.arg == "ids" and ast.unparse(node.value) == "repr"
    ]


def unknown_ids(module: Module) -> list[str]:
    """Find requirement ids and fault numbers that do not exist."""
    found = []
    for node in module.nodes:
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node) or ""
        found += [
            module.finding(node, f"no requirement {each}") for each in ID.findall(text) if each not in REQUIREMENTS
        ]
        for numbers in FAULT.findall(text):
            found += [
                module.finding(node, f"no fault {number}")
                for number in re.findall(r"\d+", numbers)
                if int(number) not in FAULTS
            ]
    return found


def faked(module: Module) -> list[str]:
    """Find mocks and real sleeps."""
    if module.path in MOCKS_ALLOWED:
        return []
    names = {within(name, FORBIDDEN_IN_TESTS): node for node, name in uses(module)}
    return [module.finding(node, f"{name} in a test") for name, node in names.items() if name is not None]


def test_every_module_with_behaviour_has_a_test_module() -> None:
    """A newcomer finds the tests of a module by its path."""
    assert not report(untested(modules_of_packages(), modules_of_tests(), WITHOUT_TEST_MODULE, TESTED_BY))


def test_every_test_says_what_it_proves_and_can_fail() -> None:
    """Each test has a docstring and an assertion."""
    assert not report(finding for module in modules_of_tests() for finding in silent_tests(module))


def test_names_of_tests_are_the_same_in_every_process() -> None:
    """No parameter is named by its ``repr``, which may hold an address or a kilobyte of text."""
    assert not report(finding for module in modules_of_tests() for finding in shaky_names(module))


def test_every_named_requirement_and_fault_exists() -> None:
    """Ids in docstrings of tests and sources are ids of the list."""
    assert not report(
        finding for module in (*modules_of_tests(), *modules_of_packages()) for finding in unknown_ids(module)
    )


def test_tests_use_no_mocks_and_do_not_sleep() -> None:
    """Fakes ship in the packages, and time is the autojump clock's."""
    assert not report(finding for module in modules_of_tests() for finding in faked(module))


def test_the_mirror_rule_sees_a_missing_module() -> None:
    """A module with behaviour and no test is found; bare packages, exempt, mirrored and covered ones are not."""
    sources = (
        sample("def f(): return 1", "gridagent/a/b.py"),
        sample("def f(): return 1", "gridagent/a/c.py"),
        sample("x = 1", "gridagent/a/__init__.py"),
        sample("limit = 3\nclass Port(Protocol):\n    x: int\n    def f(self): ...", "gridagent/a/words.py"),
        sample("def f(): return 1", "gridagent/__main__.py"),
        sample("def f(): return 1", "gridagent/data/d.py"),
        sample("def f(): return 1", "gridagent/family/e.py"),
        sample("def f(): return 1", "gridagent/family/f.py"),
    )
    tests = (sample("", "tests/gridagent/a/test_b_properties.py"), sample("", "tests/gridagent/test_c.py"))
    covered = {"gridagent/family/e.py": "tests/gridagent/test_c.py", "gridagent/family/": "tests/not_there.py"}
    found = untested(sources, tests, {"gridagent/data/": "rows"}, covered)
    assert [finding.partition(":")[0] for finding in found] == [
        "gridagent/a/c.py",
        "gridagent/__main__.py",
        "gridagent/family/f.py",
    ]


@pytest.mark.parametrize(
    ("source", "culprit"),
    [
        ("def test_x():\n    assert 1", "no docstring"),
        ('async def test_x():\n    """Say."""\n    f()', "asserts nothing"),
        ('class T:\n    def test_x(self):\n        """Say."""', "asserts nothing"),
    ],
)
def test_the_rule_sees_silent_tests(source: str, culprit: str) -> None:
    """Tests without words or without an assertion are found, in classes too."""
    findings = silent_tests(sample(source))
    assert len(findings) == 1
    assert culprit in findings[0]


def test_the_rule_sees_unknown_ids_and_mocks() -> None:
    """An id or fault that does not exist is found, and so are shaky names, mocks and sleeps."""
    assert len(unknown_ids(sample('def test_x():\n    """Say. Spec: POL-99, SUP-1. Fault: 3, 99."""'))) == 2
    assert len(faked(sample("from unittest.mock import Mock"))) == 1
    assert len(faked(sample("import time\ndef f(): time.sleep(1)"))) == 1
    assert (
        len(shaky_names(sample("import pytest\n@pytest.mark.parametrize('x', [object()], ids=repr)\ndef f(x): ...")))
        == 1
    )
    assert faked(sample("import trio\nasync def f(): await trio.sleep(1)")) == []
