"""An account and how to reach its grid."""

from __future__ import annotations

import pytest

from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError
from live_grid.backend.account import LiveAccount, LiveSettings, login_request, start_of
from live_grid.login import password_hash

ACCOUNT = LiveAccount(first_name="Ada", last_name="Actor", password=SecretStr("a password of more than sixteen"))


@pytest.mark.parametrize(
    ("text", "start"),
    [("last", "last"), ("home", "home"), ("Plaza/1/2/3", "uri:Plaza&1&2&3"), ("A / B/10/20/30", "uri:A / B&10&20&30")],
)
def test_places_are_read_as_the_configuration_writes_them(text: str, start: str) -> None:
    """The name may hold what it likes; the last three are metres. Spec: LIV-1."""
    assert start_of(text).text == start


@pytest.mark.parametrize("text", ["", "Plaza", "Plaza/1/2", "Plaza/x/2/3", "A&B/1/2/3", "Plaza/1/2/99999999"])
def test_a_start_that_is_no_place_is_a_problem_with_its_mend(text: str) -> None:
    """One clear sentence. Spec: CFG-1."""
    with pytest.raises(ConfigError, match=r"names no place.*whole metres"):
        start_of(text)


def test_a_request_is_stable_and_shows_no_password() -> None:
    """The same account has the same device, another one another; Second Life counts sixteen characters. Spec: LIV-1."""
    grid = LiveSettings(login_url="http://127.0.0.1:8002/")
    one, again = login_request(ACCOUNT, grid), login_request(ACCOUNT, grid)
    assert (one.mac, one.id0) == (again.mac, again.id0)
    other = login_request(LiveAccount(first_name="Ben", last_name="B", password=SecretStr("x")), grid)
    assert other.mac == one.mac
    assert other.id0 != one.id0
    assert not one.agree_to_tos
    assert login_request(ACCOUNT, LiveSettings(login_url="http://127.0.0.1/", agree_to_terms=True)).agree_to_tos
    agni = login_request(ACCOUNT, LiveSettings(login_url="https://login.agni.lindenlab.com/cgi-bin/login.cgi"))
    assert agni.password == password_hash("a password of mo", second_life=False) != one.password
    assert "password of" not in repr(ACCOUNT)
