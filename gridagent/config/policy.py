"""The configuration sections ``policy`` and ``roles``: what an operator may write, and what is wrong with it.

Owns the words of those two sections (cells, meters, patterns) and their checks; decides nothing:
`gridagent.policy.policy` merges a section over its preset and compiles it. The loader decodes the
structs and asks `policy_problems` and `roles_problems` for everything a type cannot say, so that one
message lists all problems (Spec: CFG-1). May import only L0. Its invariant: a section without problems
compiles, and one with problems is never compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, field, inspect

from gridagent import limits
from gridagent.actions import ACTIONS, Capability
from gridagent.authority import Origin, Provenance
from gridagent.errors import ConfigProblem
from gridagent.ids import NIL_UUID, is_canonical_uuid
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
    "policy_problems",
    "roles_problems",
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

NUMBER_MATCHERS: Final = ("over", "under")
TEXT_MATCHERS: Final = ("longer_than", "contains", "any_of", "none_of")


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


# --- what a type cannot say ---------------------------------------------------------------------


def policy_problems(section: PolicySection, *, path: str = "policy") -> tuple[ConfigProblem, ...]:
    """List everything wrong with a decoded section.

    Args:
        section: the section as it was decoded.
        path: JSON path of the section, for the messages.
    """
    return (
        *_matrix_problems(section.matrix, f"{path}.matrix"),
        *(
            problem
            for name, pattern in section.patterns.items()
            for problem in _pattern_problems(pattern, f"{path}.patterns.{name}")
        ),
        *(
            problem
            for meter, budgets in section.budgets.items()
            for problem in _budget_problems(meter, budgets, f"{path}.budgets.{meter.value}")
        ),
    )


def _matrix_problems(matrix: Matrix, path: str) -> Iterator[ConfigProblem]:
    for capability, cell in matrix.get(Origin.OBJECT_TEXT, {}).items():
        if cell is not Admission.DENY:
            yield ConfigProblem(
                path=f"{path}.{Origin.OBJECT_TEXT.value}.{capability.value}",
                what="object and script text may never cause anything",
                shape=repr(cell.value),
                mend="remove this cell",
            )


def _budget_problems(meter: Meter, budgets: tuple[Budget, ...], path: str) -> Iterator[ConfigProblem]:
    seen: set[tuple[BudgetScope, int]] = set()
    ceiling = METER_CEILINGS[meter]
    for index, budget in enumerate(budgets):
        here = f"{path}[{index}]"
        if budget.limit > ceiling:
            yield ConfigProblem(
                path=f"{here}.limit",
                what=f"a budget of {meter.value} is over its hard ceiling",
                shape=str(budget.limit),
                mend=f"use at most {ceiling}",
            )
        if budget.per is BudgetScope.PEER and meter not in PEER_METERS:
            yield ConfigProblem(
                path=f"{here}.per",
                what=f"{meter.value} has no receiver to count by",
                shape=repr(budget.per.value),
                mend="use principal, strangers or global",
            )
        if (budget.per, budget.window_s) in seen:
            yield ConfigProblem(
                path=here,
                what=f"two budgets of {meter.value} have the same scope and window",
                shape=f"per {budget.per.value}, {budget.window_s} s",
                mend="keep the smaller one",
            )
        seen.add((budget.per, budget.window_s))


def _pattern_problems(pattern: Pattern, path: str) -> Iterator[ConfigProblem]:
    matchers = [name for name in (*NUMBER_MATCHERS, *TEXT_MATCHERS) if getattr(pattern, name) is not None]
    if pattern.then is PatternVerdict.OFF:
        return
    if len(matchers) != 1:
        yield ConfigProblem(
            path=path,
            what="a pattern has exactly one matcher",
            shape=", ".join(matchers) or "none",
            mend=f"set one of {', '.join((*NUMBER_MATCHERS, *TEXT_MATCHERS))}",
        )
    arguments = ARGUMENT_KINDS.get(pattern.action)
    if arguments is None:
        yield ConfigProblem(
            path=f"{path}.action",
            what="there is no such action",
            shape=f"text of {len(pattern.action)} characters",
            mend=f"use one of {', '.join(ARGUMENT_KINDS)}",
        )
        return
    kind = arguments.get(pattern.argument)
    if kind is None:
        yield ConfigProblem(
            path=f"{path}.argument",
            what=f"{pattern.action} has no such argument to test",
            shape=f"text of {len(pattern.argument)} characters",
            mend=f"use one of {', '.join(arguments) or 'another action: this one has none'}",
        )
        return
    for name in matchers:
        if (name in NUMBER_MATCHERS) != (kind == "number"):
            yield ConfigProblem(
                path=f"{path}.{name}",
                what=f"{pattern.argument} of {pattern.action} is {kind}",
                shape=f"a matcher for {'numbers' if name in NUMBER_MATCHERS else 'text'}",
                mend=f"use one of {', '.join(NUMBER_MATCHERS if kind == 'number' else TEXT_MATCHERS)}",
            )


def roles_problems(section: RolesSection, *, path: str = "roles") -> tuple[ConfigProblem, ...]:
    """List everything wrong with a decoded section.

    Args:
        section: the section as it was decoded.
        path: JSON path of the section, for the messages.
    """
    return tuple(_roles_problems(section, path))


def _roles_problems(section: RolesSection, path: str) -> Iterator[ConfigProblem]:
    seen: dict[str, str] = {}
    for role, members in (("owners", section.owners), ("trusted", section.trusted)):
        for index, member in enumerate(members):
            here = f"{path}.{role}[{index}]"
            if not is_canonical_uuid(member):
                yield ConfigProblem(path=here, what=_why_no_avatar(member), shape=_shape(member), mend=_MEND_AVATAR)
            elif member in seen:
                yield ConfigProblem(
                    path=here,
                    what=f"this avatar stands at {seen[member]} already",
                    shape=_shape(member),
                    mend="list each avatar once, with its highest role",
                )
            seen.setdefault(member, here)
    if len(section.owners) + len(section.trusted) > limits.AUTHORISED_AVATARS_MAX:
        yield ConfigProblem(
            path=path,
            what="there are too many authorised avatars",
            shape=str(len(section.owners) + len(section.trusted)),
            mend=f"list at most {limits.AUTHORISED_AVATARS_MAX}",
        )


_MEND_AVATAR: Final = "write the avatar's UUID in lower case with hyphens; names are never accepted"


def _why_no_avatar(text: str) -> str:
    if "*" in text:
        return "a wildcard would authorise everybody"
    if text == NIL_UUID:
        return "the nil UUID is nobody"
    if is_canonical_uuid(text.lower()):
        return "an avatar UUID is written in lower case"
    return "this is not an avatar UUID"


def _shape(text: str) -> str:
    return f"text of {len(text)} characters"


# --- which arguments an action has ----------------------------------------------------------------


def _argument_kind(kind: inspect.Type) -> str | None:
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.StrType() | inspect.EnumType() | inspect.VarTupleType():
            return "text"
        case inspect.Metadata():
            return _argument_kind(kind.type)
        case inspect.UnionType():
            return next((found for part in kind.types if (found := _argument_kind(part)) is not None), None)
        case _:
            return None


def _argument_kinds() -> Iterator[tuple[str, dict[str, str]]]:
    for action in ACTIONS:
        info = inspect.type_info(action)
        if isinstance(info, inspect.StructType):
            kinds = ((field.name, _argument_kind(field.type)) for field in info.fields)
            yield str(info.tag), {name: kind for name, kind in kinds if kind is not None}


ARGUMENT_KINDS: Final[Mapping[str, Mapping[str, str]]] = dict(_argument_kinds())
"""For each action, the arguments that a pattern can test, each ``number`` or ``text``."""
