"""The two tables of a session."""

from __future__ import annotations

import pytest

from live_grid.errors import IllegalTransition
from live_grid.handover import LINK_TABLE, TRAVEL_TABLE
from live_grid.handover.tables import LinkInput, LinkState, TravelInput, TravelState


def test_a_link_is_root_only_after_it_was_asked() -> None:
    """No row leads to root but the region's word after our asking. Spec: LIV-7."""
    rows = [(state, given) for state, given, target in LINK_TABLE.rows() if target is LinkState.ROOT]
    assert rows == [(LinkState.ENTERING, LinkInput.PRESENT)]


def test_one_journey_at_a_time() -> None:
    """A teleport can be asked for from one state only. Spec: LIV-7."""
    assert [state for state in TravelState if TRAVEL_TABLE.allows(state, TravelInput.ASK)] == [TravelState.PRESENT]


def test_a_refusal_after_arrival_is_no_input() -> None:
    """What comes after arrival is noise; before it, it brings us back. Spec: LIV-7."""
    with pytest.raises(IllegalTransition):
        TRAVEL_TABLE.step(TravelState.PRESENT, TravelInput.REFUSED)
    assert TRAVEL_TABLE.step(TravelState.MOVING, TravelInput.REFUSED) is TravelState.PRESENT


def test_doubt_has_one_way_out_for_each_piece_of_news() -> None:
    """Whatever comes in doubt settles it; nothing leads from doubt back into asking. Fault: 9."""
    targets = {target for state, _, target in TRAVEL_TABLE.rows() if state is TravelState.DOUBTFUL}
    assert targets == {TravelState.PRESENT, TravelState.MOVING, TravelState.LEAVING, TravelState.ENDED}
