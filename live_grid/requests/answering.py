"""How we answer what others offer and ask: friendships, gifts, dialogs and permissions.

Owns the requests of the family; friendships that we offer or end ourselves as well. An answer goes to whoever made
the offer, under the number it came with (Spec: LIV-6).
"""

from __future__ import annotations

from typing import Final

from live_grid.messages.people import AcceptFriendship, DeclineFriendship, TerminateFriendship, UUIDNameRequest
from live_grid.messages.speech import ScriptAnswerYes, ScriptDialogReply
from live_grid.requests.request import Confirmation, Identity, Request
from live_grid.requests.speaking import instant_message

__all__ = (
    "NAMES_PER_REQUEST",
    "answer_dialog",
    "answer_friendship",
    "answer_gift",
    "answer_permissions",
    "ask_names",
    "end_friendship",
    "offer_friendship",
)

NAMES_PER_REQUEST: Final = 50
"""More would not fit a packet."""
_FRIENDSHIP_OFFERED: Final = 38
_GIFT_ACCEPTED, _GIFT_DECLINED = 5, 6
_OBJECT_GIFT_ACCEPTED, _OBJECT_GIFT_DECLINED = 10, 11


def offer_friendship(me: Identity, to: bytes, text: str, number: bytes) -> Request:
    """Ask somebody to be a friend.

    Args:
        me: who asks.
        to: an avatar.
        text: words that go with it.
        number: a new id.

    Raises:
        LocalProtocolError: the text is too long.
    """
    return Request((instant_message(me, to, _FRIENDSHIP_OFFERED, number=number, text=text),), Confirmation.DELIVERED)


def answer_friendship(me: Identity, number: bytes, folder_id: bytes, *, accept: bool) -> Request:
    """Accept or decline a friendship.

    Args:
        me: who answers.
        number: the offer's own.
        folder_id: where the calling card goes.
        accept: whether we do.
    """
    if accept:
        yes = AcceptFriendship.TransactionBlock(number)
        folder = (AcceptFriendship.FolderData(folder_id),)
        return Request(
            (AcceptFriendship(agent_data=me.session, transaction_block=yes, folder_data=folder),), Confirmation.FRIENDS
        )
    no = DeclineFriendship.TransactionBlock(number)
    return Request((DeclineFriendship(agent_data=me.session, transaction_block=no),), Confirmation.DELIVERED)


def end_friendship(me: Identity, friend_id: bytes) -> Request:
    """End a friendship."""
    other = TerminateFriendship.ExBlock(friend_id)
    return Request((TerminateFriendship(agent_data=me.session, ex_block=other),), Confirmation.FRIENDS)


def answer_gift(
    me: Identity, giver_id: bytes, number: bytes, folder_id: bytes, *, accept: bool, from_object: bool
) -> Request:
    """Take or decline a gift.

    Args:
        me: who answers.
        giver_id: who gave it, as the offer said.
        number: the offer's own.
        folder_id: where it goes.
        accept: whether we take it.
        from_object: whether an object gave it.
    """
    if from_object:
        dialog = _OBJECT_GIFT_ACCEPTED if accept else _OBJECT_GIFT_DECLINED
    else:
        dialog = _GIFT_ACCEPTED if accept else _GIFT_DECLINED
    answer = instant_message(me, giver_id, dialog, number=number, bucket=folder_id)
    return Request((answer,), Confirmation.DELIVERED)


def answer_dialog(me: Identity, object_id: bytes, channel: int, index: int, label: bytes) -> Request:
    """Press a button of a script's dialog, or answer it with text.

    Args:
        me: who answers.
        object_id: whose dialog it is.
        channel: where the script listens.
        index: of the button.
        label: the button as the script wrote it, or our text with its closing NUL.
    """
    data = ScriptDialogReply.Data(object_id, channel, index, label)
    return Request((ScriptDialogReply(agent_data=me.session, data=data),), Confirmation.DELIVERED)


def answer_permissions(me: Identity, object_id: bytes, item_id: bytes, bits: int) -> Request:
    """Grant a script these permissions; none is a refusal."""
    data = ScriptAnswerYes.Data(object_id, item_id, bits)
    return Request((ScriptAnswerYes(agent_data=me.session, data=data),), Confirmation.DELIVERED)


def ask_names(ids: tuple[bytes, ...]) -> Request:
    """Ask for names, at most `NAMES_PER_REQUEST` at once."""
    blocks = tuple(map(UUIDNameRequest.UUIDNameBlock, ids[:NAMES_PER_REQUEST]))
    return Request((UUIDNameRequest(uuid_name_block=blocks),), Confirmation.NAMES)
