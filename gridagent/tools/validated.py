"""From a call as a model wrote it to one that is known to make sense, or a typed refusal.

Owns the first four steps of the pipeline in their order: resolve, parse, schema, access, and the key by which
the same call is recognised again. Each step only sees what the one before let through. Pure.

Invariant: whatever a model writes, `validate` returns a `ValidatedToolCall`, which never changes and whose work
is exactly what its canonical arguments say, or a `RefusedCall` (Spec: MND-5, MND-7, Fault: 17, 23, 24, 25).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.language import ToolCall
from gridagent.limits import Bounded, Label
from gridagent.tools.access import Access
from gridagent.tools.arguments import ARGUMENTS_MAX_BYTES, parse_arguments
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Tool
from gridagent.tools.work import Work

__all__ = ("Checked", "RefusedCall", "ValidatedToolCall", "validate")


class ValidatedToolCall(Bounded, frozen=True, kw_only=True):
    """A call that may be admitted. It is still no action: a mutation goes to the gateway first."""

    call_id: Label
    tool: Tool
    arguments: Annotated[bytes, Meta(max_length=ARGUMENTS_MAX_BYTES)]
    """Canonical JSON."""
    key: Label
    """Hash of tool and arguments: the same call has the same key."""
    work: Work

    @property
    def name(self) -> str:
        """The tool's canonical name."""
        return self.tool.name


class RefusedCall(Bounded, frozen=True, kw_only=True):
    """A call that is no good; nothing of it runs."""

    call_id: Label
    name: Label
    """As the model wrote it."""
    code: ResultCode
    at: Annotated[str, Meta(max_length=128)] = ""
    """The place in the tool's schema that the arguments do not fit."""
    tool: Tool | None = None
    """The tool, where there is one with this name in this turn."""


Checked: TypeAlias = ValidatedToolCall | RefusedCall


def validate(call: ToolCall, access: Access) -> Checked:
    """Take a call through the steps."""
    found = access.find(call.name)
    if isinstance(found, ResultCode):
        return RefusedCall(call_id=call.id, name=call.name, code=found)
    tool = found.tool
    arguments = parse_arguments(call.arguments)
    if isinstance(arguments, ResultCode):
        return RefusedCall(call_id=call.id, name=call.name, code=arguments, tool=tool)
    at = found.validator.problem(arguments.value)
    if at is not None:
        code = ResultCode.INVALID_ARGUMENTS
        return RefusedCall(call_id=call.id, name=call.name, code=code, at=at, tool=tool)
    try:
        work = found.bind(arguments.canonical)
    except msgspec.ValidationError:
        return RefusedCall(call_id=call.id, name=call.name, code=ResultCode.INVALID_ARGUMENTS, tool=tool)
    key = sha256(tool.name.encode() + b"\n" + arguments.canonical).hexdigest()
    return ValidatedToolCall(call_id=call.id, tool=tool, arguments=arguments.canonical, key=key, work=work)
