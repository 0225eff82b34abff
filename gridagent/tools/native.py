"""A tool of our own: its descriptor beside the way from its arguments to what it wants done.

Owns the two makers that the catalogue's files are written with: `act`, whose descriptor follows from the
action's own spec, and `ask`, for questions. Everything a row says twice would be a contradiction waiting to
happen, so each row says only what does not follow. Pure.

Invariant: what a native tool's closed schema lets through either becomes exactly its one kind of work or is
refused by the struct's own bounds (Spec: MND-13, MND-17).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs
import msgspec

from gridagent.actions import Action, Capability, EffectClass, Resource
from gridagent.tools.descriptor import Delivery, Need, Tool
from gridagent.tools.schema import closed_schema
from gridagent.tools.work import Act, Ask, Query, Work

__all__ = ("Native", "act", "ask")

_SLACK_S: Final = 5.0
"""What a call has beyond the time that evidence is waited for: deciding, queueing, settling."""
_EPHEMERAL_CALLS_MAX: Final = 16
_ONCE_CALLS_MAX: Final = 4

_NEEDS: Final[dict[Capability, tuple[Need, ...]]] = {
    Capability.MONEY: (Need.WORLD, Need.MONEY),
    Capability.INVENTORY: (Need.WORLD, Need.INVENTORY),
    Capability.BUILD: (Need.WORLD, Need.BUILD),
}


@attrs.frozen
class Native:
    """One row of the catalogue."""

    tool: Tool
    bind: Callable[[bytes], Work]
    """Turns canonical arguments that fit the schema into work.

    Raises:
        msgspec.ValidationError: they are over a bound that a schema cannot tell, as one in bytes.
    """
    kind: type[Action | Query]


def act(
    kind: type[Action],
    description: str,
    says: Mapping[str, str],
    *,
    leave_out: frozenset[str] = frozenset(),
    prerequisites: tuple[str, ...] = (),
    calls_max: int | None = None,
    delivery: Delivery | None = None,
) -> Native:
    """Make the tool of an action; it has the action's own name.

    Args:
        kind: the action.
        description: what a model is told of it.
        says: what it is told of each argument.
        leave_out: fields that keep their default.
        prerequisites: tools that must have succeeded earlier in the turn.
        calls_max: calls in one turn; fewer for what costs something, unless said otherwise.
        delivery: for whom its result is. What lasts is evidence later too; where the body is or what it does
            is true now, so its result serves this turn only.
    """
    spec = kind.spec
    once = spec.effect is EffectClass.ONCE
    tool = Tool(
        name=str(kind.__struct_config__.tag),
        description=description,
        schema=closed_schema(kind, says, leave_out=leave_out),
        capability=spec.capability,
        effect=spec.effect,
        evidence=spec.evidence,
        occupies=(spec.capability.value if spec.resource is Resource.NONE else spec.resource.value,),
        idempotent=spec.effect is EffectClass.REPEATABLE,
        prerequisites=prerequisites,
        delivery=delivery or (Delivery.MODEL if once else Delivery.BOTH),
        timeout_s=spec.deadline_s + _SLACK_S,
        calls_max=calls_max or (_ONCE_CALLS_MAX if once else _EPHEMERAL_CALLS_MAX),
        needs=_NEEDS.get(spec.capability, (Need.WORLD,)),
    )
    decode = msgspec.json.Decoder(kind).decode
    return Native(tool, lambda arguments: Act(decode(arguments)), kind)


def ask(
    kind: type[Query],
    description: str,
    says: Mapping[str, str],
    *,
    capability: Capability = Capability.OBSERVE,
    effect: EffectClass | None = None,
    reads: tuple[str, ...] = (),
    occupies: tuple[str, ...] = (),
    needs: tuple[Need, ...] = (),
    taints: bool = True,
    private: bool = False,
    timeout_s: float = 5.0,
    calls_max: int = 32,
) -> Native:
    """Make the tool of a question; it has the question's own name.

    Args:
        kind: the question.
        description: what a model is told of it.
        says: what it is told of each argument.
        capability: what asking needs the right to do.
        effect: what asking twice would do; None where it only reads.
        reads: what it looks at.
        occupies: what nobody else may use meanwhile.
        needs: what the grid must have.
        taints: other people's words may be in the answer.
        private: strangers are not told.
        timeout_s: seconds it has.
        calls_max: calls in one turn.
    """
    tool = Tool(
        name=str(kind.__struct_config__.tag),
        description=description,
        schema=closed_schema(kind, says),
        capability=capability,
        effect=effect,
        reads=reads,
        occupies=occupies,
        idempotent=True,
        timeout_s=timeout_s,
        calls_max=calls_max,
        needs=needs,
        port=kind.port,
        taints=taints,
        private=private,
    )
    decode = msgspec.json.Decoder(kind).decode
    return Native(tool, lambda arguments: Ask(decode(arguments)), kind)
