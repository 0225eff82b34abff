"""The circuit's transition table."""

from __future__ import annotations

import pytest

from live_grid.circuit.state import CIRCUIT_TABLE, CircuitInput, CircuitState
from live_grid.errors import IllegalTransition


@pytest.mark.parametrize("state", CircuitState)
@pytest.mark.parametrize("given", CircuitInput)
def test_every_pair_is_legal_or_refused(state: CircuitState, given: CircuitInput) -> None:
    """What is not listed is an error, and nothing leads out of the end."""
    if CIRCUIT_TABLE.allows(state, given):
        assert CIRCUIT_TABLE.step(state, given) is not CircuitState.OPEN
    else:
        with pytest.raises(IllegalTransition, match=state.value):
            CIRCUIT_TABLE.step(state, given)
