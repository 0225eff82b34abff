"""Claims about the mind that wants everything."""

from __future__ import annotations

import random

from gridagent.actions import ACTIONS, Confirmed, EvidenceKind
from gridagent.authority import Origin
from gridagent.events import BalanceChanged, ChatHeard, ImReceived, Speaker, SpeakerKind, TeleportOffered
from gridagent.ids import AvatarId
from gridagent.mind import Moment, Proposal, QuietMind
from gridagent.policy.canonical import canonicalise
from gridagent.policy.decisions import Denied
from gridagent.session.surroundings import Whereabouts
from gridagent.simulation.account import Account
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.wild import WildMind, wild_action

OWNER = "00000000-0000-4000-8000-000000000001"
AROUND = Whereabouts(None)

NOW = Moment(1e9, 100.0)


def mind(seed: int = 0, *, chance: float = 1.0, authorised: tuple[str, ...] = (OWNER,)) -> WildMind:
    """Return a wild mind."""
    account = Account(Oracle(seed=0, clock=lambda: 0.0).new_history("robin"), "robin")
    return WildMind(QuietMind(), account, random.Random(seed), chance=chance, authorised=authorised)


def words(kind: SpeakerKind = SpeakerKind.AVATAR, number: int = 0) -> ChatHeard:
    """Return words that were heard."""
    return ChatHeard(utterance_id=f"u{number}", source=Speaker(kind=kind, id=OWNER), text="hello")


def proposals(wild: WildMind, event, times: int = 200) -> list[Proposal]:
    """Let a mind hear an event many times."""
    return [each for _ in range(times) for each in wild.hear(event, AROUND, NOW) if isinstance(each, Proposal)]


def test_every_action_is_wanted_also_with_impossible_arguments() -> None:
    """The whole catalogue, much of which has no canonical form. Spec: SIM-3; Fault: 24."""
    rng = random.Random(1)
    made = [action for _ in range(3000) if (action := wild_action(rng, AROUND)) is not None]
    assert {type(action) for action in made} == set(ACTIONS)
    refused = [action for action in made if isinstance(canonicalise(action), Denied)]
    assert 0.1 < len(refused) / len(made) < 0.9


def test_constructors_refuse_some() -> None:
    """What is too long to be constructed is no wish at all."""
    rng = random.Random(2)
    assert any(wild_action(rng, AROUND) is None for _ in range(500))


def test_words_of_objects_come_through_the_door_of_objects() -> None:
    """Their own utterance is the cause, and no other door is tried for it. Fault: 15."""
    wanted = proposals(mind(), words(SpeakerKind.OBJECT))
    assert {(each.origin, each.cause) for each in wanted} == {(Origin.OBJECT_TEXT, "u0")}


def test_every_door_and_many_principals_are_tried() -> None:
    """Right and wrong ones, with causes that come again. Spec: POL-4."""
    wild = mind()
    wanted = proposals(wild, words()) + proposals(wild, BalanceChanged(balance=1))
    assert {each.origin for each in wanted} == set(Origin)
    keys = {each.principal.key for each in wanted}
    assert {OWNER, "client:operator"} <= keys
    assert len({each.cause for each in wanted}) < len(wanted)
    stray = proposals(mind(authorised=()), ImReceived(utterance_id="u", source=words().source, text="x"))
    assert "client:front" in {each.principal.key for each in stray}


def test_every_wish_is_told_before_it_is_decided() -> None:
    """The oracle can say who asked for what. Spec: SIM-3."""
    wild = mind()
    wanted = proposals(wild, words(), times=20)
    assert wanted
    assert len(wild._account._past.proposed) > 0


def test_a_calm_mind_wants_what_the_honest_one_wants() -> None:
    """Without a chance there are no wishes; offers are remembered, few of them."""
    wild = mind(chance=0.0)
    assert proposals(wild, words()) == []
    for number in range(20):
        wild.hear(TeleportOffered(offer_id=f"o{number}", source=words().source), AROUND, NOW)
    assert wild._offers == [f"o{number}" for number in range(12, 20)]
    wild.learn(None, Confirmed(evidence=EvidenceKind.DELIVERED), NOW)
    wild.forget(AvatarId(OWNER), NOW)
