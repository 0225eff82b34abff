"""Fault knobs and their counts."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.errors import ConfigError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.faults import LOGIN_CAUSES, FaultCounts, FaultKind, Faults, without_faults


def test_by_default_nothing_goes_wrong() -> None:
    """Every chance and rate is zero."""
    knobs = msgspec.structs.asdict(Faults())
    rates = [value for field, value in knobs.items() if field.endswith("_per_hour")]
    chances = [knobs[kind.value] for kind in FaultKind if kind.value in knobs]
    assert rates == [0.0] * 5
    assert chances == [0.0] * 9


def test_backward_ranges_and_causes_of_no_login_are_all_told_at_once() -> None:
    """One message lists every problem with its path and how to mend it.

    Spec: CFG-1
    """
    with pytest.raises(ConfigError) as error:
        Faults(login_s=(2.0, 1.0), stall_s=(-1.0, 1.0), login_causes=(DisconnectCause.KICKED,))
    assert [problem.path for problem in error.value.problems] == [
        *("faults.login_s", "faults.stall_s", "faults.login_causes")
    ]
    assert "maintenance" in str(error.value)


def test_knobs_are_read_strictly() -> None:
    """Unknown knobs and chances over one are refused when a file is read.

    Spec: CFG-1
    """
    for raw in (b'{"kiks_per_hour": 1}', b'{"request_lost": 1.5}', b'{"flood_senders": 0}'):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(raw, type=Faults)
    assert msgspec.json.decode(b'{"latency_s": [0.1, 0.2]}', type=Faults).latency_s == (0.1, 0.2)


def test_calm_keeps_the_pace_and_nothing_else() -> None:
    """When faults stop, latency stays what it was.

    Spec: SIM-4
    """
    wild = Faults(latency_s=(0.1, 0.2), login_s=(3.0, 4.0), request_lost=1.0, kicks_per_hour=60.0)
    assert without_faults(wild) == Faults(latency_s=(0.1, 0.2), login_s=(3.0, 4.0))


def test_counts_start_at_zero_for_every_kind() -> None:
    """A fault that never happened shows as zero, not as absent.

    Spec: SIM-3
    """
    counts = FaultCounts()
    counts.add(FaultKind.KICK)
    assert counts[FaultKind.KICK] == 1
    assert set(counts.snapshot()) == {kind.value for kind in FaultKind}
    assert sum(counts.snapshot().values()) == 1
    assert len(LOGIN_CAUSES) == 7
