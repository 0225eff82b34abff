"""Who an avatar is: its names, its style and the few lines it says by itself (Spec: PRS-6).

Owns the persona file: Markdown with front matter between two ``---`` lines. The front matter is a small
strict subset (``key: value``, and ``key:`` followed by ``- item`` lines); the body is the style, as the
model reads it. May not read files: the composition root reads a `persona_file` through `config.files` and
gives the bytes here, at the start and whenever the configuration is reloaded. A persona is the operator's
own text, so it may stand in the system prompt; nothing heard in the world ever becomes part of one.

Invariant: the same bytes give the same persona, and its ``digest`` tells it from every other.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterable
from importlib import resources
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.errors import ConfigError, ConfigProblem
from gridagent.limits import PERSONA_FILE_MAX_BYTES, Bounded, Label, Name, ShortText
from gridagent.presence.address import words_of

__all__ = ("Persona", "built_in_persona", "built_in_personas", "names_of", "parse_persona")

_FENCE: Final = "---"
_SUFFIX: Final = ".md"
_ALIASES_MAX: Final = 16
_LINES_MAX: Final = 16
_KNOWLEDGE_MAX: Final = 64
_NAME_MAX: Final = 128
_LINE_MAX: Final = 256
_KNOWN_MAX: Final = 512
_LANGUAGE_MAX: Final = 64
_SAID_MAX: Final = 32

_FALLBACK_LINES: Final = ("Sorry, I lost my thread. Could you say that again?",)
_TIRED_LINE: Final = "I have talked a lot today and need a rest. Let us go on another time."
_DISCLOSURE: Final = "By the way, I am a bot. A program speaks for me, not a person."

Known: TypeAlias = Annotated[str, Meta(max_length=_KNOWN_MAX)]
Style: TypeAlias = Annotated[str, Meta(max_length=PERSONA_FILE_MAX_BYTES, extra={"max_bytes": PERSONA_FILE_MAX_BYTES})]


class Persona(Bounded, frozen=True, kw_only=True):
    """Who an avatar is; made by `parse_persona`."""

    style: Style
    """The body of the file: who it is and how it speaks, for the model."""
    name: Name = ""
    """What it calls itself; empty means the name of its account."""
    aliases: Annotated[tuple[Name, ...], Meta(max_length=_ALIASES_MAX)] = ()
    """What people may call it besides, so that it knows it is being spoken to."""
    language: Label = ""
    """The language it answers in, in words for the model; empty leaves that to the style."""
    knowledge: Annotated[tuple[Known, ...], Meta(max_length=_KNOWLEDGE_MAX)] = ()
    """What it knows from its operator, a sentence each."""
    fallback_lines: Annotated[tuple[ShortText, ...], Meta(max_length=_LINES_MAX)] = _FALLBACK_LINES
    """What it says when its thinking failed (Spec: MND-3); none at all means that it says nothing then."""
    tired_line: ShortText = _TIRED_LINE
    """What it says when its budget of tokens or money is spent (Spec: MND-12); empty means nothing."""
    disclosure: ShortText = _DISCLOSURE
    """What it says of being a bot where it is set to say so (Spec: PRS-5)."""
    digest: Label = ""
    """SHA-256 of the file: tells what an earlier persona said from what this one did."""


def parse_persona(data: bytes, *, source: str = "persona file") -> Persona:
    """Read a persona file.

    Args:
        data: the file's content, UTF-8.
        source: how the file is called in an error.

    Raises:
        ConfigError: it cannot be used; lists every problem at once, each with its line.
    """
    problems: list[ConfigProblem] = []
    fields: dict[str, _Given] = {}
    body: list[str] = []
    text = _decoded(data, problems)
    if text is not None:
        front, body, first = _parted(text, problems)
        fields = _front_matter(front, problems)
        _check_body(body, first, problems)
    values = {key: _FIELDS[key](given, key, problems) for key, given in fields.items()}
    if problems:
        raise ConfigError(tuple(problems), source=source)
    return Persona(style="\n".join(body).strip(), digest=hashlib.sha256(data).hexdigest(), **values)  # type: ignore[arg-type]


def built_in_personas() -> tuple[str, ...]:
    """Return the names of the personas that come with the package, in alphabetical order."""
    names = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def built_in_persona(name: str, *, where: str = "persona") -> Persona:
    """Return a persona that comes with the package.

    Args:
        name: as the configuration gives it.
        where: configuration path named in an error.

    Raises:
        ConfigError: none is called that.
    """
    known = built_in_personas()
    if name not in known:
        mend = f"choose one of {', '.join(known)}, or give a file with persona_file"
        raise ConfigError((ConfigProblem(path=where, what="is no built-in persona", shape="", mend=mend),))
    return parse_persona((_folder() / f"{name}{_SUFFIX}").read_bytes(), source=f"built-in persona {name}")


def names_of(persona: Persona, *, first_name: str, last_name: str, aliases: Iterable[str] = ()) -> tuple[str, ...]:
    """Return everything an avatar answers to, each name once.

    Args:
        persona: brings its name and aliases.
        first_name: of the account; enough to be called by.
        last_name: of the account.
        aliases: from the configuration.
    """
    names = (first_name, f"{first_name} {last_name}", persona.name, *persona.aliases, *aliases)
    return tuple(dict.fromkeys(name for name in names if name))


def _folder() -> Traversable:
    return resources.files("gridagent.presence") / "personas"


# --- from bytes to lines ------------------------------------------------------------------------


def _decoded(data: bytes, problems: list[ConfigProblem]) -> str | None:
    if len(data) > PERSONA_FILE_MAX_BYTES:
        _note(problems, "the file", f"is larger than {PERSONA_FILE_MAX_BYTES} bytes", "shorten it")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _note(problems, f"line {line}", "is not UTF-8", "save the file as UTF-8")
        return None
    return text.replace("\r\n", "\n")


def _parted(text: str, problems: list[ConfigProblem]) -> tuple[list[str], list[str], int]:
    """Part a text into the lines of its front matter, those of its body, and the number of the body's first."""
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} and char != "\t" for char in line):
            _note(problems, f"line {number}", "holds a control character", "remove it")
    if lines[0].rstrip() != _FENCE:
        return [], lines, 1
    for index in range(1, len(lines)):
        if lines[index].rstrip() == _FENCE:
            return lines[1:index], lines[index + 1 :], index + 2
    _note(problems, "line 1", "begins front matter that never ends", "close it with a line that says ---")
    return [], [], 1


def _check_body(body: list[str], first: int, problems: list[ConfigProblem]) -> None:
    if not problems and not any(line.strip() for line in body):
        _note(problems, f"line {first}", "begins no body", "write below the front matter who the avatar is")


# --- front matter -------------------------------------------------------------------------------


class _Given:
    """What the file says of one key: a value, or a list of items, each with its line."""

    __slots__ = ("is_list", "items", "line")

    def __init__(self, line: int, value: str) -> None:
        self.line = line
        self.is_list = not value
        self.items: list[tuple[int, str]] = [(line, value)] if value else []


def _front_matter(lines: list[str], problems: list[ConfigProblem]) -> dict[str, _Given]:
    fields: dict[str, _Given] = {}
    last: _Given | None = None
    for number, raw in enumerate(lines, start=2):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("- ") or line == "-":
            if last is None or not last.is_list:
                _note(problems, f"line {number}", "is an item of no list", "put it below a line such as aliases:")
            else:
                last.items.append((number, _unquoted(line[1:].strip())))
            continue
        key, colon, value = line.partition(":")
        key = key.strip()
        last = _Given(number, _unquoted(value.strip()))
        if not colon or key not in _FIELDS:
            what = "is not a known key" if colon else "is neither 'key: value' nor '- item'"
            _note(problems, f"line {number}", what, f"use one of: {', '.join(_FIELDS)}")
        elif key in fields:
            _note(problems, f"line {number}", f"gives {key} a second time", "keep one of them")
        else:
            fields[key] = last
    return fields


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1].strip() if quoted else value


_Reader: TypeAlias = Callable[[_Given, str, list[ConfigProblem]], object]


def _one(most: int, *, is_name: bool = False) -> _Reader:
    def read(given: _Given, key: str, problems: list[ConfigProblem]) -> str:
        if given.is_list and given.items:
            _note(problems, f"line {given.line}", f"gives {key} a list", f"write it as {key}: value")
            return ""
        for line, text in given.items:
            _check_item(line, text, most, is_name, problems)
        return given.items[0][1] if given.items else ""

    return read


def _many(most_items: int, most: int, *, is_name: bool = False) -> _Reader:
    def read(given: _Given, key: str, problems: list[ConfigProblem]) -> tuple[str, ...]:
        if not given.is_list:
            _note(problems, f"line {given.line}", f"gives {key} a single value", "put each item on a line: - item")
        if len(given.items) > most_items:
            _note(problems, f"line {given.line}", f"gives more than {most_items} {key}", "remove some")
        for line, text in given.items[:most_items]:
            _check_item(line, text, most, is_name, problems)
        return tuple(text for _, text in given.items)

    return read


def _check_item(line: int, text: str, most: int, is_name: bool, problems: list[ConfigProblem]) -> None:  # noqa: FBT001 - one caller's own switch
    if not text:
        _note(problems, f"line {line}", "is an empty item", "write something or remove it")
    elif len(text) > most:
        _note(problems, f"line {line}", f"is longer than {most} characters", "shorten it")
    elif is_name and not words_of(text):
        _note(problems, f"line {line}", "is a name without a letter or digit", "write a name people can say")


_FIELDS: Final = MappingProxyType(
    {
        "name": _one(_NAME_MAX, is_name=True),
        "aliases": _many(_ALIASES_MAX, _NAME_MAX, is_name=True),
        "language": _one(_LANGUAGE_MAX),
        "knowledge": _many(_KNOWLEDGE_MAX, _KNOWN_MAX),
        "fallback_lines": _many(_LINES_MAX, _LINE_MAX),
        "tired_line": _one(_LINE_MAX),
        "disclosure": _one(_LINE_MAX),
    }
)
"""How each key of the front matter is read."""


def _note(problems: list[ConfigProblem], where: str, what: str, mend: str) -> None:
    """Note a problem; of very many, only the first ones."""
    if len(problems) < _SAID_MAX:
        problems.append(ConfigProblem(path=where, what=what, shape="", mend=mend))
