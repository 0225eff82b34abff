"""Saying nothing, on purpose.

Owns what counts as it: no words at all, the marker that the rules name, and the few ways in which models write that
they say nothing. Pure.

Invariant: a word that somebody might really say is never taken for silence: each way stands in brackets or is no
word at all (Spec: MND-10).
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ("says_nothing", "without_markers")

_WAYS: Final = (
    r"(?:stay(?:s|ing)?[ _-]|remain(?:s|ing)?[ _-]|keep(?:s|ing)?[ _-])?(?:silent|silence|quiet)"
    r"|(?:say(?:s|ing)?[ _-]nothing|no[ _-](?:reply|response|answer|comment)|nothing)"
)
_TAG: Final = re.compile(r"</?\s*(?:stay[ _-]?)?silen(?:t|ce)\s*/?>", re.IGNORECASE)
_WHOLE: Final = re.compile(
    rf"(?:[\[(*_<]{{1,3}}\s*(?:{_WAYS})\s*/?[.!]?\s*[\])*_>]{{1,3}}|NO_REPLY|STAY_SILENT)[.!]?", re.IGNORECASE
)
_NO_WORD: Final = re.compile("[\\s.\u2026\u00b7\\-\u2013\u2014_*\"'`\u00ab\u00bb\u201c\u201d\u201e\u2018\u2019]*")
_HEAD_MAX: Final = 64


def says_nothing(text: str) -> bool:
    """Tell whether a reply means that nothing is said."""
    bare = text.strip().strip("\"'`").strip()
    if _NO_WORD.fullmatch(bare):
        return True
    if len(bare) <= _HEAD_MAX and _WHOLE.fullmatch(bare):
        return True
    # Behind a marker in front come reasons, which are for nobody's ears.
    return _TAG.match(bare) is not None


def without_markers(text: str) -> str:
    """Return a reply without markers that stand in the middle or at the end of it."""
    return _TAG.sub(" ", text)
