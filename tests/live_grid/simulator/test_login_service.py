"""Logins and grid information, as clients of this package read them."""

from __future__ import annotations

import json
import random

import pytest

from gridagent.actions import Position
from gridagent.events import DisconnectCause, GridProfile, Kicked
from gridagent.grid.simulated import Account, World, WorldSettings
from gridagent.grid.simulated.witness import Witness
from gridagent.runtime.deterministic import simulated_ports
from live_grid.login import LoginRefused, LoginReply, NextStep, read_grid_info_untrusted
from live_grid.login.xmlrpc import RpcFault, read_response_untrusted
from live_grid.simulator import limits
from live_grid.simulator.faults import WireFaultKind, WireFaults
from live_grid.simulator.ids import text_id
from live_grid.simulator.profiles import SECOND_LIFE
from live_grid.simulator.puppet import Table


def call(method: str) -> bytes:
    """Write a call without arguments."""
    return f"<methodCall><methodName>{method}</methodName><params/></methodCall>".encode()


def test_a_login_says_who_where_and_with_which_secrets(world: World, table: Table) -> None:
    """Ids, address, seed, region, inventory, friends. Spec: LIV-1, LIV-15."""
    ada, ben = world.avatars()[:2]
    world.befriend(ada, ben)
    reply = table.puppet("ada ACTOR").log_in()
    assert isinstance(reply, LoginReply)
    assert text_id(reply.agent_id) == ada
    assert (reply.first_name, reply.last_name) == ("Ada", "Actor")
    assert (reply.sim_ip, reply.sim_port) == ("127.0.0.1", 9_000)
    assert (reply.region_x, reply.region_y, reply.region_size_x) == (256_000, 256_000, 256)
    assert reply.seed_capability.startswith("http://127.0.0.1:9000/CAPS/")
    assert reply.seed_capability.endswith("0000/")
    assert len({reply.session_id, reply.secure_session_id, reply.agent_id}) == 3
    assert 0 < reply.circuit_code < 2**31
    assert reply.inventory_root == reply.inventory_skeleton[0].folder_id
    assert {folder.name for folder in reply.inventory_skeleton} >= {"My Inventory", "Notecards", "Trash"}
    assert [text_id(buddy.avatar_id) for buddy in reply.buddies] == [ben]
    assert world.avatar(ada).online


def test_a_login_of_the_other_family_names_no_sizes(world: World) -> None:
    """Second Life's regions are all alike. Spec: LIV-15."""
    table = Table(world, profile=SECOND_LIFE)
    reply = table.puppet("Dan Distant").log_in()
    assert isinstance(reply, LoginReply)
    assert (reply.sim_port, reply.region_size_x) == (9_001, 256)
    assert not reply.seed_capability.endswith("/")


@pytest.mark.parametrize(
    ("start", "region", "position", "came"),
    [
        ("last", "Plaza", (100, 100), "last"),
        ("home", "Plaza", (100, 100), "home"),
        ("uri:annex&300&40&25", "Annex", (300, 40), "url"),
        ("uri:Annex&300.7&40.2&25.5", "Annex", (300, 40), "url"),
        ("uri:Plaza&9999&1&1", "Plaza", (255.5, 1), "url"),
        ("uri:Nowhere&1&1&1", "Plaza", (100, 100), "safe"),
        ("somewhere", "Plaza", (100, 100), "safe"),
    ],
)
def test_a_login_begins_where_the_client_wishes(
    start: str, region: str, position: tuple[float, float], came: str, world: World, table: Table
) -> None:
    """At the last place, home, or a named one; a wish that cannot be granted leads to the last place. Spec: LIV-1."""
    reply = table.puppet("Ada Actor").log_in(start=start)
    assert isinstance(reply, LoginReply)
    body = world.avatar(world.avatars()[0]).body
    assert body.region.name == region
    assert (body.position.x, body.position.y) == position
    assert reply.start_location == came


def test_a_region_that_is_down_is_no_place_to_begin(world: World, table: Table) -> None:
    """The grid puts the avatar where it can. Spec: LIV-1."""
    world.regions()[1].up = False
    reply = table.puppet("Ada Actor").log_in(start="uri:Annex&300&40&25")
    assert isinstance(reply, LoginReply)
    assert (reply.sim_port, reply.start_location) == (9_000, "safe")


def test_somebody_who_is_in_the_world_is_refused_once_and_put_out(world: World, table: Table) -> None:
    """As OpenSimulator does: the stale session ends with the refusal, and the next try succeeds. Spec: LIV-1, SUP-6."""
    stale = Witness(world, world.avatars()[0])
    puppet = table.puppet("Ada Actor")
    before = world.avatar(world.avatars()[0]).last
    refused = puppet.log_in(start="uri:Annex&300&40&25")
    assert isinstance(refused, LoginRefused)
    assert (refused.reason, refused.next) == ("presence", NextStep.RETRY_SOON)
    assert stale.saw(Kicked)
    assert world.avatar(world.avatars()[0]).last.region == before.region
    assert isinstance(puppet.log_in(), LoginReply)


def test_a_wrong_password_is_refused_for_good(table: Table) -> None:
    """With OpenSimulator's own reason. Spec: LIV-1; Fault: 13."""
    refused = table.puppet("Ada Actor").log_in(password="wrong")
    assert isinstance(refused, LoginRefused)
    assert (refused.reason, refused.next) == ("key", NextStep.FIX_CREDENTIALS)


@pytest.mark.parametrize(
    ("cause", "step"),
    [
        (DisconnectCause.BAD_CREDENTIALS, NextStep.FIX_CREDENTIALS),
        (DisconnectCause.TERMS_NOT_ACCEPTED, NextStep.ACCEPT_TERMS),
        (DisconnectCause.MFA_REQUIRED, NextStep.GIVE_TOKEN),
        (DisconnectCause.MFA_REFUSED, NextStep.FIX_CREDENTIALS),
        (DisconnectCause.BANNED, NextStep.ASK_OPERATOR),
        (DisconnectCause.ALREADY_LOGGED_IN, NextStep.RETRY_SOON),
        (DisconnectCause.MAINTENANCE, NextStep.WAIT),
        (DisconnectCause.LOGIN_FAILED, NextStep.WAIT),
        (DisconnectCause.REGION_RESTART, NextStep.WAIT),
        (DisconnectCause.CIRCUIT_LOST, NextStep.WAIT),
    ],
)
def test_every_refusal_can_be_asked_for(cause: DisconnectCause, step: NextStep, table: Table) -> None:
    """By hand, once; a client sorts it by what to do next. Spec: LIV-1, LIV-15."""
    table.core.refuse_next_login(cause)
    puppet = table.puppet("Ada Actor")
    refused = puppet.log_in()
    assert isinstance(refused, LoginRefused)
    assert refused.next is step
    assert isinstance(puppet.log_in(), LoginReply)
    assert table.stage.counts[WireFaultKind.LOGIN_REFUSED] == 1


def test_an_account_that_wants_a_code_is_challenged_until_it_comes(world: World) -> None:
    """Then the reply has a proof, which spares the next code; a wrong one is none. Spec: LIV-1, LIV-15."""
    table = Table(world, code="246810")
    puppet = table.puppet("Ada Actor")
    challenged = puppet.log_in()
    assert isinstance(challenged, LoginRefused)
    assert challenged.next is NextStep.GIVE_TOKEN
    wrong = puppet.log_in(token="000000")
    assert isinstance(wrong, LoginRefused)
    assert wrong.reason == "key"
    let_in = puppet.log_in(token="246810")
    assert isinstance(let_in, LoginReply)
    assert let_in.mfa_hash
    ghost = puppet.log_in(mfa_hash=let_in.mfa_hash)
    assert isinstance(ghost, LoginRefused)
    assert ghost.reason == "presence"
    again = puppet.log_in(mfa_hash=let_in.mfa_hash)
    assert isinstance(again, LoginReply)
    assert again.mfa_hash == let_in.mfa_hash


def test_refusals_can_be_drawn(world: World) -> None:
    """By chance, for one of the causes given. Spec: LIV-15."""
    table = Table(world, faults=WireFaults(login_refused=1.0, login_causes=(DisconnectCause.BANNED,)))
    refused = table.puppet("Ada Actor").log_in()
    assert isinstance(refused, LoginRefused)
    assert refused.next is NextStep.ASK_OPERATOR


def test_a_full_world_and_a_full_wire_send_clients_away(
    world: World, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No region takes the avatar, or no more fit on the wire: come back later. Spec: LIV-15."""
    for region in world.regions():
        region.capacity = 0
    refused = table.puppet("Ada Actor").log_in()
    assert isinstance(refused, LoginRefused)
    assert refused.next is NextStep.WAIT
    monkeypatch.setattr("live_grid.simulator.core.AGENTS_MAX", 0)
    refused = table.puppet("Ben Bystander").log_in()
    assert isinstance(refused, LoginRefused)
    assert refused.next is NextStep.WAIT
    assert limits.AGENTS_MAX > 100


def test_a_region_without_an_address_is_no_place_to_log_in_to(world: World, table: Table) -> None:
    """One that was added after the grid went on the wire; the avatar is taken out again."""
    world.add_region("Late", x_m=0, y_m=0)
    ada = world.avatar(world.avatars()[0])
    ada.last = type(ada.last)(region="Late", position=Position(x=1.0, y=1.0))
    refused = table.puppet("Ada Actor").log_in()
    assert isinstance(refused, LoginRefused)
    assert refused.next is NextStep.WAIT
    assert not ada.online


def test_a_grid_whose_name_xml_cannot_carry_is_called_without_it() -> None:
    """A world may be called what a document cannot say. Spec: LIV-1."""
    settings = WorldSettings(profile=GridProfile(grid="Odd \x01\ufffeGrid"))
    world = World(random.Random(1), simulated_ports(1).ids.uuid, settings=settings)
    world.add_region("Plaza", x_m=0, y_m=0)
    world.add_avatar(Account(name="Ada Actor"))
    puppet = Table(world).puppet("Ada Actor")
    assert read_grid_info_untrusted(puppet.fetch("/get_grid_info", method="GET").body).name == "Odd Grid"
    reply = puppet.log_in()
    assert isinstance(reply, LoginReply)
    assert reply.message == "Welcome to Odd Grid!"


def test_a_grid_says_what_it_is(table: Table) -> None:
    """Over XML, JSON and XML-RPC alike. Spec: LIV-1."""
    puppet = table.puppet("anybody")
    page = puppet.fetch("/get_grid_info", method="GET")
    info = read_grid_info_untrusted(page.body)
    assert (info.name, info.platform, info.login) == ("Simulated Grid", "OpenSim", "http://127.0.0.1:9000/")
    assert json.loads(puppet.fetch("/json_grid_info", method="GET").body) == dict(info.fields)
    assert read_response_untrusted(puppet.fetch("/", call("get_grid_info")).body) == dict(info.fields)


def test_the_other_family_has_no_such_page(world: World) -> None:
    """Second Life is known by its address alone. Spec: LIV-15."""
    puppet = Table(world, profile=SECOND_LIFE).puppet("anybody")
    assert [puppet.fetch(f"/{name}grid_info", method="GET").status for name in ("get_", "json_")] == [404, 404]


@pytest.mark.parametrize(("body", "code"), [(b"not xml", -32700), (call("shutdown"), -32601)])
def test_what_is_no_call_of_ours_is_a_fault(body: bytes, code: int, table: Table) -> None:
    """Malformed calls and unknown methods get a fault and are counted. Fault: 13."""
    fault = read_response_untrusted(table.puppet("anybody").fetch("/", body).body)
    assert isinstance(fault, RpcFault)
    assert fault.code == code
    assert table.core.statistics().malformed == (code == -32700)
