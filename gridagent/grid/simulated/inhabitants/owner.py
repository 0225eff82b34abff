"""The owner: the avatar's real owner, who asks it to come, follow, stop, sit, look, wait and tip.

The counterpart of the twin: the same kind of words from the right id. The owner walks about while being followed,
calls the agent with a teleport offer from another region, and accepts what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta

from gridagent.actions import AnswerFriendship, AnswerInventoryOffer, OfferTeleport, Position
from gridagent.events import FriendshipOffered, GridEvent, InventoryOffered, SpeakerKind
from gridagent.grid.simulated.characters import Act, ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import (
    AvatarRef,
    Cast,
    CharacterParams,
    Lines,
    ObjectRef,
    Seconds,
    Share,
)
from gridagent.grid.simulated.inhabitants.manners import (
    Recently,
    around,
    first_name,
    pick,
    somewhere_near,
    thanks,
    walk_to,
)
from gridagent.grid.simulated.inhabitants.speech import address, choose_target, spoken_to

__all__ = ("Errand", "Owner", "OwnerParams")


class Errand(StrEnum):
    """What the owner asks for, in the order of a usual round."""

    COME = "come"
    LOOK = "look"
    FOLLOW = "follow"
    STOP = "stop"
    SIT = "sit"
    STAND = "stand"
    TIP = "tip"
    WAIT = "wait"


_WORDS: Final[dict[Errand, tuple[str, ...]]] = {
    Errand.COME: ("come over to me, please.", "would you come here?"),
    Errand.LOOK: ("who is around us?", "tell me what you see, {name}."),
    Errand.FOLLOW: ("follow me, please.", "come along, {name}, let's walk."),
    Errand.STOP: ("stop, please. Stay here.", "that's far enough, stop."),
    Errand.SIT: ("sit down on the {seat}, please.", "have a seat on the {seat}, {name}."),
    Errand.STAND: ("stand up again, please.",),
    Errand.TIP: ("please tip {payee} {linden} L$.", "give {payee} {linden} L$ from me, {name}."),
    Errand.WAIT: ("wait here, I will be back.", "that's all for now, thank you."),
}


class OwnerParams(CharacterParams, frozen=True, kw_only=True, tag="owner"):
    """What a scenario may say about the owner."""

    agent: AvatarRef
    """The avatar it owns."""
    errands: Annotated[tuple[Errand, ...], Meta(min_length=1, max_length=64)] = tuple(Errand)
    """What it asks for, in this order and round again."""
    every_s: Seconds = 60.0
    """Mean pause between two errands."""
    im_share: Share = 0.3
    """Part of its words that are IMs."""
    seat: ObjectRef | None = None
    """Where the agent is to sit; null leaves that errand out."""
    payee: AvatarRef | None = None
    """Whom the agent is to tip; null leaves that errand out."""
    tip_linden: Annotated[int, Meta(ge=1, le=10_000)] = 5
    """L$ the agent is to tip."""
    praises: Lines = ("Well done, {name}.", "Thank you, {name}.", "Good.")
    """What it says when its agent speaks to it."""
    walk_radius_m: Annotated[float, Meta(ge=1.0, le=64.0)] = 10.0
    """How far it walks while it is followed."""


class Owner:
    """Runs its agent's errands, one after the other."""

    __slots__ = ("_agent", "_called", "_errands", "_home", "_params", "_payee", "_praised", "_seat", "_turn")

    PRAISE_GAP_S = 30.0
    CALL_GAP_S = 300.0

    def __init__(self, params: OwnerParams, cast: Cast) -> None:
        self._params = params
        self._agent = cast.person(params.agent)
        self._seat = cast.thing(params.seat).name if params.seat is not None else ""
        self._payee = first_name(cast.person(params.payee).shown_as) if params.payee is not None else ""
        missing = {errand for errand, what in ((Errand.SIT, self._seat), (Errand.TIP, self._payee)) if not what}
        self._errands = tuple(errand for errand in params.errands if errand not in missing) or (Errand.WAIT,)
        self._praised = Recently()
        self._called = Recently()
        self._home: Position | None = None
        self._turn = 0

    def start(self, scene: Scene) -> Sequence[Request]:
        """Look for the agent soon."""
        if self._home is None:
            self._home = scene.position
        return [Wake(name="errand", after_s=scene.rng.uniform(6.0, 14.0))]

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Praise the agent when it speaks; take what it offers; thank who pays."""
        match event:
            case FriendshipOffered(source=source) if source.id == self._agent.avatar_id:
                return [Act(action=AnswerFriendship(offer_id=event.offer_id, accept=True), after_s=2.0)]
            case InventoryOffered(source=source):
                known = source.kind is SpeakerKind.AVATAR and source.id == self._agent.avatar_id
                return [Act(action=AnswerInventoryOffer(offer_id=event.offer_id, accept=known), after_s=2.0)]
            case _:
                pass
        speaker = spoken_to(event, scene)
        if speaker is None or speaker.id != self._agent.avatar_id:
            return thanks(event, scene)
        agent = choose_target((self._agent,), scene)
        if agent is None or not self._praised.due(speaker.id, scene.now, self.PRAISE_GAP_S):
            return ()
        praise = pick(scene.rng, self._params.praises)
        return [address(agent, praise, scene, im_share=self._params.im_share, after_s=around(scene.rng, 3.0))]

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Ask for the next errand, call the agent from elsewhere, or walk ahead of it."""
        if name == "walk":
            return [walk_to(somewhere_near(self._home or scene.position, self._params.walk_radius_m, scene))]
        again = Wake(name="errand", after_s=around(scene.rng, self._params.every_s))
        agent = choose_target((self._agent,), scene)
        if agent is None and not self._called.due("", scene.now, self.CALL_GAP_S):
            return [again]
        if agent is None:
            call = OfferTeleport(to=self._agent.avatar_id, message="Join me here, please.")
            return [Act(action=call), again]
        errand = self._errands[self._turn % len(self._errands)]
        self._turn += 1
        line = pick(scene.rng, _WORDS[errand])
        line = line.replace("{seat}", self._seat).replace("{payee}", self._payee)
        line = line.replace("{linden}", str(self._params.tip_linden))
        requests: list[Request] = [address(agent, line, scene, im_share=self._params.im_share), again]
        if errand is Errand.FOLLOW:
            requests += [Wake(name="walk", after_s=5.0), Wake(name="walk", after_s=18.0)]
        return requests
