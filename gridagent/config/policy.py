"""The configuration sections ``policy`` and ``roles``: what an operator may write.

Owns the words of those two sections (cells, meters, patterns); decides nothing: `gridagent.policy.policy`
merges a section over its preset and compiles it, and `gridagent.config.policy_check` says what a type
cannot say is wrong with it. May import only L0. Its invariant: a value that decodes has its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, field

from gridagent import limits
from gridagent.actions import Capability
from gridagent.authority import Origin, Provenance
from gridagent.limits import Bounded, Label, ShortText

__all__ = (
    "METER_CEILINGS",
    "PEER_METERS",
    "Admission",
    "ApprovalNeed",
    "Approvers",
    "Budget",
    "BudgetScope",
    "Meter",
    "Pattern",
    "PatternVerdict",
    "PolicySection",
    "Preset",
    "RolesSection",
    "TaintVerdict",
)

WINDOW_MAX_S: Final = 31 * 86_400
BUDGETS_PER_METER_MAX: Final = 4
PATTERNS_MAX: Final = 64
PATTERN_TEXTS_MAX: Final = 64


class Preset(StrEnum):
    """The policy a section starts from; `gridagent.policy.presets` shows each on one screen (Spec: OPS-9)."""

    OBSERVER = "observer"
    """Sees and hears; does nothing for anybody but the operator."""
    GREETER = "greeter"
    """Talks with everybody in public."""
    GUIDE = "guide"
    """A greeter who walks about, answers IMs and invites people."""
    SHOPKEEPER = "shopkeeper"
    """A guide who gives items and pays L$, each with an approval."""
    BUILDER = "builder"
    """Builds for the owner, each with an approval."""


class Admission(StrEnum):
    """One cell of the matrix of origins and capabilities: the least trusted person who is let through."""

    DENY = "deny"
    OWNER = "owner"
    TRUSTED = "trusted"
    """Authorised avatars, and clients of a front that showed its token."""
    ANYONE = "anyone"


class ApprovalNeed(StrEnum):
    """Whether a capability needs a person's yes for each action (Spec: POL-14)."""

    REQUIRED = "required"
    NOT_REQUIRED = "not_required"


class Approvers(StrEnum):
    """Who besides the operator may answer an approval, over IM and with its nonce (Spec: POL-7)."""

    OWNER = "owner"
    TRUSTED = "trusted"
    """Owners, and authorised avatars for requests that are not their own."""


class TaintVerdict(StrEnum):
    """What a tainted turn may still ask for (Spec: POL-5)."""

    ALLOW = "allow"
    APPROVE = "approve"
    DENY = "deny"


class PatternVerdict(StrEnum):
    """What a matching argument pattern leads to (Spec: POL-14)."""

    DENY = "deny"
    APPROVE = "approve"
    OFF = "off"
    """Switches off a pattern of the same name that the preset brought."""


class Meter(StrEnum):
    """What a budget counts. ``calls.*`` count actions of one capability; the others count what actions carry."""

    CALLS_SPEAK = "calls.speak"
    CALLS_DIRECT_MESSAGE = "calls.direct_message"
    CALLS_ANIMATE = "calls.animate"
    CALLS_MOVE = "calls.move"
    CALLS_TELEPORT = "calls.teleport"
    CALLS_INTERACT = "calls.interact"
    CALLS_SOCIAL = "calls.social"
    CALLS_INVENTORY = "calls.inventory"
    CALLS_MONEY = "calls.money"
    CALLS_UPLOAD = "calls.upload"
    CALLS_BUILD = "calls.build"
    CALLS_LAND = "calls.land"
    WITHDRAWALS = "withdrawals"
    """Stop, stand, stop an animation, decline an offer: these draw on nothing else, so that a spent
    budget can never keep an avatar walking."""
    SPEECH_BYTES = "speech_bytes"
    """UTF-8 bytes of every text that other people can read."""
    IMS = "ims"
    METRES = "metres"
    """Straight way of a walk, rounded up; a way the asker cannot tell counts as 256."""
    TELEPORTS = "teleports"
    PRIMS = "prims"
    ITEMS = "items"
    UPLOADS = "uploads"
    LINDEN = "linden"
    """L$ paid, and the price of uploads."""


METER_CEILINGS: Final[Mapping[Meter, int]] = {
    **{meter: limits.BUDGET_CALLS_MAX for meter in Meter if meter.value.startswith("calls.")},
    Meter.WITHDRAWALS: limits.BUDGET_CALLS_MAX,
    Meter.SPEECH_BYTES: limits.BUDGET_SPEECH_BYTES_MAX,
    Meter.IMS: limits.BUDGET_IMS_MAX,
    Meter.METRES: limits.BUDGET_METRES_MAX,
    Meter.TELEPORTS: limits.BUDGET_TELEPORTS_MAX,
    Meter.PRIMS: limits.BUDGET_PRIMS_MAX,
    Meter.ITEMS: limits.BUDGET_ITEMS_MAX,
    Meter.UPLOADS: limits.BUDGET_UPLOADS_MAX,
    Meter.LINDEN: limits.BUDGET_LINDEN_MAX,
}
"""The most that any one budget of a meter may allow in its window (Spec: BND-13)."""

PEER_METERS: Final = frozenset(
    {
        Meter.CALLS_DIRECT_MESSAGE,
        Meter.CALLS_SOCIAL,
        Meter.CALLS_INVENTORY,
        Meter.CALLS_MONEY,
        Meter.IMS,
        Meter.ITEMS,
        Meter.LINDEN,
    }
)
"""Meters of actions that are done to somebody; only these can be budgeted per peer."""


class BudgetScope(StrEnum):
    """Whose use a budget adds up."""

    PRINCIPAL = "principal"
    """Each asker alone."""
    PEER = "peer"
    """Each receiver alone, whoever asked."""
    STRANGERS = "strangers"
    """Everybody below ``trusted`` taken together: keeps a crowd from spending what the owner needs."""
    GLOBAL = "global"
    """Everybody together."""


class Budget(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """At most ``limit`` units within any ``window_s`` seconds."""

    per: BudgetScope
    limit: Annotated[int, Meta(ge=0)]
    window_s: Annotated[int, Meta(ge=1, le=WINDOW_MAX_S)]


class Pattern(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One test over one argument of one action; exactly one matcher is set. No regular expressions.

    Block lists (``contains``, ``any_of``) compare loosely, after NFKC, case folding and removal of
    invisible characters; the allow list (``none_of``) compares exactly, so each errs to the safe side.
    A list argument matches when one of its members does; a missing one counts as empty text.
    """

    action: Label = ""
    argument: Label = ""
    then: PatternVerdict
    over: float | None = None
    """Matches a number above this."""
    under: float | None = None
    """Matches a number below this."""
    longer_than: Annotated[int, Meta(ge=0)] | None = None
    """Matches text of more UTF-8 bytes than this."""
    contains: Annotated[tuple[ShortText, ...], Meta(max_length=PATTERN_TEXTS_MAX)] | None = None
    """Matches text with one of these in it."""
    any_of: Annotated[tuple[ShortText, ...], Meta(max_length=PATTERN_TEXTS_MAX)] | None = None
    """Matches text that is one of these."""
    none_of: Annotated[tuple[ShortText, ...], Meta(max_length=PATTERN_TEXTS_MAX)] | None = None
    """Matches text that is none of these: an allow list."""


PatternName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=48)]
"""Short enough to stand behind ``pattern.`` in a rule's name."""

Matrix: TypeAlias = dict[Origin, dict[Capability, Admission]]


class PolicySection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section ``policy``: a preset, and what differs from it, cell by cell."""

    preset: Preset = Preset.OBSERVER
    matrix: Matrix = field(default_factory=dict)
    """Who gets through which door for what; a cell that is listed nowhere is ``deny``."""
    tainted: dict[Capability, TaintVerdict] = field(default_factory=dict)
    """What a turn that has read a stranger's words may ask for."""
    target_from: dict[Capability, Annotated[tuple[Provenance, ...], Meta(max_length=3)]] = field(default_factory=dict)
    """Where payee, receiver or destination must come from."""
    approvals: dict[Capability, ApprovalNeed] = field(default_factory=dict)
    """Which capabilities need a person's yes each time."""
    patterns: Annotated[dict[PatternName, Pattern], Meta(max_length=PATTERNS_MAX)] = field(default_factory=dict)
    """Tests over arguments, by a name of one's own."""
    budgets: dict[Meter, Annotated[tuple[Budget, ...], Meta(max_length=BUDGETS_PER_METER_MAX)]] = field(
        default_factory=dict
    )
    """Replaces all budgets of a meter at once; a meter with none is zero."""
    approvers: Approvers = Approvers.OWNER
    dry_run: bool = False
    """Decide and record everything, apply nothing (Spec: POL-11)."""
    handle_ttl_s: Annotated[float, Meta(ge=0.1, le=300.0)] = 10.0
    """How long an authorisation may wait to be used, in seconds."""
    approval_ttl_s: Annotated[float, Meta(ge=1.0, le=86_400.0)] = 300.0
    """How long a person has to answer an approval, in seconds."""


class RolesSection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section ``roles``: avatars by UUID, never by name (Spec: POL-4, BND-14)."""

    owners: Annotated[tuple[Label, ...], Meta(max_length=limits.AUTHORISED_AVATARS_MAX)] = ()
    trusted: Annotated[tuple[Label, ...], Meta(max_length=limits.AUTHORISED_AVATARS_MAX)] = ()
