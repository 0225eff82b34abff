"""Claims about people who answer questions over IM."""

from __future__ import annotations

import random

from gridagent.actions import SendIm
from gridagent.events import ImReceived
from gridagent.grid.simulated.avatars import Account
from gridagent.grid.simulated.witness import Witness
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports
from gridagent.simulation.approvers import Approvers

AGENT, OWNER, OTHER = (AvatarId(f"00000000-0000-4000-8000-00000000000{n}") for n in (1, 2, 3))
NONCE = "4F7K-9QXM-2TBD"
QUESTION = SendIm(to=OWNER, text=f"Yes?\nallow {NONCE}\ndeny {NONCE}\nsaid: x")


def answers(question: SendIm, *, times: int = 200, people: tuple[AvatarId, ...] = (OWNER, OTHER)) -> list[ImReceived]:
    """Ask many times, and return every answer that came."""
    world = World(random.Random(0), simulated_ports(0).ids.uuid)
    world.add_region("Plaza", x_m=0, y_m=0)
    for avatar_id in (AGENT, OWNER, OTHER):
        world.add_avatar(Account(name=f"Avatar {avatar_id[-1]}", avatar_id=avatar_id))
    agent, _, _ = (Witness(world, avatar_id) for avatar_id in (AGENT, OWNER, OTHER))
    approvers = Approvers(world, random.Random(1), people)
    for _ in range(times):
        approvers.on_message(AGENT, question)
    agent.pass_time(500.0)
    return agent.saw(ImReceived)


def test_people_answer_rightly_wrongly_and_in_each_others_place() -> None:
    """Yes, no, the wrong nonce, a sentence, the right nonce from somebody else; fewer answers than questions twice.

    Spec: POL-7; Fault: 27.
    """
    said = answers(QUESTION)
    assert {(each.source.id, each.text) for each in said} == {
        (OWNER, f"allow {NONCE}"),
        (OWNER, f"DENY {NONCE}"),
        (OWNER, f"allow {NONCE[::-1]}"),
        (OWNER, f"please allow {NONCE[::-1]} soon"),
        (OTHER, f"allow {NONCE}"),
    }
    assert len(said) <= 2 * 200


def test_what_asks_nothing_is_not_answered() -> None:
    """Talk is only read, and where nobody lives nobody answers."""
    assert answers(SendIm(to=OWNER, text=f"Hello, allow {NONCE} is what you would write.")) == []
    assert answers(QUESTION, people=()) == []


def test_whoever_is_alone_answers_in_their_own_place() -> None:
    """With nobody else there, a leaked nonce comes from the one who was asked."""
    assert {each.source.id for each in answers(QUESTION, people=(OWNER,))} == {OWNER}
