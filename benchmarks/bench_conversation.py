"""Conversations: what an idle one takes in memory, how long the store may hold the loop, and what a line costs.

The store is filled to its ceiling of 64 MiB in 4,096 conversations, with words that do not compress better than speech
does. Memory is what the interpreter holds beside the text itself. A hold is the longest single verb or step: hearing
a line in a full store, and each step of `ConversationStore.tend` until there is room again.
Budgets: at most 4 KiB an idle conversation beside its text; no hold over 50 ms; 256 lines projected in 1 ms.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from random import Random

from gridagent.authority import TextSource
from gridagent.conversation.entries import Heard, Said, text_bytes
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.conversation.settings import ConversationSettings
from gridagent.conversation.store import ConversationStore
from gridagent.ids import AvatarId, AvatarKey

ROBIN = AvatarKey("robin")
MIB = 1024 * 1024
IDLE = 1_000
LINES = 40
WORDS = 20_000


class Speech:
    """Draws lines as people say them: short, of many words."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        self.words = ["".join(self.rng.choices(letters, k=self.rng.randrange(2, 10))) for _ in range(WORDS)]

    def text(self, size: int) -> str:
        """Return some words of about a size."""
        return " ".join(self.rng.choices(self.words, k=max(1, size // 7)))


def key(number: int) -> PersonKey:
    """Return the key of one of many people."""
    peer = AvatarId(f"0c0c0c0c-0000-4000-8000-{number:012x}")
    return PersonKey(avatar=ROBIN, grid="grid", peer=peer, channel=Channel.IM)


def line(speech: Speech, who: PersonKey, number: int, size: int) -> Heard:
    """Return one line of somebody."""
    utterance = f"{speech.rng.randrange(1 << 64):016x}-{number}"
    text = speech.text(size)
    return Heard(
        at=1.8e9 + number,
        tainted=True,
        who=f"Visitor {who.peer[-4:]}",
        avatar_id=who.peer,
        source=TextSource.STRANGER,
        text=text,
        utterance_id=utterance,
    )


def idle_memory() -> float:
    """Return the bytes beside its text that a conversation takes which nobody uses."""
    speech = Speech(1)
    drawn = [
        (key(number), line(speech, key(number), index, 80)) for number in range(IDLE + 256) for index in range(LINES)
    ]
    tracemalloc.start()
    store = ConversationStore(ROBIN)
    before = tracemalloc.get_traced_memory()[0]
    for number, (who, heard) in enumerate(drawn):
        copied = Heard(**{name: _copied(getattr(heard, name)) for name in heard.__struct_fields__})
        store.hear(PersonKey(**{f: getattr(who, f) for f in who.__struct_fields__}), copied, float(number))
        del copied
    # The last 256 are in use and not idle: what they take is measured on its own and taken away.
    total = tracemalloc.get_traced_memory()[0] - before
    ready = sum(_given_back(store, key(number)) for number in range(IDLE, IDLE + 256))
    tracemalloc.stop()
    text = sum(text_bytes(heard) for who, heard in drawn[: IDLE * LINES])
    return (total - ready - text) / IDLE


def _given_back(store: ConversationStore, who: PersonKey) -> int:
    """Return what dropping one conversation gives back."""
    before = tracemalloc.get_traced_memory()[0]
    store.forget(who.peer)
    return before - tracemalloc.get_traced_memory()[0]


def _copied(value: object) -> object:
    """Return a text of its own, as one that came from outside is."""
    return value[:1] + value[1:] if type(value) is str else value


def full_store() -> tuple[ConversationStore, float, float]:
    """Fill a store over its ceiling; return it with the longest and the middle hold of a line."""
    speech = Speech(2)
    store = ConversationStore(ROBIN)
    holds = []
    number = 0
    while store.size < 64 * MIB - 64 * 1024:
        who = key(number % 4_096)
        heard = line(speech, who, number, 2_000)
        number += 1
        began = time.process_time()
        store.hear(who, heard, float(number))
        holds.append(time.process_time() - began)
    for _ in range(2_000):  # at the ceiling every line has to make room
        who = key(speech.rng.randrange(4_096))
        heard = line(speech, who, number, 2_000)
        number += 1
        began = time.process_time()
        store.hear(who, heard, float(number))
        holds.append(time.process_time() - began)
    holds.sort()
    return store, holds[-1], holds[len(holds) // 2]


def steps(store: ConversationStore) -> tuple[int, float]:
    """Compact a full store step by step; return how many steps there were, and the longest."""
    longest, count = 0.0, 0
    while True:
        began = time.process_time()
        step = store.tend(1e6)
        longest = max(longest, time.process_time() - began)
        count += 1
        if not step.more:
            return count, longest


def large_step() -> float:
    """Return the longest step over conversations as large as one may be."""
    speech = Speech(3)
    settings = ConversationSettings(one_text_max_bytes=512 * 1024, one_entries_max=256)
    store = ConversationStore(ROBIN, settings)
    number = 0
    while store.size < 63 * MIB:
        who = key(number // 120)
        store.hear(who, line(speech, who, number, 4_000), float(number))
        number += 1
    return steps(store)[1]


def projection() -> float:
    """Return the seconds that 256 lines take, of a conversation in use."""
    speech = Speech(4)
    store = ConversationStore(ROBIN, ConversationSettings(one_entries_max=256))
    for number in range(256):
        who = key(1)
        if number % 2:
            store.say(who, Said(at=1.0, tainted=False, text=speech.text(80)), float(number))
        else:
            store.hear(who, line(speech, who, number, 80), float(number))
    times = []
    for _ in range(200):
        began = time.perf_counter()
        store.project(key(1), 300.0)
        times.append(time.perf_counter() - began)
    return min(times)


def figures() -> Iterator[dict[str, object]]:
    """Measure memory, holds and a projection."""
    yield {
        "name": "memory of an idle conversation",
        "value": idle_memory(),
        "unit": "bytes",
        "goal": 4_096,
        "note": f"beside the text of {LINES} lines; below zero where packing saves more than it takes",
    }
    store, longest, middle = full_store()
    yield {
        "name": "hearing a line",
        "value": middle * 1e6,
        "unit": "us",
        "note": "the middle one, while filling 64 MiB",
    }
    yield {"name": "longest hold of hearing", "value": longest * 1e3, "unit": "ms", "goal": 50}
    count, held = steps(store)
    yield {
        "name": "longest step of compacting",
        "value": held * 1e3,
        "unit": "ms",
        "goal": 50,
        "note": f"{count} steps",
    }
    yield {"name": "longest step, largest conversations", "value": large_step() * 1e3, "unit": "ms", "goal": 50}
    yield {"name": "projecting 256 entries", "value": projection() * 1e6, "unit": "us", "goal": 1_000}
