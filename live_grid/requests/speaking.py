"""What we say: in public, to one avatar, and that we are typing.

Owns the requests of the family, and the one shape of instant message that all dialogs share. A text that is too long
is refused here; who splits it decides where (Spec: LIV-6).
"""

from __future__ import annotations

from enum import IntEnum

from live_grid.messages import NIL
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import ChatFromViewer, ImprovedInstantMessage, RetrieveInstantMessages
from live_grid.requests.request import TEXT_MAX_BYTES, Confirmation, Identity, Request, text_field

__all__ = (
    "Volume",
    "ask_stored_messages",
    "instant_message",
    "say",
    "send_im",
    "session_with",
    "show_typing",
    "show_typing_to",
)

_MESSAGE, _TYPING_STARTS, _TYPING_ENDS = 0, 41, 42
_STARTS, _ENDS = 4, 5


class Volume(IntEnum):
    """How far words carry: 10, 20 and 100 metres."""

    WHISPER = 0
    SAY = 1
    SHOUT = 2


def say(me: Identity, text: str, volume: Volume = Volume.SAY, channel: int = 0) -> Request:
    """Speak in public; on another channel only scripts listen, and nothing comes back.

    Raises:
        LocalProtocolError: the text is too long.
    """
    data = ChatFromViewer.ChatData(text_field(text, TEXT_MAX_BYTES), int(volume), channel)
    confirmed_by = Confirmation.DELIVERED if channel else Confirmation.OWN_CHAT
    return Request((ChatFromViewer(agent_data=me.session, chat_data=data),), confirmed_by)


def show_typing(me: Identity, *, typing: bool) -> Request:
    """Show, or cease to show, that we type in public."""
    data = ChatFromViewer.ChatData(text_field(""), _STARTS if typing else _ENDS, 0)
    return Request((ChatFromViewer(agent_data=me.session, chat_data=data),), Confirmation.DELIVERED)


def session_with(me: Identity, to: bytes) -> bytes:
    """Name the conversation of two avatars, as both sides do."""
    return bytes(mine ^ theirs for mine, theirs in zip(me.agent_id, to, strict=True))


def instant_message(
    me: Identity,
    to: bytes,
    dialog: int,
    *,
    number: bytes,
    text: str = "",
    bucket: bytes = b"\0",
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> ImprovedInstantMessage:
    """Write an instant message, or one of the dialogs that travel as one.

    Args:
        me: who sends.
        to: an avatar.
        dialog: what it means.
        number: the conversation or transaction.
        text: the words.
        bucket: what the dialog carries besides.
        position: where we are; some dialogs show it.

    Raises:
        LocalProtocolError: the text is too long.
    """
    return ImprovedInstantMessage(
        agent_data=AgentSession(me.agent_id, me.session_id),
        message_block=ImprovedInstantMessage.MessageBlock(
            from_group=False,
            to_agent_id=to,
            parent_estate_id=0,
            region_id=NIL,
            position=position,
            offline=0,
            dialog=dialog,
            id=number,
            timestamp=0,
            from_agent_name=text_field(me.name),
            message=text_field(text, TEXT_MAX_BYTES),
            binary_bucket=bucket,
        ),
        estate_block=ImprovedInstantMessage.EstateBlock(0),
    )


def send_im(me: Identity, to: bytes, text: str) -> Request:
    """Send words to one avatar.

    Raises:
        LocalProtocolError: the text is too long.
    """
    return Request((instant_message(me, to, _MESSAGE, number=session_with(me, to), text=text),), Confirmation.DELIVERED)


def show_typing_to(me: Identity, to: bytes, *, typing: bool) -> Request:
    """Show, or cease to show, one avatar that we type to it."""
    dialog = _TYPING_STARTS if typing else _TYPING_ENDS
    return Request(
        (instant_message(me, to, dialog, number=session_with(me, to), text="typing"),), Confirmation.DELIVERED
    )


def ask_stored_messages(me: Identity) -> Request:
    """Ask for the messages that came while we were away; grids empty that store as they send."""
    return Request((RetrieveInstantMessages(agent_data=me.session),), Confirmation.DELIVERED)
