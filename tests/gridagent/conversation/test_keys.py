"""Claims about which conversation something belongs to."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.conversation.keys import Channel, ConversationKey, EmptyThread, PersonKey, ThreadKey, thread_key
from gridagent.errors import LimitExceeded
from gridagent.ids import NIL_UUID

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
BEN = "0b0b0b0b-0000-4000-8000-000000000002"

grids = st.text(max_size=64)
people = st.builds(
    PersonKey,
    avatar=st.sampled_from(("robin", "r2")),
    grid=grids,
    peer=st.sampled_from((ANN, BEN)),
    channel=st.sampled_from(Channel),
)
threads = st.builds(
    ThreadKey,
    avatar=st.sampled_from(("robin", "r2")),
    principal=st.text(min_size=1, max_size=64),
    thread=st.text(min_size=1, max_size=64),
)


def person(**changes):
    """Return a key of Ann on one grid, changed as told."""
    return PersonKey(**{"avatar": "robin", "grid": "osgrid", "peer": ANN, "channel": Channel.IM, **changes})


def test_a_key_reads_as_channel_and_person():
    """What requests and audit rows carry names the channel and the UUID."""
    assert person().text == f"im:{ANN}"
    assert person(channel=Channel.PUBLIC).text == f"public:{ANN}"
    assert person().scope == f"im:{ANN}@osgrid"


@given(st.lists(people | threads, max_size=12, unique=True))
def test_no_two_keys_of_an_avatar_share_a_scope(keys):
    """Spec: MEM-1 — avatar, grid, person and channel, or avatar, principal and thread, are all part of a key."""
    for one, other in itertools.combinations(keys, 2):
        assert (one.avatar, one.scope) != (other.avatar, other.scope)


@given(people | threads)
def test_a_key_survives_being_written_down(key):
    """A key that is stored comes back as the same key, and its texts fit where they are put."""
    raw = msgspec.json.encode(key)
    assert msgspec.json.decode(raw, type=ConversationKey) == key
    assert len(key.text) <= 64
    assert 1 <= len(key.scope) <= 128


def test_only_what_stands_between_two_is_private():
    """Spec: MEM-1 — an IM and a front's thread are private, public chat is not."""
    assert person().private
    assert not person(channel=Channel.PUBLIC).private
    assert ThreadKey(avatar="robin", principal="console", thread="t").private


@pytest.mark.parametrize("peer", [NIL_UUID, "", "Ann Resident", ANN.upper(), f"{ANN}\n", "*"])
def test_nobody_is_talked_to_by_name(peer):
    """Spec: MEM-1, POL-4 — a peer is a canonical UUID; names, wildcards and the nil one are refused."""
    with pytest.raises(ValueError, match="peer"):
        person(peer=peer)


def test_a_group_has_no_key():
    """Spec: MEM-1 — a group channel is not representable: no value of any field makes one."""
    assert {each.value for each in Channel} == {"public", "im"}
    for raw in (
        b'{"key":"group","avatar":"robin","grid":"g","group":"0a0a0a0a-0000-4000-8000-000000000001"}',
        b'{"key":"person","avatar":"robin","grid":"g","peer":"0a0a0a0a-0000-4000-8000-000000000001","channel":"group"}',
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(raw, type=ConversationKey)


@pytest.mark.parametrize("avatar", ["", "Robin", "rob in", "robin\n"])
def test_an_avatar_of_ours_is_named_by_its_key(avatar):
    """The first part of a key is the operator's own short name."""
    with pytest.raises(ValueError, match="avatar"):
        person(avatar=avatar)
    with pytest.raises(ValueError, match="avatar"):
        ThreadKey(avatar=avatar, principal="p", thread="t")


def test_a_missing_thread_is_minted_and_an_empty_one_refused():
    """Spec: MEM-1 — a client that names no thread begins a new one; one that names an empty one is told so."""
    minted, new = thread_key(avatar="robin", principal="desk", thread=None, mint=lambda: "fresh")
    assert (minted.thread, new) == ("fresh", True)
    named, new = thread_key(avatar="robin", principal="desk", thread="mine", mint=lambda: "fresh")
    assert (named.thread, new) == ("mine", False)
    with pytest.raises(EmptyThread, match="leave it out"):
        thread_key(avatar="robin", principal="desk", thread="", mint=lambda: "fresh")
    with pytest.raises(LimitExceeded):
        thread_key(avatar="robin", principal="desk", thread="x" * 65, mint=lambda: "fresh")


def test_a_client_can_name_no_thread_of_another_one():
    """Spec: MEM-1 — the principal is part of the key, and no choice of names makes two clients meet."""
    assert ThreadKey(avatar="robin", principal="a", thread="bc").scope != (
        ThreadKey(avatar="robin", principal="ab", thread="c").scope
    )
    assert ThreadKey(avatar="robin", principal="1:a", thread="b").scope != (
        ThreadKey(avatar="robin", principal="1", thread=":ab").scope
    )
    with pytest.raises(ValueError, match="principal"):
        ThreadKey(avatar="robin", principal="", thread="t")


def test_the_words_of_a_client_stay_out_of_the_short_text():
    """A thread's name may say anything; what goes into audit rows is a digest."""
    key = ThreadKey(avatar="robin", principal="ann@example.org", thread="secret plan")
    assert "secret" not in key.text
    assert "ann" not in key.text
