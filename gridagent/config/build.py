"""From a tree of values to the model's structs, noting every problem on the way instead of stopping at the first.

Owns the walk over the model's annotations (structs, maps, tuples, leaves) and the wording of what a value must
be. Knows no key and no rule between keys. The loader calls `Builder.build` once with the whole tree.

Invariant: a problem tells a value's shape, never its content; numbers are shown only where a number is wanted
(Spec: CFG-1). What is wrong is replaced by its default, so that later checks still see the rest; the loader
uses the result only when nothing was noted.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from itertools import islice
from typing import Annotated, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from gridagent.config.document import BadNumber, GivenText, Node, Problems, parse, safe_key, shape
from gridagent.config.fields import KIND_CHECKS
from gridagent.config.secrets import EndpointUrl, endpoint_problem
from gridagent.errors import LimitExceeded
from gridagent.ids import NIL_UUID, UUID_PATTERN

__all__ = ("Builder", "FieldInfo", "TypeInfo", "fields_of", "read_type")


class _Invalid(Enum):
    """Stands for a value that could not be made."""

    INVALID = "invalid"


INVALID: Final = _Invalid.INVALID


class TypeInfo:
    """One annotation taken apart: what it is inside, its constraints, and whether null is allowed."""

    __slots__ = ("args", "constrained", "description", "kind", "metas", "nullable", "type")

    def __init__(self, hint: object) -> None:
        metas: list[Meta] = []
        nullable = False
        while True:
            if isinstance(hint, NewType):
                hint = hint.__supertype__
            elif get_origin(hint) is Annotated:
                hint, *found = get_args(hint)
                metas.extend(meta for meta in found if isinstance(meta, Meta))
            elif get_origin(hint) in {Union, types.UnionType}:
                inner = [arg for arg in get_args(hint) if arg is not type(None)]
                nullable = nullable or len(inner) < len(get_args(hint))
                if len(inner) != 1:
                    raise TypeError(f"the configuration model may not use the union {hint}")
                hint = inner[0]
            else:
                break
        origin = get_origin(hint)
        self.type: object = hint if origin is None else origin
        self.args = get_args(hint)
        self.metas = tuple(metas)
        self.constrained: object = hint
        """The annotation without null, as msgspec takes it."""
        for meta in reversed(metas):
            self.constrained = Annotated[self.constrained, meta]
        self.nullable = nullable
        self.kind = next((str(meta.extra["kind"]) for meta in metas if meta.extra and "kind" in meta.extra), "")
        self.description = next((meta.description for meta in metas if meta.description), "")

    @property
    def is_struct(self) -> bool:
        """Tell whether it is a section."""
        return isinstance(self.type, type) and issubclass(self.type, msgspec.Struct)

    @property
    def is_map(self) -> bool:
        """Tell whether it is a map with keys of the operator's own."""
        return isinstance(self.type, type) and issubclass(self.type, Mapping)

    @property
    def is_list(self) -> bool:
        """Tell whether it is a list."""
        return self.type is tuple

    @property
    def is_number(self) -> bool:
        """Tell whether it is a whole or other number."""
        return self.type in {int, float}

    @property
    def is_text(self) -> bool:
        """Tell whether its value is written as JSON text."""
        return not (self.is_struct or self.is_map or self.is_list or self.is_number or self.type is bool)

    @property
    def is_uuid(self) -> bool:
        """Tell whether it is the UUID of somebody or something."""
        return any(meta.pattern == UUID_PATTERN for meta in self.metas)

    def bound(self, *names: str) -> float | None:
        """Return the constraint of one of these names; an outer annotation stands before those it wraps."""
        found = [getattr(meta, name) for meta in self.metas for name in names if getattr(meta, name) is not None]
        return found[0] if found else None


class FieldInfo:
    """One key of a section."""

    __slots__ = ("default", "name", "required", "type")

    def __init__(self, name: str, info: TypeInfo, field: msgspec.structs.FieldInfo) -> None:
        self.name = name
        self.type = info
        self.required = field.required
        factory = field.default_factory
        self.default: Callable[[], object] = (lambda: field.default) if factory is msgspec.NODEFAULT else factory


@cache
def read_type(hint: object) -> TypeInfo:
    """Take an annotation apart (once for each that the model uses)."""
    return TypeInfo(hint)


@cache
def fields_of(struct: type[msgspec.Struct]) -> dict[str, FieldInfo]:
    """Return a section's keys (once for each section of the model)."""
    hints = get_type_hints(struct, include_extras=True)
    return {
        field.encode_name: FieldInfo(field.name, read_type(hints[field.name]), field)
        for field in msgspec.structs.fields(struct)
    }


class Builder:
    """One walk over one tree."""

    __slots__ = ("_problems", "_resolve", "endpoints", "endpoints_in_file", "secret_files")

    def __init__(self, problems: Problems, resolve: Callable[[str, str], str | None]) -> None:
        """Begin a walk.

        Args:
            problems: where everything wrong is noted.
            resolve: makes a path absolute, given its text and the origin of the value; None when it can't.
        """
        self._problems = problems
        self._resolve = resolve
        self.secret_files: dict[str, str] = {}
        """Every secret file that is named well, by configuration path."""
        self.endpoints: dict[str, EndpointUrl] = {}
        """Every endpoint that is written well, by configuration path."""
        self.endpoints_in_file: dict[str, EndpointUrl] = {}
        """Those of them that stand in the file itself."""

    def build(self, node: Node, info: TypeInfo, path: str) -> object:
        """Make the value of one annotation, or `INVALID`; whatever is wrong is noted."""
        if isinstance(node.value, GivenText):
            node = self._read_given(node, node.value.text, info, path)
        if node.value is None and info.nullable:
            return None
        for key in node.repeated:
            self._problems.add(f"{path}.{safe_key(key)}", "is given more than once", "keep one of them")
        if info.is_struct:
            return self._struct(node, info, path)
        if info.is_map:
            return self._map(node, info, path)
        if info.is_list:
            return self._list(node, info, path)
        return self._leaf(node, info, path)

    def _read_given(self, node: Node, text: str, info: TypeInfo, path: str) -> Node:
        """Read the text of a variable or option as its key wants it: as it is, or as JSON."""
        if not text and info.nullable:
            return Node(None, origin=node.origin)
        if info.is_text:
            return Node(text, origin=node.origin)
        attempt = Problems()
        parsed = parse(text.encode("utf-8", "surrogatepass"), attempt, path=path, origin=node.origin)
        return Node(text, origin=node.origin) if parsed is None else parsed

    # --- what has parts -----------------------------------------------------------------------

    def _struct(self, node: Node, info: TypeInfo, path: str) -> object:
        assert isinstance(info.type, type)  # noqa: S101 - is_struct
        if not isinstance(node.value, dict):
            return self._wrong(node, path, "must be an object {…}", _as_json(node, '{"key": "value"}'))
        fields = fields_of(info.type)
        for key, child in node.value.items():
            if key not in fields:
                self._unknown(key, child, path, fields)
        values = {field.name: self._field(node.value.get(key), field, f"{path}.{key}") for key, field in fields.items()}
        if INVALID in values.values():
            return INVALID
        try:
            built: object = info.type(**values)
        except LimitExceeded as error:
            # What a `Bounded` section measures beyond its annotations, such as bytes of text.
            key = error.limit.rpartition(".")[2]
            return self._wrong(
                node, path, f"has too much in {key}: at most {error.allowed}, not {error.seen}", f"shorten {key}"
            )
        return built

    def _field(self, given: Node | None, field: FieldInfo, path: str) -> object:
        """Build one key's value; its default stands in for what is missing or wrong, where there is one."""
        built: object = INVALID
        if given is not None:
            built = self.build(given, field.type, path)
        elif field.required:
            self._problems.add(path, "is missing", f"set it to {expectation(field.type)}")
        return built if built is not INVALID or field.required else field.default()

    def _unknown(self, key: str, child: Node, path: str, fields: Mapping[str, FieldInfo]) -> None:
        mend = "remove it" if not fields else f"remove it, or use one of: {', '.join(fields)}"
        if not self._problems.is_crowded:
            near = nearest(key, tuple(fields))
            mend = f"did you mean {near!r}?" if near else mend
        self._problems.add(f"{path}.{safe_key(key)}", f"is not a known key{_set_by(child)}", mend, shape(child))

    def _map(self, node: Node, info: TypeInfo, path: str) -> object:
        if not isinstance(node.value, dict):
            return self._wrong(node, path, "must be an object {…}", _as_json(node, '{"key": "value"}'))
        key_info, value_info = (read_type(arg) for arg in info.args)
        values: dict[object, object] = {}
        for key, child in node.value.items():
            here = f"{path}.{safe_key(key)}"
            built_key = self._leaf(Node(key, origin=child.origin), key_info, here)
            built = self.build(child, value_info, here)
            if built_key is not INVALID and built is not INVALID:
                values[built_key] = built
        kept = self._check_length(node, info, path)
        return dict(islice(values.items(), kept))

    def _list(self, node: Node, info: TypeInfo, path: str) -> object:
        if not isinstance(node.value, list):
            return self._wrong(node, path, "must be a list […]", _as_json(node, '["one", "two"]'))
        item_info = read_type(info.args[0])
        values: list[object] = []
        seen: set[object] = set()
        complete = True
        for index, child in enumerate(node.value):
            here = f"{path}[{index}]"
            built = self.build(child, item_info, here)
            if built is INVALID:
                # A placeholder keeps the places of the other items for the checks that follow.
                built = ""
                complete = complete and item_info.type is str
            elif item_info.is_text:
                if built in seen:
                    self._problems.add(here, "is in this list already", "keep one of them", shape(child))
                seen.add(built)
            values.append(built)
        kept = self._check_length(node, info, path)
        return tuple(values[:kept]) if complete else INVALID

    def _check_length(self, node: Node, info: TypeInfo, path: str) -> int:
        """Note a wrong number of entries; returns how many of them may be kept."""
        assert isinstance(node.value, list | dict)  # noqa: S101 - checked by the callers
        size = len(node.value)
        most, least = info.bound("max_length"), info.bound("min_length")
        if most is not None and size > most:
            self._wrong(node, path, f"must have at most {plain(most)} entries", f"remove {plain(size - most)}")
        if least is not None and size < least:
            self._wrong(node, path, f"must have at least {plain(least)} entry", "add one")
        return size if most is None else min(size, int(most))

    # --- leaves -------------------------------------------------------------------------------

    def _leaf(self, node: Node, info: TypeInfo, path: str) -> object:
        value = node.value
        if isinstance(value, str) and info.is_text:
            return self._text(node, value, info, path)
        wanted = info.is_number and isinstance(value, int | float | BadNumber) and not isinstance(value, bool)
        built = INVALID if isinstance(value, BadNumber | list | dict | str) else _converted(value, info)
        if built is not INVALID:
            return built
        return self._wrong(node, path, f"must be {expectation(info)}", advice(node, info), numbers=wanted)

    def _text(self, node: Node, text: str, info: TypeInfo, path: str) -> object:
        problem = _text_problem(text)
        if problem is not None:
            return self._wrong(node, path, *problem)
        if info.is_uuid:
            problem = uuid_problem(text)
            return self._wrong(node, path, *problem) if problem is not None else text
        if info.type is EndpointUrl:
            return self._endpoint(node, text, path)
        built = _converted(text, info)
        check = KIND_CHECKS.get(info.kind)
        if built is INVALID or (check is not None and not check(text)):
            return self._wrong(node, path, f"must be {expectation(info)}", self._near(text, info) or advice(node, info))
        if info.kind in {"path", "secret_file"}:
            return self._path(node, text, info, path)
        return built

    def _endpoint(self, node: Node, text: str, path: str) -> object:
        why = endpoint_problem(text)
        if why is not None:
            return self._wrong(
                node, path, why, "write it as https://host/path; keep passwords and keys in a file of their own"
            )
        endpoint = self.endpoints[path] = EndpointUrl(text)
        if not node.origin:
            self.endpoints_in_file[path] = endpoint
        return endpoint

    def _path(self, node: Node, text: str, info: TypeInfo, path: str) -> object:
        absolute = self._resolve(text, node.origin)
        if absolute is None:
            return self._wrong(
                node, path, "begins with ~, and no home directory is known", "write the full path of the file"
            )
        if info.kind == "secret_file":
            self.secret_files[path] = absolute
        return absolute

    def _near(self, text: str, info: TypeInfo) -> str:
        if self._problems.is_crowded or not _choices(info):
            return ""
        near = nearest(text, _choices(info))
        return f"did you mean {near!r}?" if near else ""

    def _wrong(self, node: Node, path: str, what: str, mend: str, *, numbers: bool = False) -> _Invalid:
        self._problems.add(path, f"{what}{_set_by(node)}", mend, shape(node, numbers=numbers))
        return INVALID


def _set_by(node: Node) -> str:
    return f", set by {node.origin}" if node.origin else ""


def _as_json(node: Node, example: str) -> str:
    return f"write it as JSON, such as {example}" if node.origin else f"write it as {example}"


def _converted(value: object, info: TypeInfo) -> object:
    try:
        built: object = msgspec.convert(value, info.constrained, strict=True)
    except msgspec.ValidationError:
        # msgspec's own words may quote the value; ours are made from the annotation.
        return INVALID
    return built


def _text_problem(text: str) -> tuple[str, str] | None:
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "holds half a character (a lone surrogate)", "write the whole character"
    if any(char < " " or "\x7f" <= char <= "\x9f" or char in "\u2028\u2029" for char in text):
        return "holds a line break or another control character", "keep it on one line"
    return None


def uuid_problem(text: str) -> tuple[str, str] | None:
    """Say why a text is no canonical UUID, and how to mend it; None when it is one."""
    mend = "write the UUID in lower case with hyphens, as 01234567-89ab-4cde-8f01-23456789abcd"
    if "*" in text:
        return "is a wildcard, which would authorise everybody", "list each avatar by its UUID"
    if text == NIL_UUID:
        return "is the nil UUID, which is nobody", mend
    bare = text.lower().removeprefix("urn:uuid:").strip("{}").replace("-", "")
    if len(bare) == 32 and bare.isascii() and all(char in "0123456789abcdef" for char in bare):  # noqa: PLR2004
        canonical = "-".join((bare[:8], bare[8:12], bare[12:16], bare[16:20], bare[20:]))
        return None if canonical == text else ("is a UUID, but not in its canonical form", mend)
    return "is not a UUID; names are never accepted, they can be imitated", mend


def _choices(info: TypeInfo) -> tuple[str, ...]:
    if isinstance(info.type, type) and issubclass(info.type, Enum):
        return tuple(str(member.value) for member in info.type)
    return tuple(map(str, info.args)) if info.type is Literal else ()


def nearest(text: str, known: tuple[str, ...]) -> str | None:
    """Return the known name that ``text`` was probably meant to be."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only where something is wrong

    found = get_close_matches(text[:64].lower(), known, n=1, cutoff=0.7)
    return found[0] if found else None


def expectation(info: TypeInfo) -> str:
    """Say what a value must be."""
    described = info.description or _expectation(info)
    return f"{described}, or null" if info.nullable else described


def _expectation(info: TypeInfo) -> str:  # noqa: PLR0911 - one a type
    choices = _choices(info)
    if choices:
        return f"one of: {', '.join(choices)}"
    if info.type is bool:
        return "true or false"
    if info.is_number:
        return f"{'a whole number' if info.type is int else 'a number'}{_range(info)}"
    if info.is_uuid:
        return "an avatar's UUID"
    if info.type is EndpointUrl:
        return "an http:// or https:// URL"
    if info.is_struct or info.is_map:
        return "an object {…}"
    if info.is_list:
        return "a list […]"
    least = " that is not empty" if info.bound("min_length") else ""
    most = info.bound("max_length")
    return f"text{least}" if most is None else f"text of at most {plain(most)} characters{least}"


def _range(info: TypeInfo) -> str:
    low, high = info.bound("ge", "gt"), info.bound("le", "lt")
    if low is None:
        return "" if high is None else f" of at most {plain(high)}"
    return f" of at least {plain(low)}" if high is None else f" from {plain(low)} to {plain(high)}"


def plain(number: float) -> str:
    """Write a number as a person would: without a fraction of zero."""
    return str(int(number)) if isinstance(number, int) or number.is_integer() else str(number)


def advice(node: Node, info: TypeInfo) -> str:
    """Say how to mend a wrong leaf."""
    high, low = info.bound("le", "lt"), info.bound("ge", "gt")
    value = node.value
    if info.is_number and isinstance(value, int | float) and not isinstance(value, bool):
        if high is not None and value > high:
            return f"lower it to {plain(high)} or less"
        if low is not None and value < low:
            return f"raise it to {plain(low)} or more"
        return "write it without a fraction"
    if info.type is bool:
        return "write true or false, without quotes"
    return "correct it" if not info.is_number else "write digits, without quotes"
