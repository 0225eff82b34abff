"""Login replies, recorded and made up."""

from __future__ import annotations

import xmlrpc.client

import pytest

from benchmarks.captures import NAMES, exchanges
from live_grid.errors import RemoteProtocolError
from live_grid.login.refusal import LoginRefused, NextStep
from live_grid.login.reply import Buddy, LoginRedirect, LoginReply, read_login_reply_untrusted
from live_grid.login.xmlrpc import RpcGiven, write_response

ID = "6f1c2b30-0000-4000-8000-00000000000"
GOOD: dict[str, RpcGiven] = {
    "login": "true",
    "agent_id": ID + "1",
    "session_id": ID + "2",
    "secure_session_id": ID + "3",
    "circuit_code": -1,
    "sim_ip": "203.0.113.9",
    "sim_port": "12043",
    "seed_capability": "https://sim.example.org/seed",
    "region_x": 256000,
    "region_y": 256256,
}


def test_recorded_replies_are_understood() -> None:
    """Where we are, how large it is, what we own: from a real simulator's reply. Spec: LIV-1."""
    replies = [
        read_login_reply_untrusted(one.body, status=one.status)
        for name in NAMES
        for one in exchanges(name)
        if one.path == "/"
    ]
    assert len(replies) == 5
    for reply in replies:
        assert isinstance(reply, LoginReply)
        assert (reply.sim_ip, reply.sim_port) == ("127.0.0.1", 9000)
        assert reply.region_handle == (256000 << 32) | 256000
        assert (reply.region_size_x, reply.region_size_y) == (256, 256)
        assert reply.agent_id.hex().startswith("0" * 30)
        assert reply.seed_capability.startswith("http://127.0.0.1:9000/CAPS/")
        assert reply.look_at == (0.0, 1.0, 0.0)
        assert len(reply.inventory_skeleton) >= 18
        assert reply.inventory_skeleton[0].name == "My Inventory"
        assert reply.inventory_skeleton[0].folder_id == reply.inventory_root
        assert reply.library_skeleton[0].folder_id == reply.library_root
        assert reply.library_owner is not None
        assert reply.message.startswith("Welcome, ")


def test_a_small_reply_is_enough() -> None:
    """What a grid may leave out has a default; numbers may be text; a signed code is read unsigned."""
    reply = read_login_reply_untrusted(write_response(GOOD | {"first_name": '"Bot"', "look_at": "[r1,r2]"}))
    assert isinstance(reply, LoginReply)
    assert reply.circuit_code == 0xFFFF_FFFF
    assert reply.sim_port == 12043
    assert (reply.first_name, reply.look_at, reply.region_size_x) == ("Bot", (1.0, 0.0, 0.0), 256)
    assert (reply.inventory_root, reply.inventory_skeleton, reply.buddies) == (None, (), ())


def test_lists_are_read_row_by_row() -> None:
    """Friends with their rights; rows that are no rows are left out."""
    friend = {"buddy_id": ID + "4", "buddy_rights_given": 1, "buddy_rights_has": 3}
    reply = read_login_reply_untrusted(write_response(GOOD | {"buddy-list": [friend, "junk"], "look_at": "[i1,i2,i3]"}))
    assert isinstance(reply, LoginReply)
    assert reply.buddies == (Buddy(avatar_id=bytes.fromhex((ID + "4").replace("-", "")), rights_given=1, rights_had=3),)
    assert reply.look_at == (1.0, 0.0, 0.0)
    odd = read_login_reply_untrusted(write_response(GOOD | {"message": 7, "look_at": "junk", "buddy-list": 5}))
    assert isinstance(odd, LoginReply)
    assert (odd.message, odd.buddies) == ("", ())


@pytest.mark.parametrize(
    "missing", ["agent_id", "session_id", "secure_session_id", "circuit_code", "sim_ip", "sim_port", "region_x"]
)
def test_a_reply_that_does_not_say_where_is_refused(missing: str) -> None:
    """Being let in without an id, a code or an address is malformed. Fault: 13."""
    fields = {name: value for name, value in GOOD.items() if name != missing}
    with pytest.raises(RemoteProtocolError, match=missing):
        read_login_reply_untrusted(write_response(fields))


@pytest.mark.parametrize(
    ("field", "value"),
    [("sim_ip", "256.1.1.1"), ("sim_ip", "localhost"), ("sim_port", 65536), ("agent_id", "{}"), ("region_x", -1)],
)
def test_a_reply_with_an_impossible_value_is_refused(field: str, value: RpcGiven) -> None:
    """Addresses and ids are checked where they come in. Fault: 13."""
    with pytest.raises(RemoteProtocolError):
        read_login_reply_untrusted(write_response(GOOD | {field: value}))


def test_a_reply_shows_no_secret() -> None:
    """Session ids, seed and multi-factor proof do not stand in its repr."""
    reply = read_login_reply_untrusted(write_response(GOOD | {"mfa_hash": "canary"}))
    assert "203.0.113.9" in repr(reply)
    for secret in ("canary", "seed", "0002", "0003"):
        assert secret not in repr(reply)


def test_refusals_and_redirects_are_told_apart() -> None:
    """A reason, an address to ask instead, or a fault."""
    refused = read_login_reply_untrusted(write_response({"login": "false", "reason": "tos", "message": "read this"}))
    assert refused == LoginRefused(next=NextStep.ACCEPT_TERMS, reason="tos", message="read this")
    onward = read_login_reply_untrusted(
        write_response({"login": "indeterminate", "next_url": "https://x/", "next_method": "m", "message": "go"})
    )
    assert onward == LoginRedirect(url="https://x/", method="m", message="go")
    fault = xmlrpc.client.dumps(xmlrpc.client.Fault(1, "no")).encode()
    assert read_login_reply_untrusted(fault) == LoginRefused(next=NextStep.WAIT, reason="fault", message="no")


@pytest.mark.parametrize("body", [b"", b"Grid is down for maintenance", b"<!DOCTYPE html><html></html>", b"\xff\xfe"])
def test_a_page_that_is_no_reply_waits(body: bytes) -> None:
    """Maintenance pages and proxies' errors are refusals to be waited out. Fault: 13."""
    for status in (200, 502, 503):
        outcome = read_login_reply_untrusted(body, status=status)
        assert isinstance(outcome, LoginRefused)
        assert outcome.next is NextStep.WAIT


@pytest.mark.parametrize(
    "body",
    [
        b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]><methodResponse/>",
        b"<?xml version='1.0'?><methodResponse><params><param><value>yes</value></param></params></methodResponse>",
    ],
)
def test_a_reply_that_breaks_the_rules_is_an_error(body: bytes) -> None:
    """A document type, or an answer that is no struct. Fault: 13."""
    with pytest.raises(RemoteProtocolError):
        read_login_reply_untrusted(body)
