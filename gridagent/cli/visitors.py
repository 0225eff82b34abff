"""People of a simulated world who are moved by hand, for ``gridagent chat``.

Owns their logins, what each was offered last, and from a wish to an action of theirs; they act in the world like
anybody who lives there and have no way to the avatar but the world (Spec: POL-1). Knows no terminal.

Invariant: everybody of the cast is in the world from `enter` to `leave`, and only who is asked to acts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

import msgspec

from gridagent.actions import (
    Action,
    AnswerFriendship,
    AnswerInventoryOffer,
    AnswerTeleportOffer,
    Emote,
    GiveItem,
    OfferFriendship,
    OfferTeleport,
    PayAvatar,
    Position,
    Say,
    SendIm,
    WalkTo,
)
from gridagent.cli.chat_words import Wish, Wished
from gridagent.cli.vocabulary import UsageProblem
from gridagent.events import FriendshipOffered, GridEvent, InventoryOffered, TeleportOffered
from gridagent.grid.simulated.grid import SimulatedGrid
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.scenario_format import AvatarSpec, Scenario
from gridagent.ids import AvatarId
from gridagent.limits import clip

__all__ = ("VISITOR", "Visitors", "quiet_story")

VISITOR: Final = "Vera Visitor"
_BALANCE: Final = 500
_BESIDE_M: Final = 3.0
_NEXT_TO_M: Final = 1.5
_REACH_M: Final = 255.0
"""Nobody walks out of the smallest region."""

Offer: TypeAlias = FriendshipOffered | InventoryOffered | TeleportOffered
OnEvent: TypeAlias = Callable[[str, GridEvent], object]

_ANSWERS: Final[dict[type[Offer], Callable[..., Action]]] = {
    FriendshipOffered: AnswerFriendship,
    InventoryOffered: AnswerInventoryOffer,
    TeleportOffered: AnswerTeleportOffer,
}


def quiet_story(scenario: Scenario, agent: AvatarSpec) -> Scenario:
    """Return a scenario in which nobody does anything by themselves, and a visitor stands beside the avatar.

    Args:
        scenario: whose places, things and people it has.
        agent: the avatar that is visited.
    """
    where = agent.start
    beside = Spot(region=where.region, x=where.x + _BESIDE_M, y=where.y, z=where.z)
    visitor = AvatarSpec(name=VISITOR, start=beside, balance=_BALANCE)
    people = tuple(msgspec.structs.replace(each, character=None) for each in scenario.avatars)
    return msgspec.structs.replace(
        scenario,
        avatars=people if scenario.avatar(VISITOR) is not None else (*people, visitor),
        objects=tuple(msgspec.structs.replace(each, character=None) for each in scenario.objects),
        incidents=(),
    )


class Visitors:
    """The people who can be played.

    Args:
        grid: the world they live in.
        cast: their names and ids; the first named `VISITOR`, or else the first at all, is played at the start.
        agent: the avatar that is visited.
        on_event: told what each of them perceives; must not call the world.
    """

    def __init__(
        self, grid: SimulatedGrid, cast: Sequence[tuple[str, AvatarId]], agent: AvatarId, on_event: OnEvent
    ) -> None:
        self._grid = grid
        self._cast = dict(cast)
        self._agent = agent
        self._on_event = on_event
        self._offers: dict[str, Offer] = {}  # one a person: the newest
        self.played = VISITOR if VISITOR in self._cast else next(iter(self._cast))
        """Who is being played."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who can be played."""
        return tuple(self._cast)

    @property
    def played_id(self) -> AvatarId:
        """The UUID of who is being played."""
        return self._cast[self.played]

    def enter(self) -> None:
        """Let everybody come into the world."""
        for name, avatar_id in self._cast.items():
            self._grid.world.login(avatar_id, self._grid.now())
            self._grid.world.attach(avatar_id, partial(self._perceive, name), now=self._grid.now())

    def leave(self) -> None:
        """Let everybody go who is still there."""
        for avatar_id in self._cast.values():
            if self._grid.world.position(avatar_id) is not None:
                self._grid.world.logout(avatar_id, self._grid.now())

    def become(self, name: str) -> None:
        """Play somebody else, by the beginning of their name.

        Raises:
            UsageProblem: nobody is called that, or several are.
        """
        wanted = name.casefold()
        found = [each for each in self._cast if each.casefold().startswith(wanted)]
        if len(found) != 1:
            why = "several people are" if found else "nobody is"
            raise UsageProblem(f"/as: {why} called {clip(name, 40)!r}; there are: {', '.join(self._cast)}")
        self.played = found[0]

    def act(self, wished: Wished) -> None:
        """Let who is being played do what was typed.

        Raises:
            UsageProblem: it cannot be done; the sentence says why.
        """
        me = self.played_id
        if self._grid.world.position(me) is None:
            raise UsageProblem(f"{self.played} is not in the world any more; /as plays somebody else")
        self._grid.world.perform(me, self._action(wished), self._grid.now())

    def _action(self, wished: Wished) -> Action:  # noqa: PLR0911 - a row a return
        match wished.wish:
            case Wish.SAY:
                return Say(text=wished.text, volume=wished.volume)
            case Wish.EMOTE:
                return Emote(text=wished.text)
            case Wish.IM:
                return SendIm(to=self._agent, text=wished.text)
            case Wish.PAY:
                return PayAvatar(to=self._agent, amount=wished.number)
            case Wish.FRIEND:
                return OfferFriendship(to=self._agent, message="")
            case Wish.INVITE:
                return OfferTeleport(to=self._agent, message="")
            case Wish.GIVE:
                return self._gift(wished.text)
            case Wish.WALK:
                return WalkTo(position=self._stepped(*wished.place))
            case Wish.COME:
                return self._approach()
            case _:
                return self._answer(accept=wished.wish is Wish.ACCEPT)

    def _gift(self, name: str) -> Action:
        carried = self._grid.world.inventory(self.played_id)
        wanted = name.casefold()
        for item in carried:
            if item.name.casefold().startswith(wanted):
                return GiveItem(item_id=item.item_id, to=self._agent)
        things = ", ".join(item.name for item in carried[:20]) or "nothing"
        raise UsageProblem(f"/give: {self.played} carries no {clip(name, 40)!r}; there is: {things}")

    def _stepped(self, east_m: float, north_m: float) -> Position:
        here = self._grid.world.position(self.played_id)
        assert here is not None  # noqa: S101 - `act` has looked
        x, y = (min(max(each, 0.0), _REACH_M) for each in (here.x + east_m, here.y + north_m))
        return Position(x=x, y=y, z=here.z)

    def _approach(self) -> Action:
        there = self._grid.world.position(self._agent)
        if there is None:
            raise UsageProblem("/come: the avatar is not in the world just now")
        return WalkTo(position=Position(x=there.x + _NEXT_TO_M, y=there.y, z=there.z))

    def _answer(self, *, accept: bool) -> Action:
        offer = self._offers.pop(self.played, None)
        if offer is None:
            raise UsageProblem(f"nothing was offered to {self.played} that waits for an answer")
        return _ANSWERS[type(offer)](offer_id=offer.offer_id, accept=accept)

    def _perceive(self, name: str, event: GridEvent) -> None:
        if isinstance(event, Offer):
            self._offers[name] = event
        self._on_event(name, event)
