"""What is remembered of a person, in the words of the control endpoint and of an export (Spec: MEM-5).

Owns the two forms, for a running and a stopped service alike; asks nobody and writes nothing. A row is for looking,
with long text cut; a line of an export has everything that storage has.

Invariant: what cannot be read is shown as such and not left out: an export hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from gridagent.conversation.changes import StoredEntry
from gridagent.conversation.entries import Entry, Heard, Said, Summary
from gridagent.conversation.keys import ConversationKey
from gridagent.fronts.control.words import HELD_SHOWN_MAX, HeldRow
from gridagent.ids import AvatarKey
from gridagent.limits import clip
from gridagent.memory.facts import Fact
from gridagent.storage.records import HeldAbout

__all__ = ("held_lines", "held_rows")

_TEXT_MAX: Final = 1_024
_entry: Final[msgspec.msgpack.Decoder[Entry]] = msgspec.msgpack.Decoder(Entry)
_key: Final[msgspec.json.Decoder[ConversationKey]] = msgspec.json.Decoder(ConversationKey)
_encode: Final = msgspec.json.Encoder().encode


def held_rows(avatar: AvatarKey, held: HeldAbout) -> tuple[HeldRow, ...]:
    """Return the newest of what is held, the oldest first."""
    rows = [_row(avatar, entry) for entry in held.entries]
    rows += [_row(avatar, entry, evidence=True) for entry in held.evidence]
    rows += [_fact_row(avatar, fact) for fact in held.facts]
    rows.sort(key=lambda row: row.at)
    return tuple(rows[-HELD_SHOWN_MAX:])


def held_lines(avatar: AvatarKey, held: HeldAbout) -> Iterator[bytes]:
    """Yield all that is held, one JSON object a line."""
    for kind, stored in (("entry", held.entries), ("evidence", held.evidence)):
        for entry in stored:
            yield _encode({"avatar": avatar, "held": kind, **_whole(entry)}) + b"\n"
    for fact in held.facts:
        yield _encode({"avatar": avatar, "held": "fact", **msgspec.structs.asdict(fact)}) + b"\n"


def _read(stored: StoredEntry) -> tuple[str, Entry | None]:
    """Return the text of an entry's key, and the entry; None where it cannot be read."""
    try:
        return _key.decode(stored.key).scope, _entry.decode(stored.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "", None


def _row(avatar: AvatarKey, stored: StoredEntry, *, evidence: bool = False) -> HeldRow:
    conversation, entry = _read(stored)
    if entry is None:
        words = f"entry {stored.number} cannot be read ({len(stored.body)} bytes)"
        return HeldRow(avatar=avatar, kind="unreadable", conversation="", at=0.0, source="", text=words, tainted=True)
    source, who = "", ""
    match entry:
        case Heard():
            source, who, text = entry.source.value, entry.who, entry.text
        case Said():
            source, text = "me", entry.text
        case Summary():
            source, text = ", ".join(each.value for each in entry.sources), entry.text
        case _:
            source, text = "tool", "; ".join(f"{each.tool} {_text(each.data)}" for each in entry.evidence)
    kind = "evidence" if evidence else str(type(entry).__struct_config__.tag)
    return HeldRow(
        avatar=avatar,
        kind=kind,
        conversation=clip(conversation, 256),
        at=entry.at,
        source=clip(source, 64),
        who=who,
        text=clip(text, _TEXT_MAX),
        tainted=entry.tainted,
    )


def _fact_row(avatar: AvatarKey, fact: Fact) -> HeldRow:
    return HeldRow(
        avatar=avatar,
        kind="fact",
        conversation=fact.scope,
        at=fact.at,
        source=fact.source.value,
        text=fact.text,
        tainted=fact.tainted,
    )


def _whole(stored: StoredEntry) -> dict[str, object]:
    conversation, entry = _read(stored)
    if entry is None:
        return {"number": stored.number, "unreadable": stored.body.hex()}
    fields: dict[str, object] = {
        "number": stored.number,
        "conversation": conversation,
        "kind": str(type(entry).__struct_config__.tag),
        **msgspec.structs.asdict(entry),
    }
    if "evidence" in fields and not isinstance(entry, Heard | Said | Summary):
        fields["evidence"] = [
            {
                **msgspec.structs.asdict(each),
                "arguments": _text(each.arguments),
                "data": _text(each.data),
            }
            for each in entry.evidence
        ]
    return fields


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
