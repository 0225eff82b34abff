"""Schemas of arguments: written from our own structs, checked when a tool is registered, compiled for use.

Owns the meaning of "a schema we accept": 2020-12 by its meta-schema, no reference but to itself, no recursion,
bounded size, depth and expansion, patterns that match in linear time. Checking is `jsonschema`'s, use is
`jsonschema_rs`'s, and a test holds the two together. Nothing is ever fetched.

Invariant: `compiled` returns a validator or a `SchemaProblem`, whatever the text, and a validator answers in
time bounded by the sizes of schema and arguments (Spec: MND-5, MND-17, POL-9).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NoReturn
from urllib.parse import unquote

import msgspec

from gridagent.errors import InternalError
from gridagent.language import SCHEMA_MAX_BYTES
from gridagent.limits import TOOLS_MAX, clip
from gridagent.tools.strict_json import Json, JsonProblem, read_json

if TYPE_CHECKING:
    import jsonschema_rs

__all__ = ("OPEN_SCHEMA", "SchemaProblem", "Validator", "catalogued", "closed_schema", "compiled")

OPEN_SCHEMA: Final = b'{"type":"object","additionalProperties":true}'
"""What a foreign tool without a schema gets: open, and openly so."""

DEPTH_MAX: Final = 32
EXPANDED_MAX: Final = 4_096
"""Nodes of a schema with every reference put in its place."""
EXPANDED_DEPTH_MAX: Final = 64
"""How deep they are nested then."""
_OPEN_MAX: Final = 8  # references that lead through each other while measuring
_PATTERN_MAX_BYTES: Final = 1024 * 1024
_FORBIDDEN: Final = frozenset(
    {"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"}
)
_AT_MAX_CHARS: Final = 128
_INDEX: Final = re.compile(r"[0-9]{1,5}")


class SchemaProblem(StrEnum):
    """Why a schema is not taken."""

    NOT_JSON = "not_json"
    TOO_LARGE = "too_large"
    """Bytes, depth, or nodes once its references are put in place."""
    NOT_A_SCHEMA = "not_a_schema"
    """The meta-schema says so, or a pattern is none."""
    NOT_AN_OBJECT = "not_an_object"
    """Arguments are an object; this schema describes something else."""
    FORBIDDEN_REFERENCE = "forbidden_reference"
    """It points out of itself, renames itself, or points at nothing."""
    RECURSIVE = "recursive"
    NOT_CLOSED = "not_closed"
    """It lets keys through that it does not name."""


class Validator:
    """A schema ready to be used; compiled when it is first needed."""

    __slots__ = ("_misfit", "_schema", "_validate")

    _misfit: type[jsonschema_rs.ValidationError]

    def __init__(self, schema: dict[str, Json]) -> None:
        self._schema = schema
        self._validate: Callable[[Json], object] | None = None

    def compile(self) -> Callable[[Json], object]:
        """Compile it and return what judges a value.

        Raises:
            ValueError: it cannot be compiled.
        """
        import jsonschema_rs  # noqa: PLC0415 - only a process that runs tools pays for it

        self._misfit = jsonschema_rs.ValidationError
        validate: Callable[[Json], object] = jsonschema_rs.Draft202012Validator(
            self._schema,
            retriever=_fetch_nothing,
            validate_formats=False,
            mask="it",  # what was written has no place in an error
            pattern_options=jsonschema_rs.RegexOptions(
                size_limit=_PATTERN_MAX_BYTES, dfa_size_limit=_PATTERN_MAX_BYTES
            ),
        ).validate
        self._validate = validate
        return validate

    def problem(self, value: Json) -> str | None:
        """Return the place in the schema that the value does not fit, or None where it fits.

        Args:
            value: as `read_json` returned it, so its depth is bounded.
        """
        validate = self._validate or self.compile()
        try:
            validate(value)  # ends at the first misfit; asking for all of them can take a thousand times longer
        except self._misfit as misfit:
            return clip("/".join(map(str, misfit.schema_path)), _AT_MAX_CHARS)
        return None


@lru_cache(maxsize=4 * TOOLS_MAX)
def compiled(schema: bytes, *, closed: bool) -> Validator | SchemaProblem:  # noqa: PLR0911 - one return a reason
    """Check a schema and compile it.

    Args:
        schema: its JSON text.
        closed: refuse one that lets unnamed keys through, as a native tool's must not.
    """
    value = read_json(schema, max_bytes=SCHEMA_MAX_BYTES, depth_max=DEPTH_MAX)
    if isinstance(value, JsonProblem):
        too_large = value in {JsonProblem.TOO_LARGE, JsonProblem.TOO_DEEP}
        return SchemaProblem.TOO_LARGE if too_large else SchemaProblem.NOT_JSON
    if not isinstance(value, dict):
        return SchemaProblem.NOT_A_SCHEMA
    value.pop("$schema", None)  # whatever dialect it names, it has to be one of ours
    if not _meta_schema()(value):
        return SchemaProblem.NOT_A_SCHEMA
    if value.get("type") != "object":
        return SchemaProblem.NOT_AN_OBJECT
    try:
        _Expansion(value).measure()
    except _Refused as refused:
        return refused.problem
    if closed and not _is_closed(value):
        return SchemaProblem.NOT_CLOSED
    validator = Validator(value)
    try:
        validator.compile()
    except ValueError:
        return SchemaProblem.NOT_A_SCHEMA
    return validator


def catalogued(schema: bytes) -> Validator:
    """Return the validator of a schema of our own catalogue, which the tests have checked and no start has to.

    Checking and compiling all of them took a seventh of a start's CPU time.
    """
    value: dict[str, Json] = msgspec.json.decode(schema)
    return Validator(value)


def closed_schema(
    model: type[msgspec.Struct], says: Mapping[str, str], *, leave_out: frozenset[str] = frozenset()
) -> bytes:
    """Write the closed schema of a struct's fields.

    Args:
        model: its tag, where it has one, is left out.
        says: what a model is told of each field.
        leave_out: fields that a model cannot set; each needs a default.

    Raises:
        InternalError: a field is not described, or what is described is no field.
    """
    schemas, parts = msgspec.json.schema_components((model,), ref_template="{name}")
    root = _inlined(schemas[0], parts)
    assert isinstance(root, dict)  # noqa: S101 - a struct's schema is one
    properties = root.pop("properties", {})
    required = root.pop("required", [])
    assert isinstance(properties, dict)  # noqa: S101 - as above
    assert isinstance(required, list)  # noqa: S101 - as above
    tag = model.__struct_config__.tag_field
    fields = {name: field for name, field in properties.items() if name != tag and name not in leave_out}
    if set(fields) != set(says) or leave_out & set(map(str, required)):
        raise InternalError(f"schema of {model.__name__}: says {sorted(says)}, fields {sorted(fields)}")
    written: dict[str, Json] = {}
    for name, field in fields.items():
        assert isinstance(field, dict)  # noqa: S101 - as above
        written[name] = {**field, "description": says[name]}
    schema: dict[str, Json] = {"type": "object", "properties": written}
    if wanted := [name for name in required if name != tag]:
        schema["required"] = wanted
    return msgspec.json.encode({**schema, "additionalProperties": False})


def _inlined(node: Json, parts: Mapping[str, Json]) -> Json:
    """Put every component in its place and close every object."""
    if isinstance(node, list):
        return [_inlined(each, parts) for each in node]
    if not isinstance(node, dict):
        return node
    ref = node.get("$ref")
    if isinstance(ref, str):
        part = _inlined(parts[ref], parts)
        assert isinstance(part, dict)  # noqa: S101 - components are schemas
        return {**part, **{key: value for key, value in node.items() if key != "$ref"}}
    written = {key: _inlined(value, parts) for key, value in node.items() if key != "title"}
    if written.get("type") == "object":
        written["additionalProperties"] = False
    elif isinstance(written.get("enum"), list):
        written.setdefault("type", "string")
    return written


# --- checking -------------------------------------------------------------------------------------


def _fetch_nothing(uri: str) -> NoReturn:
    """Stand where a retriever would: no schema is ever fetched."""
    raise ValueError(uri)


@lru_cache(maxsize=1)
def _meta_schema() -> Callable[[Json], bool]:
    """Return the check against the 2020-12 meta-schema; formats are not looked at, so no pattern is compiled."""
    import jsonschema  # noqa: PLC0415 - slow to import, and only registration needs it

    return jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA).is_valid


class _Refused(Exception):
    """A schema that is not taken."""

    def __init__(self, problem: SchemaProblem) -> None:
        super().__init__(problem.value)
        self.problem = problem


class _Expansion:
    """Measures a schema with every reference put in its place, each target once.

    Args:
        root: the schema, of bounded depth.
    """

    __slots__ = ("_known", "_open", "_root")

    def __init__(self, root: dict[str, Json]) -> None:
        self._root = root
        self._known: dict[str, tuple[int, int]] = {}  # at most one a reference of the schema
        self._open: set[str] = set()

    def measure(self) -> None:
        """Return where all is well.

        Raises:
            _Refused: it is too large, or a reference is not allowed.
        """
        self._of(self._root)

    def _of(self, node: Json) -> tuple[int, int]:
        """Return the number of nodes and how deep they are nested."""
        nodes, depth = 1, 0
        below: list[Json] = []
        if isinstance(node, dict):
            if any(key in _FORBIDDEN for key in node):
                raise _Refused(SchemaProblem.FORBIDDEN_REFERENCE)
            if isinstance(ref := node.get("$ref"), str):
                nodes, depth = self._reach(ref)
            below = list(node.values())
        elif isinstance(node, list):
            below = node
        for each in below:
            more, deeper = self._of(each)
            nodes, depth = nodes + more, max(depth, deeper)
            if nodes > EXPANDED_MAX:
                raise _Refused(SchemaProblem.TOO_LARGE)
        if depth >= EXPANDED_DEPTH_MAX:
            raise _Refused(SchemaProblem.TOO_LARGE)
        return nodes, depth + 1

    def _reach(self, ref: str) -> tuple[int, int]:
        if ref in self._open:
            raise _Refused(SchemaProblem.RECURSIVE)
        if ref not in self._known:
            target = _pointed_at(self._root, ref)
            if target is None or len(self._open) >= _OPEN_MAX:
                raise _Refused(SchemaProblem.FORBIDDEN_REFERENCE if target is None else SchemaProblem.TOO_LARGE)
            self._open.add(ref)
            self._known[ref] = self._of(target)
            self._open.discard(ref)
        return self._known[ref]


def _pointed_at(root: dict[str, Json], ref: str) -> Json:
    """Follow a reference within the schema; None where it leads nowhere or out of it."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return None
    here: Json = root
    for step in unquote(ref[2:]).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict):
            here = here.get(name)
        elif isinstance(here, list) and _INDEX.fullmatch(name) and int(name) < len(here):
            here = here[int(name)]
        else:
            return None
    return here if isinstance(here, dict | bool) else None


def _is_closed(node: Json) -> bool:
    """Tell whether every object in a schema of ours lets through only the keys it names."""
    if isinstance(node, list):
        return all(map(_is_closed, node))
    if not isinstance(node, dict):
        return True
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        return False
    return all(map(_is_closed, node.values()))
