"""Bytes into a tree of values that remembers where each came from and never shows what it holds.

Owns strict JSON: UTF-8 without a byte order mark, bounded nesting before the parser sees it, duplicate keys and
numbers beyond reason kept as such, so that the builder can report them with their path; and the one thing that a file
may have besides, lines that are comments. Knows no key. Called by the loader for the file and for values of
environment variables.

Invariant: no function here raises anything because of its input, and no representation of a node holds content
(a traceback with locals shows shapes only; Spec: CFG-3).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from gridagent.errors import ConfigProblem

__all__ = ("NESTING_MAX", "BadNumber", "GivenText", "Node", "Problems", "parse", "safe_key", "shape")

NESTING_MAX: Final = 16
"""Levels of nesting; the deepest key of the configuration lies at seven."""
PROBLEMS_MAX: Final = 1_000
"""Problems listed one by one; the rest is counted."""
_NUMBER_MAX_CHARS: Final = 32
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,39}\Z", re.ASCII)
_KEY_DIGITS_MAX: Final = 4
"""Words have few; tokens have many."""
# A text of JSON holds no line break, so a line that begins so is never inside one.
_COMMENT: Final = re.compile(r"^[ \t]*//[^\n]*", re.MULTILINE)
_COMMENT_MARK: Final = re.compile(r"//|/\*|#")
# What an editor may show as a line of its own, or in another order: a comment must look like what it is.
_MISLEADING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Problems:
    """Everything found wrong so far, in order of finding."""

    __slots__ = ("_found", "_more", "_paths")

    def __init__(self) -> None:
        self._found: list[ConfigProblem] = []
        self._paths: set[str] = set()
        self._more = 0

    def __len__(self) -> int:
        return len(self._found) + self._more

    def __repr__(self) -> str:
        return f"<Problems {len(self)}>"

    @property
    def is_crowded(self) -> bool:
        """Tell whether so many were found that costly advice (spelling) isn't worth giving any more."""
        return len(self._found) >= PROBLEMS_MAX // 10

    def add(self, path: str, what: str, mend: str, found: str = "") -> None:
        """Note a problem."""
        self._note(ConfigProblem(path=path, what=what, shape=found, mend=mend))

    def add_news(self, problems: Sequence[ConfigProblem]) -> None:
        """Note problems of values that were built, but none at a path known to be wrong: those follow from it."""
        known = frozenset(self._paths)
        for problem in problems:
            if problem.path not in known:
                self._note(problem)

    def touch(self, path: str) -> bool:
        """Tell whether anything at, below or above ``path`` is wrong."""
        return any(_is_within(known, path) or _is_within(path, known) for known in self._paths)

    def listed(self) -> tuple[ConfigProblem, ...]:
        """Return every problem; those beyond `PROBLEMS_MAX` as one that counts them."""
        if not self._more:
            return tuple(self._found)
        rest = ConfigProblem(
            path="$", what=f"{self._more} more problems are not listed", shape="", mend="mend these first"
        )
        return (*self._found, rest)

    def _note(self, problem: ConfigProblem) -> None:
        self._paths.add(problem.path)
        if len(self._found) < PROBLEMS_MAX:
            self._found.append(problem)
        else:
            self._more += 1


def _is_within(inner: str, outer: str) -> bool:
    return inner == outer or (inner.startswith(outer) and inner[len(outer)] in ".[")


class BadNumber:
    """A number that no key can want; ``shape`` says why."""

    __slots__ = ("shape",)

    def __init__(self, shape: str) -> None:
        self.shape = shape


class GivenText:
    """The text of an environment variable or option: what it means depends on the key it is for."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


Value: TypeAlias = "str | int | float | bool | BadNumber | GivenText | list[Node] | dict[str, Node] | None"


class Node:
    """One value, where it came from ("" is the file), and the keys that were written twice."""

    __slots__ = ("origin", "repeated", "value")

    def __init__(self, value: Value, *, origin: str = "", repeated: tuple[str, ...] = ()) -> None:
        self.value = value
        self.origin = origin
        self.repeated = repeated

    def __repr__(self) -> str:
        return f"<Node {shape(self)}>"


def shape(node: Node, *, numbers: bool = False) -> str:  # noqa: PLR0911 - one a type
    """Describe a value by type and size; the number itself only where ``numbers`` allows it."""
    match node.value:
        case None:
            return "null"
        case bool():
            return "true" if node.value else "false"
        case int() | float():
            return f"the number {node.value}" if numbers else "a number"
        case str():
            return f"text of {len(node.value)} characters"
        case GivenText():
            return f"text of {len(node.value.text)} characters"
        case BadNumber():
            return node.value.shape
        case list():
            return f"a list of {len(node.value)} items"
    return f"an object of {len(node.value)} keys"


def safe_key(key: str) -> str:
    """Return a key for a path as it is, or its shape when it may be something pasted by mistake."""
    is_word = _KEY.match(key) and sum(char.isdigit() for char in key) <= _KEY_DIGITS_MAX
    return key if is_word else f"<key of {len(key)} characters>"


def parse(data: bytes, problems: Problems, *, path: str = "$", origin: str = "", comments: bool = False) -> Node | None:
    """Read one JSON document.

    Args:
        data: the document.
        problems: where it is noted that it is none.
        path: of the document, for that note.
        origin: of every value in it.
        comments: leave out lines whose first characters but blanks are ``//``.

    Returns:
        Its tree, or None when it isn't a document at all; then exactly one problem was noted.
    """
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        problems.add(path, "begins with a byte order mark", "save it as UTF-8 without one")
        return None
    bad_byte = _first_bad_byte(data)
    if bad_byte is not None:
        problems.add(path, f"is not UTF-8 at byte {bad_byte}", "save it as UTF-8")
        return None
    text = data.decode()
    if comments:
        hidden = next((at for line in _COMMENT.finditer(text) if (at := _misleading(line)) is not None), None)
        if hidden is not None:
            problems.add(path, f"has a comment with a hidden character at {_place(text, hidden)}", "remove it there")
            return None
        # As many blanks: every place that an error names stays where it is.
        text = _COMMENT.sub(lambda line: " " * len(line[0]), text)
    if _nesting(text) > NESTING_MAX:
        problems.add(path, f"is nested deeper than {NESTING_MAX} levels", "remove levels")
        return None
    found = _loads(text)
    if isinstance(found, _Syntax):
        problems.add(path, f"is not JSON at line {found.line}, column {found.column}", f"mend it there: {found.what}")
        return None
    return _tree(found, origin)


def _misleading(comment: re.Match[str]) -> int | None:
    """Find what would make a comment look like something else; the return of a Windows line end is none."""
    found = _MISLEADING.search(comment[0].removesuffix("\r"))
    return None if found is None else comment.start() + found.start()


def _place(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _first_bad_byte(data: bytes) -> int | None:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _nesting(text: str) -> int:
    """Measure brackets outside strings without recursion: the parser itself would recurse."""
    deepest = depth = 0
    quoted = escaped = False
    for char in text:
        if quoted:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                quoted = False
        elif char == '"':
            quoted = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


class _Syntax:
    """Where a text stops being JSON; the parser's own error would carry the whole document."""

    __slots__ = ("column", "line", "what")

    def __init__(self, line: int, column: int, what: str) -> None:
        self.line = line
        self.column = column
        self.what = what


class _Pairs:
    """A JSON object as written, duplicates and all."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs


def _loads(text: str) -> object:
    try:
        found: object = json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_number, parse_float=_number, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        if _COMMENT_MARK.match(text, error.pos):
            return _Syntax(error.lineno, error.colno, "a comment is a line of its own that begins with //")
        return _Syntax(error.lineno, error.colno, error.msg[:1].lower() + error.msg[1:])
    return found


def _number(text: str) -> int | float | BadNumber:
    if len(text) > _NUMBER_MAX_CHARS:
        return BadNumber(f"a number of {len(text)} characters")
    if text.lstrip("-").isdigit():
        return int(text)
    value = float(text)
    return value if math.isfinite(value) else BadNumber("a number beyond any range")


def _constant(text: str) -> BadNumber:
    return BadNumber(f"{text}, which is no JSON number")


def _tree(found: object, origin: str) -> Node:
    """Turn what the parser made into nodes; recursion is bounded by the nesting measured before."""
    if isinstance(found, _Pairs):
        children: dict[str, Node] = {}
        repeated: dict[str, None] = {}
        for key, value in found.pairs:
            if key in children:
                repeated[key] = None
            children[key] = _tree(value, origin)
        return Node(children, origin=origin, repeated=tuple(repeated))
    if isinstance(found, list):
        return Node([_tree(item, origin) for item in found], origin=origin)
    assert found is None or isinstance(found, str | int | float | bool | BadNumber)  # noqa: S101 - all JSON has
    return Node(found, origin=origin)


def nodes_of(builtins: object, origin: str) -> Node:
    """Turn plain values of our own (the defaults) into nodes."""
    if isinstance(builtins, Mapping):
        return Node({str(key): nodes_of(value, origin) for key, value in builtins.items()}, origin=origin)
    if isinstance(builtins, list | tuple):
        return Node([nodes_of(item, origin) for item in builtins], origin=origin)
    return _tree(builtins, origin)
