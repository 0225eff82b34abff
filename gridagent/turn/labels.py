"""Who said what, as a model is shown it: one label in front of each text, which nothing in it can fake.

Owns the form of the label, ``Name [id, role]: words``, and making names and texts fit to stand in it: on one line,
without characters that cannot be seen, without square brackets or what looks like them, and without what a chat
template would take for its own. Pure.

Invariant: of every labelled line, the first and only square brackets are the label's, and what stands in them is
ours: part of a UUID and a role (Spec: MND-4, Fault: 14, 15, 16, 17).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from gridagent.authority import TextSource
from gridagent.ids import is_canonical_uuid

__all__ = ("heard_text", "label", "labelled", "shown_name", "sound")

NAME_MAX_CHARS: Final = 64
ID_CHARS: Final = 8
_MARKS_MAX: Final = 4
_KNOWN_MAX: Final = 8_192
_NOBODY: Final = "somebody"

_SPACES: Final = re.compile(r"\s+")
_TAG: Final = re.compile(r"<(?=[/|!?A-Za-z_])|(?<=[|/?A-Za-z_\"'])>")
_M: Final = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_MARKS: Final = re.compile(f"({_M}{{{_MARKS_MAX}}}){_M}+")
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*+")
_IN_NAMES: Final = frozenset(" .'-_")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
_BREAKS: Final = frozenset("\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029")
_ROUND: Final = frozenset("(){}")
_BRACKET_PIECES: Final = frozenset("⎡⎢⎣⎤⎥⎦⎴⎵⎶⦋⦌⦍⦎⦏⦐")
_COLON_LETTERS: Final = frozenset("ːˑ\ua789\u02f8")


class _Kept(dict[int, str]):
    """What each character of a heard text becomes; learnt as they come, and forgotten when there are many."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _KNOWN_MAX:
            self.clear()
        kept = self[code] = _kept(chr(code))
        return kept


class _KeptInNames(dict[int, str]):
    """Likewise for names."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _KNOWN_MAX:
            self.clear()
        kept = self[code] = _kept_in_name(chr(code))
        return kept


def _kept(character: str) -> str:
    if character in _BREAKS:
        return " "
    category = unicodedata.category(character)
    if category in _UNSEEN:
        return ""
    if character in _ROUND:
        return character
    if category in {"Ps", "Pe"} or character in _BRACKET_PIECES:
        return "(" if category == "Ps" else ")"
    if category == "Zs":
        return " "
    folded = unicodedata.normalize("NFKC", character)
    return character if "[" not in folded and "]" not in folded else ""


def _kept_in_name(character: str) -> str:
    if character in _IN_NAMES:
        return character
    if character in _COLON_LETTERS or unicodedata.category(character)[0] not in "LMN":
        return " " if unicodedata.category(character)[0] in "ZPS" or character in _BREAKS else ""
    folded = unicodedata.normalize("NFKC", character)
    seen = (unicodedata.category(each)[0] in "LMN" or each in _IN_NAMES for each in folded)
    return character if all(seen) else ""


_KEPT: Final = _Kept()
_KEPT_IN_NAMES: Final = _KeptInNames()


def heard_text(text: str) -> str:
    """Return a text as it may stand behind a label: one line, nothing unseen, no square bracket, no template tag."""
    if text.isascii() and text.isprintable() and "[" not in text and "]" not in text and "<" not in text:
        return text
    kept = _MARKS.sub(r"\1", text.translate(_KEPT))
    return _TAG.sub(lambda found: "\u2039" if found[0] == "<" else "\u203a", kept).strip()


def shown_name(name: str) -> str:
    """Return a name as it may stand in a label: letters, digits and little else; never empty."""
    if len(name) <= NAME_MAX_CHARS and _PLAIN_NAME.fullmatch(name):
        return name
    kept = name.translate(_KEPT_IN_NAMES)
    return _MARKS.sub(r"\1", _SPACES.sub(" ", kept))[:NAME_MAX_CHARS].strip() or _NOBODY


def label(who: str, avatar_id: str | None, source: TextSource) -> str:
    """Return the label of whoever said something; the name is display text, the id tells people apart."""
    known = avatar_id is not None and is_canonical_uuid(avatar_id)
    shown = f"{avatar_id[:ID_CHARS]}, {source.value}" if known and avatar_id else source.value
    return f"{shown_name(who)} [{shown}]"


def labelled(who: str, avatar_id: str | None, source: TextSource, text: str) -> str:
    """Return what was said behind its label."""
    return f"{label(who, avatar_id, source)}: {heard_text(text)}"


def sound(text: str) -> str:
    """Return a text that can be written as UTF-8, whatever half characters stood in it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
