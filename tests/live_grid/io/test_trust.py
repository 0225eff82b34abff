"""Whom a grid may send us to."""

from __future__ import annotations

import pytest

from live_grid.addresses import vet_url
from live_grid.errors import RemoteProtocolError
from live_grid.io.trust import is_second_life, trust_in

AGNI = "https://login.agni.lindenlab.com/cgi-bin/login.cgi"


def test_second_life_has_domains_of_its_own_and_tls() -> None:
    """Its simulators' capabilities pass, anybody else's do not. Spec: LIV-4. Fault: 10."""
    policy = trust_in(AGNI, "216.82.51.10")
    assert is_second_life(AGNI)
    assert vet_url("https://simhost-01.agni.secondlife.io:12043/cap/x", policy)
    for url in ("http://simhost-01.agni.secondlife.io/cap", "https://example.com/cap", "https://evilsecondlife.io/"):
        with pytest.raises(RemoteProtocolError):
            vet_url(url, policy)


@pytest.mark.parametrize(
    ("ip", "url", "fine"),
    [
        ("93.184.216.34", "http://93.184.216.35:9000/CAPS/x", True),
        ("93.184.216.34", "http://127.0.0.1:9000/CAPS/x", False),
        ("93.184.216.34", "http://192.168.1.4:9000/CAPS/x", False),
        ("127.0.0.1", "http://127.0.0.1:9000/CAPS/x", True),
        ("192.168.1.4", "http://192.168.1.5:9000/CAPS/x", True),
        ("192.168.1.4", "http://169.254.169.254/latest", False),
    ],
)
def test_other_grids_are_trusted_as_far_as_the_operator_named_them(*, ip: str, url: str, fine: bool) -> None:
    """A grid on the internet does not send us into our own network. Fault: 10."""
    policy = trust_in(f"http://{ip}:8002/", ip)
    if fine:
        assert vet_url(url, policy) == url
    else:
        with pytest.raises(RemoteProtocolError):
            vet_url(url, policy)
