"""Grid information."""

from __future__ import annotations

import pytest

from live_grid.errors import RemoteProtocolError
from live_grid.login import read_grid_info_untrusted

PAGE = b"""<gridinfo><platform>OpenSim</platform><login>http://127.0.0.1:9000/</login><gridname>the lost grid</gridname>
<gridnick>lost</gridnick><login>http://second/</login><about/></gridinfo>"""


def test_a_page_is_read_in_full() -> None:
    """Known fields have names of their own; the first of two counts. Spec: LIV-1."""
    info = read_grid_info_untrusted(PAGE)
    assert (info.name, info.nick, info.platform) == ("the lost grid", "lost", "OpenSim")
    assert info.login == "http://127.0.0.1:9000/"
    assert dict(info.fields)["about"] == ""


def test_a_guessed_loopback_address_is_not_believed_from_afar() -> None:
    """It is right only if the page came from this machine."""
    info = read_grid_info_untrusted(PAGE)
    assert info.login_url("http://grid.example.org:8002/") == "http://grid.example.org:8002/"
    assert info.login_url("http://localhost:9000/") == "http://127.0.0.1:9000/"
    nothing = read_grid_info_untrusted(b"<gridinfo/>")
    assert nothing.login_url("http://grid.example.org/") == "http://grid.example.org/"
    away = read_grid_info_untrusted(b"<gridinfo><login>https://login.example.org/</login></gridinfo>")
    assert away.login_url("http://grid.example.org/") == "https://login.example.org/"


@pytest.mark.parametrize(
    "page",
    [
        b"<html/>",
        b"<gridinfo><a><b/></a></gridinfo>",
        b"<!DOCTYPE gridinfo><gridinfo/>",
        b"<gridinfo>" + b"<a/>" * 200 + b"</gridinfo>",
        b"<gridinfo><a>" + b"x" * 70_000 + b"</a></gridinfo>",
        b"",
    ],
)
def test_other_pages_are_refused(page: bytes) -> None:
    """HTML, nesting, document types, too many fields, too many bytes. Fault: 13."""
    with pytest.raises(RemoteProtocolError):
        read_grid_info_untrusted(page)
