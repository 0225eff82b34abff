"""Tests over arguments in a small closed vocabulary: too much, too long, these words, not one of these.

Owns the matchers; no regular expressions, so no text can make one slow. Compiled by
`gridagent.policy.policy`, run by the rules. Its invariant: doubt matches. Block lists compare loosely,
allow lists exactly, a missing value counts as empty text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from gridagent.actions import Action
from gridagent.authority import DenialCode
from gridagent.config.policy import Pattern, PatternVerdict
from gridagent.policy.decisions import Denied

__all__ = ("CompiledPattern", "fold")

Matcher: TypeAlias = Callable[[object], bool]

_INVISIBLE: Final = frozenset({"Cc", "Cf", "Mn"})


def fold(text: str) -> str:
    """Bring text into the form in which block lists compare.

    NFKC, case folding, and no control, format or combining characters; letters of other scripts that
    look alike stay apart, so a block list over free text is a fence and not a wall.
    """
    if text.isascii() and text.isprintable():
        return text.lower()  # nothing else would change
    plain = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize(
        "NFKC", "".join(c for c in plain if unicodedata.category(c) not in _INVISIBLE)
    ).casefold()


class CompiledPattern:
    """One pattern, ready to be run over actions of its kind."""

    __slots__ = ("_argument", "_matches", "ask", "denied")

    def __init__(self, name: str, pattern: Pattern) -> None:
        self._argument = pattern.argument
        self._matches = _matcher(pattern)
        rule = f"pattern.{name}"
        self.denied = Denied(code=DenialCode.PATTERN_DENIED, rule=rule)
        self.ask = rule if pattern.then is PatternVerdict.APPROVE else ""
        """Rule that asks for an approval; empty when the pattern denies."""

    def matches(self, action: Action) -> bool:
        """Tell whether the action's argument is what the pattern describes."""
        return self._matches(getattr(action, self._argument))


def _matcher(pattern: Pattern) -> Matcher:
    """Return the one matcher that is set.

    Raises:
        ValueError: none is set; a checked section never gets here.
    """
    if pattern.over is not None:
        return partial(_over, pattern.over)
    if pattern.under is not None:
        return partial(_under, pattern.under)
    if pattern.longer_than is not None:
        return partial(_longer_than, pattern.longer_than)
    if pattern.contains is not None:
        return partial(_contains, tuple(fold(part) for part in pattern.contains))
    if pattern.any_of is not None:
        return partial(_any_of, frozenset(fold(text) for text in pattern.any_of))
    if pattern.none_of is not None:
        return partial(_none_of, frozenset(pattern.none_of))
    raise ValueError("a pattern needs one matcher")


def _over(limit: float, value: object) -> bool:
    return isinstance(value, int | float) and value > limit


def _under(limit: float, value: object) -> bool:
    return isinstance(value, int | float) and value < limit


def _longer_than(size: int, value: object) -> bool:
    return any(len(text.encode()) > size for text in _texts(value))


def _contains(parts: tuple[str, ...], value: object) -> bool:
    for text in _texts(value):
        folded = fold(text)
        for part in parts:
            if part in folded:
                return True
    return False


def _any_of(blocked: frozenset[str], value: object) -> bool:
    return any(fold(text) in blocked for text in _texts(value))


def _none_of(allowed: frozenset[str], value: object) -> bool:
    return any(text not in allowed for text in _texts(value))


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ("",)
    if isinstance(value, tuple):
        return value
    return (str(value),)
