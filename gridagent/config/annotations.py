"""The model's annotations taken apart: what a key holds, within which bounds, and whether null is allowed.

Owns the reading of types, once for each that the model uses; knows no value. The builder walks by it, and so may
whoever generates documents from the model. What the model may use is what stands here: sections, maps, tuples,
numbers, texts, choices, and ``X | None``.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Final, NewType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from gridagent.ids import UUID_PATTERN

__all__ = ("FieldInfo", "TypeInfo", "fields_of", "read_type")

_MODEL_MAX: Final = 1_024
"""Annotations and sections that are remembered; the model uses a tenth of it."""


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


@lru_cache(_MODEL_MAX)
def read_type(hint: object) -> TypeInfo:
    """Take an annotation apart (once for each that the model uses)."""
    return TypeInfo(hint)


@lru_cache(_MODEL_MAX)
def fields_of(struct: type[msgspec.Struct]) -> dict[str, FieldInfo]:
    """Return a section's keys (once for each section of the model)."""
    hints = get_type_hints(struct, include_extras=True)
    return {
        field.encode_name: FieldInfo(field.name, read_type(hints[field.name]), field)
        for field in msgspec.structs.fields(struct)
    }
