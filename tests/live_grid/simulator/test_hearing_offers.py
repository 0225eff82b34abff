"""What wants an answer, said to a client."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.grid.simulated import World
from gridagent.grid.simulated.characters import OfferItem, ShowUrl
from gridagent.grid.simulated.scripts import act
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import ObjectId
from live_grid.messages import text_of
from live_grid.messages.speech import (
    ImprovedInstantMessage,
    LoadURL,
)
from live_grid.simulator.ids import wire_id
from live_grid.simulator.puppet import Puppet, Table

ADA = "00000000-0000-4000-8000-000000000001"
BELL = ObjectId("00000000-0000-4000-8000-0000000000b1")


def test_pages_and_items_of_things_are_offered(world: World, table: Table, ada: Puppet, ben: Witness) -> None:
    """By address, by kind; the page's owner is the thing's. Spec: LIV-6; Fault: 20."""
    bell = world.regions()[0].objects[BELL]
    act(world._state, bell, ShowUrl(to=ADA, url="http://example.org/"))
    act(world._state, bell, OfferItem(to=ADA, name="Clapper", kind="oddity"))
    table.settle()
    (page,), (offer,) = ada.saw(LoadURL), ada.saw(ImprovedInstantMessage)
    assert (text_of(page.data.url), page.data.owner_id) == ("http://example.org/", wire_id(ben.avatar_id))
    assert (offer.message_block.dialog, offer.message_block.binary_bucket) == (9, b"\6")
    assert text_of(offer.message_block.message) == "Clapper"


def test_open_offers_wait_for_whoever_was_away(world: World, table: Table, ben: Witness) -> None:
    """They are shown with presence. Spec: LIV-6."""
    ben.do(asked.OfferFriendship(to=ADA, message="hello"))
    ada = table.puppet("Ada Actor")
    ada.enter()
    assert [one.message_block.dialog for one in ada.saw(ImprovedInstantMessage)] == [38]


def test_an_invitation_of_somebody_who_has_left_names_no_place(world: World, table: Table, ben: Witness) -> None:
    """It waits all the same. Spec: LIV-6."""
    ben.do(asked.OfferTeleport(to=ADA, message="come"))
    ben.leave()
    ada = table.puppet("Ada Actor")
    ada.enter()
    (lure,) = ada.saw(ImprovedInstantMessage)
    assert (lure.message_block.dialog, lure.message_block.binary_bucket) == (22, b"")
