"""Objects that ask and answer."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Position, Refused
from gridagent.events import (
    ChatHeard,
    DialogOpened,
    ImReceived,
    InventoryChanged,
    InventoryOffered,
    OfferClosed,
    PermissionAsked,
    SpeakerKind,
    UrlShown,
)
from gridagent.grid.simulated import Thing, World
from gridagent.grid.simulated.characters import (
    Act,
    AskPermission,
    DialogAnswered,
    ObjectAction,
    ObjectIm,
    ObjectSay,
    ObjectTouched,
    OfferAnswered,
    OfferItem,
    OpenDialog,
    PermissionAnswered,
    ShowUrl,
)
from gridagent.grid.simulated.offers import OFFERS_MAX
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId, ObjectId

NOBODY = AvatarId("00000000-0000-4000-8000-0000000000ff")


class Puppet:
    """A script that does what it is told and remembers what it is told of."""

    def __init__(self) -> None:
        self.told: list[object] = []
        self.orders: list[ObjectAction] = []

    def start(self, scene):
        return []

    def on_event(self, event, scene):
        self.told.append(event)
        orders, self.orders = self.orders, []
        return [Act(action=order) for order in orders]

    def on_wake(self, name, scene):
        return []


def a_puppet(world: World) -> tuple[ObjectId, Puppet]:
    """Stand a scripted, touchable thing of Ben's beside Ada."""
    puppet = Puppet()
    thing = Thing(name="Puppet", touchable=True)
    object_id = world.add_object("Plaza", owner_id=world.avatars()[1], position=Position(x=101.0, y=100.0), thing=thing)
    world.script(object_id, puppet)
    return object_id, puppet


def order(who: Witness, object_id: ObjectId, puppet: Puppet, *actions: ObjectAction) -> None:
    """Let the thing do something by touching it."""
    puppet.orders = list(actions)
    who.do(asked.Touch(object_id=object_id))
    who.pass_time(1.0)


def test_a_touch_reaches_the_script_with_who_touched(world: World, ada: Witness) -> None:
    """The script learns the avatar's id and name.

    Spec: SIM-1
    """
    object_id, puppet = a_puppet(world)
    ada.do(asked.Touch(object_id=object_id))
    assert puppet.told == [ObjectTouched(avatar_id=ada.avatar_id, name="Ada Actor")]


def test_a_touch_of_what_is_not_there_or_takes_none_is_refused(world: World, ada: Witness) -> None:
    """Each has its code, and a touchable thing without a script takes a touch in silence."""
    dumb = world.add_object("Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing())
    mute = world.add_object(
        "Plaza", owner_id=ada.avatar_id, position=Position(x=1.0, y=1.0), thing=Thing(touchable=True)
    )
    outcomes = [ada.do(asked.Touch(object_id=object_id)) for object_id in (ObjectId(NOBODY), dumb, mute)]
    assert outcomes[:2] == [Refused(reason="unknown_object"), Refused(reason="not_touchable")]
    assert type(outcomes[2]).__name__ == "Confirmed"


def test_a_script_speaks_messages_shows_and_asks(world: World, ada: Witness) -> None:
    """Everything a script may do arrives as its own kind of event, and names the object.

    Spec: SIM-1, SUP-12
    """
    object_id, puppet = a_puppet(world)
    order(
        ada,
        object_id,
        puppet,
        ObjectSay(text="hello"),
        ObjectIm(to=ada.avatar_id, text="psst"),
        OpenDialog(to=ada.avatar_id, text="Well?", buttons=("Yes", "No")),
        AskPermission(to=ada.avatar_id, permissions=("debit",)),
        OfferItem(to=ada.avatar_id, name="Leaflet", kind="notecard"),
        ShowUrl(to=ada.avatar_id, url="http://example.com/"),
    )
    sources = [ada.saw(ChatHeard)[0].source, ada.saw(ImReceived)[0].source, ada.saw(InventoryOffered)[0].source]
    assert {(source.kind, source.id) for source in sources} == {(SpeakerKind.OBJECT, object_id)}
    shown = [ada.saw(DialogOpened)[0], ada.saw(PermissionAsked)[0], ada.saw(UrlShown)[0]]
    assert {event.object_id for event in shown} == {object_id}


def test_a_script_reaches_nobody_far_away_unknown_or_overwhelmed(world: World, ada: Witness, dan: Witness) -> None:
    """What cannot be shown is counted, and a flood of dialogs stops at the receiver's limit.

    Spec: BND-1
    """
    object_id, puppet = a_puppet(world)
    order(
        ada,
        object_id,
        puppet,
        OpenDialog(to=NOBODY, text="Anybody?"),
        OpenDialog(to=dan.avatar_id, text="Over there?"),
        ShowUrl(to=dan.avatar_id, url="http://example.com/"),
    )
    assert world.misfit_requests == 3
    for _ in range(2):
        order(ada, object_id, puppet, *(OpenDialog(to=ada.avatar_id, text="Again?") for _ in range(40)))
    assert len(ada.saw(DialogOpened)) == OFFERS_MAX
    assert world.misfit_requests == 3 + 80 - OFFERS_MAX
    assert dan.saw(DialogOpened) == []


def test_answers_reach_the_script_once(world: World, ada: Witness) -> None:
    """A button, a grant, a denial and a taken item each close their offer and tell the script.

    Spec: SIM-1, EFX-1
    """
    object_id, puppet = a_puppet(world)
    order(
        ada,
        object_id,
        puppet,
        OpenDialog(to=ada.avatar_id, text="Well?", buttons=("Yes", "No")),
        AskPermission(to=ada.avatar_id, permissions=("debit", "animate")),
        AskPermission(to=ada.avatar_id, permissions=("attach",)),
        OfferItem(to=ada.avatar_id, name="Leaflet", kind="notecard"),
        OfferItem(to=ada.avatar_id, name="Junk"),
    )
    dialog = ada.saw(DialogOpened)[0].offer_id
    grants = [event.offer_id for event in ada.saw(PermissionAsked)]
    items = [event.offer_id for event in ada.saw(InventoryOffered)]
    ada.do(asked.AnswerDialog(offer_id=dialog, button="No"))
    ada.do(asked.AnswerPermission(offer_id=grants[0], grant=("animate",)))
    ada.do(asked.AnswerPermission(offer_id=grants[1]))
    ada.do(asked.AnswerInventoryOffer(offer_id=items[0], accept=True))
    ada.do(asked.AnswerInventoryOffer(offer_id=items[1], accept=False))
    who = {"avatar_id": ada.avatar_id, "name": "Ada Actor"}
    assert puppet.told[1:] == [
        DialogAnswered(offer_id=dialog, button="No", **who),
        PermissionAnswered(offer_id=grants[0], granted=("animate",), **who),
        PermissionAnswered(offer_id=grants[1], granted=(), **who),
        OfferAnswered(offer_id=items[0], accepted=True, **who),
        OfferAnswered(offer_id=items[1], accepted=False, **who),
    ]
    assert [(event.accepted, event.answer) for event in ada.saw(OfferClosed)] == [
        *((True, "No"), (True, "granted"), (False, "denied"), (True, "accepted"), (False, "declined"))
    ]
    assert [(event.item.name, event.item.kind) for event in ada.saw(InventoryChanged)] == [("Leaflet", "notecard")]
    assert ada.do(asked.AnswerDialog(offer_id=dialog, button="No")) == Refused(reason="unknown_offer")


def test_an_answer_of_the_wrong_kind_is_refused_and_leaves_the_offer_open(world: World, ada: Witness) -> None:
    """A dialog is no permission and a permission no dialog.

    Spec: EFX-1
    """
    object_id, puppet = a_puppet(world)
    order(
        ada,
        object_id,
        puppet,
        OpenDialog(to=ada.avatar_id, text="Well?"),
        AskPermission(to=ada.avatar_id, permissions=("debit",)),
    )
    dialog, permission = ada.saw(DialogOpened)[0].offer_id, ada.saw(PermissionAsked)[0].offer_id
    outcomes = [
        ada.do(asked.AnswerDialog(offer_id=permission, button="OK")),
        ada.do(asked.AnswerPermission(offer_id=dialog)),
        ada.do(asked.AnswerPermission(offer_id="none")),
    ]
    assert outcomes == [
        Refused(reason="wrong_kind"),
        Refused(reason="wrong_kind"),
        Refused(reason="unknown_offer"),
    ]
    assert type(ada.do(asked.AnswerDialog(offer_id=dialog, button="OK"))).__name__ == "Confirmed"
