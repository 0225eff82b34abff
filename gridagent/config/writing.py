"""A configuration file as it is written for somebody: values by dotted path, with a comment above those that need one.

Owns the text and the check of values before there is a file. Writes nothing and reads no file; knows no key. The
command ``init`` says which values and which comments.

Invariant: what `render` returns is read by the loader as the values given, whatever the texts in them hold.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from gridagent.config.load import parse_config
from gridagent.errors import ConfigError, ConfigProblem

__all__ = ("Settings", "nested", "problems_of", "render")

Settings: TypeAlias = Mapping[str, object]
"""Plain JSON values by dotted path, such as ``{"log.level": "debug"}``; no key of theirs holds a dot."""

_INDENT: Final = "  "
_WIDTH: Final = 100


def nested(settings: Settings) -> dict[str, object]:
    """Return settings as the objects that a file has, in their order."""
    tree: dict[str, object] = {}
    for path, value in settings.items():
        *sections, key = path.split(".")
        here = tree
        for name in sections:
            inner = here.setdefault(name, {})
            assert isinstance(inner, dict)  # noqa: S101 - a path never goes on below a value
            here = inner
        here[key] = value
    return tree


def problems_of(settings: Settings, *, base: Path) -> tuple[ConfigProblem, ...]:
    """List what the loader finds wrong with settings; secret files are not opened.

    Args:
        settings: as they would stand in a file.
        base: directory of that file.
    """
    try:
        parse_config(json.dumps(nested(settings)).encode(), base=base)
    except ConfigError as error:
        return error.problems
    return ()


def render(settings: Settings, remarks: Mapping[str, str]) -> bytes:
    """Return the text of a configuration file.

    Args:
        settings: what stands in it.
        remarks: comments by dotted path of a section or key; the empty path is the head of the file. A line that
            begins with a blank is taken as it is, every other one is wrapped.
    """
    lines = [*_remark(remarks.get("", ""), ""), *_object(nested(settings), "", remarks, _INDENT)]
    return ("\n".join(lines) + "\n").encode()


def _object(tree: Mapping[str, object], path: str, remarks: Mapping[str, str], indent: str) -> Iterator[str]:
    yield "{"
    for number, (key, value) in enumerate(tree.items(), start=1):
        here = f"{path}.{key}" if path else key
        yield from _remark(remarks.get(here, ""), indent)
        comma = "," if number < len(tree) else ""
        if isinstance(value, dict) and value:
            head, *inner, end = _object(value, here, remarks, indent + _INDENT)
            yield f"{indent}{json.dumps(key)}: {head}"
            yield from inner
            yield f"{indent}{end}{comma}"
        else:
            yield f"{indent}{json.dumps(key)}: {_value(value)}{comma}"
    yield "}"


def _value(value: object) -> str:
    """Write a value so that a person reads it: letters as they are, but nothing that cannot be seen."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _remark(text: str, indent: str) -> Iterator[str]:
    for paragraph in text.splitlines():
        lines = [paragraph] if paragraph.startswith(" ") else textwrap.wrap(paragraph, _WIDTH - len(indent) - 3)
        yield from (f"{indent}// {line}".rstrip() for line in lines or [""])
