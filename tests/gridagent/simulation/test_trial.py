"""Claims about one seeded run."""

from __future__ import annotations

import msgspec
import pytest
import trio

from gridagent.errors import OperatorError
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.simulation import trial as trial_module
from gridagent.simulation.trial import Stillness, run_trial

PLAZA = load_shipped("plaza-8")


@pytest.mark.slow
def test_the_same_seed_takes_the_same_steps() -> None:
    """Twice the same, another seed another; clean; progress goes up to the end. Spec: SIM-2, SIM-3."""
    passed: list[float] = []
    first = run_trial(PLAZA, 3, 0.1, on_progress=passed.append)
    again, other = run_trial(PLAZA, 3, 0.1), run_trial(PLAZA, 4, 0.1)
    assert first == again
    assert other.step_hash != first.step_hash
    assert (first.violations, first.seed, first.hours) == ((), 3, 0.1)
    assert passed == sorted(passed)
    assert passed[-1] == 0.1
    assert first.lives == len(passed) > 0
    assert first.checked > 0


@pytest.mark.slow
def test_garbage_is_collected_between_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then, and no step changes by it. Spec: SIM-2."""
    plain = run_trial(PLAZA, 5, 0.05)
    calls = []
    monkeypatch.setattr(trial_module, "_COLLECT_EVERY_S", 1.0)
    monkeypatch.setattr(trial_module.gc, "collect", lambda: calls.append(1))
    assert run_trial(PLAZA, 5, 0.05).step_hash == plain.step_hash
    assert calls


def test_a_world_without_an_agent_is_no_stage() -> None:
    """It is said what is missing."""
    empty = msgspec.structs.replace(PLAZA, avatars=tuple(each for each in PLAZA.avatars if each.character))
    with pytest.raises(OperatorError, match="no avatar without a character"):
        run_trial(empty, 0, 0.1)


def test_nobody_starts_after_a_storm() -> None:
    """The state of a start is left to a life that has no storm; each state has its turn."""
    trial = trial_module._Trial(PLAZA, 0, 1.0, None)
    taken = [trial._next_aim(long=number % 3 == 0) for number in range(33)]
    assert trial_module.AgentState.STARTING not in taken[::3]
    assert set(taken) == set(trial_module._AIMS)


async def test_a_loop_that_turns_without_end_is_noticed(monkeypatch: pytest.MonkeyPatch, autojump_clock) -> None:
    """Steps without time passing; with time passing they may be as many as they like. Spec: SIM-4."""
    monkeypatch.setattr(trial_module, "_STILL_STEPS", 10)
    noticed = []
    stillness = Stillness(lambda: noticed.append(trio.current_time()))
    trio.lowlevel.add_instrument(stillness)
    for _ in range(40):
        await trio.sleep(1.0)
    assert noticed == []
    for _ in range(40):
        await trio.lowlevel.checkpoint()
    trio.lowlevel.remove_instrument(stillness)
    assert noticed


@pytest.mark.slow
def test_a_run_in_which_time_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends, with a violation, instead of turning for ever. Spec: SIM-3."""
    monkeypatch.setattr(trial_module, "_STILL_STEPS", 500)

    async def spin(self) -> None:
        while True:
            await trio.lowlevel.checkpoint()

    monkeypatch.setattr(trial_module.Life, "live", spin)
    result = run_trial(PLAZA, 0, 0.1)
    assert {violation.rule for violation in result.violations} == {"time goes on"}


@pytest.mark.slow
def test_a_run_whose_service_cannot_go_on_ends_with_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing that could follow. Spec: SIM-3, EFX-4."""

    async def fail(self) -> None:
        await trio.lowlevel.checkpoint()
        raise trial_module.LifeFailed("LedgerRefused: it is damaged")

    monkeypatch.setattr(trial_module.Life, "live", fail)
    (violation,) = run_trial(PLAZA, 0, 0.1).violations
    assert (violation.rule, violation.detail) == (
        "the service starts and ends as it should",
        "LedgerRefused: it is damaged",
    )


@pytest.mark.slow
def test_without_crashes_nothing_is_kept_and_nothing_cut_off() -> None:
    """Neither is counted as something that never happened. Spec: SIM-3."""
    result = run_trial(PLAZA, 3, 0.1, crashes=False)
    assert result.violations == ()
    assert "power_cut" not in result.sometimes
