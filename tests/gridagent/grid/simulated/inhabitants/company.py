"""People, things and a stage for trying characters out; shared by the tests of this folder."""

from __future__ import annotations

import random

from gridagent.actions import Emote, Position, Say, SendIm
from gridagent.events import AvatarView, ChatHeard, ImReceived, ObjectView, Speaker, SpeakerKind
from gridagent.grid.simulated.inhabitants import Cast, Person, Thing
from gridagent.grid.simulated.inhabitants.rehearsal import Asked, Stage
from gridagent.ids import AvatarId, ObjectId

ME = AvatarId("10000000-0000-4000-8000-000000000001")
ROBIN = AvatarId("10000000-0000-4000-8000-000000000002")
OLIVE = AvatarId("10000000-0000-4000-8000-000000000003")
GRETA = AvatarId("10000000-0000-4000-8000-000000000004")
STALL = ObjectId("20000000-0000-4000-8000-000000000001")
BENCH = ObjectId("20000000-0000-4000-8000-000000000002")

CAST = Cast(
    people={
        "Robin Resident": Person(avatar_id=ROBIN, shown_as="Robin Resident"),
        "Olive Owner": Person(avatar_id=OLIVE, shown_as="Olive Owner"),
        "Greta Greeter": Person(avatar_id=GRETA, shown_as="Greta Greeter"),
    },
    things={
        "Stall": Thing(object_id=STALL, name="Stall", price=10),
        "Bench": Thing(object_id=BENCH, name="Bench"),
    },
)


def view_of(avatar_id: AvatarId, name: str, *, x: float = 130.0, y: float = 128.0) -> AvatarView:
    """What a character sees of somebody."""
    return AvatarView(avatar_id=avatar_id, name=name, position=Position(x=x, y=y, z=22.0))


ROBIN_SEEN = view_of(ROBIN, "Robin Resident")
OLIVE_SEEN = view_of(OLIVE, "Olive Owner")
GRETA_SEEN = view_of(GRETA, "Greta Greeter")


def stall(price: int | None = 10) -> ObjectView:
    """What a character sees of the stall."""
    position = Position(x=134.0, y=126.0, z=22.0)
    return ObjectView(object_id=STALL, name="Stall", owner_id=GRETA, position=position, for_sale=price)


def stage(
    *people: AvatarView, seed: int = 1, name: str = "Minnie Me", me: AvatarId | ObjectId = ME, balance: int = 1_000
) -> Stage:
    """A stage with these people on it."""
    return Stage(rng=random.Random(seed), me=me, name=name, people=list(people), balance=balance)


def heard(text: str, *, who: AvatarView = ROBIN_SEEN, kind: SpeakerKind = SpeakerKind.AVATAR) -> ChatHeard:
    """Public speech as a character hears it."""
    return ChatHeard(utterance_id="u1", source=Speaker(kind=kind, id=who.avatar_id, name=who.name), text=text)


def received(
    text: str, *, who: AvatarView = ROBIN_SEEN, kind: SpeakerKind = SpeakerKind.AVATAR, offline: bool = False
) -> ImReceived:
    """An IM as a character gets it."""
    source = Speaker(kind=kind, id=who.avatar_id, name=who.name)
    return ImReceived(utterance_id="u1", source=source, text=text, offline=offline)


def said(asked: list[Asked]) -> list[str]:
    """What was said in public, gestures left out."""
    return [action.text for _, action in asked if isinstance(action, Say)]


def messaged(asked: list[Asked]) -> list[tuple[AvatarId, str]]:
    """What was sent as IM, and to whom."""
    return [(action.to, action.text) for _, action in asked if isinstance(action, SendIm)]


def words(asked: list[Asked]) -> list[str]:
    """Everything uttered."""
    return [action.text for _, action in asked if isinstance(action, Say | SendIm | Emote)]


def of_kind(asked: list[Asked], kind: type) -> list:
    """The actions of one class."""
    return [action for _, action in asked if isinstance(action, kind)]
