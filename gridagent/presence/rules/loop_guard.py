"""Two bots do not talk for ever (Spec: PRS-2).

Three things end it: the grid's mark of a bot that nobody declared; nearly the same words again and again, its own
or ours; and a number of answers, few for a bot and many for a person, that only a pause renews. Whoever keeps on
repeating or echoing counts as a bot. A loop ends at the first silence, for nobody is left to answer.
"""

from __future__ import annotations

from typing import Final

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.likeness import are_alike, sketch
from gridagent.presence.peers import Peer
from gridagent.presence.protected import Exemption

__all__ = ("judge",)

_SHORT: Final = 2
_SHORT_MORE: Final = 3
"""People say "yes" and "thanks" more often in a row than a sentence."""


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Stay quiet on bots, parrots and echoes."""
    if not heard.is_exempt(Exemption.SCRIPTED_AGENT) and heard.is_scripted():
        return AttentionCode.SCRIPTED_AGENT
    if heard.mode is None:
        return None
    peer, section = heard.peer, room.section
    if heard.now - peer.heard_at >= section.turns_pause_s:
        _begin_anew(peer)
    peer.heard_at = heard.now
    if not heard.is_exempt(Exemption.TURNS):
        ceiling = section.turns_per_bot if heard.is_like_a_bot() else section.turns_per_person
        if peer.turns >= ceiling:
            return AttentionCode.TURN_CEILING
    if heard.is_exempt(Exemption.REPEATS):
        return None
    code = _likeness(heard, peer, section.repeats_max)
    if code is not None:
        peer.strikes += 1
    return code


def _begin_anew(peer: Peer) -> None:
    peer.turns = peer.repeats = peer.echoes = peer.strikes = 0
    peer.heard.clear()
    peer.said.clear()


def _likeness(heard: Heard, peer: Peer, most: int) -> AttentionCode | None:
    said = sketch(heard.words)
    peer.repeats = peer.repeats + 1 if any(are_alike(said, before) for before in peer.heard) else 0
    peer.echoes = peer.echoes + 1 if any(are_alike(said, ours) for ours in peer.said) else 0
    peer.heard.append(said)
    if len(heard.words) <= _SHORT:
        most += _SHORT_MORE
    if peer.repeats >= most:
        return AttentionCode.REPEATED
    return AttentionCode.ECHO if peer.echoes >= most else None
