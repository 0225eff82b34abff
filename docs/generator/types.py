"""Types in a reader's words: what a field of a struct takes, its range and its default."""

from __future__ import annotations

import enum
from collections.abc import Callable

import msgspec
from msgspec import inspect

__all__ = ("default_words", "type_words")


def _number(kind: str, given: inspect.IntType | inspect.FloatType) -> str:
    low = f"≥ {given.ge:,}" if given.ge is not None else f"> {given.gt:,}" if given.gt is not None else ""
    high = f"≤ {given.le:,}" if given.le is not None else f"< {given.lt:,}" if given.lt is not None else ""
    return " ".join(filter(None, [kind, ", ".join(filter(None, [low, high]))]))


def _size(given: inspect.StrType | inspect.BytesType | inspect.CollectionType | inspect.DictType, unit: str) -> str:
    parts = [f"at least {given.min_length:,}"] if given.min_length else []
    parts += [f"at most {given.max_length:,}"] if given.max_length is not None else []
    return f", {' and '.join(parts)} {unit}" if parts else ""


def _text(given: inspect.StrType) -> str:
    return "UUID" if given.pattern and "[0-9a-f]{8}-" in given.pattern else "text" + _size(given, "characters")


def _list(given: inspect.VarTupleType) -> str:
    return f"list{_size(given, 'items')}, of {type_words(given.item_type)}"


def _object(given: inspect.DictType) -> str:
    return f"object{_size(given, 'keys')}, of {type_words(given.key_type)} → {type_words(given.value_type)}"


_WORDS: dict[type[inspect.Type], Callable[..., str]] = {
    inspect.BoolType: lambda _: "true or false",
    inspect.NoneType: lambda _: "null",
    inspect.IntType: lambda given: _number("whole number", given),
    inspect.FloatType: lambda given: _number("number", given),
    inspect.StrType: _text,
    inspect.BytesType: lambda given: "bytes" + _size(given, "bytes"),
    inspect.EnumType: lambda given: f"one of {given.cls.__name__}",
    inspect.UnionType: lambda given: " or ".join(type_words(each) for each in given.types),
    inspect.VarTupleType: _list,
    inspect.TupleType: lambda given: f"({', '.join(type_words(each) for each in given.item_types)})",
    inspect.DictType: _object,
    inspect.StructType: lambda given: given.cls.__name__,
    inspect.CustomType: lambda given: given.cls.__name__,
    inspect.LiteralType: lambda given: " or ".join(map(repr, given.values)),
}


def type_words(given: inspect.Type) -> str:
    """Say what a value may be; a description in the annotation is taken as it stands.

    Args:
        given: what `msgspec.inspect.type_info` says of it.
    """
    description, in_bytes = "", False
    while isinstance(given, inspect.Metadata):
        description = description or (given.extra_json_schema or {}).get("description", "")
        in_bytes = in_bytes or "max_bytes" in (given.extra or {})
        given = given.type
    words = description or _WORDS[type(given)](given)
    return words.replace("characters", "bytes of UTF-8") if in_bytes else words


def default_words(field: inspect.Field) -> str:
    """Say what is taken when the field is left out, as it would be written in JSON; ``required`` when nothing is."""
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    if isinstance(value, enum.Enum):
        value = value.value
    return f"`{msgspec.json.encode(value, order='deterministic').decode()}`"
