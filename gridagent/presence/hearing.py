"""One utterance on its way through the chain, and what the avatar keeps between utterances (Spec: PRS-1).

Owns `Heard` (one utterance, with what rules find out about it on the way) and `Room` (everything that lasts: people,
requests to be quiet, joining in, the last reply). Decides nothing; the rules do, one file each. Every container
here is bounded, and forgetting somebody reaches all of them.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final

from gridagent.authority import Origin
from gridagent.config.presence import PresenceSection
from gridagent.events import AvatarView, ChatHeard, ImReceived
from gridagent.mind import Surroundings
from gridagent.presence.address import Names, words_of
from gridagent.presence.decision import AttentionCode, PresenceMode
from gridagent.presence.peers import LONG_AGO, Peer, Peers
from gridagent.presence.protected import BOTS, EXEMPT, Exemption, Protected, Standing
from gridagent.presence.quiet_hours import QuietHours

__all__ = ("BOT_STRIKES", "Heard", "Room")

SEEN_MAX: Final = 1_024
NEAREST_LOOKED_AT: Final = 64
AMBIENT_KEPT: Final = 120
BOT_STRIKES: Final = 3
"""Whoever repeats or echoes that often without a pause counts as a bot."""
_AT_ONCE: Final = 3
_MINUTE_S: Final = 60.0


class Room:
    """What one avatar keeps between utterances; times are seconds on the monotonic clock.

    Args:
        section: the configuration.
        names: what the avatar answers to.
        protected: the one list of protected principals.
        rng: the seeded stream that joining in draws from.
    """

    __slots__ = (
        "ambient_quiet_until",
        "answers_at",
        "answers_left",
        "grid_allows_bots",
        "joined_at",
        "moderated_at",
        "muted",
        "names",
        "parcel_allows_bots",
        "peers",
        "phrases",
        "protected",
        "quiet_hours",
        "quiet_until",
        "replied_at",
        "replied_to",
        "rng",
        "section",
        "seen",
    )

    def __init__(self, section: PresenceSection, names: Iterable[str], protected: Protected, rng: Random) -> None:
        self.protected = protected
        self.rng = rng
        self.peers = Peers()
        self.seen: OrderedDict[str, None] = OrderedDict()  # at most SEEN_MAX
        self.quiet_until = LONG_AGO
        """Asked by somebody who may ask it for everybody."""
        self.ambient_quiet_until = LONG_AGO
        """Asked by anybody: until then the avatar does not join in."""
        self.joined_at: deque[float] = deque(maxlen=AMBIENT_KEPT)
        self.moderated_at = LONG_AGO
        self.replied_to = ""
        """Whom the avatar last spoke to in public, while nobody else has spoken since."""
        self.replied_at = LONG_AGO
        self.answers_left = 0.0
        self.answers_at = LONG_AGO
        self.grid_allows_bots = True
        self.parcel_allows_bots = True
        self.configure(section, names)

    def configure(self, section: PresenceSection, names: Iterable[str]) -> None:
        """Take over a changed configuration or persona; what is known of people stays."""
        self.section = section
        self.quiet_hours = QuietHours(section.quiet_hours, section.time_zone)
        self.names = Names(map(words_of, names))
        self.phrases = Names(map(words_of, section.blocked_phrases))
        self.muted = frozenset(map(str, section.muted))

    def meet(self, peer_id: str, now: float) -> Peer:
        """Return somebody's record, making it where there is none."""
        return self.peers.meet(peer_id, tokens=self.messages_at_once, now=now)

    @property
    def messages_at_once(self) -> float:
        """Messages of one person that may come at once."""
        return max(1.0, self.section.messages_per_minute / _AT_ONCE)

    def take_message(self, peer: Peer, now: float) -> bool:
        """Count a message of somebody; tells whether it is within their rate."""
        refilled = peer.tokens + (now - peer.tokens_at) * self.section.messages_per_minute / _MINUTE_S
        peer.tokens = min(refilled, self.messages_at_once)
        peer.tokens_at = now
        if peer.tokens < 1.0:
            return False
        peer.tokens -= 1.0
        return True

    def take_answer(self, now: float) -> bool:
        """Count an answer to anybody; tells whether it is within the rate of everybody together."""
        rate = self.section.answers_per_minute
        # the first time is long ago: full
        self.answers_left = min(float(rate), self.answers_left + (now - self.answers_at) * rate / _MINUTE_S)
        self.answers_at = now
        if self.answers_left < 1.0:
            return False
        self.answers_left -= 1.0
        return True

    def forget(self, peer_id: str) -> None:
        """Drop everything that is kept of somebody."""
        self.peers.forget(peer_id)
        if self.replied_to == peer_id:
            self.replied_to = ""


class Heard:
    """One utterance, and what is found out about it."""

    __slots__ = (
        "_around",
        "_avatars",
        "_peer",
        "_room",
        "event",
        "mode",
        "now",
        "origin",
        "reached",
        "standing",
        "wall",
        "words",
    )

    def __init__(
        self, event: ChatHeard | ImReceived, around: Surroundings, room: Room, now: float, wall: float
    ) -> None:
        self.event = event
        self.now = now
        self.wall = wall
        self.origin = Origin.PUBLIC_CHAT if isinstance(event, ChatHeard) else Origin.DIRECT_IM
        self.words = words_of(event.text)
        self.standing = room.protected.standing_of(event.source.id)
        self.mode: PresenceMode | None = None
        """The turn it would get as things stand."""
        self.reached = AttentionCode.NOT_ADDRESSED
        """Why it would get that."""
        self._around = around
        self._room = room
        self._peer: Peer | None = None
        self._avatars: Sequence[AvatarView] | None = None

    @property
    def in_public(self) -> bool:
        """Whether everybody near could hear it."""
        return self.origin is Origin.PUBLIC_CHAT

    @property
    def speaker_id(self) -> str:
        """UUID of the speaker, as the simulator says."""
        return self.event.source.id

    @property
    def self_id(self) -> str | None:
        """The avatar's own UUID, once known."""
        return self._around.self_id

    @property
    def distance_m(self) -> float:
        """How far away it was said; an IM has no distance."""
        return self.event.distance_m if isinstance(self.event, ChatHeard) else 0.0

    @property
    def peer(self) -> Peer:
        """The speaker's record; only asked for once the speaker is known to be a person."""
        if self._peer is None:
            self._peer = self._room.meet(self.speaker_id, self.now)
        return self._peer

    def avatars(self) -> Sequence[AvatarView]:
        """Who is near, nearest first; looked up once."""
        if self._avatars is None:
            self._avatars = self._around.avatars()[:NEAREST_LOOKED_AT]
        return self._avatars

    def is_exempt(self, exemption: Exemption) -> bool:
        """Tell whether the speaker is exempt from a rule."""
        return exemption in EXEMPT[self.standing]

    def is_scripted(self) -> bool:
        """Tell whether the grid marks the speaker as a bot."""
        for avatar in self.avatars():  # noqa: SIM110 - asked for each utterance, and a generator costs twice as much
            if avatar.scripted_agent and avatar.avatar_id == self.speaker_id:
                return True
        return False

    def is_like_a_bot(self) -> bool:
        """Tell whether the speaker gets a bot's number of turns."""
        if self.standing is Standing.NOBODY:
            return self.peer.strikes >= BOT_STRIKES
        return self.standing in BOTS
