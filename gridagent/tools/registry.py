"""Which tools there are: our own, and foreign ones whose definition somebody agreed to.

Owns the look-up by canonical name, the ceiling on tools, and turning a foreign definition into a descriptor. The
session has one registry an avatar; a turn sees it through `gridagent.tools.access`. Pure: whoever speaks with a
server brings its definitions here.

Invariant: every tool in it has a checked schema, no two share a name, and a foreign one is exactly the definition
that is pinned: once it differs, it is gone until somebody pins it anew (Spec: POL-9, MND-17, BND-12).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Final

import attrs
from msgspec import Meta

from gridagent.actions import Capability, EffectClass
from gridagent.errors import InternalError
from gridagent.language import DESCRIPTION_MAX_BYTES, SCHEMA_MAX_BYTES, ToolDescriptor
from gridagent.limits import TOOLS_MAX, Bounded, clip_bytes
from gridagent.policy.pins import DescriptorPins, PinVerdict
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.descriptor import TIMEOUT_MAX_S, Delivery, Tool
from gridagent.tools.native import Native
from gridagent.tools.schema import OPEN_SCHEMA, SchemaProblem, Validator, catalogued, compiled
from gridagent.tools.strict_json import Json, JsonProblem, canonical, read_json
from gridagent.tools.work import CallForeign, Work

__all__ = ("ForeignTerms", "Offer", "Registered", "Registry", "canonical_name")

DEFINITION_MAX_BYTES: Final = SCHEMA_MAX_BYTES + 4 * DESCRIPTION_MAX_BYTES
_FOREIGN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,47}")
_SERVER: Final = re.compile(r"[a-z][a-z0-9]{0,13}")
_FOREIGN_CALLS_MAX: Final = 16


class Offer(StrEnum):
    """What became of a foreign tool's definition."""

    TAKEN = "taken"
    UNPINNED = "unpinned"
    """Nobody agreed to it yet."""
    CHANGED = "changed"
    """It is or once was another definition than the one agreed to."""
    BAD_DEFINITION = "bad_definition"
    """It is no JSON object with a name, or is too large; all tools of its server are dropped."""
    BAD_NAME = "bad_name"
    """Its name, or its server's, has no canonical form."""
    BAD_SCHEMA = "bad_schema"
    COLLISION = "collision"
    """Another tool has the same canonical name."""
    FULL = "full"
    """There are as many tools as there may be."""


class ForeignTerms(Bounded, frozen=True, kw_only=True):
    """What the operator says of a server's tools; a definition's own hints are never believed."""

    capability: Capability
    """What calling them needs the right to do."""
    delivery: Delivery = Delivery.MODEL
    timeout_s: Annotated[float, Meta(gt=0, le=TIMEOUT_MAX_S)] = 30.0


@attrs.frozen
class Registered:
    """A tool that can be called."""

    tool: Tool
    validator: Validator
    bind: Callable[[bytes], Work]
    shown: ToolDescriptor = attrs.field(init=False)
    """As a model is shown it; made once, since every request holds it."""

    def __attrs_post_init__(self) -> None:
        """Make what is shown."""
        object.__setattr__(self, "shown", self.tool.shown())


@attrs.frozen
class _Definition:
    """What of a foreign definition is looked at."""

    whole: Json
    name: str
    description: str
    schema: bytes


class Registry:
    """The tools of one avatar.

    Args:
        natives: our own.
        pins: what was agreed to of foreign ones.

    Raises:
        InternalError: a native tool is not as it has to be; a mistake in the catalogue.
    """

    __slots__ = ("_definitions", "_pins", "_tools")

    def __init__(self, natives: Sequence[Native] = CATALOGUE, *, pins: DescriptorPins | None = None) -> None:
        self._pins = DescriptorPins() if pins is None else pins
        self._tools: dict[str, Registered] = {}
        self._definitions: dict[str, Json] = {}  # of foreign tools
        for native in natives:
            tool = native.tool
            validator = catalogued(tool.schema) if natives is CATALOGUE else compiled(tool.schema, closed=True)
            if isinstance(validator, SchemaProblem) or tool.name in self._tools or tool.server or "__" in tool.name:
                raise InternalError(f"tool {tool.name}: its schema, its name or its server is wrong ({validator})")
            self._tools[tool.name] = Registered(tool, validator, native.bind)
        known = {name for each in self._tools.values() for name in each.tool.prerequisites}
        if not known <= self._tools.keys() or len(self._tools) > TOOLS_MAX:
            raise InternalError(f"{len(self._tools)} tools, at most {TOOLS_MAX}; prerequisites {sorted(known)}")

    def offer(self, server: str, definition: bytes, terms: ForeignTerms) -> Offer:  # noqa: PLR0911 - one return a reason
        """Take in what a server shows as one of its tools, or drop what it showed before.

        Args:
            server: the operator's short name of it.
            definition: the whole definition as JSON text, as it came.
            terms: what the operator says of this server.

        Bounds: `DEFINITION_MAX_BYTES`; `TOOLS_MAX` tools, natives included.
        """
        read = _read(definition)
        if read is None:
            self.withdraw(server)  # nobody can tell which of its tools this would have changed
            return Offer.BAD_DEFINITION
        name = canonical_name(server, read.name)
        if name is None:
            return Offer.BAD_NAME
        verdict = self._pins.check((server, read.name), read.whole)
        there = self._tools.get(name)
        if there is not None and there.tool.foreign_name != read.name:
            return Offer.COLLISION
        if verdict is not PinVerdict.SAME:
            self._drop(name)
            return Offer.UNPINNED if verdict is PinVerdict.UNPINNED else Offer.CHANGED
        validator = compiled(read.schema, closed=False)
        if isinstance(validator, SchemaProblem):
            self._drop(name)
            return Offer.BAD_SCHEMA
        if there is None and len(self._tools) >= TOOLS_MAX:
            return Offer.FULL
        self._definitions[name] = read.whole
        self._tools[name] = _foreign(name, server, read, validator, terms)
        return Offer.TAKEN

    def withdraw(self, server: str) -> int:
        """Drop every tool of a server that is gone; return how many there were."""
        gone = [name for name, each in self._tools.items() if each.tool.server == server and server]
        for name in gone:
            self._drop(name)
        return len(gone)

    def find(self, name: str) -> Registered | None:
        """Return the tool with exactly this name."""
        return self._tools.get(name)

    def is_as_agreed(self, tool: Tool) -> bool:
        """Tell whether a tool may still be called: asked before it enters a list and before each call."""
        there = self._tools.get(tool.name)
        if there is None or there.tool != tool:
            return False
        if not tool.server:
            return True
        return self._pins.check((tool.server, tool.foreign_name), self._definitions[tool.name]) is PinVerdict.SAME

    def tools(self) -> tuple[Registered, ...]:
        """Return every tool, ours first, in a stable order."""
        return tuple(self._tools.values())

    def _drop(self, name: str) -> None:
        self._tools.pop(name, None)
        self._definitions.pop(name, None)


def canonical_name(server: str, name: str) -> str | None:
    """Return what a foreign tool is called here, or None where that cannot be said.

    Two names of one server that differ only in case or punctuation come to the same, and so collide.
    """
    if _SERVER.fullmatch(server) is None or _FOREIGN_NAME.fullmatch(name) is None:
        return None
    return f"{server}__{re.sub('[.-]', '_', name).lower()}"


def _read(definition: bytes) -> _Definition | None:
    value = read_json(definition, max_bytes=DEFINITION_MAX_BYTES)
    if isinstance(value, JsonProblem) or not isinstance(value, dict):
        return None
    name, description, schema = value.get("name"), value.get("description") or "", value.get("inputSchema")
    if not isinstance(name, str) or not isinstance(description, str):
        return None
    return _Definition(value, name, description, OPEN_SCHEMA if schema is None else canonical(schema))


def _foreign(name: str, server: str, read: _Definition, validator: Validator, terms: ForeignTerms) -> Registered:
    tool = Tool(
        name=name,
        description=clip_bytes(read.description, DESCRIPTION_MAX_BYTES),
        schema=read.schema,
        capability=terms.capability,
        effect=EffectClass.ONCE,
        delivery=terms.delivery,
        timeout_s=terms.timeout_s,
        calls_max=_FOREIGN_CALLS_MAX,
        taints=True,
        server=server,
        foreign_name=read.name,
    )
    return Registered(tool, validator, lambda arguments: CallForeign(server, read.name, arguments))
