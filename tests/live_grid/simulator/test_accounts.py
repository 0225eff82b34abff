"""Who may log in over the wire."""

from __future__ import annotations

import pytest

from gridagent.grid.simulated import World
from gridagent.grid.simulated.witness import Witness
from live_grid.login.request import password_hash
from live_grid.simulator.accounts import DEFAULT_PASSWORD, Accounts

SECRET = "a password of more than sixteen characters"


@pytest.fixture
def accounts(world: World) -> Accounts:
    """Return accounts of which only Ada has a password of her own."""
    return Accounts(world, {world.avatars()[0]: SECRET})


@pytest.mark.parametrize(
    ("first", "last", "password"),
    [
        ("Ada", "Actor", SECRET),
        ("ADA", "actor", password_hash(SECRET, second_life=False)),
        ("Ada", "Actor", password_hash(SECRET, second_life=True)),
        ("ben", "Bystander", DEFAULT_PASSWORD),
        ("Eve", "Resident", DEFAULT_PASSWORD),
    ],
)
def test_the_right_password_opens_the_account(first: str, last: str, password: str, accounts: Accounts) -> None:
    """Plain or hashed, of sixteen characters or all, names without regard to case. Spec: LIV-1."""
    found = accounts.find(first, last, password)
    assert found is not None
    assert found.name.casefold().startswith(first.casefold())


@pytest.mark.parametrize(
    ("first", "last", "password"),
    [("Ada", "Actor", DEFAULT_PASSWORD), ("Ben", "Bystander", ""), ("No", "Body", DEFAULT_PASSWORD), ("", "", "x")],
)
def test_everything_else_does_not(first: str, last: str, password: str, accounts: Accounts) -> None:
    """A wrong password and an unknown name look alike. Spec: LIV-1."""
    assert accounts.find(first, last, password) is None


def test_nobody_logs_in_as_a_character_of_the_world(world: World, accounts: Accounts) -> None:
    """An avatar that the world itself lives in is not to be had; one that a client uses is."""
    ben = Witness(world, world.avatars()[1])
    assert accounts.find("Ben", "Bystander", DEFAULT_PASSWORD) is not None
    ben.session.hosted = True
    assert accounts.find("Ben", "Bystander", DEFAULT_PASSWORD) is None
