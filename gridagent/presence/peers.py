"""What presence keeps of each person: counters, times and sketches, never words (Spec: PRS-2).

Owns the records and their bound; decides nothing. The least recently heard person goes first, so a crowd of
new faces costs a fixed amount of memory. Forgetting somebody leaves nothing of them.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from typing import Final

__all__ = ("LONG_AGO", "PEERS_MAX", "Peer", "Peers")

PEERS_MAX: Final = 1_024
LONG_AGO: Final = -1e12
"""Before any time on the monotonic clock; a number, so that reckoning with it stays finite."""
_RECENT_MAX: Final = 4


class Peer:
    """One person's record; times are seconds on the monotonic clock."""

    __slots__ = (
        "disclosed",
        "echoes",
        "heard",
        "heard_at",
        "hushed_im_until",
        "hushed_until",
        "ignored_until",
        "repeats",
        "said",
        "strikes",
        "tokens",
        "tokens_at",
        "turns",
    )

    def __init__(self, tokens: float, now: float) -> None:
        self.tokens = tokens
        """Messages that may still come at once."""
        self.tokens_at = now
        self.ignored_until = now
        self.hushed_until = now
        """Asked to be quiet in public until then."""
        self.hushed_im_until = now
        """The same for everything, IMs too."""
        self.turns = 0
        """Answers since the last pause."""
        self.heard_at = now
        self.repeats = 0
        self.echoes = 0
        self.strikes = 0
        """Times that a repetition or an echo was not answered, since the last pause."""
        self.heard: deque[array[int]] = deque(maxlen=_RECENT_MAX)
        self.said: deque[array[int]] = deque(maxlen=_RECENT_MAX)
        """What the avatar said to this person."""
        self.disclosed = False


class Peers:
    """The records of at most `PEERS_MAX` people."""

    __slots__ = ("_peers",)

    def __init__(self) -> None:
        self._peers: OrderedDict[str, Peer] = OrderedDict()  # at most PEERS_MAX

    def __len__(self) -> int:
        return len(self._peers)

    def get(self, peer_id: str) -> Peer | None:
        """Return somebody's record, if there is one."""
        return self._peers.get(peer_id)

    def meet(self, peer_id: str, *, tokens: float, now: float) -> Peer:
        """Return somebody's record, making one with so many ``tokens``; the one not heard for longest goes."""
        peer = self._peers.get(peer_id)
        if peer is None:
            peer = self._peers[peer_id] = Peer(tokens, now)
            if len(self._peers) > PEERS_MAX:
                self._peers.popitem(last=False)
        else:
            self._peers.move_to_end(peer_id)
        return peer

    def forget(self, peer_id: str) -> None:
        """Drop somebody's record."""
        self._peers.pop(peer_id, None)

    def hushed_until(self) -> float:
        """Return until when somebody wants quiet in public; long ago where nobody is known."""
        return max((peer.hushed_until for peer in self._peers.values()), default=LONG_AGO)
