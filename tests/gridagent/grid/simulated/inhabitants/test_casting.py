"""Names of a scenario become ids once, and unknown ones are refused clearly."""

from __future__ import annotations

import pytest

from gridagent.errors import ConfigError
from gridagent.grid.simulated.inhabitants.chatterbox import ChatterboxParams
from gridagent.grid.simulated.inhabitants.registry import make_character
from gridagent.grid.simulated.inhabitants.shopper import ShopperParams
from tests.gridagent.grid.simulated.inhabitants.company import CAST, OLIVE, ROBIN, STALL


def test_people_and_things_are_found_by_the_name_the_scenario_uses() -> None:
    """The cast resolves names to ids. Spec: SIM-1."""
    assert CAST.person("Robin Resident").avatar_id == ROBIN
    assert [person.avatar_id for person in CAST.persons(("Olive Owner", "Robin Resident"))] == [OLIVE, ROBIN]
    assert CAST.thing("Stall").object_id == STALL


@pytest.mark.parametrize(
    ("params", "kind"),
    [(ChatterboxParams(targets=("Nobody",)), "avatar"), (ShopperParams(buys=("Nothing",)), "object")],
)
def test_a_character_that_speaks_of_somebody_unknown_is_refused(params: ChatterboxParams, kind: str) -> None:
    """A scenario made by hand with a wrong name gives one clear sentence. Spec: SIM-1."""
    with pytest.raises(ConfigError) as caught:
        make_character(params, CAST)
    assert f"a character speaks of an {kind} that is not there" in str(caught.value)
    assert "add the" in str(caught.value)
