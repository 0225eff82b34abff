"""What is kept of each person."""

from gridagent.presence.peers import LONG_AGO, PEERS_MAX, Peers
from tests.gridagent.presence.stage import person


def test_at_most_so_many_people_are_known():
    """Spec: PRS-2 — the one not heard for longest goes first."""
    peers = Peers()
    for number in range(PEERS_MAX):
        peers.meet(person(number), tokens=1.0, now=0.0)
    first = peers.meet(person(0), tokens=9.0, now=5.0)
    assert first.tokens == 1.0
    peers.meet(person(PEERS_MAX), tokens=1.0, now=6.0)
    assert len(peers) == PEERS_MAX
    assert peers.get(person(0)) is first
    assert peers.get(person(1)) is None


def test_what_is_kept_of_one_person_is_bounded():
    """A thousand sketches leave four."""
    peer = Peers().meet(person(1), tokens=1.0, now=0.0)
    for number in range(1_000):
        peer.heard.append([number])
        peer.said.append([number])
    assert len(peer.heard) == len(peer.said) == 4
    assert not hasattr(peer, "__dict__")


def test_the_longest_quiet_counts():
    """Nobody known, nothing asked."""
    peers = Peers()
    assert peers.hushed_until() == LONG_AGO
    peers.meet("a", tokens=1.0, now=1.0).hushed_until = 70.0
    peers.meet("b", tokens=1.0, now=1.0)
    assert peers.hushed_until() == 70.0
    peers.forget("a")
    peers.forget("a")
    assert peers.hushed_until() == 1.0
