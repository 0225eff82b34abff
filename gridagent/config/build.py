"""From a tree of values to the model's structs, noting every problem on the way instead of stopping at the first.

Owns the walk (structs, maps, tuples, leaves); annotations are read by `gridagent.config.annotations`, sentences are
made by `gridagent.config.wording`. Knows no key and no rule between keys. The loader calls `Builder.build` once with
the whole tree.

Invariant: a problem tells a value's shape, never its content; numbers are shown only where a number is wanted
(Spec: CFG-1). What is wrong is replaced by its default, so that later checks still see the rest; the loader
uses the result only when nothing was noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from itertools import islice
from typing import Final

import msgspec

from gridagent.config.annotations import FieldInfo, TypeInfo, fields_of, read_type
from gridagent.config.document import BadNumber, GivenText, Node, Problems, parse, safe_key, shape
from gridagent.config.fields import KIND_CHECKS
from gridagent.config.secrets import EndpointUrl, endpoint_problem
from gridagent.config.wording import advice, as_json, choices, expectation, nearest, plain, text_problem, uuid_problem
from gridagent.errors import LimitExceeded

__all__ = ("Builder",)


class _Invalid(Enum):
    """Stands for a value that could not be made."""

    INVALID = "invalid"


INVALID: Final = _Invalid.INVALID


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
            return self._wrong(node, path, "must be an object {…}", as_json(node, '{"key": "value"}'))
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
            return self._wrong(node, path, "must be an object {…}", as_json(node, '{"key": "value"}'))
        key_info, value_info = (read_type(arg) for arg in info.args)
        values: dict[object, object] = {}
        for key, child in node.value.items():
            built_key = self._leaf(Node(key, origin=child.origin), key_info, f"{path}.{safe_key(key)}")
            # A right key stands in the path as it is: two of them never share a path.
            here = f"{path}.{safe_key(key) if built_key is INVALID else key}"
            built = self.build(child, value_info, here)
            if built_key is not INVALID and built is not INVALID:
                values[built_key] = built
        kept = self._check_length(node, info, path)
        return dict(islice(values.items(), kept))

    def _list(self, node: Node, info: TypeInfo, path: str) -> object:
        if not isinstance(node.value, list):
            return self._wrong(node, path, "must be a list […]", as_json(node, '["one", "two"]'))
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
        problem = text_problem(text)
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
        if self._problems.is_crowded or not choices(info):
            return ""
        near = nearest(text, choices(info))
        return f"did you mean {near!r}?" if near else ""

    def _wrong(self, node: Node, path: str, what: str, mend: str, *, numbers: bool = False) -> _Invalid:
        self._problems.add(path, f"{what}{_set_by(node)}", mend, shape(node, numbers=numbers))
        return INVALID


def _set_by(node: Node) -> str:
    return f", set by {node.origin}" if node.origin else ""


def _converted(value: object, info: TypeInfo) -> object:
    try:
        built: object = msgspec.convert(value, info.constrained, strict=True)
    except msgspec.ValidationError:
        # msgspec's own words may quote the value; ours are made from the annotation.
        return INVALID
    return built
