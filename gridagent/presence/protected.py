"""Who is protected, and from what exactly (Spec: PRS-4).

Owns the one list. An avatar stands on it by UUID alone; a name, however like the owner's, never puts anybody
there (Spec: POL-4). Being exempt from a rule of presence gives no right to act: that is the policy gateway's.
Bots come first: one that is also an owner still has few turns, so two of our own avatars cannot talk for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gridagent.config.presence import PresenceSection
from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarId
from gridagent.limits import AVATARS_PER_SERVICE_MAX

__all__ = ("BOTS", "EXEMPT", "OVERSEERS", "Exemption", "OwnAvatars", "Protected", "Standing")


class Standing(StrEnum):
    """What somebody is to the avatar."""

    OWN_AVATAR = "own_avatar"
    """Another avatar of this service."""
    DECLARED_BOT = "declared_bot"
    OWNER = "owner"
    OPERATOR = "operator"
    """Whoever holds the control endpoint; nobody who is seen in the world."""
    ESTATE_MANAGER = "estate_manager"
    NOBODY = "nobody"
    """Not on the list: authorised avatars and strangers."""


class Exemption(StrEnum):
    """A rule that somebody is exempt from."""

    MUTING = "muting"
    FLOOD = "flood"
    PHRASES = "phrases"
    QUIET = "quiet"
    """Is answered even where somebody else asked the avatar to be quiet."""
    QUIET_HOURS = "quiet_hours"
    """Is answered even in the operator's quiet hours."""
    DISTANCE = "distance"
    SCRIPTED_AGENT = "scripted_agent"
    REPEATS = "repeats"
    TURNS = "turns"
    CROWD = "crowd"
    DISCLOSURE = "disclosure"


_ALL: Final = frozenset(Exemption)
_BOT: Final = frozenset({Exemption.PHRASES, Exemption.SCRIPTED_AGENT, Exemption.DISCLOSURE})

EXEMPT: Final[Mapping[Standing, frozenset[Exemption]]] = MappingProxyType(
    {
        Standing.OWN_AVATAR: _BOT,
        Standing.DECLARED_BOT: _BOT,
        Standing.OWNER: _ALL,
        Standing.OPERATOR: _ALL,
        Standing.ESTATE_MANAGER: frozenset(
            {Exemption.MUTING, Exemption.FLOOD, Exemption.PHRASES, Exemption.QUIET, Exemption.CROWD}
        ),
        Standing.NOBODY: frozenset(),
    }
)
"""What each is exempt from; whoever is not named here is exempt from nothing."""

OVERSEERS: Final = frozenset({Standing.OWNER, Standing.OPERATOR, Standing.ESTATE_MANAGER})
"""Whose request to be quiet holds for everybody."""
BOTS: Final = frozenset({Standing.OWN_AVATAR, Standing.DECLARED_BOT})
"""Who gets a bot's number of turns."""


class OwnAvatars:
    """The avatars of one service, by UUID; one for all of them, since each gets to know its own at login.

    Bounds: as many as a service may have.
    """

    __slots__ = ("_ids",)

    def __init__(self, ids: Iterable[AvatarId] = ()) -> None:
        self._ids: dict[AvatarId, None] = {}  # at most AVATARS_PER_SERVICE_MAX
        for avatar_id in ids:
            self.add(avatar_id)

    def __contains__(self, avatar_id: object) -> bool:
        return avatar_id in self._ids

    def __iter__(self) -> Iterator[AvatarId]:
        """Yield each, in the order they were learnt."""
        return iter(tuple(self._ids))

    def add(self, avatar_id: AvatarId) -> None:
        """Learn that an avatar is one of this service's.

        Raises:
            LimitExceeded: there are more than a service may have.
        """
        if avatar_id not in self._ids and len(self._ids) >= AVATARS_PER_SERVICE_MAX:
            raise LimitExceeded("avatars in one service", allowed=AVATARS_PER_SERVICE_MAX)
        self._ids[avatar_id] = None


class Protected:
    """The list of one avatar.

    Args:
        owners: by UUID.
        section: names estate managers and declared bots.
        own: the service's avatars; one that is shared learns of each when it logs in.

    Bounds: see `OwnAvatars`; the other lists are bounded by the configuration.
    """

    __slots__ = ("_listed", "_own", "_owners")

    def __init__(
        self, owners: Iterable[str], section: PresenceSection, own: OwnAvatars | Iterable[AvatarId] = ()
    ) -> None:
        self._own = own if isinstance(own, OwnAvatars) else OwnAvatars(own)
        self._owners = tuple(owners)
        self._listed: dict[str, Standing] = {}
        self.relist(section)

    def relist(self, section: PresenceSection) -> None:
        """Take over a changed configuration; owners never change while an avatar runs."""
        listed = dict.fromkeys(map(str, section.estate_managers), Standing.ESTATE_MANAGER)
        listed |= dict.fromkeys(self._owners, Standing.OWNER)
        listed |= dict.fromkeys(map(str, section.declared_bots), Standing.DECLARED_BOT)
        self._listed = listed

    def add_own(self, avatar_id: AvatarId) -> None:
        """Learn that an avatar is one of this service's; see `OwnAvatars.add`."""
        self._own.add(avatar_id)

    def standing_of(self, avatar_id: str) -> Standing:
        """Return what somebody is to the avatar, by UUID."""
        if avatar_id in self._own:
            return Standing.OWN_AVATAR
        return self._listed.get(avatar_id, Standing.NOBODY)
