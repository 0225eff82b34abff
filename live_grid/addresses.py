"""Which HTTP addresses that a grid hands out may be asked at all.

Owns the check of every URL that comes from outside (login redirects, seeds, capabilities) before anybody
connects to it: its scheme, its host against those we have a reason to trust, and IP ranges that no
grid lives in. It resolves no names: the shell that does asks `vet_ip` about what came back.

Invariant: a cloud metadata address, a `file:` address, or a host nobody vouched for never passes
(Spec: LIV-4, Fault: 10).
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.limits import URL_MAX_CHARACTERS

__all__ = ("HostPolicy", "host_of", "vet_ip", "vet_url")

# Printable ASCII without blanks, quotes, angle brackets and backslashes: nothing two parsers could disagree on.
_SHAPE: Final = re.compile(r"https?://[!#-;=?-\[\]-~]+", re.IGNORECASE)
_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}\Z)(?:{_LABEL}\.)*[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")
_METADATA: Final = frozenset(
    {
        ipaddress.ip_address("169.254.169.254"),
        ipaddress.ip_address("100.100.100.200"),
        ipaddress.ip_address("192.0.0.192"),
        ipaddress.ip_address("fd00:ec2::254"),
    }
)


class HostPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a grid's addresses may lead to."""

    hosts: frozenset[str]
    """Hosts vouched for by name or number, in lower case: of the login address, of the simulator, of the seed."""
    suffixes: tuple[str, ...] = ()
    """Domains whose every host is vouched for, each with its leading dot."""
    any_public_host: bool = False
    """Take any public host: grids whose regions run wherever their owners like."""
    http: bool = False
    """Take addresses without TLS: grids that offer no other."""
    loopback: bool = False
    """Take this machine: the grid runs here."""
    private: bool = False
    """Take private networks: the grid runs in ours."""


def host_of(url: str) -> str:
    """Name the host of an address in lower case, or nothing if it has none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def vet_ip(text: str, policy: HostPolicy) -> None:
    """Refuse an IP address that no grid of this policy lives at.

    Raises:
        RemoteProtocolError: it is a metadata service, link-local, multicast, reserved, or a loopback or private
            one that the policy does not take.
    """
    address = ipaddress.ip_address(text)
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        address = mapped
    if address in _METADATA or address.is_link_local or address.is_multicast or address.is_unspecified:
        raise RemoteProtocolError("a grid's address points to a range that no grid lives in")
    allowed = policy.loopback if address.is_loopback else policy.private or address.is_global
    if not allowed:
        raise RemoteProtocolError("a grid's address points into a network that the policy does not take")


def _ip_or_none(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None


def vet_url(url: str, policy: HostPolicy) -> str:
    """Refuse an address that the policy does not take.

    Args:
        url: from outside.
        policy: whom it may lead to.

    Returns:
        The address as it was given.

    Raises:
        RemoteProtocolError: it is no plain http(s) address, or its host is not one to be asked (Fault: 10).
    """
    if len(url) > URL_MAX_CHARACTERS or not _SHAPE.fullmatch(url):
        raise RemoteProtocolError("a grid's address is no http address")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise RemoteProtocolError("a grid's address is no http address") from None
    if parts.scheme != "https" and not policy.http:
        raise RemoteProtocolError("a grid's address is not protected by TLS")
    host = host_of(url)
    if "@" in parts.netloc or port == 0:
        raise RemoteProtocolError("a grid's address carries a user name or no port")
    ip = _ip_or_none(host)
    if ip is not None:
        vet_ip(ip, policy)
    elif not _NAME.fullmatch(host) or (host == "localhost" and not policy.loopback):
        raise RemoteProtocolError("a grid's address has no host that can be asked")
    if not (host in policy.hosts or policy.any_public_host or host.endswith(policy.suffixes)):
        raise RemoteProtocolError("a grid's address leads to a host nobody vouched for")
    return url
