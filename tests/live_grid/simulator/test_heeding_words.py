"""What a client says: chat, instant messages, answers to scripts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gridagent import actions as asked
from gridagent.actions import Volume
from gridagent.events import ChatHeard, FriendshipOffered, ImReceived, InventoryOffered, TeleportAsked, TypingSeen
from gridagent.grid.simulated import World
from gridagent.grid.simulated.characters import AskPermission, DialogAnswered, OpenDialog, PermissionAnswered
from gridagent.grid.simulated.scripts import act
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ObjectId
from live_grid.messages import NIL, text_of, wire_text
from live_grid.messages.speech import (
    AgentAlertMessage,
    ChatFromSimulator,
    ChatFromViewer,
    ImprovedInstantMessage,
    RetrieveInstantMessages,
    ScriptAnswerYes,
    ScriptDialog,
    ScriptDialogReply,
    ScriptQuestion,
)
from live_grid.simulator.ids import wire_id
from live_grid.simulator.profiles import OPENSIM, SECOND_LIFE, WireProfile
from live_grid.simulator.puppet import Puppet, Table

BEN = AvatarId("00000000-0000-4000-8000-000000000002")
BELL = ObjectId("00000000-0000-4000-8000-0000000000b1")
NOTE = "00000000-0000-4000-8000-0000000000c0"


def chat(puppet: Puppet, text: str, kind: int = 1, channel: int = 0) -> None:
    """Say something."""
    data = ChatFromViewer.ChatData(wire_text(text), kind, channel)
    puppet.say(ChatFromViewer(agent_data=puppet.session, chat_data=data))


def send(puppet: Puppet, to: AvatarId, text: str, dialog: int = 0, **fields) -> None:
    """Send an instant message."""
    block = {
        "from_group": False,
        "to_agent_id": wire_id(to),
        "parent_estate_id": 0,
        "region_id": NIL,
        "position": (0.0, 0.0, 0.0),
        "offline": 0,
        "dialog": dialog,
        "id": NIL,
        "timestamp": 0,
        "from_agent_name": wire_text("Forged Name"),
        "message": wire_text(text),
        "binary_bucket": b"",
    } | fields
    puppet.say(
        ImprovedInstantMessage(
            agent_data=puppet.session,
            message_block=ImprovedInstantMessage.MessageBlock(**block),
            estate_block=ImprovedInstantMessage.EstateBlock(0),
        )
    )


@pytest.mark.parametrize(("kind", "volume"), [(0, Volume.WHISPER), (1, Volume.SAY), (2, Volume.SHOUT)])
def test_chat_is_heard_by_others_and_echoed(kind: int, volume: Volume, ada: Puppet, ben: Witness) -> None:
    """Whisper, say and shout; the own echo names the speaker and the place. Spec: LIV-6, LIV-15."""
    chat(ada, "hello", kind)
    heard = ben.saw(ChatHeard)[-1]
    assert (heard.text, heard.volume, heard.source.id) == ("hello", volume, "00000000-0000-4000-8000-000000000001")
    (echo,) = ada.saw(ChatFromSimulator)
    data = echo.chat_data
    assert (text_of(data.message), text_of(data.from_name), data.source_id) == ("hello", "Ada Actor", ada.agent_id)
    assert (data.source_type, data.chat_type, data.position) == (1, kind, (100.0, 100.0, 22.0))


def test_words_on_another_channel_are_not_echoed(world: World, ada: Puppet) -> None:
    """Only things with a script hear them. Spec: LIV-6."""
    heard = []
    bell = world.regions()[0].objects[BELL]
    bell.script = heard.append
    world.regions()[0].listeners[BELL] = bell
    chat(ada, "open", channel=7)
    assert [(event.text, event.chat_channel) for event in heard] == [("open", 7)]
    assert ada.saw(ChatFromSimulator) == []


def test_typing_is_shown_and_odd_chat_is_nothing(ada: Puppet, ben: Witness) -> None:
    """Starts and ends; empty words and unknown kinds say nothing. Spec: LIV-6."""
    chat(ada, "", 4)
    chat(ada, "", 5)
    chat(ada, "", 1)
    chat(ada, "hm", 77)
    assert [event.typing for event in ben.saw(TypingSeen)] == [True, False]
    assert ben.saw(ChatHeard) == []


def test_long_chat_is_cut_between_characters(ada: Puppet, ben: Witness) -> None:
    """To what the world carries, without an error. Spec: LIV-6."""
    data = ChatFromViewer.ChatData(("ü" * 560).encode(), 1, 0)
    ada.say(ChatFromViewer(agent_data=ada.session, chat_data=data))
    text = ben.saw(ChatHeard)[-1].text
    assert len(text.encode()) <= 1_023
    assert text.startswith("üüü")


def test_an_instant_message_arrives_under_its_senders_own_name(ada: Puppet, ben: Witness) -> None:
    """Whatever name the packet claims. Spec: LIV-6; Fault: 16."""
    send(ada, ben.avatar_id, "psst")
    send(ada, ben.avatar_id, "")
    send(ada, ben.avatar_id, "to a group", from_group=True)
    send(ada, ben.avatar_id, "an unknown dialog", dialog=200)
    assert [(event.text, event.source.name) for event in ben.saw(ImReceived)] == [("psst", "Ada Actor")]


def test_a_message_to_nobody_is_told_to_its_sender(ada: Puppet) -> None:
    """By an alert. Spec: LIV-6."""
    send(ada, AvatarId("00000000-0000-4000-8000-00000000dead"), "hello?")
    assert "unknown avatar" in text_of(ada.saw(AgentAlertMessage)[-1].alert_data.message)


def test_offers_of_friendship_and_requests_to_come_arrive(ada: Puppet, ben: Witness) -> None:
    """As the world's own offers, with their note. Spec: LIV-6."""
    send(ada, ben.avatar_id, "friends?", dialog=38)
    send(ada, ben.avatar_id, "may I come?", dialog=26)
    assert [event.message for event in ben.saw(FriendshipOffered)] == ["friends?"]
    assert [event.message for event in ben.saw(TeleportAsked)] == ["may I come?"]


@pytest.mark.parametrize(("accept", "dialog"), [(True, 5), (False, 6)])
@pytest.mark.parametrize("profile", [OPENSIM, SECOND_LIFE], ids=lambda profile: profile.name)
def test_a_gift_is_answered_to_its_giver(
    *, accept: bool, dialog: int, world: World, profile: WireProfile, enter: Callable[..., Puppet]
) -> None:
    """Under the giver's own transaction; an OpenSimulator's answer names the receiver's copy. Spec: LIV-6, LIV-8."""
    ada = enter(Table(world, profile=profile), "Ada Actor")
    ben = Witness(world, BEN)
    transaction = bytes(range(16))
    send(ada, ben.avatar_id, "Note", dialog=4, id=transaction, binary_bucket=b"\7" + wire_id(NOTE))
    (offered,) = ben.saw(InventoryOffered)
    assert (offered.name, offered.kind) == ("Note", "notecard")
    ben.do(asked.AnswerInventoryOffer(offer_id=offered.offer_id, accept=accept))
    ada._table.settle()
    (answer,) = [one for one in ada.saw(ImprovedInstantMessage) if one.message_block.dialog == dialog]
    assert answer.agent_data.agent_id == wire_id(ben.avatar_id)
    assert (answer.message_block.id == transaction) is (profile is SECOND_LIFE)


def test_a_gift_of_nothing_is_nothing(ada: Puppet, ben: Witness) -> None:
    """A bucket too short names no item. Spec: LIV-3."""
    send(ada, ben.avatar_id, "?", dialog=4, binary_bucket=b"\7")
    assert ben.saw(InventoryOffered) == []


@pytest.mark.parametrize(("dialog", "carried"), [(5, 3), (6, 2), (10, 3), (11, 2)])
def test_an_offered_item_is_taken_or_left(dialog: int, carried: int, world: World, ada: Puppet, ben: Witness) -> None:
    """By either pair of answers; the offer's id is the message's. Spec: LIV-6, LIV-8."""
    gift = world.give(ben.avatar_id, name="Apple", kind="object")
    world.perform(ben.avatar_id, asked.GiveItem(item_id=gift, to="00000000-0000-4000-8000-000000000001"), world.now)
    ada._table.settle()
    (offer,) = ada.saw(ImprovedInstantMessage)
    assert offer.message_block.binary_bucket[0] == 6
    send(ada, ben.avatar_id, "", dialog=dialog, id=offer.message_block.id)
    assert len(world.inventory(world.avatars()[0])) == carried


def test_a_declined_invitation_is_closed(world: World, ada: Puppet, ben: Witness) -> None:
    """And can be declined only once. Spec: LIV-6."""
    world.perform(ben.avatar_id, asked.OfferTeleport(to="00000000-0000-4000-8000-000000000001"), world.now)
    ada._table.settle()
    (lure,) = ada.saw(ImprovedInstantMessage)
    assert text_of(lure.message_block.binary_bucket).startswith("256000|256000|100|100|22|")
    send(ada, ben.avatar_id, "", dialog=24, id=lure.message_block.id)
    assert world._state.offers.open_to("00000000-0000-4000-8000-000000000001") == ()


def test_a_dialog_is_shown_and_its_button_pressed(world: World, ada: Puppet) -> None:
    """The answer reaches the script by object and channel; another channel answers nothing. Spec: LIV-6, LIV-15."""
    bell, heard = world.regions()[0].objects[BELL], []
    bell.script = heard.append
    act(world._state, bell, OpenDialog(to=world.avatars()[0], text="Ring?", buttons=("Yes", "No")))
    ada._table.settle()
    (shown,) = ada.saw(ScriptDialog)
    assert [text_of(button.button_label) for button in shown.buttons] == ["Yes", "No"]
    assert (text_of(shown.data.message), text_of(shown.data.object_name)) == ("Ring?", "Bell")
    assert (text_of(shown.data.first_name), text_of(shown.data.last_name)) == ("Ben", "Bystander")
    for channel in (5, shown.data.chat_channel):
        data = ScriptDialogReply.Data(wire_id(BELL), channel, 1, wire_text("No"))
        ada.say(ScriptDialogReply(agent_data=ada.session, data=data))
    assert [(event.button, event.name) for event in heard if isinstance(event, DialogAnswered)] == [("No", "Ada Actor")]


@pytest.mark.parametrize(("questions", "granted"), [(0x10, ("animate",)), (0, ())])
def test_permissions_are_granted_or_refused(
    questions: int, granted: tuple[str, ...], world: World, ada: Puppet
) -> None:
    """Once: a second answer finds nothing open. Spec: LIV-6, LIV-15."""
    bell, heard = world.regions()[0].objects[BELL], []
    bell.script = heard.append
    act(world._state, bell, AskPermission(to=world.avatars()[0], permissions=("animate", "debit")))
    ada._table.settle()
    (question,) = ada.saw(ScriptQuestion)
    assert question.data.questions == 0x12
    for _ in range(2):
        data = ScriptAnswerYes.Data(question.data.task_id, question.data.item_id, questions)
        ada.say(ScriptAnswerYes(agent_data=ada.session, data=data))
    assert [event.granted for event in heard if isinstance(event, PermissionAnswered)] == [granted]


def test_stored_messages_come_when_asked_for(world: World, table: Table, ben: Witness) -> None:
    """Marked as of earlier, once, and not before; over UDP on OpenSimulator. Spec: LIV-6, LIV-15."""
    ben.do(asked.SendIm(to=world.avatars()[0], text="while you were away"))
    ada = table.puppet("Ada Actor")
    ada.enter()
    assert ada.saw(ImprovedInstantMessage) == []
    for _ in range(2):
        ada.say(RetrieveInstantMessages(agent_data=ada.session))
    (stored,) = ada.saw(ImprovedInstantMessage)
    assert (text_of(stored.message_block.message), stored.message_block.offline) == ("while you were away", 1)


def test_stored_messages_come_by_capability_in_second_life(world: World, ben: Witness) -> None:
    """The UDP request is deaf there. Spec: LIV-6, LIV-15."""
    ben.do(asked.SendIm(to=world.avatars()[0], text="while you were away"))
    table = Table(world, profile=SECOND_LIFE)
    ada = table.puppet("Ada Actor")
    number = ada.enter()
    ada.say(RetrieveInstantMessages(agent_data=ada.session))
    assert ada.saw(ImprovedInstantMessage) == []
    (stored,) = ada.post(ada.caps[number]["ReadOfflineMsgs"], {})
    assert (stored["message"], stored["from_agent_name"]) == ("while you were away", "Ben Bystander")
    assert ada.post(ada.caps[number]["ReadOfflineMsgs"], {}) == []
