"""Tests over arguments in a small closed vocabulary: too much, too long, these words, not one of these.

Owns the matchers; no regular expressions, so no text can make one slow. Compiled by
`gridagent.policy.policy`, run by the rules. Its invariant: doubt matches. Block lists compare loosely,
allow lists exactly, a missing value counts as empty text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
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
        over = pattern.over
        return lambda value: isinstance(value, int | float) and value > over
    if pattern.under is not None:
        under = pattern.under
        return lambda value: isinstance(value, int | float) and value < under
    if pattern.longer_than is not None:
        longest = pattern.longer_than
        return lambda value: any(len(text.encode()) > longest for text in _texts(value))
    if pattern.contains is not None:
        parts = tuple(fold(part) for part in pattern.contains)
        return lambda value: any(part in folded for folded in map(fold, _texts(value)) for part in parts)
    if pattern.any_of is not None:
        blocked = frozenset(fold(text) for text in pattern.any_of)
        return lambda value: any(fold(text) in blocked for text in _texts(value))
    if pattern.none_of is not None:
        allowed = frozenset(pattern.none_of)
        return lambda value: any(text not in allowed for text in _texts(value))
    raise ValueError("a pattern needs one matcher")


def _texts(value: object) -> tuple[str, ...]:
    if value is None:
        return ("",)
    if isinstance(value, tuple):
        return value
    return (str(value),)
