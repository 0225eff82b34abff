"""No pattern lets a trailing line break through: ``$`` also matches before one."""

from __future__ import annotations

import ast
import re
from re import _constants as sre
from re import _parser as parser

import msgspec
import pytest

from gridagent.actions import UploadAsset
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.ids import UUID_PATTERN, AvatarId, AvatarKey, ItemId, ObjectId, ParcelId
from tests.architecture.source_tree import Module, modules_of_packages, report, sample

NAMED = {"UUID_PATTERN": UUID_PATTERN}
MATCHERS = frozenset({"compile", "match", "search", "finditer", "findall"})


def _text(node: ast.AST | None) -> str | None:
    """Return the pattern that an expression is, where the source tells it."""
    if isinstance(node, ast.Name):
        return NAMED.get(node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
    return None


def _ends_loosely(pattern: str) -> bool:
    items = list(parser.parse(pattern))
    return bool(items) and items[-1] == (sre.AT, sre.AT_END)


def loose_ends(module: Module) -> list[str]:
    """Find patterns that end in ``$`` and have no exact length beside them."""
    found = []
    for node in module.nodes:
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        name = ast.unparse(node.func)
        pattern = _text(given.get("pattern"))
        if pattern is not None and _ends_loosely(pattern):
            _, longest = parser.parse(pattern).getwidth()
            bound = given.get("max_length")
            exact = isinstance(bound, ast.Constant) and bound.value == longest == parser.parse(pattern).getwidth()[0]
            if not exact:
                found.append(module.finding(node, "a pattern that ends in $ lets a line break through; end it in \\Z"))
        elif name.rpartition(".")[0] == "re" and name.rpartition(".")[2] in MATCHERS and node.args:
            pattern = _text(node.args[0])
            lines = any("MULTILINE" in ast.unparse(argument) for argument in (*node.args[1:], *given.values()))
            if pattern is not None and not lines and _ends_loosely(pattern):
                found.append(module.finding(node, "a pattern that ends in $ matches before a line break"))
    return found


def test_no_pattern_lets_a_line_break_through() -> None:
    """Every pattern ends where the text does, or has its exact length beside it. Spec: CFG-1, POL-4."""
    assert not report(finding for module in modules_of_packages() for finding in loose_ends(module))


@pytest.mark.parametrize(
    "source",
    [
        'Meta(max_length=64, pattern=r"^[a-z]{0,63}$")',
        'Meta(pattern=r"^[0-9]{4}$")',
        "Meta(pattern=UUID_PATTERN, max_length=64)",
        'import re\nre.compile(r"^[a-z]+$")',
        'import re\nre.match(r"a$", text)',
    ],
)
def test_the_rule_sees_each_loose_end(source: str) -> None:
    """Too long a bound, no bound, and a loose expression are found."""
    assert len(loose_ends(sample(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        'Meta(max_length=4, pattern=r"^[0-9]{4}$")',
        'Meta(pattern=r"^[a-z]+\\Z")',
        "Meta(pattern=UUID_PATTERN, max_length=36)",
        'import re\nre.compile(rb"^(x+)$", re.MULTILINE)\nre.fullmatch("a$", text)',
    ],
)
def test_the_rule_lets_exact_ends_pass(source: str) -> None:
    """An exact length, an absolute end, lines by intention and a full match are fine."""
    assert loose_ends(sample(source)) == []


UUID = "00000000-0000-4000-8000-00000000000a"


@pytest.mark.parametrize("kind", [AvatarKey, AvatarId, ObjectId, ItemId, ParcelId])
@pytest.mark.parametrize("tail", ["\n", "\r", "\r\n", "\u2028", " "])
def test_an_id_with_a_tail_is_none(kind, tail: str) -> None:
    """A line break behind a name or a UUID makes it another text, not the same id. Spec: POL-4, CFG-1."""
    good = "ada" if kind is AvatarKey else UUID
    assert msgspec.convert(good, kind) == good
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(good + tail, kind)


def test_names_and_hashes_of_other_formats_have_no_tail() -> None:
    """The name of a scenario and the hash of an asset end where they end."""
    for kind, field, good in ((Scenario, "name", "plaza"), (UploadAsset, "sha256", "0" * 64)):
        (pattern,) = (
            each.type.pattern for each in msgspec.inspect.type_info(kind).fields if each.name == field
        )  # fmt: skip
        assert re.search(pattern, good) is not None
        kept = msgspec.inspect.type_info(kind)
        (limit,) = (each.type.max_length for each in kept.fields if each.name == field)
        assert re.search(pattern, good + "\n") is None or len(good) == limit
