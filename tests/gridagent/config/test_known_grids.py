"""Grids by name."""

from __future__ import annotations

import pytest

from gridagent.config import parse_config
from gridagent.config.known_grids import KNOWN_GRIDS, KnownGrid


def test_every_name_has_one_address_and_its_source() -> None:
    """No name without an address, no address twice, each published somewhere. Spec: CFG-1."""
    assert set(KNOWN_GRIDS) == set(KnownGrid)
    addresses = {facts.login_url.reveal() for facts in KNOWN_GRIDS.values()}
    assert len(addresses) == len(KNOWN_GRIDS)
    assert all(facts.source and facts.label for facts in KNOWN_GRIDS.values())
    assert not any(facts.login_url.has_query or facts.login_url.is_loopback for facts in KNOWN_GRIDS.values())


@pytest.mark.parametrize("grid", [each.value for each in KnownGrid])
def test_a_name_stands_for_an_address(grid: str) -> None:
    """In the file as in the table, whatever the rules say of its encryption. Spec: CFG-1."""
    text = (
        f'{{"avatars": {{"a": {{"first_name": "A", "password_file": "p"}}}}, "grid": {{"backend": "live", '
        f'"live": {{"grid": "{grid}", "allow_plain_http": true}}}}}}'
    )
    live = parse_config(text.encode()).grid.live
    assert live.address == KNOWN_GRIDS[KnownGrid(grid)].login_url
    assert live.login_url is None


def test_second_life_is_encrypted() -> None:
    """Its two grids need nobody to accept a risk. Spec: CFG-1."""
    assert KNOWN_GRIDS[KnownGrid.SECONDLIFE].login_url.is_encrypted
    assert KNOWN_GRIDS[KnownGrid.SECONDLIFE_BETA].login_url.is_encrypted
