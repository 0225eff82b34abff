"""Which addresses from a grid may be asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.addresses import HostPolicy, host_of, vet_ip, vet_url
from live_grid.errors import RemoteProtocolError

STRICT = HostPolicy(hosts=frozenset({"login.example.org", "203.0.113.9"}), suffixes=(".secondlife.io",))
HOME = HostPolicy(hosts=frozenset({"127.0.0.1", "localhost", "10.0.0.5"}), http=True, loopback=True, private=True)
OPEN = HostPolicy(hosts=frozenset(), any_public_host=True, http=True)


@pytest.mark.parametrize(
    ("url", "policy"),
    [
        ("https://login.example.org/cap/1", STRICT),
        ("https://LOGIN.example.org.:12043/cap?x=1#y", STRICT),
        ("https://simhost-0a1b.agni.secondlife.io:12043/cap", STRICT),
        ("http://127.0.0.1:9000/CAPS/x/", HOME),
        ("http://localhost:9000/", HOME),
        ("http://10.0.0.5/", HOME),
        ("http://region.example.net:9000/CAPS/", OPEN),
        ("http://8.8.8.8/", OPEN),
        ("http://[2606:4700::1111]:80/", OPEN),
    ],
)
def test_addresses_somebody_vouched_for_pass(url: str, policy: HostPolicy) -> None:
    """Exact hosts, trusted domains, and public hosts where the policy says so. Spec: LIV-4."""
    assert vet_url(url, policy) == url


@pytest.mark.parametrize("policy", [STRICT, HOME, OPEN], ids=["strict", "home", "open"])
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "https://169.254.169.254/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://100.100.100.200/",
        "http://192.0.0.192/",
        "http://169.254.7.7/",
        "http://224.0.0.1/",
        "http://0.0.0.0/",
        "http://2852039166/",
        "http://0x7f.1/",
        "http://127.1/",
        "file:///etc/passwd",
        "ftp://login.example.org/",
        "gopher://x/",
        "//login.example.org/",
        "https://login.example.org\\@evil.example/",
        "https://user@login.example.org/",
        "https://login.example.org:0/",
        "https://login.example.org:99999/",
        "https://login.example.org:x/",
        "https://[::1/",
        "https:///path",
        "https://login.example.org/ a",
        "https://login.example.org/\n",
        "https://lögin.example.org/",
        "https://login.example.org/" + "a" * 2048,
        "",
    ],
)
def test_addresses_no_grid_lives_at_are_refused(url: str, policy: HostPolicy) -> None:
    """Metadata services, files, odd spellings of numbers, and what two parsers could read in two ways. Fault: 10."""
    with pytest.raises(RemoteProtocolError):
        vet_url(url, policy)


@pytest.mark.parametrize(
    ("url", "policy"),
    [
        ("http://login.example.org/", STRICT),
        ("https://other.example.org/", STRICT),
        ("https://evilsecondlife.io/", STRICT),
        ("https://secondlife.io.evil.example/", STRICT),
        ("https://127.0.0.1/", STRICT),
        ("https://10.0.0.1/", STRICT),
        ("http://127.0.0.1/", OPEN),
        ("http://localhost/", OPEN),
        ("http://192.168.1.1/", OPEN),
        ("http://10.0.0.6/", HOME),
        ("http://example.org/", HOME),
    ],
)
def test_addresses_outside_the_policy_are_refused(url: str, policy: HostPolicy) -> None:
    """No TLS where it is wanted, other hosts, this machine and private networks. Fault: 10."""
    with pytest.raises(RemoteProtocolError):
        vet_url(url, policy)


def test_what_a_name_resolves_to_is_vetted_as_well() -> None:
    """A public name that points to this machine is refused by its address."""
    vet_ip("8.8.8.8", OPEN)
    vet_ip("127.0.0.1", HOME)
    for ip in ("127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", "169.254.169.254"):
        with pytest.raises(RemoteProtocolError):
            vet_ip(ip, OPEN)


def test_the_host_of_an_address_is_in_lower_case() -> None:
    """And nothing for what has none."""
    assert host_of("https://Login.Example.org.:1/x") == "login.example.org"
    assert host_of("nothing") == host_of("https://[::1/") == ""


@given(st.text(max_size=60).map(lambda tail: "https://" + tail))
def test_any_text_passes_or_is_refused(url: str) -> None:
    """No text makes the check fail in another way, and what passes leads to a host of the policy."""
    try:
        passed = vet_url(url, STRICT)
    except RemoteProtocolError:
        return
    assert host_of(passed) in STRICT.hosts or host_of(passed).endswith(".secondlife.io")
