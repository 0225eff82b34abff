"""Claims about state tables, and one walk over every table of the project."""

from enum import Enum

import pytest

from gridagent.errors import IllegalTransition, InternalError
from gridagent.state_table import StateTable


class Door(Enum):
    """States of the sample table."""

    OPEN = "open"
    SHUT = "shut"
    GONE = "gone"


class Push(Enum):
    """Inputs of the sample table."""

    PULL = "pull"
    SLAM = "slam"
    BURN = "burn"


ROWS = {
    (Door.OPEN, Push.SLAM): Door.SHUT,
    (Door.SHUT, Push.PULL): Door.OPEN,
    (Door.SHUT, Push.BURN): Door.GONE,
}


def table(rows=None, terminal=frozenset({Door.GONE})):
    """Build the sample table, or a broken one."""
    return StateTable("door", initial=Door.OPEN, transitions=ROWS if rows is None else rows, terminal=terminal)


def test_every_pair_is_a_row_or_illegal():
    """Unlisted pairs raise with table, state and input; listed ones lead where the row says."""
    door = table()
    for state in Door:
        for given in Push:
            if (state, given) in ROWS:
                assert door.allows(state, given)
                assert door.step(state, given) is ROWS[state, given]
            else:
                assert not door.allows(state, given)
                with pytest.raises(IllegalTransition, match=f"door: no transition from {state.value} on {given.value}"):
                    door.step(state, given)


def test_rows_come_in_the_order_they_were_written():
    """The generated diagram reads as the source does."""
    assert list(table().rows()) == [(state, given, target) for (state, given), target in ROWS.items()]


def test_a_state_that_cannot_be_reached_is_refused():
    """A table with a dead state is a mistake, found when it is made."""
    rows = {pair: target for pair, target in ROWS.items() if target is not Door.GONE}
    with pytest.raises(InternalError, match="GONE cannot be reached"):
        table(rows)


def test_a_terminal_state_with_a_way_out_is_refused():
    """Terminal means no way out."""
    with pytest.raises(InternalError, match="GONE must be terminal or have a way out"):
        table(ROWS | {(Door.GONE, Push.PULL): Door.OPEN})


def test_a_dead_end_that_is_not_terminal_is_refused():
    """A state nobody can leave must say so."""
    with pytest.raises(InternalError, match="GONE must be terminal or have a way out"):
        table(terminal=frozenset())
