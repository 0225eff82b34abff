"""The simulated world of a run: found, completed into a configuration, and left out of a live one."""

from __future__ import annotations

import subprocess
import sys

from gridagent.cli.compose import prepare, sections_chosen
from gridagent.cli.story import account_id, demonstration
from gridagent.config.model import AvatarConfig, Config
from gridagent.config.policy import PolicySection, Preset, RolesSection
from gridagent.grid.simulated.scenario import load_shipped

OLIVE = "5eed0000-0000-4000-8000-000000000001"


def test_the_demonstration_takes_people_from_the_scenario_and_only_what_nobody_configured() -> None:
    """Who owns the avatar comes by UUID from the scenario; a configured key always wins. Spec: POL-4."""
    scenario = load_shipped("plaza")
    shown = demonstration(Config(), scenario)
    assert shown.roles.owners == (OLIVE,)
    assert shown.policy.preset is Preset.GUIDE
    mine = Config(
        avatars={"bo": AvatarConfig(first_name="Robin")},
        policy=PolicySection(preset=Preset.BUILDER),
        roles=RolesSection(trusted=(OLIVE,)),
    )
    assert demonstration(mine, scenario) == mine
    assert prepare(mine, demonstrate=True).roles_by_id() == {OLIVE: "trusted"}
    assert prepare(Config(), demonstrate=True).roles_by_id() == {OLIVE: "owner"}
    # A variable that says what is the default all the same has said it.
    chosen = sections_chosen({"GRIDAGENT_POLICY__PRESET": "observer", "GRIDAGENT_ROLES": "{}", "HOME": "x"})
    assert chosen == {"policy", "roles"}
    kept = demonstration(Config(), scenario, chosen | {"avatars"})
    assert kept == Config()


def test_an_account_is_found_by_its_name_in_any_case() -> None:
    """Whoever lives in no scenario has none. Spec: SIM-1."""
    scenario = load_shipped("plaza")
    assert account_id(scenario, AvatarConfig(first_name="ROBIN")) == account_id(
        scenario, AvatarConfig(first_name="Robin")
    )
    assert account_id(scenario, AvatarConfig(first_name="Nobody")) is None


def test_a_service_in_a_live_grid_carries_no_simulated_world() -> None:
    """What a service loads to run, and a live backend, leave the simulated grid out of memory. Spec: LIV-14."""
    loads = "import sys, gridagent.cli.run, live_grid.backend; print('gridagent.grid.simulated' in sys.modules)"
    done = subprocess.run(  # noqa: S603 - a program of our own
        [sys.executable, "-c", loads], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
