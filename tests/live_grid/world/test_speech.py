"""Words, notices, and what scripts ask."""

from __future__ import annotations

import pytest

from live_grid.llsd import write_llsd_notation, write_llsd_xml
from live_grid.messages import NIL
from live_grid.messages.circuits import KickUser, LogoutReply
from live_grid.messages.notation import AgentSession
from live_grid.messages.speech import (
    AgentAlertMessage,
    AlertMessage,
    ChatFromSimulator,
    LoadURL,
    ScriptDialog,
    ScriptQuestion,
)
from live_grid.world import Region, SourceKind, World, reduce_message
from live_grid.world.bounds import OFFERS_MAX
from live_grid.world.events import (
    AlertShown,
    ChatHeard,
    Kicked,
    LogoutConfirmed,
    OfferLapsed,
    OfferMade,
    RestartAnnounced,
    TypingShown,
    UrlShown,
)
from live_grid.world.offers import Dialog, Permissions

BEN = bytes(15) + b"\x02"
BOX = bytes(15) + b"\x0b"
THERE = (1.0, 2.0, 3.0)


def chat(source: bytes, source_type: int, text: bytes, *, kind: int = 1) -> ChatFromSimulator:
    """Words in public."""
    return ChatFromSimulator(
        chat_data=ChatFromSimulator.ChatData(b"Ben Boat\0", source, BEN, source_type, kind, 1, THERE, text)
    )


def alert(text: bytes, key: bytes = b"", params: bytes = b"") -> AlertMessage:
    """A notice of the region."""
    info = (AlertMessage.AlertInfo(key, params),) if key else ()
    return AlertMessage(alert_data=AlertMessage.AlertData(text), alert_info=info)


@pytest.mark.parametrize(
    ("source_type", "kind"),
    [(0, SourceKind.SYSTEM), (1, SourceKind.AVATAR), (2, SourceKind.OBJECT), (7, SourceKind.SYSTEM)],
)
def test_who_speaks_is_what_the_simulator_says(world: World, here: Region, source_type: int, kind: SourceKind) -> None:
    """The source's kind comes from its own field, never from name or text. Spec: LIV-6. Fault: 15."""
    said = reduce_message(world, here, chat(BEN, source_type, b"Owner: hello\0"))
    assert said == (ChatHeard(kind, BEN, BEN, "Ben Boat", "Owner: hello", 1, THERE),)


def test_our_own_words_come_back(world: World, beside: Region) -> None:
    """They are told as ours, also from over a border."""
    (event,) = reduce_message(world, beside, chat(world.agent_id, 1, b"hi\0"))
    assert isinstance(event, ChatHeard)
    assert event.kind is SourceKind.SELF


def test_typing_is_told_of_people(world: World, here: Region) -> None:
    """Neither we nor objects are seen typing; saying nothing is nothing."""
    assert reduce_message(world, here, chat(BEN, 1, b"", kind=4)) == (TypingShown(BEN, True),)
    assert reduce_message(world, here, chat(BEN, 1, b"", kind=5)) == (TypingShown(BEN, False),)
    assert reduce_message(world, here, chat(BOX, 2, b"", kind=4)) == ()
    assert reduce_message(world, here, chat(world.agent_id, 1, b"", kind=4)) == ()
    assert reduce_message(world, here, chat(BEN, 1, b"\0")) == ()


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        (alert(b"Restart!\0", b"RegionRestartMinutes\0", write_llsd_xml({"MINUTES": 5, "NAME": "Plaza"})), 300),
        (alert(b"Restart!\0", b"RegionRestartSeconds\0", write_llsd_notation({"SECONDS": 30})), 30),
        (alert(b"Restart!\0", b"RegionRestartMinutes\0", b"<broken"), 0),
        (alert(b"Restart!\0", b"RegionRestartSeconds\0", write_llsd_notation({"SECONDS": -5})), 0),
        (alert(b"Restart!\0", b"RegionRestartSeconds\0", write_llsd_notation([30])), 0),
        (alert(b"Region is restarting in 2 minutes 30 seconds\0"), 150),
        (alert(b"The region you are in now is about to restart in 45 seconds.\0"), 45),
        (alert(b"Plaza will restart: 3 minutes, says the region\0"), 180),
    ],
    ids=["minutes", "seconds", "broken", "negative", "no map", "words", "words in seconds", "words in another order"],
)
def test_a_restart_is_told_apart(world: World, here: Region, message: AlertMessage, seconds: float) -> None:
    """Keys are believed first, then the wording that operators start from. Spec: LIV-6. Fault: 8."""
    announced, shown = reduce_message(world, here, message)
    assert announced == RestartAnnounced(seconds)
    assert isinstance(shown, AlertShown)


def test_other_notices_are_shown(world: World, here: Region) -> None:
    """A notice with another key, one to us alone, and one that says nothing."""
    assert reduce_message(world, here, alert(b"Autosave.\0", b"SomeKey\0")) == (
        AlertShown("Autosave.", "SomeKey", False),
    )
    own = AgentAlertMessage(
        agent_data=AgentAlertMessage.AgentData(world.agent_id),
        alert_data=AgentAlertMessage.AlertData(True, b"Home set\0"),
    )
    assert reduce_message(world, here, own) == (AlertShown("Home set", "", True),)
    assert reduce_message(world, here, alert(b"\0")) == ()


def test_a_kick_is_for_us_and_from_where_we_are(world: World, here: Region, beside: Region) -> None:
    """A kick of somebody else, or by a neighbour, is none. Fault: 8."""

    def kick(who: bytes) -> KickUser:
        return KickUser(
            target_block=KickUser.TargetBlock(bytes(4), 0), user_info=KickUser.UserInfo(who, NIL, b"Go\x07 away\0")
        )

    assert reduce_message(world, here, kick(world.agent_id)) == (Kicked("Go away"),)
    assert reduce_message(world, here, kick(NIL)) == (Kicked("Go away"),)
    assert reduce_message(world, here, kick(BEN)) == ()
    assert reduce_message(world, beside, kick(world.agent_id)) == ()


def test_a_logout_reply_is_for_us(world: World, here: Region) -> None:
    """Another's is none."""
    assert reduce_message(world, here, LogoutReply(agent_data=AgentSession(world.agent_id, NIL))) == (
        LogoutConfirmed(),
    )
    assert reduce_message(world, here, LogoutReply(agent_data=AgentSession(BEN, NIL))) == ()


def test_a_page_is_shown_and_not_opened(world: World, here: Region) -> None:
    """Address and words are cleaned. Fault: 20."""
    page = LoadURL(data=LoadURL.Data(b"Box\0", BOX, BEN, False, b"look\0", b"http://example.com/\x07x\0"))
    assert reduce_message(world, here, page) == (UrlShown(BOX, BEN, "Box", "look", "http://example.com/x"),)


def test_a_script_dialog_waits_with_its_labels_as_written(world: World, here: Region) -> None:
    """Buttons are shown clean and answered as the script wrote them. Spec: LIV-6."""
    dialog = ScriptDialog(
        data=ScriptDialog.Data(BOX, b"Ben\0", b"Boat\0", b"Box\0", b"Well?\0", -7, NIL),
        buttons=tuple(map(ScriptDialog.Buttons, (b"Yes\0", b"N\x07o\0", *[b"x\0"] * 20))),
        owner_data=(ScriptDialog.OwnerData(BEN),),
    )
    (made,) = reduce_message(world, here, dialog)
    assert isinstance(made, OfferMade)
    offer = world.offers.get(made.offer_id)
    assert isinstance(offer, Dialog)
    assert (offer.source_id, offer.owner_id, offer.owner_name) == (BOX, BEN, "Ben Boat")
    assert (offer.buttons[:2], offer.labels[1], offer.channel) == (("Yes", "No"), b"N\x07o\0", -7)
    assert len(offer.buttons) == 12
    reduce_message(world, here, ScriptDialog(data=dialog.data))
    assert [offer.owner_id for offer in world.offers if isinstance(offer, Dialog)] == [BEN, NIL]


def test_a_request_for_permissions_waits(world: World, here: Region) -> None:
    """The bits are kept as they came, sign and all; at the ceiling the oldest offer lapses. Spec: BND-1."""
    question = ScriptQuestion(
        data=ScriptQuestion.Data(BOX, BEN, b"Box\0", b"Ben Boat\0", -2), experience=ScriptQuestion.Experience(NIL)
    )
    (made,) = reduce_message(world, here, question)
    assert isinstance(made, OfferMade)
    offer = world.offers.get(made.offer_id)
    assert isinstance(offer, Permissions)
    assert (offer.bits, offer.item_id, offer.owner_name) == (0xFFFF_FFFE, BEN, "Ben Boat")
    for _ in range(OFFERS_MAX - 1):
        reduce_message(world, here, question)
    assert reduce_message(world, here, question)[0] == OfferLapsed(made.offer_id)
