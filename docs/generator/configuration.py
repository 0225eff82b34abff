"""The page of configuration keys, read off the model."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from msgspec import inspect

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, is_there, load, summary
from docs.generator.types import default_words, type_words

__all__ = ("configuration",)

INTRO = """Every key with its default and its bounds. `config.example.json` is this page as a file. An environment
variable named `GRIDAGENT_` and the key's path in capitals, levels joined by two underscores, wins over the file:
`GRIDAGENT_QUEUES__GRID_EVENTS=512`. `gridagent check-config FILE` lists everything wrong with a file at once."""


def _bare(given: inspect.Type) -> inspect.Type:
    while isinstance(given, inspect.Metadata):
        given = given.type
    return given


def _enums(given: inspect.Type) -> Iterator[type[enum.Enum]]:
    given = _bare(given)
    match given:
        case inspect.EnumType():
            yield given.cls
        case inspect.UnionType():
            for each in given.types:
                yield from _enums(each)
        case inspect.VarTupleType() | inspect.ListType():
            yield from _enums(given.item_type)
        case inspect.DictType():
            yield from _enums(given.key_type)
            yield from _enums(given.value_type)
        case inspect.StructType():
            for field in given.fields:
                yield from _enums(field.type)


class _Sections:
    """Walks the model once, each struct class at the first path it is met."""

    def __init__(self) -> None:
        self.seen: dict[type, str] = {}
        self.parts: list[str] = []

    def walk(self, given: inspect.StructType, path: str) -> None:
        """Write the section of one struct, then those of the structs in it."""
        text = class_text(given.cls)
        rows, below = [], list[tuple[inspect.StructType, str]]()
        for field in given.fields:
            here = f"{path}.{field.encode_name}" if path else field.encode_name
            inner = self._inner(field.type, here)
            if inner is not None and inner[0].cls in self.seen:
                rows.append(
                    [
                        code(here),
                        f"as `{self.seen[inner[0].cls]}`",
                        default_words(field),
                        prose(text.fields[field.name]),
                    ]
                )
                continue
            if inner is not None:
                below.append(inner)
                self.seen[inner[0].cls] = inner[1]
                rows.append([code(here), "see below", "", prose(text.fields[field.name])])
                continue
            rows.append([code(here), type_words(field.type), default_words(field), prose(text.fields[field.name])])
        head = f"## `{path}`\n\n{prose(summary(text.doc))}" if path else f"## Sections\n\n{prose(summary(text.doc))}"
        self.parts.append(f"{head}\n\n{table(['key', 'takes', 'default', 'what it does'], rows)}")
        for struct, where in below:
            self.walk(struct, where)

    def _inner(self, given: inspect.Type, path: str) -> tuple[inspect.StructType, str] | None:
        """Find the struct a key holds, looking into options, lists and objects."""
        given = _bare(given)
        match given:
            case inspect.StructType():
                return given, path
            case inspect.UnionType():
                found = [inner for each in given.types if (inner := self._inner(each, path)) is not None]
                return found[0] if found else None
            case inspect.DictType():
                return self._inner(given.value_type, f"{path}.NAME")
            case inspect.VarTupleType() | inspect.ListType():
                return self._inner(given.item_type, f"{path}[]")
        return None


def configuration() -> str | None:
    """Write the page; None while the room is not there."""
    if not is_there("gridagent.config.model"):
        return None
    root = inspect.type_info(load("gridagent.config.model").Config)
    assert isinstance(root, inspect.StructType)
    sections = _Sections()
    sections.walk(root, "")
    words = []
    for cls in sorted(set(_enums(root)), key=lambda each: each.__name__):
        text = class_text(cls)
        rows = [[code(str(member.value)), prose(text.fields.get(member.name, ""))] for member in cls]
        words.append(f"### {cls.__name__}\n\n{prose(summary(text.doc))}\n\n{table(['word', 'meaning'], rows)}")
    return page("Configuration keys", INTRO, [*sections.parts, "## Words", *words])
