"""What we say."""

from __future__ import annotations

import pytest

from benchmarks.captures import datagrams
from live_grid.errors import LocalProtocolError
from live_grid.messages.speech import ChatFromViewer, ImprovedInstantMessage
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from live_grid.requests import Confirmation, Identity, speaking
from live_grid.requests.speaking import Volume


def test_chat_is_what_a_recorded_viewer_sent(travel) -> None:
    """The words of a client that was heard, field by field. Spec: LIV-6."""
    packets = map(decode_packet_untrusted, (one.data for one in datagrams("two_clients")))
    chat = read_message_untrusted(next(packet for packet in packets if packet.name == "ChatFromViewer"))
    assert isinstance(chat, ChatFromViewer)
    who = Identity(
        agent_id=chat.agent_data.agent_id, session_id=chat.agent_data.session_id, circuit_code=1, name="Bot Avatar"
    )
    assert travel(speaking.say(who, "hello")) == (chat,)


def test_where_words_come_back_and_where_not(me: Identity, travel) -> None:
    """In public they come back; on another channel the ack is all there is."""
    assert speaking.say(me, "hi", Volume.SHOUT).confirmed_by is Confirmation.OWN_CHAT
    request = speaking.say(me, "hi", Volume.WHISPER, -5)
    assert request.confirmed_by is Confirmation.DELIVERED
    (message,) = travel(request)
    assert (message.chat_data.type, message.chat_data.channel) == (0, -5)
    with pytest.raises(LocalProtocolError):
        speaking.say(me, "x" * 1024)


def test_typing_is_shown(me: Identity, travel) -> None:
    """In public and to one avatar."""
    assert [travel(speaking.show_typing(me, typing=on))[0].chat_data.type for on in (True, False)] == [4, 5]
    to = bytes(15) + b"\x02"
    dialogs = [travel(speaking.show_typing_to(me, to, typing=on))[0].message_block.dialog for on in (True, False)]
    assert dialogs == [41, 42]


def test_an_instant_message_names_its_conversation(me: Identity, travel) -> None:
    """Both sides of a conversation call it the same. Spec: LIV-6."""
    to = bytes(15) + b"\x02"
    (message,) = travel(speaking.send_im(me, to, "psst"))
    assert isinstance(message, ImprovedInstantMessage)
    block = message.message_block
    assert (block.to_agent_id, block.id, block.dialog) == (to, bytes(15) + b"\x03", 0)
    assert (block.from_agent_name, block.message) == (b"Mia Mine\0", b"psst\0")
    with pytest.raises(LocalProtocolError):
        speaking.send_im(me, to, "x" * 1024)


def test_stored_messages_are_asked_for(me: Identity, travel) -> None:
    """The request holds nothing but who asks."""
    assert travel(speaking.ask_stored_messages(me))[0].agent_data == me.session


def test_the_longest_words_fit_a_datagram(me: Identity, travel) -> None:
    """1,023 bytes, in public and to one avatar, zero-coded or not."""
    assert travel(speaking.say(me, "x" * 1023))
    assert travel(speaking.send_im(me, bytes(15) + b"\x02", "y" * 1023))
