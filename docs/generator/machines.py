"""The page of state machines: every `StateTable` of the packages, drawn from its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load, modules_that_call, summary

__all__ = ("Table", "state_machines", "tables")

INTRO = """Each machine is a table: a pair of state and input that is not listed is an error. The diagrams are drawn
from the rows, and one test walks every pair of every table."""


class Table(Protocol):
    """What the two `StateTable` classes share."""

    name: str
    initial: Any
    states: tuple[Any, ...]
    inputs: tuple[Any, ...]
    terminal: frozenset[Any]

    def rows(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield ``(state, input, next)``."""
        ...

    def allows(self, state: Any, given: Any) -> bool:
        """Tell whether the pair is listed."""
        ...

    def step(self, state: Any, given: Any) -> Any:
        """Return where the pair leads."""
        ...


def tables() -> Iterator[tuple[str, str, Table]]:
    """Yield ``(module, name of the value, table)`` for every table of the packages."""
    for module in modules_that_call("StateTable"):
        for name, value in vars(load(module)).items():
            if type(value).__name__ == "StateTable":
                yield module, name, value


def _id(state: Any) -> str:
    return str(state.name).lower()


def _diagram(given: Table) -> str:
    arrows: dict[tuple[str, str], list[str]] = {}
    for state, cause, target in given.rows():
        arrows.setdefault((_id(state), _id(target)), []).append(str(cause.value))
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {_id(given.initial)}"]
    lines += [f"    {start} --> {end}: {', '.join(causes)}" for (start, end), causes in arrows.items()]
    lines += [f"    {_id(state)} --> [*]" for state in given.states if state in given.terminal]
    return "\n".join([*lines, "```"])


def state_machines() -> str:
    """Write the page."""
    parts = []
    for module, name, given in tables():
        states, inputs = class_text(type(given.initial)), class_text(type(given.inputs[0]))
        rows = [
            [code(str(start.value)), code(str(cause.value)), code(str(end.value))] for start, cause, end in given.rows()
        ]
        meanings = [[code(str(state.value)), prose(states.fields.get(state.name, ""))] for state in given.states]
        causes = [[code(str(cause.value)), prose(inputs.fields.get(cause.name, ""))] for cause in given.inputs]
        parts.append(
            "\n\n".join(
                [
                    f"## {given.name}",
                    f"`{module}.{name}`. {prose(summary(states.doc))}",
                    _diagram(given),
                    table(["state", "meaning"], meanings),
                    table(["input", "meaning"], causes),
                    table(["state", "input", "next"], rows),
                ]
            )
        )
    return page("State machines", INTRO, parts)
