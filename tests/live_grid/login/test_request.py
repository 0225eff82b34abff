"""The login request and its secrets."""

from __future__ import annotations

import xmlrpc.client

from benchmarks.captures import exchanges
from live_grid.login import LoginRequest, parse_start, password_hash
from live_grid.login.request import split_name, write_login_request

REQUEST = LoginRequest(
    first="Bot",
    last="Avatar",
    password=password_hash("secret", second_life=False),
    start=parse_start("uri:Testland&128&128&25"),
    channel="gridagent",
    version="0.1.0",
    mac="a" * 32,
    id0="b" * 32,
    token="123456",
    mfa_hash="canary-mfa",
)


def test_the_request_holds_what_a_recorded_client_sent() -> None:
    """Every field OpenSimulator reads has the value another client gives it. Spec: LIV-1."""
    recorded = next(one for one in exchanges("two_clients") if one.path == "/" and b"uri:Testland" in one.request)
    (theirs,), method = xmlrpc.client.loads(recorded.request)
    (ours,), our_method = xmlrpc.client.loads(write_login_request(REQUEST))
    assert method == our_method == "login_to_simulator"
    for field in ("first", "last", "passwd", "start"):
        assert ours[field] == theirs[field]
    assert {"channel", "version", "mac", "id0", "options"} <= ours.keys()
    assert "inventory-skeleton" in ours["options"]
    assert (ours["token"], ours["mfa_hash"], ours["agree_to_tos"]) == ("123456", "canary-mfa", "false")


def test_consents_are_given_only_when_told() -> None:
    """Terms and critical messages are accepted by the operator alone."""
    agreed = LoginRequest(
        first="A",
        last="B",
        password="x",
        channel="c",
        version="1",
        mac="0",
        id0="0",
        agree_to_tos=True,
        read_critical=True,
    )
    (fields,), _ = xmlrpc.client.loads(write_login_request(agreed))
    assert (fields["agree_to_tos"], fields["read_critical"], fields["start"]) == ("true", "true", "last")


def test_a_request_shows_no_secret() -> None:
    """Neither hash, token nor multi-factor proof stands in its repr."""
    assert "Bot" in repr(REQUEST)
    for secret in (REQUEST.password, "123456", "canary-mfa", "a" * 32):
        assert secret not in repr(REQUEST)


def test_passwords_are_hashed_as_each_family_wants() -> None:
    """Second Life counts 16 characters, OpenSimulator all; a hash passes through."""
    long = "0123456789abcdefXYZ"
    assert password_hash("secret", second_life=True) == "$1$5ebe2294ecd0e0f08eab7690d2a6ee69"
    assert password_hash(long, second_life=True) == password_hash(long[:16], second_life=False)
    assert password_hash(long, second_life=False) != password_hash(long, second_life=True)
    assert password_hash("$1$" + "0" * 32, second_life=True) == "$1$" + "0" * 32


def test_names_are_parted_in_two() -> None:
    """A single name is a Resident; a dot parts like a blank."""
    assert split_name("Bot Avatar") == split_name(" bot.Avatar ".replace("bot", "Bot")) == ("Bot", "Avatar")
    assert split_name("solo") == ("solo", "Resident")
