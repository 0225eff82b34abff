"""Presence: one decision through the whole chain, beside reading the same event from JSON.

The ratio says how many events could have been read for one decision: folding, twelve rules with people, phrases and
lists in them, and the loop guard's sketches. Budget: at most 50 µs a decision.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import msgspec

from gridagent.actions import Position
from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.events import AvatarView, ChatHeard, Speaker, SpeakerKind
from gridagent.presence.chain import PresenceChain
from gridagent.presence.protected import Protected
from gridagent.presence.speech import plan_speech

PEOPLE = 500
ROUNDS = 12
BUDGET_US = 50.0
HERE = Position(x=1.0, y=1.0)
WORDS = [first + second for first in "bdfgklmnprst" for second in ("aro", "elu", "imo", "ota", "uze")]


def person(number: int) -> str:
    """Return the UUID of somebody."""
    return f"00000000-0000-4000-8000-{number:012x}"


class Around:
    """A region of sixty-four people."""

    self_id = person(0)
    position = HERE

    def __init__(self) -> None:
        self.views = tuple(
            AvatarView(avatar_id=person(number), name=f"Some Body{number}", position=HERE, distance_m=number / 4)
            for number in range(1, 65)
        )

    def avatars(self):
        return self.views

    def objects(self):
        return ()


def utterances(prefix: str, words: int, marks: str = "") -> list[ChatHeard]:
    """Write one utterance of each person, none like another."""
    rng = Random(1)
    return [
        ChatHeard(
            utterance_id=f"u{number}",
            source=Speaker(kind=SpeakerKind.AVATAR, id=person(number), name=f"Some Body{number}"),
            text=prefix + " ".join(rng.sample(WORDS, words)) + marks,
            distance_m=5.0,
        )
        for number in range(1, PEOPLE + 1)
    ]


def opened() -> PresenceChain:
    """Open a chain with everything on that costs time."""
    section = PresenceSection(
        blocked_phrases=tuple(f"cheap {word}" for word in WORDS),
        muted=tuple(person(90_000 + number) for number in range(256)),
        ambient_probability=0.01,
        answers_per_minute=600,
    )
    return PresenceChain(section, ("Robin", "Robin Resident", "Red"), Protected((person(0),), section), Random(1))


def microseconds(events: list[ChatHeard]) -> float:
    """Return what one decision takes in the best round, people being known from the rounds before."""
    chain, around, best, now = opened(), Around(), float("inf"), 0.0
    for turn in range(ROUNDS):
        now += 300.0
        chain.replied(person(1), "so it is", Origin.PUBLIC_CHAT, now)
        told = [msgspec.structs.replace(event, utterance_id=f"{turn}-{event.utterance_id}") for event in events]
        began = time.process_time()
        for event in told:
            chain.judge(event, around, now, now)
        best = min(best, time.process_time() - began)
    return best / len(events) * 1e6


def decoding(events: list[ChatHeard]) -> float:
    """Return what reading one such event from JSON takes."""
    texts, decoder, best = (
        [msgspec.json.encode(event) for event in events],
        msgspec.json.Decoder(ChatHeard),
        float("inf"),
    )
    for _ in range(ROUNDS):
        began = time.process_time()
        for text in texts:
            decoder.decode(text)
        best = min(best, time.process_time() - began)
    return best / len(events) * 1e6


def figures() -> Iterator[dict[str, object]]:
    """Yield what a decision takes for words of several kinds, and what splitting a reply takes."""
    plain = decoding(utterances("Robin, ", 12))
    of = "reading it from JSON"
    kinds = {
        "presence decision": utterances("Robin, ", 12),
        "presence decision: overheard": utterances("", 12),
        "presence decision: not ASCII": utterances("Robin, ", 12, " - schöner Tag, nicht wahr? 😀"),
    }
    for name, events in kinds.items():
        took = microseconds(events)
        yield {"name": name, "value": took, "unit": "µs", "ratio": took / plain, "of": of, "goal": BUDGET_US}
    longest = [
        ChatHeard(utterance_id=event.utterance_id, source=event.source, text=("Robin, " + "wörd " * 200)[:850])
        for event in utterances("", 1)
    ]
    took = microseconds(longest)
    yield {
        "name": "presence decision: the longest",
        "value": took,
        "unit": "µs",
        "ratio": took / plain,
        "of": of,
        "goal": BUDGET_US,
        "note": "850 characters, not all of them ASCII",
    }
    section, reply = PresenceSection(), "A sentence of some length. " * 60
    began = time.process_time()
    for _ in range(500):
        plan_speech(reply, section)
    yield {"name": "speech plan of 1,600 characters", "value": (time.process_time() - began) / 500 * 1e6, "unit": "µs"}
    yield {"name": "presence: reading an event from JSON", "value": plain, "unit": "µs"}
