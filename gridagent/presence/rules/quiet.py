"""Asked to be quiet, the avatar is quiet; asked to talk again, it talks.

Whoever asks in public is not answered there for the time; whoever asks in an IM is not answered anywhere. Nobody
else is kept from talking with the avatar by that, but it joins in nowhere meanwhile. An overseer (owner, operator,
estate manager) quietens it for everybody, and is still answered.
"""

from __future__ import annotations

from typing import Final

from gridagent.presence.decision import AttentionCode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import OVERSEERS, Exemption
from gridagent.presence.quiet_words import HushRequest, read_hush
from gridagent.presence.rules.addressed import code_of

__all__ = ("judge",)

_SHORTEST_S: Final = 1.0


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Take requests to be quiet, and stay quiet where one holds."""
    request = read_hush(heard.words, room.names.words)
    if request is not None and (request.everybody or code_of(heard, room) is not None):
        if request.quiet:
            _hush(heard, room, request)
            return AttentionCode.HUSHED
        _unhush(heard, room)
    if heard.is_exempt(Exemption.QUIET):
        return None
    peer = heard.peer
    until = max(peer.hushed_im_until, peer.hushed_until, room.quiet_until) if heard.in_public else peer.hushed_im_until
    return AttentionCode.ASKED_TO_BE_QUIET if heard.now < until else None


def _hush(heard: Heard, room: Room, request: HushRequest) -> None:
    section = room.section
    asked = section.quiet_s if request.seconds is None else max(request.seconds, _SHORTEST_S)
    until = heard.now + min(asked, section.quiet_max_s)
    if heard.standing in OVERSEERS:
        room.quiet_until = until
        return
    heard.peer.hushed_until = until
    if not heard.in_public:
        heard.peer.hushed_im_until = until
    room.ambient_quiet_until = max(room.ambient_quiet_until, until)


def _unhush(heard: Heard, room: Room) -> None:
    """End what the speaker asked for; an overseer ends what anybody asked for the place."""
    heard.peer.hushed_until = heard.peer.hushed_im_until = heard.now
    if heard.standing in OVERSEERS:
        room.quiet_until = room.ambient_quiet_until = heard.now
    else:
        room.ambient_quiet_until = room.peers.hushed_until()
