"""Claims about one conversation in memory."""

import sys
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from gridagent.authority import TextSource
from gridagent.conversation.entries import Finding, Heard, Said, Used, text_bytes
from gridagent.conversation.held import Held
from gridagent.conversation.keys import Channel, PersonKey

KEY = PersonKey(avatar="robin", grid="g", peer="0a0a0a0a-0000-4000-8000-000000000001", channel=Channel.IM)
heard = st.builds(
    Heard,
    at=st.floats(0, 1e9),
    tainted=st.booleans(),
    who=st.text(max_size=10),
    source=st.sampled_from(TextSource),
    text=st.text(max_size=50),
)
said = st.builds(Said, at=st.floats(0, 1e9), tainted=st.booleans(), text=st.text(max_size=50))
used = st.builds(
    Used,
    at=st.floats(0, 1e9),
    tainted=st.booleans(),
    evidence=st.tuples(
        st.builds(Finding, tool=st.just("t"), arguments=st.binary(), data=st.binary(), tainted=st.just(True))
    ),
)


@given(st.lists(st.tuples(heard | said | used, st.booleans()), max_size=20), st.integers(0, 20))
def test_packing_changes_nothing_and_the_sums_hold(steps, drop):
    """Spec: BND-9 — whatever is packed in between, entries come back as they were and are counted rightly."""
    held = Held(KEY, 0.0)
    plain = []
    for number, (entry, pack) in enumerate(steps, 1):
        held.append(number, entry)
        plain.append((number, entry))
        if pack:
            held.pack()
            assert held.packed
    held.pack()
    held.pack()
    assert held.entries() == plain
    assert not held.packed
    held.replace_first(min(drop, len(plain)), plain[:1])
    plain[: min(drop, len(plain))] = plain[:1]
    assert held.drop_where(lambda each: isinstance(each, Used)) == sum(isinstance(each, Used) for _, each in plain)
    plain = [each for each in plain if not isinstance(each[1], Used)]
    assert held.entries() == plain
    assert (held.count, held.evidence) == (len(plain), 0)
    assert held.size == sum(text_bytes(each) for _, each in plain)


def test_an_idle_conversation_takes_less_than_four_kib_beside_its_text():
    """Spec: BND-9 — also where nothing in the text repeats itself and there are as many lines as there may be."""
    rng = Random(1)
    held = Held(KEY, 0.0)
    for number in range(128):
        text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,!?", k=80))
        entry = Heard(
            at=1e9 + rng.random() * 1e6,
            tainted=True,
            who="Ann Resident",
            avatar_id=KEY.peer,
            source=TextSource.STRANGER,
            text=text,
            utterance_id=f"{rng.randrange(1 << 62):x}",
        )
        held.append(number + 1, entry)
    held.pack()
    taken = sys.getsizeof(held._packed) + sys.getsizeof(held)
    assert taken < held.size + 4 * 1024
