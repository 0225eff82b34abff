"""What a tool is, as data: name, schema, what it needs, what it touches and how often it may be used.

Owns the descriptor and the words in it. A descriptor is static and holds no code: whoever has one can cause
nothing (Spec: MND-18). Native ones stand in the catalogue, one file a family; foreign ones are made by the
registry from a pinned definition. Decides nothing about a turn.

Invariant: only a tool that reads or that may be repeated is idempotent, a foreign one never is, and a resource
nobody named conflicts with every other (Spec: MND-6, MND-13, MND-17, POL-9).
"""

from __future__ import annotations

import math
import re
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.actions import Capability, EffectClass, EvidenceKind
from gridagent.errors import InternalError
from gridagent.language import DESCRIPTION_MAX_BYTES, SCHEMA_MAX_BYTES, ToolDescriptor
from gridagent.limits import TOOL_CALLS_PER_SESSION_MAX, Bounded, Label

__all__ = (
    "FAILURES_MAX",
    "TIMEOUT_MAX_S",
    "UNKNOWN_RESOURCE",
    "Delivery",
    "Need",
    "Port",
    "Tool",
    "is_tool_name",
)

FAILURES_MAX: Final = 3
"""A tool that failed as often leaves the turn's list."""
TIMEOUT_MAX_S: Final = 600.0
UNKNOWN_RESOURCE: Final = "unknown"
"""What a tool touches of which nothing is known."""

ToolName: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z", max_length=64)]
"""The canonical name: lower-case ASCII, so that no two names look alike."""
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def is_tool_name(name: str) -> bool:
    """Tell whether a name is in canonical form."""
    return _NAME.fullmatch(name) is not None


class Delivery(StrEnum):
    """For whom a result is (Spec: MND-8)."""

    MODEL = "model"
    """The model, in this turn and as evidence in later ones."""
    WORLD = "world"
    """Whoever watches; the model learns that it is done and nothing more."""
    BOTH = "both"
    """Whoever watches, and the model in this turn only."""


class Need(StrEnum):
    """What the connected grid must have for the tool to be there (Spec: LIV-11)."""

    WORLD = "world"
    """An avatar in the world."""
    MONEY = "money"
    INVENTORY = "inventory"
    BUILD = "build"


class Port(StrEnum):
    """What answers a question; a tool whose port is missing is hidden."""

    VIEW = "view"
    PARCEL = "parcel"
    MAP = "map"
    INVENTORY = "inventory"
    CONVERSATION = "conversation"
    MEMORY = "memory"
    SQL = "sql"
    GOALS = "goals"
    CLOCK = "clock"


class Tool(Bounded, frozen=True, kw_only=True):
    """One tool.

    Raises:
        InternalError: what is said of it contradicts itself; a mistake in the catalogue.
    """

    name: ToolName
    description: Annotated[str, Meta(max_length=DESCRIPTION_MAX_BYTES, extra={"max_bytes": DESCRIPTION_MAX_BYTES})]
    schema: Annotated[bytes, Meta(max_length=SCHEMA_MAX_BYTES)]
    """JSON text of the arguments' schema."""
    capability: Capability
    """What its use needs the right to do."""
    effect: EffectClass | None = None
    """What using it twice would do; None for a tool that only reads."""
    evidence: EvidenceKind | None = None
    """What proves that the action happened; None where there is no action."""
    reads: Annotated[tuple[Label, ...], Meta(max_length=8)] = ()
    """Resources it looks at."""
    occupies: Annotated[tuple[Label, ...], Meta(max_length=8)] = (UNKNOWN_RESOURCE,)
    """Resources that nobody else may use meanwhile."""
    idempotent: bool = False
    """Twice is as once."""
    prerequisites: Annotated[tuple[ToolName, ...], Meta(max_length=8)] = ()
    """Tools that must have succeeded earlier in the turn."""
    delivery: Delivery = Delivery.MODEL
    timeout_s: Annotated[float, Meta(gt=0, le=TIMEOUT_MAX_S)] = 10.0
    """Seconds that one call has, from its start to its result."""
    calls_max: Annotated[int, Meta(ge=1, le=TOOL_CALLS_PER_SESSION_MAX)] = 32
    """Calls in one turn."""
    failures_max: Annotated[int, Meta(ge=1, le=FAILURES_MAX)] = FAILURES_MAX
    """Failures in one turn, after which the tool leaves its list."""
    needs: Annotated[tuple[Need, ...], Meta(max_length=8)] = ()
    port: Port | None = None
    """What answers it; None for an action and for a foreign tool."""
    taints: bool = False
    """Its result has words in it that somebody without authority may have written (Spec: POL-5)."""
    private: bool = False
    """What it tells is the operator's business: only turns that an authorised principal caused are offered it."""
    server: Label = ""
    """Where a foreign tool comes from; empty for a native one."""
    foreign_name: Label = ""
    """What its server calls it."""

    def __post_init__(self) -> None:
        """Hold the descriptor to itself."""
        super().__post_init__()
        problems = [
            text
            for bad, text in (
                (not is_tool_name(self.name), "its name is not canonical"),
                (not (math.isfinite(self.timeout_s) and 0 < self.timeout_s <= TIMEOUT_MAX_S), "its time-out is none"),
                (not 1 <= self.calls_max <= TOOL_CALLS_PER_SESSION_MAX, "its limit of calls is none"),
                (not 1 <= self.failures_max <= FAILURES_MAX, "its limit of failures is none"),
                (self.idempotent and self.effect not in {None, EffectClass.REPEATABLE}, "twice is not as once"),
                (self.idempotent and bool(self.server), "a foreign tool is never idempotent"),
                (self.name in self.prerequisites, "it comes before itself"),
            )
            if bad
        ]
        if problems:
            raise InternalError(f"tool {self.name[:64]!r}: {'; '.join(problems)}")

    @property
    def read_only(self) -> bool:
        """Whether using it changes nothing anywhere."""
        return self.effect is None

    @property
    def parallel(self) -> bool:
        """Whether it may run beside others at all (Spec: MND-6)."""
        return self.read_only and self.idempotent and not self.prerequisites

    def conflicts_with(self, other: Tool) -> bool:
        """Tell whether the two must not run at once, going by what they touch."""
        mine, theirs = set(self.occupies), set(other.occupies)
        if UNKNOWN_RESOURCE in mine | theirs | set(self.reads) | set(other.reads):
            return True
        if not (mine or self.reads) or not (theirs or other.reads):
            return True  # it says nothing of what it touches
        return bool(mine & (theirs | set(other.reads)) or theirs & set(self.reads))

    def shown(self) -> ToolDescriptor:
        """Return it as a model is shown it."""
        return ToolDescriptor(name=self.name, description=self.description, schema=self.schema)
