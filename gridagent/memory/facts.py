"""Facts: what is kept for later conversations, where it came from, and which conversations may read it.

Owns the shape of a fact and the rules for keeping one. A turn makes facts out of a model's `remember` calls, storage
keeps and finds them; nothing here searches or writes. Pure; imports L0 only, so a conversation is known by the text
of its key (`gridagent.conversation.keys`).

Invariants (Spec: MEM-4, MEM-7): a fact learnt in a private conversation carries that one's scope, and no reader but
that very conversation sees it; a fact keeps the label and the taint of whoever it came from, however often it is
told again.
"""

from __future__ import annotations

import hashlib
import unicodedata
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.authority import TextSource
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import Bounded, Label, Name

__all__ = ("FACT_MAX_CHARACTERS", "PUBLIC", "Fact", "FactKept", "NotKept", "Reader", "learn")

PUBLIC: Final = "public"
"""Scope of what was learnt where everybody could listen; the scope of no conversation."""
FACT_MAX_CHARACTERS: Final = 512
Scope: TypeAlias = Annotated[str, Meta(min_length=1, max_length=128)]
_TRUSTED: Final = frozenset({TextSource.OWNER, TextSource.AUTHORISED})
_ID_CHARACTERS: Final = 40


class Reader(Bounded, frozen=True, kw_only=True):
    """The conversation that reads or learns; see `gridagent.conversation.keys.PersonKey.scope` and ``private``."""

    scope: Scope
    private: bool

    @property
    def learns_into(self) -> str:
        """The scope of what is learnt here."""
        return self.scope if self.private else PUBLIC

    @property
    def sees(self) -> tuple[str, ...]:
        """Every scope that may be read here: what is public, and what was learnt in this very conversation."""
        return (PUBLIC, self.scope) if self.private else (PUBLIC,)


class Fact(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing remembered."""

    fact_id: Label
    """The same for the same words about the same avatar in the same scope, so that nothing is kept twice."""
    text: Annotated[str, Meta(min_length=1, max_length=FACT_MAX_CHARACTERS)]
    """One line."""
    scope: Scope
    source: TextSource
    told_by: AvatarId | None = None
    """Who said it; None of what a client of a front said."""
    about: AvatarId | None = None
    region: Name = ""
    """Where it was learnt."""
    at: float
    """Wall clock, in seconds."""
    tainted: bool

    def seen_by(self, reader: Reader) -> bool:
        """Tell whether a conversation may read it."""
        return self.scope in reader.sees

    def concerns(self, person: AvatarId) -> bool:
        """Tell whether it goes when a person is forgotten (Spec: MEM-5)."""
        return person in {self.told_by, self.about} or person in self.text or f":{person}@" in self.scope


class FactKept(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The change that storage writes down; applied unless the fact is known."""

    avatar: AvatarKey
    fact: Fact


class NotKept(StrEnum):
    """Why something is not remembered."""

    NOTHING = "nothing"
    """No visible character is in it."""
    NOT_A_PERSON = "not_a_person"
    """An object or script said it: such text may never cause anything, also not through memory."""
    TOO_LONG = "too_long"


def learn(
    text: str,
    *,
    reader: Reader,
    source: TextSource,
    told_by: AvatarId | None,
    about: AvatarId | None,
    tainted: bool,
    at: float,
    region: str = "",
) -> Fact | NotKept:
    """Make a fact of what somebody said, if it may be kept.

    Args:
        text: one sentence; line breaks and invisible marks become spaces.
        reader: the conversation it was said in; it decides who may read it later.
        source: label of whoever's words led to it.
        told_by: their UUID.
        about: whom it is about, where that is known.
        tainted: whether the turn was.
        at: wall clock, in seconds.
        region: where the avatar was.
    """
    if source is TextSource.OBJECT:
        return NotKept.NOT_A_PERSON
    if len(text) > 2 * FACT_MAX_CHARACTERS:
        return NotKept.TOO_LONG
    words = " ".join("".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text).split())
    if not words:
        return NotKept.NOTHING
    if len(words) > FACT_MAX_CHARACTERS:
        return NotKept.TOO_LONG
    scope = reader.learns_into
    return Fact(
        fact_id=_id_of(scope, about or "", words),
        text=words,
        scope=scope,
        source=source,
        told_by=told_by,
        about=about,
        region=region,
        at=at,
        tainted=tainted or source not in _TRUSTED,
    )


def _id_of(*parts: str) -> str:
    said = msgspec.json.encode([unicodedata.normalize("NFKC", each).casefold() for each in parts])
    return hashlib.sha256(said).hexdigest()[:_ID_CHARACTERS]
