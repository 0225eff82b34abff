"""State machines as data: one `StateTable` a machine, walked by one set of tests.

Owns the mechanics of ``(state, input) → next`` for this package, which must be usable alone; knows
no protocol word. Every machine is an `Enum` of states, an `Enum` of inputs and one table; a pair
that is not listed is illegal, every state can be reached, and exactly the terminal ones have no
way out. Used by login, circuit, event queue and handover.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Generic, TypeVar

from live_grid.errors import IllegalTransition

__all__ = ("StateTable",)

StateT = TypeVar("StateT", bound=Enum)
InputT = TypeVar("InputT", bound=Enum)


class StateTable(Generic[StateT, InputT]):
    """An immutable transition table.

    Args:
        name: how the table is called in errors and diagrams.
        initial: the state a machine starts in.
        transitions: every legal pair and the state it leads to; at least one.
        terminal: states without a way out.

    Raises:
        ValueError: a state cannot be reached, a terminal state has a way out, or another has none.
    """

    __slots__ = ("_transitions", "initial", "inputs", "name", "states", "terminal")

    def __init__(
        self,
        name: str,
        *,
        initial: StateT,
        transitions: Mapping[tuple[StateT, InputT], StateT],
        terminal: frozenset[StateT] = frozenset(),
    ) -> None:
        self.name = name
        self.initial = initial
        self.terminal = terminal
        self.states: tuple[StateT, ...] = tuple(type(initial))
        self.inputs: tuple[InputT, ...] = tuple(type(next(iter(transitions))[1]))
        self._transitions = dict(transitions)
        self._check()

    def _check(self) -> None:
        reached = {self.initial}
        frontier = [self.initial]
        while frontier:
            here = frontier.pop()
            for (state, _), target in self._transitions.items():
                if state is here and target not in reached:
                    reached.add(target)
                    frontier.append(target)
        leaving = {state for state, _ in self._transitions}
        for state in self.states:
            if state not in reached:
                raise ValueError(f"{self.name}: {state.name} cannot be reached")
            if (state in leaving) is (state in self.terminal):
                raise ValueError(f"{self.name}: {state.name} must be terminal or have a way out, not both")

    def step(self, state: StateT, given: InputT) -> StateT:
        """Return the state that ``given`` leads to.

        Raises:
            IllegalTransition: the pair is not listed.
        """
        target = self._transitions.get((state, given))
        if target is None:
            raise IllegalTransition(self.name, str(state.value), str(given.value))
        return target

    def allows(self, state: StateT, given: InputT) -> bool:
        """Tell whether the pair is listed."""
        return (state, given) in self._transitions

    def rows(self) -> Iterator[tuple[StateT, InputT, StateT]]:
        """Yield every legal row in the order it was written."""
        for (state, given), target in self._transitions.items():
            yield state, given, target
