"""Who asks for an action, through which door, on whose words: the question put to the policy gateway.

Owns origins, roles, principals, provenance, labels of text and denial codes as words; decides nothing (that is
`gridagent.policy`). Roles are granted to avatar UUIDs; a name never makes a role (Spec: POL-4, POL-5).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from gridagent.actions import Action
from gridagent.ids import AvatarId, CorrelationId, Generation, GrantId
from gridagent.limits import Bounded, Label

__all__ = ("ActionRequest", "DenialCode", "Origin", "Principal", "Provenance", "Role", "TextSource")


class Origin(StrEnum):
    """The door a request came through; one row of the policy matrix each."""

    PUBLIC_CHAT = "public_chat"
    DIRECT_IM = "direct_im"
    OBJECT_TEXT = "object_text"
    """Object or script text; may never cause anything, whatever the configuration says."""
    OPERATOR_CONSOLE = "operator_console"
    SCHEDULE = "schedule"
    GOAL = "goal"
    AG_UI = "ag_ui"
    A2A = "a2a"
    MCP = "mcp"


class Role(StrEnum):
    """What the configuration says of a principal, weakest first (see `rank`)."""

    OBJECT = "object"
    STRANGER = "stranger"
    TRUSTED = "trusted"
    """An authorised avatar."""
    FRONT = "front"
    """A client that showed the bearer token of a front; ranks as trusted."""
    OWNER = "owner"
    OPERATOR = "operator"
    """Whoever holds the service's control endpoint."""

    @property
    def rank(self) -> int:
        """Order of trust: 0 object, 1 stranger, 2 trusted and front, 3 owner, 4 operator."""
        return _RANK[self]


_RANK = {
    Role.OBJECT: 0,
    Role.STRANGER: 1,
    Role.TRUSTED: 2,
    Role.FRONT: 2,
    Role.OWNER: 3,
    Role.OPERATOR: 4,
}


class Principal(Bounded, frozen=True, kw_only=True):
    """On whose behalf something is asked. Its role is looked up by the gateway, never carried."""

    avatar_id: AvatarId | None = None
    """The avatar that asked; None for the operator and for fronts."""
    client: Label = ""
    """Name of the front's client, schedule or console session; empty for avatars."""

    @property
    def key(self) -> str:
        """One text that tells principals apart in budgets and audit."""
        return self.avatar_id if self.avatar_id is not None else f"client:{self.client}"


class Provenance(StrEnum):
    """Where an argument's value came from (Spec: POL-5)."""

    CONFIGURATION = "configuration"
    AUTHORISED_WORDS = "authorised_words"
    """An authorised person said it themselves, to the avatar."""
    MODEL = "model"
    """The model chose it: from what it read, or from nothing."""


class TextSource(StrEnum):
    """Where a text came from: the label that it wears before a model, and never loses (Spec: MND-4)."""

    OWNER = "owner"
    AUTHORISED = "authorised"
    """A trusted avatar, or a client of a front."""
    STRANGER = "stranger"
    OBJECT = "object"
    SYSTEM = "system"
    """Our own remark about what happened; never what somebody else wrote."""
    MEMORY = "memory"
    """Read back from storage, whoever said it once: untrusted (Spec: MEM-3)."""


class ActionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One action asked for, with everything a decision may look at."""

    action: Action
    principal: Principal
    origin: Origin
    generation: Generation
    """Connection the asker believed to be live; an older one is refused."""
    correlation: CorrelationId
    cause: Label
    """Durable id of what led to this (an utterance, a control, a goal step)."""
    ordinal: Annotated[int, Meta(ge=0, le=4096)] = 0
    """Position among the actions of one cause."""
    conversation: Label = ""
    tainted: bool = False
    """The turn has read text of somebody who isn't authorised (Spec: POL-5)."""
    target_provenance: Provenance = Provenance.MODEL
    """Where the payee, teleport target or receiver came from."""
    verbatim: bool = False
    """The principal wrote this very action; no model stood between. Only a control of the operator does."""
    travel_m: Annotated[float, Meta(ge=0)] | None = None
    """Straight way of a walk or follow in metres, where the asker can tell; unknown counts as 256."""
    grant: GrantId | None = None
    """The schedule grant that the asker draws on; it must match in every point (Spec: POL-8)."""


class DenialCode(StrEnum):
    """Why the gateway said no; stable and documented (Spec: POL-3)."""

    ORIGIN_MAY_NOT = "origin_may_not"
    """This door never causes this capability."""
    ROLE_TOO_LOW = "role_too_low"
    """This door asks for a more trusted person."""
    TAINTED = "tainted"
    """The turn has read a stranger's words, and a rule refuses that."""
    TARGET_NOT_AUTHORISED = "target_not_authorised"
    """The target must come from configuration or an authorised person's own words."""
    PATTERN_DENIED = "pattern_denied"
    """A configured argument pattern denies it."""
    BUDGET_SPENT = "budget_spent"
    """A budget would be overrun."""
    BUDGET_UNAVAILABLE = "budget_unavailable"
    """Too many principals hold budgets at once (Spec: BND-13)."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The action does not survive strict decoding of its own encoding."""
    UNKNOWN_ACTION = "unknown_action"
    """Not one of the actions of the catalogue."""
    NOT_READY = "not_ready"
    """No generation is live."""
    STALE_GENERATION = "stale_generation"
    """Asked for under an earlier connection."""
    HELD = "held"
    """The kill switch is on."""
    DUPLICATE = "duplicate"
    """This very effect is known already (same cause, same ordinal)."""
    LEDGER_FULL = "ledger_full"
    """Too many effects are open."""
    APPROVALS_FULL = "approvals_full"
    """Too many approvals are open."""
    APPROVAL_DENIED = "approval_denied"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_CANCELLED = "approval_cancelled"
    RESOURCE_BUSY = "resource_busy"
    """Another action holds the body or the payment slot."""
    GRANT_REFUSED = "grant_refused"
    """The schedule grant is unknown, over, or for something or somebody else; the rule says which."""
    GRANT_SPENT = "grant_spent"
    """The schedule grant was used as often as it may be for now."""
    SAFE_MODE = "safe_mode"
    """Storage failed, so nothing that costs anything is done (Spec: EFX-4)."""
