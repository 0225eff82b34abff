"""Claims about what a seed draws."""

from __future__ import annotations

import random

import msgspec
import pytest

from gridagent.authority import Provenance
from gridagent.config.policy import METER_CEILINGS, Meter, PolicySection
from gridagent.grid.simulated.faults import Faults, without_faults
from gridagent.ids import AvatarKey
from gridagent.policy import Policy
from gridagent.simulation.bounds import calm_policy, draw_faults, draw_policy, draw_settings, vary_policy

KEY = AvatarKey("robin")
SEEDS = range(40)


def settings(seed: int, **more: object):
    """Draw the settings of a seed."""
    fields = {"last_generation": 3, "starts_connected": False, **more}
    return draw_settings(random.Random(seed), KEY, **fields)


def test_every_bound_is_met_at_its_default_and_elsewhere() -> None:
    """Each knob varies over seeds, and keeps its range (it could not be constructed otherwise). Spec: SIM-3."""
    drawn = [settings(seed) for seed in SEEDS]
    for field in ("grid_events_max", "controls_max", "workers_max", "shutdown_timeout_s", "logout_timeout_s"):
        assert len({getattr(each, field) for each in drawn}) > 2, field
    assert {each.connect_at_start for each in drawn} == {True, False}
    assert all(settings(seed, starts_connected=True).connect_at_start for seed in SEEDS)
    assert all(each.delays.backoff_base_s <= each.delays.backoff_cap_s for each in drawn)


def test_the_same_seed_draws_the_same() -> None:
    """Everything follows from the stream. Spec: SIM-2."""
    assert settings(5) == settings(5)
    assert draw_policy(random.Random(5)).written() == draw_policy(random.Random(5)).written()
    assert draw_faults(random.Random(5), wild=True) == draw_faults(random.Random(5), wild=True)


def test_a_policy_that_varies_keeps_its_windows() -> None:
    """A reload changes limits and cells; it is still a policy, and another one."""
    for seed in SEEDS:
        rng = random.Random(seed)
        policy = draw_policy(rng)
        varied = vary_policy(rng, policy)
        Policy(msgspec.json.decode(varied.written(), type=PolicySection))
        for meter, lines in policy.budgets.items():
            windows = [(line.per, line.window_s) for line in lines]
            assert windows == [(line.per, line.window_s) for line in varied.budgets[meter]]
        assert varied.written() != policy.written() or seed >= 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_under_a_calm_policy_an_owner_can_be_answered(seed: int) -> None:
    """Whatever was spent or asked for before. Spec: SIM-4."""
    calm = calm_policy(draw_policy(random.Random(seed)))
    Policy(msgspec.json.decode(calm.written(), type=PolicySection))
    assert calm.matrix["direct_im"]["direct_message"] == "anyone"
    assert calm.approvals["direct_message"] == "not_required"
    assert set(calm.target_from["direct_message"]) == {each.value for each in Provenance}
    assert {line.limit for line in calm.budgets["ims"]} == {METER_CEILINGS[Meter.IMS]}
    assert not calm.dry_run


def test_faults_are_wild_or_only_slow() -> None:
    """In a calm nothing goes wrong; in a storm every knob is turned in some seed. Spec: SIM-3."""
    calm = [draw_faults(random.Random(seed), wild=False) for seed in SEEDS]
    assert all(faults == without_faults(faults) for faults in calm)
    wild = [draw_faults(random.Random(seed), wild=True) for seed in SEEDS]
    plain = Faults()
    for field in plain.__struct_fields__:
        assert any(getattr(faults, field) != getattr(plain, field) for faults in wild), field
