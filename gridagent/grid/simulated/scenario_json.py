"""Strict reading of a file a person wrote: JSON bytes to frozen structs, with every problem listed at once.

Owns two steps and no meaning: `read_tree` turns bytes into a JSON tree (size, encoding, depth, duplicate
keys, numbers out of any range), and `decode` turns a tree into a struct of any class, going on after the
first problem. Knows nothing of scenarios; reads no file. Called by `gridagent.grid.simulated.scenario`.

Invariant: whatever the bytes, the only exception out of `read_tree` is `ConfigError`, and `decode` returns
its problems; a problem quotes at most 64 characters of what it found, made printable.

Annotations speak to it: ``Meta(extra={"defines": kind})`` on a text marks the name of a thing,
``{"refers_to": kind}`` the use of one; both are collected, also from parts that are otherwise wrong, so
that one bad number does not make every mention of its owner look unknown.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import inspect

from gridagent.errors import ConfigError, ConfigProblem
from gridagent.grid.simulated.scenario_leaves import LEAVES, Fault, Json, one_of, quoted, shape

__all__ = ("Decoded", "Mention", "decode", "listed", "read_tree")

DEPTH_MAX: Final = 16
"""Levels of nesting; the deepest sensible file has six."""
PROBLEMS_MAX: Final = 100
"""Problems listed in full; the rest is counted."""

T = TypeVar("T", bound=msgspec.Struct)

_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_NUMBER_MAX_CHARACTERS = 20


class _Keys(dict[str, Json]):
    """A JSON object that remembers which keys were written twice."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: Sequence[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        repeated: dict[str, None] = {}
        for key, _ in pairs:
            if key in seen:
                repeated[key] = None
            seen.add(key)
        self.repeated = tuple(repeated)


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """A name where it is given to a thing, or where it is used."""

    kind: str
    path: str
    name: str


class Decoded(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What came of a tree: the value when nothing was wrong with it, and all parts that were right."""

    value: T | None
    problems: tuple[ConfigProblem, ...]
    parts: tuple[tuple[str, msgspec.Struct], ...]
    """Each struct that could be made, with its path; inner ones first."""
    defined: tuple[Mention, ...]
    used: tuple[Mention, ...]


def listed(problems: Sequence[ConfigProblem], count: int) -> tuple[ConfigProblem, ...]:
    """Return at most `PROBLEMS_MAX` of ``count`` problems, and one more that counts the rest."""
    first = tuple(problems[:PROBLEMS_MAX])
    if count <= len(first):
        return first
    more = ConfigProblem(
        path="$", what=f"{count - len(first)} more problems", shape="", mend="mend the ones above first"
    )
    return (*first, more)


class _Bad:
    """The one value that stands for "could not be decoded"."""


_BAD: Final = _Bad()
_PLAIN: Final[Mapping[str, object]] = {}
KEY_MAX: Final = 64
"""Longest key that is written into a path as it is, and compared with the known ones."""


# --- bytes to tree ------------------------------------------------------------------------------


def read_tree(raw: bytes, *, source: str, max_bytes: int) -> Json:
    """Turn the bytes of a file into a JSON tree.

    Bounds: ``max_bytes`` of input, 16 levels. Numbers of more than 20 digits become infinite, which
    no field accepts; keys written twice are kept in mind for `decode`, which knows their path.

    Raises:
        ConfigError: too big, not UTF-8, not JSON or nested too deeply; one problem.
    """

    def refuse(what: str, shape: str, mend: str) -> ConfigError:
        return ConfigError((ConfigProblem(path="$", what=what, shape=shape, mend=mend),), source=source)

    if len(raw) > max_bytes:
        raise refuse("the file is too big", f"{len(raw)} bytes", f"keep it within {max_bytes} bytes")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse("the file is not UTF-8", f"a bad byte at offset {error.start}", "save it as UTF-8 text") from error
    depth = 0
    for token in _NESTING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEPTH_MAX:
            raise refuse("the file is nested too deeply", f"more than {DEPTH_MAX} levels", "flatten it")
    try:
        tree: Json = json.loads(
            text, object_pairs_hook=_Keys, parse_int=_whole, parse_float=float, parse_constant=float
        )
    except json.JSONDecodeError as error:
        where = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise refuse("the file is not JSON", where, "mend the syntax there; comments are not part of JSON") from error
    return tree


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _NUMBER_MAX_CHARACTERS else math.inf


# --- tree to struct -----------------------------------------------------------------------------


def decode(tree: Json, cls: type[T]) -> Decoded[T]:
    """Decode ``tree`` into ``cls``, strictly and to the end.

    Every struct is closed (an unknown key is a problem, with the nearest known one suggested), bools are
    not numbers, whole numbers may stand for fractions but not the other way round.

    Bounds: 100 problems are listed, one more counts the rest.
    """
    walker = _Walker()
    value = walker.visit(inspect.type_info(cls), tree, "$")
    return Decoded(
        value=value if isinstance(value, cls) else None,
        problems=walker.problems,
        parts=tuple(walker.parts),
        defined=tuple(walker.defined),
        used=tuple(walker.used),
    )


class _Walker:
    """One walk down one tree beside its type."""

    __slots__ = ("_count", "_problems", "defined", "parts", "used")

    def __init__(self) -> None:
        self._problems: list[ConfigProblem] = []  # at most PROBLEMS_MAX
        self._count = 0
        self.parts: list[tuple[str, msgspec.Struct]] = []
        self.defined: list[Mention] = []
        self.used: list[Mention] = []

    @property
    def problems(self) -> tuple[ConfigProblem, ...]:
        """What was wrong, the part that is not listed as one more problem."""
        return listed(self._problems, self._count)

    def _problem(self, path: str, what: str, value: Json, mend: str) -> _Bad:
        return self._note(ConfigProblem(path=path, what=what, shape=shape(value), mend=mend))

    def _note(self, problem: ConfigProblem) -> _Bad:
        self._count += 1
        if len(self._problems) < PROBLEMS_MAX:
            self._problems.append(problem)
        return _BAD

    def visit(self, kind: inspect.Type, value: Json, path: str, extra: Mapping[str, object] = _PLAIN) -> object:
        """Return the decoded value, or `_BAD` after noting why not."""
        if isinstance(kind, inspect.Metadata):
            if isinstance(value, str):
                self._mention(kind, value, path)
            return self.visit(kind.type, value, path, kind.extra or _PLAIN)
        if isinstance(kind, inspect.UnionType):
            return self._union(kind, value, path)
        if isinstance(kind, inspect.StructType):
            return self._struct(kind, value, path)
        if isinstance(kind, inspect.VarTupleType | inspect.TupleType):
            return self._list(kind, value, path)
        made = LEAVES[type(kind)](kind, value, extra)
        return self._problem(path, made.what, value, made.mend) if isinstance(made, Fault) else made

    def _mention(self, kind: inspect.Metadata, name: str, path: str) -> None:
        extra = kind.extra or {}
        if "defines" in extra:
            self.defined.append(Mention(kind=extra["defines"], path=path, name=name))
        if "refers_to" in extra:
            self.used.append(Mention(kind=extra["refers_to"], path=path, name=name))

    def _list(self, kind: inspect.VarTupleType | inspect.TupleType, value: Json, path: str) -> object:
        high: int | None
        if isinstance(kind, inspect.TupleType):
            low = high = len(kind.item_types)
        else:
            low, high = kind.min_length or 0, kind.max_length
        wanted = f"write a list of {low} to {high} entries" if low != high else f"write a list of {low} entries"
        before = self._count
        if not isinstance(value, list):
            return self._problem(path, "is not a list", value, wanted)
        if len(value) < low or (high is not None and len(value) > high):
            self._problem(path, "has the wrong number of entries", value, wanted)  # and its entries are looked at still
        types = kind.item_types if isinstance(kind, inspect.TupleType) else (kind.item_type,) * len(value)
        items = [
            self.visit(item, entry, f"{path}[{index}]")
            for index, (item, entry) in enumerate(zip(types, value, strict=False))
        ]
        return _BAD if self._count > before else tuple(items)

    def _union(self, kind: inspect.UnionType, value: Json, path: str) -> object:
        """Take null where None may stand; among tagged structs, choose by tag; else the one other member."""
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        if value is None and len(members) < len(kind.types):
            return None
        if len(members) == 1:
            return self.visit(members[0], value, path)
        by_tag = {str(member.tag): member for member in members if isinstance(member, inspect.StructType)}
        field = next(str(member.tag_field) for member in by_tag.values())
        if not isinstance(value, dict):
            return self._problem(path, "is not an object", value, f'write an object with the key "{field}"')
        tag = value.get(field)
        if not isinstance(tag, str) or tag not in by_tag:
            wanted = f"write {_nearest(tag, by_tag)}"
            return self._problem(
                _child(path, field), "is missing" if field not in value else "is not a known kind", tag, wanted
            )
        return self._struct(by_tag[tag], value, path)

    def _struct(self, kind: inspect.StructType, value: Json, path: str) -> object:
        if not isinstance(value, dict):
            wanted = f"write an object with the keys {', '.join(field.encode_name for field in kind.fields)}"
            return self._problem(path, "is not an object", value, wanted)
        before = self._count
        fields = {field.encode_name: field for field in kind.fields}
        known: dict[str, object] = {**({kind.tag_field: None} if kind.tag_field else {}), **fields}
        for key in value.repeated if isinstance(value, _Keys) else ():
            self._problem(_child(path, key), "is written more than once", value[key], "keep one of them")
        for key in value:
            if key not in known:
                advice = f", or write {_nearest(key, known)}" if self._count < PROBLEMS_MAX else ""
                self._problem(_child(path, key), "is not a known key", value[key], f"remove it{advice}")
        made: dict[str, object] = {}
        for key, field in fields.items():
            if key in value:
                made[field.name] = self.visit(field.type, value[key], _child(path, key))
            elif field.required:
                self._note(ConfigProblem(path=_child(path, key), what="is missing", shape="", mend="add it"))
        return _BAD if self._count > before else self._part(kind.cls, made, path)

    def _part(self, cls: type[msgspec.Struct], made: Mapping[str, object], path: str) -> object:
        """Make the struct, and keep it for whoever checks relations between parts."""
        try:
            part = cls(**made)
        except ConfigError as error:
            # A struct that checks how its own fields go together names them as the last word of the path.
            for problem in error.problems:
                where = _child(path, problem.path.rpartition(".")[2])
                self._note(ConfigProblem(path=where, what=problem.what, shape=problem.shape, mend=problem.mend))
            return _BAD
        self.parts.append((path, part))
        return part


def _child(path: str, key: str) -> str:
    return f"{path}.{key}" if key.isidentifier() and len(key) <= KEY_MAX else f"{path}[{quoted(key)}]"


def _nearest(word: Json, known: Mapping[str, object]) -> str:
    """Name the known word that was most likely meant, or all of them."""
    if isinstance(word, str) and len(word) <= KEY_MAX:  # the comparison is quadratic
        close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.75)
        if close:
            return f'"{close[0]}"'
    return one_of(known)
