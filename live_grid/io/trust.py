"""Whom a grid may send us to, judged by where the operator sent us first.

Owns the one step from a login address to a `HostPolicy`. A machine of our own, or of our own network, is trusted only
if the operator named it; Second Life has domains of its own and speaks TLS only; other grids run their regions
wherever their owners like (Spec: LIV-4, LIV-14; Fault: 10).
"""

from __future__ import annotations

import ipaddress
from typing import Final

from live_grid.addresses import HostPolicy, host_of

__all__ = ("is_second_life", "trust_in")

_SECOND_LIFE: Final = (".lindenlab.com", ".secondlife.com", ".secondlife.io")


def is_second_life(login_url: str) -> bool:
    """Tell whether an address is one of Second Life's own."""
    return host_of(login_url).endswith(_SECOND_LIFE)


def trust_in(login_url: str, login_ip: str) -> HostPolicy:
    """Make the policy for a grid.

    Args:
        login_url: as the operator gave it.
        login_ip: where its host lives.
    """
    address = ipaddress.ip_address(login_ip)
    host = host_of(login_url)
    if is_second_life(login_url):
        return HostPolicy(hosts=frozenset({host}), suffixes=_SECOND_LIFE, any_public_host=False)
    return HostPolicy(
        hosts=frozenset({host, login_ip}),
        any_public_host=True,
        http=True,
        loopback=address.is_loopback,
        private=address.is_private,
    )
