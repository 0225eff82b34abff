"""What a conversation is made of: heard, said, looked up, and summed up.

Owns the four kinds of entry, each with where it came from and whether it is tainted. They are made by whoever
hears, answers or compacts, kept by `gridagent.conversation.store`, written down by storage, and turned into a
model's turns elsewhere. Pure; nothing here reads or writes.

Invariant: an entry never loses its label. What comes back from storage wears ``memory`` and is tainted, whoever
said it once (Spec: MND-4, MEM-3, POL-5).
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.authority import TextSource
from gridagent.ids import AvatarId
from gridagent.limits import KIB, MESSAGE_MAX_BYTES, Bounded, Label, LongText, Name

__all__ = (
    "ENTRIES_PER_SUMMARY_MAX",
    "FINDINGS_MAX",
    "SUMMARY_MAX_BYTES",
    "Entry",
    "Finding",
    "Heard",
    "Said",
    "Summary",
    "TextSource",
    "Used",
    "restored",
    "text_bytes",
)

FINDINGS_MAX: Final = 256
"""Results that one turn may leave as evidence: as many as it may make calls."""
FINDING_DATA_MAX_BYTES: Final = 32 * KIB
SUMMARY_MAX_BYTES: Final = 2 * KIB
ENTRIES_PER_SUMMARY_MAX: Final = 1_000_000
SaidText: TypeAlias = Annotated[str, Meta(max_length=256 * KIB, extra={"max_bytes": 256 * KIB})]
"""A reply of ours, before it is split for speech: at most what a model may answer."""
SummaryText: TypeAlias = Annotated[str, Meta(max_length=SUMMARY_MAX_BYTES, extra={"max_bytes": SUMMARY_MAX_BYTES})]


class _Entry(Bounded, frozen=True, kw_only=True, tag_field="entry", forbid_unknown_fields=True, array_like=True):
    """Base of everything a conversation holds; written down as a list, without names: a field is added at the end."""

    at: float
    """Wall clock, in seconds."""
    tainted: bool
    """It holds words of somebody who isn't authorised, or comes from such (Spec: POL-5)."""
    restored: bool = False
    """It was read back from storage: untrusted, and shown as text from memory whatever it once was."""


class Heard(_Entry, frozen=True, kw_only=True, tag="heard"):
    """Somebody said something."""

    who: Name
    """Display text, as the grid gave it; never identity."""
    avatar_id: AvatarId | None = None
    source: TextSource
    text: LongText
    utterance_id: Label = ""


class Said(_Entry, frozen=True, kw_only=True, tag="said"):
    """We answered."""

    text: SaidText
    persona: Label = ""
    """Digest of the persona that spoke; turns of an earlier one are left out of requests (Spec: MND-4)."""


class Finding(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True, array_like=True):
    """One result for the model that a turn may lean on later."""

    tool: Label
    arguments: Annotated[bytes, Meta(max_length=MESSAGE_MAX_BYTES)]
    """Canonical JSON."""
    data: Annotated[bytes, Meta(max_length=FINDING_DATA_MAX_BYTES)]
    subjects: Annotated[tuple[Label, ...], Meta(max_length=128)] = ()
    """UUIDs that it is about."""
    tainted: bool


class Used(_Entry, frozen=True, kw_only=True, tag="used"):
    """What one turn looked up; it belongs to the entry before it and never stands alone."""

    evidence: Annotated[tuple[Finding, ...], Meta(max_length=FINDINGS_MAX)]
    persona: Label = ""
    after: Annotated[int, Meta(ge=0)] = 0
    """Number of the entry it belongs to, once it is kept; without that one it is dropped."""

    def concerns(self, person: str) -> bool:
        """Tell whether anything of it is about somebody, by UUID."""
        raw = person.encode()
        return any(person in each.subjects or raw in each.data or raw in each.arguments for each in self.evidence)


class Summary(_Entry, frozen=True, kw_only=True, tag="summary"):
    """What older entries came to; smaller than they were."""

    text: SummaryText
    covers: Annotated[int, Meta(ge=1, le=ENTRIES_PER_SUMMARY_MAX)]
    """How many entries it stands for, those of summaries inside it included."""
    since: float
    """Wall clock of the first of them; ``at`` is that of the last."""
    sources: Annotated[tuple[TextSource, ...], Meta(max_length=len(TextSource))] = ()
    """Every label that went into it."""


Entry: TypeAlias = Heard | Said | Used | Summary


def text_bytes(entry: Entry) -> int:
    """Return how much of the text bound of BND-9 an entry takes, in bytes of UTF-8."""
    match entry:
        case Used():
            return sum(len(each.arguments) + len(each.data) for each in entry.evidence)
        case Heard():
            return _size(entry.text) + _size(entry.who)
        case _:
            return _size(entry.text)


def restored(entry: Entry) -> Entry:
    """Return an entry as it may be used once it was read back: labelled ``memory``, and tainted."""
    match entry:
        case Heard():
            return msgspec.structs.replace(entry, source=TextSource.MEMORY, tainted=True, restored=True)
        case Used():
            evidence = tuple(msgspec.structs.replace(each, tainted=True) for each in entry.evidence)
            return msgspec.structs.replace(entry, evidence=evidence, tainted=True, restored=True)
        case Summary():
            return msgspec.structs.replace(entry, sources=(TextSource.MEMORY,), tainted=True, restored=True)
        case _:
            return msgspec.structs.replace(entry, tainted=True, restored=True)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
