"""The protocol package's own transition table."""

from __future__ import annotations

from enum import Enum

import pytest

from live_grid.errors import IllegalTransition
from live_grid.state_table import StateTable


class Door(Enum):
    """States of the example."""

    OPEN = "open"
    SHUT = "shut"
    GONE = "gone"


class Push(Enum):
    """Inputs of the example."""

    CLOSE = "close"
    BREAK = "break"


ROWS = {(Door.OPEN, Push.CLOSE): Door.SHUT, (Door.SHUT, Push.BREAK): Door.GONE}


def test_step_follows_listed_rows_and_refuses_the_rest() -> None:
    """A listed pair leads on; any other is an error that names table, state and input."""
    table = StateTable("door", initial=Door.OPEN, transitions=ROWS, terminal=frozenset({Door.GONE}))
    assert table.step(Door.OPEN, Push.CLOSE) is Door.SHUT
    assert table.allows(Door.SHUT, Push.BREAK)
    assert not table.allows(Door.OPEN, Push.BREAK)
    assert list(table.rows()) == [(*pair, target) for pair, target in ROWS.items()]
    with pytest.raises(IllegalTransition, match="door: no transition from gone on close"):
        table.step(Door.GONE, Push.CLOSE)


@pytest.mark.parametrize(
    ("rows", "terminal", "complaint"),
    [
        ({(Door.OPEN, Push.CLOSE): Door.SHUT}, {Door.SHUT, Door.GONE}, "GONE cannot be reached"),
        (ROWS, set(), "GONE must be terminal"),
        (ROWS, {Door.GONE, Door.SHUT}, "SHUT must be terminal"),
    ],
)
def test_a_table_with_a_hole_cannot_be_built(rows, terminal, complaint) -> None:
    """Unreachable states, dead ends that are not terminal and terminal states with a way out are refused."""
    with pytest.raises(ValueError, match=complaint):
        StateTable("door", initial=Door.OPEN, transitions=rows, terminal=frozenset(terminal))
