"""State machines as data: one `StateTable` a machine, walked by one set of tests.

Owns the mechanics of ``(state, input) → next``; knows no domain word. Every machine of the project
is an `Enum` of states, an `Enum` of inputs and one table; pairs that are not listed are illegal.
The diagrams in ``docs/reference/state-machines.md`` are drawn from these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Generic, TypeVar

from gridagent.errors import IllegalTransition, InternalError

__all__ = ("StateTable",)

S = TypeVar("S", bound=Enum)
I = TypeVar("I", bound=Enum)  # noqa: E741 - the pair (S, I) is how tables are written


class StateTable(Generic[S, I]):
    """An immutable transition table.

    Args:
        name: how the table is called in errors and diagrams.
        initial: the state a machine starts in.
        transitions: every legal pair and the state it leads to.
        terminal: states without a way out.

    Raises:
        InternalError: a state cannot be reached, a terminal state has a way out, or another has none.
    """

    __slots__ = ("_transitions", "initial", "inputs", "name", "states", "terminal")

    def __init__(
        self, name: str, *, initial: S, transitions: Mapping[tuple[S, I], S], terminal: frozenset[S] = frozenset()
    ) -> None:
        self.name = name
        self.initial = initial
        self.terminal = terminal
        self.states: tuple[S, ...] = tuple(type(initial))
        self.inputs: tuple[I, ...] = tuple(type(next(iter(transitions))[1]))
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
                raise InternalError(f"{self.name}: {state.name} cannot be reached")
            if (state in leaving) is (state in self.terminal):
                raise InternalError(f"{self.name}: {state.name} must be terminal or have a way out, not both")

    def step(self, state: S, given: I) -> S:
        """Return the state that ``given`` leads to.

        Raises:
            IllegalTransition: the pair is not listed.
        """
        target = self._transitions.get((state, given))
        if target is None:
            raise IllegalTransition(self.name, str(state.value), str(given.value))
        return target

    def allows(self, state: S, given: I) -> bool:
        """Tell whether the pair is listed."""
        return (state, given) in self._transitions

    def rows(self) -> Iterator[tuple[S, I, S]]:
        """Yield every legal row in the order it was written."""
        for (state, given), target in self._transitions.items():
            yield state, given, target
