"""The chain every utterance passes, in one order: the first rule with a reason to stay quiet decides (Spec: PRS-1).

Owns the order and the way in. The rules are one file each in `gridagent.presence.rules`, what lasts between two
utterances is `gridagent.presence.hearing.Room`. The mind asks it for each utterance, and tells it what the avatar
said and where it is. Pure: time and chance are handed in.

Invariant: an utterance is answered only if no rule objected; each is told to whoever watches with one stable code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Final, TypeAlias

from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.events import BackendReady, ChatHeard, GridEvent, ImReceived, ParcelSeen, RegionEntered
from gridagent.ids import AvatarId
from gridagent.mind import Surroundings
from gridagent.presence.address import words_of
from gridagent.presence.decision import AttentionCode, PresenceDecision, PresenceMode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.likeness import sketch
from gridagent.presence.protected import Exemption, Protected
from gridagent.presence.rules import (
    addressed,
    ambient,
    bots_denied,
    duplicates,
    loop_guard,
    model_moderation,
    moderation,
    muted,
    own_echo,
    quiet,
    quiet_hours,
    speaker,
    turn,
)

__all__ = ("RULES", "PresenceChain")

Rule: TypeAlias = Callable[[Heard, Room], AttentionCode | None]

RULES: Final[tuple[tuple[str, Rule], ...]] = (
    ("own_echo", own_echo.judge),
    ("speaker", speaker.judge),
    ("duplicates", duplicates.judge),
    ("muted", muted.judge),
    ("moderation", moderation.judge),
    ("quiet", quiet.judge),
    ("quiet_hours", quiet_hours.judge),
    ("bots_denied", bots_denied.judge),
    ("addressed", addressed.judge),
    ("model_moderation", model_moderation.judge),
    ("loop_guard", loop_guard.judge),
    ("ambient", ambient.judge),
    ("turn", turn.judge),
)
"""Every rule in its order; the last one opens the turn."""


class PresenceChain:
    """Decides for one avatar whom it answers.

    Args:
        section: the configuration.
        names: what the avatar answers to (see `names_of`).
        protected: the one list of protected principals.
        rng: the seeded stream that joining in draws from.

    Bounds: 1,024 people, 1,024 utterance ids; a decision costs microseconds whatever was heard before.
    """

    __slots__ = ("_room",)

    def __init__(self, section: PresenceSection, names: Iterable[str], protected: Protected, rng: Random) -> None:
        self._room = Room(section, names, protected, rng)

    def judge(self, event: ChatHeard | ImReceived, around: Surroundings, now: float, wall: float) -> PresenceDecision:
        """Decide on one utterance.

        Args:
            event: as the grid told it.
            around: whom the avatar can see; looked at only where a rule has to.
            now: seconds on the monotonic clock; never less than before.
            wall: seconds on the wall clock, in UTC.
        """
        room = self._room
        heard = Heard(event, around, room, now, wall)
        for name, rule in RULES:
            code = rule(heard, room)
            if code is not None:
                mode = heard.mode if heard.mode is PresenceMode.MODERATION else None
                return PresenceDecision(
                    utterance_id=event.utterance_id, code=code, mode=mode, origin=heard.origin, rule=name
                )
        wants = room.section.disclose and not heard.is_exempt(Exemption.DISCLOSURE) and not heard.peer.disclosed
        return PresenceDecision(
            utterance_id=event.utterance_id,
            code=heard.reached,
            mode=heard.mode,
            origin=heard.origin,
            rule=name,
            disclose=wants,
        )

    def replied(self, peer_id: AvatarId, text: str, origin: Origin, now: float) -> None:
        """Take note of what the avatar said to somebody, once it is going to be said.

        Args:
            peer_id: whom it answered, or whom it joined.
            text: all of it.
            origin: public chat or direct IM.
            now: seconds on the monotonic clock.
        """
        room = self._room
        peer = room.meet(peer_id, now)
        peer.said.append(sketch(words_of(text)))
        peer.disclosed = True
        if origin is Origin.PUBLIC_CHAT:
            room.replied_to, room.replied_at = peer_id, now

    def notice(self, event: GridEvent) -> None:
        """Take note of who the avatar is, where it is, and whether bots may be there."""
        match event:
            case BackendReady():
                # Its sisters, who share the list, know it from now on; it never hears itself as one of them.
                self._room.protected.add_own(event.avatar_id)
                self._room.grid_allows_bots = event.profile.bots_allowed
                self._room.parcel_allows_bots = True
            case RegionEntered():
                self._room.parcel_allows_bots = True
            case ParcelSeen():
                self._room.parcel_allows_bots = event.parcel.bots_allowed
            case _:
                pass

    def fence(self) -> None:
        """Take note that the connection is over: utterance ids are unique within one, and begin anew in the next."""
        self._room.seen.clear()

    def configure(self, section: PresenceSection, names: Iterable[str]) -> None:
        """Take over a changed configuration or persona; what is known of people stays."""
        self._room.protected.relist(section)
        self._room.configure(section, names)

    def forget(self, avatar_id: AvatarId) -> None:
        """Drop everything that is kept of an avatar."""
        self._room.forget(avatar_id)

    @property
    def people(self) -> int:
        """How many people something is kept of."""
        return len(self._room.peers)
