"""What a grid says about itself, judged."""

from __future__ import annotations

import pytest

from gridagent.cli import discovery
from gridagent.cli.discovery import LookedUp, look_up
from gridagent.cli.entry_points import DISCOVERY, load_entry_point
from gridagent.errors import OperatorError
from gridagent.grid.discovery import FoundGrid
from live_grid.backend.discovery import discover_grid
from tests.gridagent.cli.installed import write_entry_points


def says(monkeypatch: pytest.MonkeyPatch, login_url: str, name: str = "Home") -> None:
    """Have every grid say this."""

    async def discover(url: str) -> FoundGrid:
        assert url.startswith("http")
        return FoundGrid(name=name, login_url=login_url)

    monkeypatch.setattr(discovery, "load_entry_point", lambda group, name, *, extra: discover)


def test_the_installed_look_up_is_found_by_name(tmp_path, monkeypatch) -> None:
    """Through an entry point: nothing here knows a protocol. Spec: LIV-14."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path)))
    assert load_entry_point(DISCOVERY, "live", extra="live") is discover_grid
    with pytest.raises(OperatorError, match="nobody answers there"):
        look_up("http://127.0.0.1:9/")


@pytest.mark.parametrize(
    ("asked", "login", "elsewhere"),
    [
        ("http://127.0.0.1:9000/", "http://127.0.0.1:8002/", False),
        ("http://GRID.example/", "https://grid.example./login", False),
        ("https://grid.example/", "http://grid.example/", True),
        ("https://grid.example/", "https://grid.example.org/", True),
        ("https://grid.example/", "https://evil.example/?grid.example", True),
    ],
)
def test_a_login_elsewhere_is_known_as_one(monkeypatch, asked, login, *, elsewhere: bool) -> None:
    """Where a password goes is not for a grid alone to say. Spec: LIV-1, CFG-3."""
    says(monkeypatch, login)
    assert look_up(asked) == LookedUp(name="Home", login_url=login, elsewhere=elsewhere)


@pytest.mark.parametrize(
    "login", ["ftp://grid.example/", "https://me@grid.example/", "https://grid.example/ x", "grid"]
)
def test_what_is_no_address_is_refused(monkeypatch, login) -> None:
    """Its content is not repeated. Spec: LIV-1, OPS-1."""
    says(monkeypatch, login)
    with pytest.raises(OperatorError, match="the grid names a login address that ") as raised:
        look_up("https://grid.example/")
    assert "example" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "shown"), [("\x1b[2JX", "\\x1b[2JX"), ("", "a grid without a name"), ("a" * 99, "a" * 63 + "…")]
)
def test_a_name_is_fit_to_be_shown(monkeypatch, name, shown) -> None:
    """It is text from outside. Spec: OPS-7."""
    says(monkeypatch, "https://grid.example/", name)
    assert look_up("https://grid.example/").name == shown
