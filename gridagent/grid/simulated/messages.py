"""Instant messages, to people who are here and to people who are away.

Owns the verb send_im and the offline store: `OFFLINE_IMS_MAX` messages a receiver, as grids keep them;
one more is refused, never silently lost. Stored messages are handed over, marked offline, at the next
login. A message is acknowledged to its sender, not answered: the grid knows no stronger evidence.
"""

from __future__ import annotations

from gridagent.actions import SendIm
from gridagent.events import ImReceived, Speaker
from gridagent.grid.simulated.avatars import OFFLINE_IMS_MAX, Avatar, Body
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.state import State
from gridagent.limits import Label

__all__ = ("hand_over_offline", "message", "send_im")


def send_im(state: State, avatar: Avatar, body: Body, action: SendIm, reference: Label) -> None:
    """Send one instant message."""
    del body
    receiver = state.avatars.get(action.to)
    if receiver is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_AVATAR)
    elif not message(state, receiver, avatar.speaker(), action.text):
        state.refuse(avatar, reference, Refusal.OFFLINE_STORE_FULL)
    else:
        state.deliver(avatar, reference)


def message(state: State, receiver: Avatar, source: Speaker, text: str) -> bool:
    """Bring words to somebody, or store them; tell whether that was possible."""
    utterance_id = state.utterance_id()
    if receiver.online:
        state.tell(receiver, ImReceived(utterance_id=utterance_id, source=source, text=text))
        return True
    if len(receiver.offline_ims) >= OFFLINE_IMS_MAX:
        return False
    receiver.offline_ims.append(ImReceived(utterance_id=utterance_id, source=source, text=text, offline=True))
    return True


def hand_over_offline(state: State, receiver: Avatar) -> None:
    """Give somebody who has just come what was stored for them."""
    stored, receiver.offline_ims = receiver.offline_ims, []
    for kept in stored:
        state.tell(receiver, kept)
