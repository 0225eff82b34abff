"""Every state machine of the packages, walked pair by pair."""

from __future__ import annotations

import itertools

import pytest

from docs.generator.machines import Table, tables
from gridagent.errors import IllegalTransition
from live_grid.errors import IllegalTransition as ProtocolIllegalTransition

TABLES = [pytest.param(table, id=f"{module}.{name}") for module, name, table in tables()]


def test_there_are_tables_to_walk() -> None:
    """The collection found the machines, each under a name of its own."""
    names = [parameter.values[0].name for parameter in TABLES]
    assert len(names) >= 4
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("table", TABLES)
def test_every_pair_is_listed_or_refused(table: Table) -> None:
    """Each state × input pair leads to its listed state or raises, and there is no third way. Spec: SUP-1, SUP-4."""
    listed = {(state, given): target for state, given, target in table.rows()}
    assert listed
    for state, given in itertools.product(table.states, table.inputs):
        if (state, given) in listed:
            assert table.allows(state, given)
            assert table.step(state, given) is listed[state, given]
        else:
            assert not table.allows(state, given)
            with pytest.raises((IllegalTransition, ProtocolIllegalTransition)) as refused:
                table.step(state, given)
            assert (refused.value.table, refused.value.state) == (table.name, str(state.value))


@pytest.mark.parametrize("table", TABLES)
def test_every_state_is_reached_and_only_terminal_ones_end(table: Table) -> None:
    """No state is out of reach, no input is without effect, and exactly the terminal states have no way out."""
    reached, grew = {table.initial}, True
    while grew:
        more = {target for state, _, target in table.rows() if state in reached} - reached
        reached |= more
        grew = bool(more)
    assert reached == set(table.states)
    assert {state for state, _, _ in table.rows()} == set(table.states) - set(table.terminal)
    assert {given for _, given, _ in table.rows()} == set(table.inputs)
