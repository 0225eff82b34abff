"""Claims about what is remembered of a person, as it is shown and exported."""

from __future__ import annotations

import json

import msgspec

from gridagent.authority import TextSource
from gridagent.cli.held import held_lines, held_rows
from gridagent.conversation.changes import StoredEntry
from gridagent.conversation.entries import Finding, Heard, Said, Summary, Used
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.fronts.control.words import HELD_SHOWN_MAX
from gridagent.memory.facts import Fact
from gridagent.storage.records import HeldAbout

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
KEY = PersonKey(avatar="robin", grid="g", peer=ANN, channel=Channel.IM)
FINDING = Finding(tool="look_around", arguments=b"{}", data=b'{"near":"Ann"}', subjects=(ANN,), tainted=True)
ENTRIES = (
    Heard(at=1.0, tainted=True, who="Ann", source=TextSource.STRANGER, text="hello " + "x" * 2_000),
    Said(at=2.0, tainted=False, text="hello Ann"),
    Used(at=3.0, tainted=True, evidence=(FINDING,)),
    Summary(at=4.0, tainted=True, text="[stranger] Ann: hm", covers=2, since=1.0, sources=(TextSource.STRANGER,)),
)
FACT = Fact(fact_id="f", text="likes tea", scope=KEY.scope, source=TextSource.OWNER, told_by=ANN, at=2.5, tainted=False)


def stored(number, entry):
    """Return an entry as storage hands it back."""
    return StoredEntry(number=number, key=msgspec.json.encode(KEY), body=msgspec.msgpack.encode(entry))


HELD = HeldAbout(
    entries=tuple(stored(number, entry) for number, entry in enumerate(ENTRIES, 1)),
    evidence=(stored(9, ENTRIES[2]),),
    facts=(FACT,),
)


def test_each_kind_is_a_row_with_its_label():
    """Spec: MEM-5, MND-4 — in the order of time, with where it came from, long text cut."""
    rows = held_rows("robin", HELD)
    assert [(row.kind, row.source) for row in rows] == [
        ("heard", "stranger"),
        ("said", "me"),
        ("fact", "owner"),
        ("used", "tool"),
        ("evidence", "tool"),
        ("summary", "stranger"),
    ]
    assert {row.conversation for row in rows} == {KEY.scope}
    assert len(rows[0].text) == 1_024
    assert rows[3].text == 'look_around {"near":"Ann"}'


def test_only_the_newest_are_shown():
    """An export has all of them; a screen need not."""
    many = HeldAbout(
        entries=tuple(stored(n, msgspec.structs.replace(ENTRIES[1], at=float(n))) for n in range(1, 700)),
        evidence=(),
        facts=(),
    )
    rows = held_rows("robin", many)
    assert (len(rows), rows[-1].at) == (HELD_SHOWN_MAX, 699.0)


def test_an_export_has_everything_whole():
    """Spec: MEM-5 — one JSON object a line, nothing cut, evidence in words."""
    lines = [json.loads(line) for line in held_lines("robin", HELD)]
    assert [line["held"] for line in lines] == ["entry"] * 4 + ["evidence", "fact"]
    assert lines[0]["text"] == ENTRIES[0].text
    assert lines[2]["evidence"][0]["data"] == '{"near":"Ann"}'
    assert lines[5]["told_by"] == ANN
    assert all(line["avatar"] == "robin" for line in lines)


def test_what_cannot_be_read_is_not_hidden():
    """Spec: MEM-3, MEM-5 — a malformed row is held as well, so it is shown and exported as it is."""
    broken = HeldAbout(entries=(StoredEntry(number=7, key=b"{}", body=b"\x99"),), evidence=(), facts=())
    (row,) = held_rows("robin", broken)
    assert (row.kind, row.text, row.tainted) == ("unreadable", "entry 7 cannot be read (1 bytes)", True)
    assert json.loads(next(held_lines("robin", broken)))["unreadable"] == "99"
