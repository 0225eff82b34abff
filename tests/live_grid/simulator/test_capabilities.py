"""The HTTP side of a region: seeds and what capabilities answer."""

from __future__ import annotations

import zlib
from uuid import UUID

import pytest

from gridagent.grid.simulated import World
from gridagent.ids import ItemId
from live_grid.backend.belongings import notecard_asset
from live_grid.llsd import read_llsd_untrusted, write_llsd_xml
from live_grid.simulator.holdings import folders_of
from live_grid.simulator.ids import derived_id
from live_grid.simulator.profiles import OPENSIM
from live_grid.simulator.puppet import Puppet, Table

NOTE = UUID("00000000-0000-4000-8000-0000000000c0")


def cap(ada: Puppet, name: str) -> str:
    """Return the address of a capability, asking the seed for it."""
    found = ada.post(ada._seeds[0], [name])
    assert isinstance(found, dict)
    return str(found[name])


def test_a_seed_gives_what_is_asked_for_and_known(ada: Puppet) -> None:
    """Names the family does not have are left out; whoever asks again gets the same addresses. Spec: LIV-4, LIV-15."""
    first = ada.post(ada._seeds[0], ["EventQueueGet", "InventoryAPIv3", "HomeLocation", 5])
    assert isinstance(first, dict)
    assert list(first) == ["EventQueueGet", "HomeLocation"]
    assert "/CE/" in first["EventQueueGet"]
    assert ada.post(ada._seeds[0], list(OPENSIM.capabilities))["HomeLocation"] == first["HomeLocation"]
    assert first["EventQueueGet"] == ada.caps[0]["EventQueueGet"]


@pytest.mark.parametrize("body", [b"garbage", b"<llsd><map/></llsd>", b"<!DOCTYPE x><llsd><array/></llsd>"])
def test_a_seed_takes_nothing_else(body: bytes, table: Table, ada: Puppet) -> None:
    """What is no list of names is refused, and what is no LLSD is counted. Spec: LIV-4; Fault: 12."""
    assert ada.fetch(ada._seeds[0], body).status == 400
    assert table.core.statistics().malformed == (b"map" not in body)


def test_addresses_die_with_the_visit(world: World, table: Table, ada: Puppet) -> None:
    """Nobody acts for somebody who is gone. Spec: LIV-4, LIV-15."""
    address = ada.caps[0]["FetchInventory2"]
    world.kick(world.avatars()[0], table.now)
    assert ada.fetch(address, b"").status == 404
    table.pass_time(10.0)
    assert ada.fetch(address, b"").status == 404
    assert ada.fetch("/CAPS/nothing", b"").status == 404


def test_a_notecard_is_written_at_an_address_of_its_own(world: World, ada: Puppet) -> None:
    """The address is good once; the world keeps the text that stands in the asset. Spec: LIV-8, LIV-15."""
    offer = cap(ada, "UpdateNotecardAgentInventory")
    first, second = (ada.post(offer, {"item_id": NOTE}) for _ in range(2))
    assert first["state"] == "upload"
    done = read_llsd_untrusted(ada.fetch(str(first["uploader"]), notecard_asset("Ünder the stars.")).body)
    assert (done["state"], done["new_inventory_item"]) == ("complete", NOTE)
    assert world.avatar(world.avatars()[0]).inventory[ItemId(str(NOTE))].text == "Ünder the stars."
    assert ada.fetch(str(first["uploader"]), notecard_asset("Again")).status == 404
    assert ada.fetch(str(second["uploader"]), b"no notecard").status == 400


def test_what_is_no_notecard_of_ours_is_not_written(ada: Puppet) -> None:
    """Another's, nothing at all, and more at once than anybody needs. Spec: LIV-8; Fault: 34."""
    offer = cap(ada, "UpdateNotecardAgentInventory")
    for wish in (b"<llsd><map/></llsd>", b"garbage", b"<llsd><map><key>item_id</key><string>x</string></map></llsd>"):
        assert ada.fetch(offer, wish).status == 404
    addresses = {str(ada.post(offer, {"item_id": NOTE})["uploader"]) for _ in range(16)}
    assert len(addresses) == 16
    asked = write_llsd_xml({"item_id": NOTE})
    assert ada.fetch(offer, asked).status == 404
    assert ada.fetch(addresses.pop(), notecard_asset("Room again")).status == 200
    assert ada.fetch(offer, asked).status == 200


def test_a_folder_is_fetched(world: World, ada: Puppet) -> None:
    """Several at once; unknown ones are named, odd rows left out. Spec: LIV-8, LIV-15."""
    notes = next(one.folder_id for one in folders_of(world.avatars()[0]) if one.name == "Notecards")
    rows = [{"folder_id": UUID(bytes=notes)}, {"folder_id": UUID(bytes=derived_id("no"))}, {"folder_id": "odd"}, 7]
    found = ada.post(ada.caps[0]["FetchInventoryDescendents2"], {"folders": rows})
    assert [[item["name"] for item in folder["items"]] for folder in found["folders"]] == [["Note"]]
    assert [one["folder_id"] for one in found["bad_folders"]] == [UUID(bytes=derived_id("no"))]
    assert ada.post(ada.caps[0]["FetchInventoryDescendents2"], {"folders": "odd"}) == {"folders": []}
    assert ada.post(ada.caps[0]["FetchInventoryDescendents2"], ["odd"]) == {"folders": []}


def test_items_are_fetched_by_id(ada: Puppet) -> None:
    """Those that are carried. Spec: LIV-8, LIV-15."""
    rows = [{"item_id": NOTE}, {"item_id": UUID(int=7)}, {}]
    found = ada.post(ada.caps[0]["FetchInventory2"], {"items": rows})
    assert [item["name"] for item in found["items"]] == ["Note"]


def test_display_names_are_told(world: World, ada: Puppet) -> None:
    """Of everybody asked for, as far as they exist. Spec: LIV-6, LIV-15."""
    ada_id, eve_id = world.avatars()[0], world.avatars()[4]
    url = f"{ada.caps[0]['GetDisplayNames']}?ids={ada_id}&ids={eve_id.upper()}/&ids=nobody"
    found = read_llsd_untrusted(ada.fetch(url, method="GET").body)
    assert [(one["username"], one["display_name"]) for one in found["agents"]] == [
        ("ada.actor", "Ada Actor"),
        ("eve.resident", "Eve"),
    ]
    assert found["bad_ids"] == ["nobody"]


def test_a_name_that_xml_cannot_carry_is_the_servers_fault(world: World, ada: Puppet) -> None:
    """A 500, and nothing else suffers. Spec: LIV-15."""
    world.avatar(world.avatars()[0]).name = "Ada \ud800"
    url = f"{ada.caps[0]['GetDisplayNames']}?ids={world.avatars()[0]}"
    assert ada.fetch(url, method="GET").status == 500


def test_the_region_says_what_it_can_do(ada: Puppet) -> None:
    """Features, and materials that nobody uses. Spec: LIV-11, LIV-15."""
    features = ada.post(ada.caps[0]["SimulatorFeatures"], {})
    assert features["OpenSimExtras"]["GridName"] == "Simulated Grid"
    packed = ada.post(cap(ada, "RenderMaterials"), {})["Zipped"]
    assert zlib.decompress(packed) == b"[\0\0\0\0]"


def test_what_a_capability_is_told_it_takes(ada: Puppet) -> None:
    """Preferences and home have an empty answer. Spec: LIV-15."""
    assert ada.post(cap(ada, "AgentPreferences"), {"language": "de"}) == {}
    assert ada.fetch(cap(ada, "HomeLocation"), b"garbage").status == 400


@pytest.mark.parametrize("body", [b"", b"<llsd><map><key>ack</key><string>x</string></map></llsd>"])
def test_an_odd_poll_is_a_poll(body: bytes, table: Table, ada: Puppet) -> None:
    """Without an ack or with one that is none, it is held all the same. Spec: LIV-4, LIV-15."""
    url, ada.queues = ada.caps[0]["EventQueueGet"], {}
    answers = []
    table.ask(ada._request(url, body), answers.append)
    (agent,) = table.core._agents.values()
    assert agent.root.mailbox.held
    assert ada.fetch(url, b"garbage").status == 400
    assert answers == []
