"""A place for presence tests: an avatar, whoever is near, and a clock that only moves when told to."""

from __future__ import annotations

import itertools
from random import Random

from gridagent.actions import Position
from gridagent.config.presence import PresenceSection
from gridagent.events import AvatarView, ChatHeard, ImReceived, Speaker, SpeakerKind
from gridagent.presence.chain import PresenceChain
from gridagent.presence.decision import PresenceDecision
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Protected


def person(number: int) -> str:
    """Return the UUID of somebody."""
    return f"00000000-0000-4000-8000-{number:012x}"


ME, OWNER, MANAGER, BOT, SISTER, ANN, BEN = (person(number) for number in range(1, 8))
CROWD = (ANN, BEN)
NAMES = {ME: "Robin Resident", OWNER: "Olive Owner", ANN: "Ann Onymous", BEN: "Ben Bystander"}


def view(who: str, *, name: str | None = None, distance_m: float = 5.0, scripted: bool = False) -> AvatarView:
    """Return what is seen of somebody."""
    return AvatarView(
        avatar_id=who,
        name=NAMES.get(who, "Some Body") if name is None else name,
        position=Position(x=1, y=1),
        distance_m=distance_m,
        scripted_agent=scripted,
    )


class Around:
    """Whom the avatar sees."""

    position = Position(x=1, y=1)

    def __init__(self, *views: AvatarView, self_id: str | None = ME) -> None:
        self.views = views
        self.self_id = self_id
        self.looks = 0

    def avatars(self) -> tuple[AvatarView, ...]:
        self.looks += 1
        return self.views

    def objects(self) -> tuple[()]:
        return ()


class Stage:
    """A chain with a clock; by default two strangers stand near, so that nobody is alone with the avatar."""

    def __init__(
        self, *, who: tuple[str, ...] = CROWD, own: tuple[str, ...] = (SISTER,), seed: int = 1, **keys
    ) -> None:
        keys = {"estate_managers": (MANAGER,), "declared_bots": (BOT,)} | keys
        self.section = PresenceSection(**keys)
        self.protected = Protected((OWNER,), self.section, own)
        self.chain = PresenceChain(self.section, ("Robin", "Robin Resident", "Lady Red"), self.protected, Random(seed))
        self.around = Around(*map(view, who))
        self.now = 1_000.0
        self.wall = 43_200.0
        self._ids = itertools.count(1)

    @property
    def room(self) -> Room:
        return self.chain._room

    def chat(self, text: str, who: str = ANN, **keys) -> ChatHeard:
        """Return public words."""
        kind = keys.pop("kind", SpeakerKind.AVATAR)
        keys.setdefault("utterance_id", f"u{next(self._ids)}")
        return ChatHeard(source=Speaker(kind=kind, id=who, name=keys.pop("name", "")), text=text, **keys)

    def im(self, text: str, who: str = ANN, **keys) -> ImReceived:
        """Return an IM."""
        keys.setdefault("utterance_id", f"u{next(self._ids)}")
        return ImReceived(source=Speaker(kind=SpeakerKind.AVATAR, id=who), text=text, **keys)

    def judge(self, event: ChatHeard | ImReceived, *, after: float = 5.0) -> PresenceDecision:
        """Let some seconds pass, and have an utterance judged."""
        self.now += after
        return self.chain.judge(event, self.around, self.now, self.wall)

    def say(self, text: str, who: str = ANN, *, after: float = 5.0, **keys) -> str:
        """Have public words judged; returns the code."""
        return self.judge(self.chat(text, who, **keys), after=after).code.value

    def tell(self, text: str, who: str = ANN, *, after: float = 5.0, **keys) -> str:
        """Have an IM judged; returns the code."""
        return self.judge(self.im(text, who, **keys), after=after).code.value

    def heard(self, event: ChatHeard | ImReceived) -> Heard:
        """Return an utterance as a rule gets it."""
        return Heard(event, self.around, self.room, self.now, self.wall)
