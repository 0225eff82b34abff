"""Claims about what a conversation is made of."""

import msgspec
import pytest

from gridagent.authority import TextSource
from gridagent.conversation import entries
from gridagent.conversation.entries import Entry, Finding, Heard, Said, Summary, Used, restored, text_bytes
from gridagent.errors import LimitExceeded
from gridagent.limits import CHAT_MAX_BYTES, MODEL_REPLY_MAX_BYTES
from gridagent.tools import arguments, envelope, evidence

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
FINDING = Finding(tool="look_around", arguments=b"{}", data=b'{"near":1}', subjects=(ANN,), tainted=False)
HEARD = Heard(at=1.0, tainted=False, who="Ann", avatar_id=ANN, source=TextSource.OWNER, text="come", utterance_id="u1")
SAID = Said(at=2.0, tainted=False, text="on my way", persona="p1")
USED = Used(at=3.0, tainted=False, evidence=(FINDING,))
SUMMARY = Summary(at=4.0, tainted=False, text="Ann: come", covers=2, since=1.0, sources=(TextSource.OWNER,))
ALL = (HEARD, SAID, USED, SUMMARY)


@pytest.mark.parametrize("entry", ALL, ids=lambda each: type(each).__name__)
def test_what_comes_back_from_storage_is_untrusted(entry):
    """Spec: MEM-3, MND-4 — restored text wears the label memory and taints, whoever said it once."""
    back = restored(entry)
    assert back.tainted
    assert back.restored
    assert not entry.restored
    assert restored(back) == back
    if isinstance(back, Heard):
        assert back.source is TextSource.MEMORY
    if isinstance(back, Summary):
        assert back.sources == (TextSource.MEMORY,)
    if isinstance(back, Used):
        assert all(each.tainted for each in back.evidence)


@pytest.mark.parametrize("entry", ALL, ids=lambda each: type(each).__name__)
def test_an_entry_survives_being_written_down(entry):
    """Each kind comes back as itself, with every label it had."""
    assert msgspec.json.decode(msgspec.json.encode(entry), type=Entry) == entry


def test_evidence_is_about_whoever_it_names():
    """Spec: MEM-5 — also beyond the subjects that were listed: in what was asked, and in what came back."""
    assert USED.concerns(ANN)
    assert not USED.concerns("0b0b0b0b-0000-4000-8000-000000000002")
    for field in ("arguments", "data"):
        unlisted = msgspec.structs.replace(FINDING, subjects=(), **{field: b'["' + ANN.encode() + b'"]'})
        assert msgspec.structs.replace(USED, evidence=(unlisted,)).concerns(ANN)


def test_the_text_that_counts_is_measured_in_bytes():
    """Spec: BND-9 — what is bounded is UTF-8, and evidence counts as well."""
    assert text_bytes(HEARD) == len("Ann") + len("come")
    assert text_bytes(msgspec.structs.replace(HEARD, text="\N{SNOWMAN}")) == len("Ann") + 3
    assert text_bytes(SAID) == len("on my way")
    assert text_bytes(USED) == len(b"{}") + len(b'{"near":1}')
    assert text_bytes(SUMMARY) == len("Ann: come")
    assert text_bytes(msgspec.structs.replace(SAID, text="\ud800")) == 3


def test_every_entry_is_bounded():
    """Spec: BND-9 — no kind of entry can be built over its ceiling."""
    with pytest.raises(LimitExceeded):
        msgspec.structs.replace(HEARD, text="x" * (64 * 1024 + 1))
    with pytest.raises(LimitExceeded):
        msgspec.structs.replace(SUMMARY, text="\N{SNOWMAN}" * 1_000)
    with pytest.raises(LimitExceeded):
        msgspec.structs.replace(USED, evidence=(FINDING,) * (entries.FINDINGS_MAX + 1))
    with pytest.raises(LimitExceeded):
        msgspec.structs.replace(SAID, text="x" * (MODEL_REPLY_MAX_BYTES + 1))


def test_there_is_room_for_whatever_the_world_and_the_tools_bring():
    """An utterance and a tool's evidence always fit into an entry."""
    assert Heard(at=0.0, tainted=True, who="A", source=TextSource.STRANGER, text="x" * CHAT_MAX_BYTES)
    largest = evidence.Evidence(
        tool="t" * 64,
        arguments=b"x" * arguments.ARGUMENTS_MAX_BYTES,
        data=b"x" * envelope.RESULT_MAX_BYTES,
        subjects=(ANN,) * evidence.SUBJECTS_MAX,
        tainted=True,
    )
    kept = Finding(**msgspec.structs.asdict(largest))
    assert msgspec.structs.asdict(kept) == msgspec.structs.asdict(largest)
