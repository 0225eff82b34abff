"""What a call wants done, as values: an action, a question to a port, or a foreign tool's call.

Owns the three kinds and the base of questions and answers. This room never performs them: whoever runs a turn
does, and brings back an outcome (Spec: MND-5, MND-18). An action goes to the policy gateway first.

Invariant: all are frozen and bounded, and an answer's text is as untrusted as whoever wrote it.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import msgspec

from gridagent.actions import Action
from gridagent.limits import Bounded, Label
from gridagent.tools.descriptor import Port

__all__ = ("Act", "Answer", "Ask", "CallForeign", "Query", "Work")


class Answer(Bounded, frozen=True, kw_only=True):
    """Base of what a port answers."""


class Query(Bounded, frozen=True, kw_only=True, tag_field="query", forbid_unknown_fields=True):
    """Base of what a port is asked; its fields are the tool's arguments."""

    port: ClassVar[Port]
    answer: ClassVar[type[Answer]]
    """What comes back; anything else is no result."""


class Act(msgspec.Struct, frozen=True):
    """Put this action to the policy gateway, and perform it if that says yes."""

    action: Action


class Ask(msgspec.Struct, frozen=True):
    """Put this question to its port."""

    query: Query


class CallForeign(msgspec.Struct, frozen=True):
    """Have a server call a tool of its own, by the name it has there."""

    server: Label
    name: Label
    arguments: bytes
    """Canonical JSON."""


Work: TypeAlias = Act | Ask | CallForeign
