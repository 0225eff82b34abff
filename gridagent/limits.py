"""Every hard ceiling of the product, and the types that carry one (Spec: BND-1 … BND-17).

Owns the numbers. Configuration may lower them, never raise them. ``docs/reference/limits.md`` is
generated from `HARD_LIMITS`. `Bounded` makes a ceiling part of a struct: a value over it cannot be
constructed, whoever constructs it.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from gridagent.errors import LimitExceeded

__all__ = (
    "HARD_LIMITS",
    "Bounded",
    "ChatText",
    "HardLimit",
    "Label",
    "LongText",
    "Name",
    "ShortText",
    "clip",
    "clip_bytes",
)

KIB: Final = 1024
MIB: Final = 1024 * KIB

# --- queues and tasks -------------------------------------------------------------------------
GRID_EVENT_QUEUE_MAX: Final = 8_192
CONTROL_QUEUE_MAX: Final = 256
OBSERVABLE_QUEUE_MAX: Final = 8_192
SUBSCRIBERS_MAX: Final = 64
DRAIN_BATCH_MAX: Final = 64
OFFLINE_WORK_MAX: Final = 1_024
LLM_REQUESTS_MAX: Final = 256
AVATARS_PER_SERVICE_MAX: Final = 1_024
# --- bytes ------------------------------------------------------------------------------------
HTTP_BODY_MAX_BYTES: Final = 8 * MIB
MESSAGE_MAX_BYTES: Final = 64 * KIB
MODEL_REQUEST_MAX_BYTES: Final = 4 * MIB
MODEL_REPLY_MAX_BYTES: Final = 256 * KIB
CONFIG_FILE_MAX_BYTES: Final = 64 * KIB
SECRET_FILE_MAX_BYTES: Final = 16 * KIB
SCENARIO_FILE_MAX_BYTES: Final = 256 * KIB
PERSONA_FILE_MAX_BYTES: Final = 16 * KIB
CHAT_MAX_BYTES: Final = 1_023
# --- mind -------------------------------------------------------------------------------------
MESSAGES_PER_REQUEST_MAX: Final = 256
TOOL_CALLS_PER_REPLY_MAX: Final = 64
MODEL_TURNS_MAX: Final = 32
TOOL_CALLS_PER_SESSION_MAX: Final = 256
CONVERSATIONS_MAX: Final = 4_096
CONVERSATION_TEXT_MAX_BYTES: Final = 64 * MIB
CONVERSATION_ONE_TEXT_MAX_BYTES: Final = 512 * KIB
CONVERSATION_ENTRIES_MAX: Final = 256
FACTS_MAX: Final = 16_384
FACTS_PER_SCOPE_MAX: Final = 1_024
RECALLED_MAX: Final = 50
SQL_TEXT_MAX_BYTES: Final = 4 * KIB
SQL_ROWS_MAX: Final = 50
SQL_ANSWER_MAX_BYTES: Final = 16 * KIB
# --- policy -----------------------------------------------------------------------------------
TOOLS_MAX: Final = 64
APPROVAL_RECORDS_MAX: Final = 4_096
SCHEDULE_GRANTS_MAX: Final = 1_024
AUTHORISED_AVATARS_MAX: Final = 1_024
LINDEN_PER_PAYMENT_MAX: Final = 1_000_000
OPEN_EFFECTS_MAX: Final = 1_024
SETTLED_EFFECTS_MAX: Final = 4_096
EFFECT_ROWS_MAX: Final = 1_000_000
AUDIT_ROWS_MAX: Final = 100_000_000
KEEP_DAYS_MAX: Final = 3_660
AUDIT_RECORDS_IN_MEMORY_MAX: Final = 4_096
BUDGET_PRINCIPALS_MAX: Final = 4_096
APPROVALS_PER_PRINCIPAL_MAX: Final = 64
BUDGET_CALLS_MAX: Final = 1_000_000
BUDGET_SPEECH_BYTES_MAX: Final = 64 * MIB
BUDGET_IMS_MAX: Final = 100_000
BUDGET_METRES_MAX: Final = 10_000_000
BUDGET_TELEPORTS_MAX: Final = 10_000
BUDGET_PRIMS_MAX: Final = 10_000
BUDGET_ITEMS_MAX: Final = 10_000
BUDGET_UPLOADS_MAX: Final = 1_000
BUDGET_LINDEN_MAX: Final = 1_000_000


class HardLimit(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the limits reference."""

    id: str
    """The requirement that sets it."""
    resource: str
    ceiling: int
    unit: str
    key: str = ""
    """Configuration key that can lower it, or empty."""
    at_the_ceiling: str


def _row(id_: str, resource: str, ceiling: int, unit: str, at: str, key: str = "") -> HardLimit:
    return HardLimit(id=id_, resource=resource, ceiling=ceiling, unit=unit, key=key, at_the_ceiling=at)


HARD_LIMITS: Final[tuple[HardLimit, ...]] = (
    _row("BND-1", "grid-event queue", GRID_EVENT_QUEUE_MAX, "events", "the sender waits or is cancelled", "queues.grid_events"),
    _row("BND-2", "control queue", CONTROL_QUEUE_MAX, "controls", "the sender waits; closed after stop", "queues.controls"),
    _row("BND-3", "observable queue of one subscriber", OBSERVABLE_QUEUE_MAX, "observations", "the subscriber gets Lagged(n)", "queues.observables"),
    _row("BND-3", "subscribers of one avatar", SUBSCRIBERS_MAX, "subscribers", "one more is refused"),
    _row("BND-4", "workers of one avatar", LLM_REQUESTS_MAX, "tasks", "work waits in the session", "llm.max_concurrent_requests"),
    _row("BND-6", "work while not ready", OFFLINE_WORK_MAX, "items", "mutations are refused with not_ready", "reconnect.offline_work_capacity"),
    _row("BND-7", "HTTP body", HTTP_BODY_MAX_BYTES, "bytes", "refused while streaming"),
    _row("BND-7", "message", MESSAGE_MAX_BYTES, "bytes", "refused before it is stored or enqueued"),
    _row("BND-8", "messages in one LLM request", MESSAGES_PER_REQUEST_MAX, "messages", "the whole request is refused"),
    _row("BND-8", "tool calls in one reply", TOOL_CALLS_PER_REPLY_MAX, "calls", "the whole reply is refused; none runs"),
    _row("BND-9", "conversations", CONVERSATIONS_MAX, "conversations", "expiry, then compaction, then least recently used goes", "conversation.conversations_max"),
    _row("BND-9", "conversation text", CONVERSATION_TEXT_MAX_BYTES, "bytes", "expiry, then compaction, then least recently used goes", "conversation.text_max_bytes"),
    _row("BND-9", "text of one conversation", CONVERSATION_ONE_TEXT_MAX_BYTES, "bytes", "its older part is compacted; what cannot shrink goes, oldest first"),
    _row("BND-9", "entries of one conversation", CONVERSATION_ENTRIES_MAX, "entries", "its older part is compacted; what cannot shrink goes, oldest first"),
    _row("BND-10", "LLM request slots", LLM_REQUESTS_MAX, "requests", "waits for a slot, cancellable", "llm.max_concurrent_requests"),
    _row("BND-11", "model turns of a reasoning session", MODEL_TURNS_MAX, "turns", "the turn ends with a typed stop reason"),
    _row("BND-11", "tool calls of a reasoning session", TOOL_CALLS_PER_SESSION_MAX, "calls", "the turn ends with a typed stop reason"),
    _row("BND-12", "tools", TOOLS_MAX, "tools", "refused before any authorisation"),
    _row("BND-12", "approval records", APPROVAL_RECORDS_MAX, "records", "refused before any authorisation"),
    _row("BND-12", "schedule grants", SCHEDULE_GRANTS_MAX, "grants", "refused before any authorisation"),
    _row("BND-13", "L$ in one payment", LINDEN_PER_PAYMENT_MAX, "L$", "denied", "policy.budgets"),
    _row("BND-13", "principals with budgets of their own", BUDGET_PRINCIPALS_MAX, "principals", "one more is denied until a window empties"),
    _row("BND-12", "approvals one principal may have waiting", APPROVALS_PER_PRINCIPAL_MAX, "approvals", "one more is denied"),
    _row("BND-13", "one budget of calls", BUDGET_CALLS_MAX, "calls in its window", "denied", "policy.budgets"),
    _row("BND-13", "one budget of speech", BUDGET_SPEECH_BYTES_MAX, "bytes in its window", "denied", "policy.budgets.speech_bytes"),
    _row("BND-13", "one budget of IMs", BUDGET_IMS_MAX, "IMs in its window", "denied", "policy.budgets.ims"),
    _row("BND-13", "one budget of movement", BUDGET_METRES_MAX, "metres in its window", "denied", "policy.budgets.metres"),
    _row("BND-13", "one budget of teleports", BUDGET_TELEPORTS_MAX, "teleports in its window", "denied", "policy.budgets.teleports"),
    _row("BND-13", "one budget of building", BUDGET_PRIMS_MAX, "prims in its window", "denied", "policy.budgets.prims"),
    _row("BND-13", "one budget of inventory", BUDGET_ITEMS_MAX, "items in its window", "denied", "policy.budgets.items"),
    _row("BND-13", "one budget of uploads", BUDGET_UPLOADS_MAX, "uploads in its window", "denied", "policy.budgets.uploads"),
    _row("BND-13", "one budget of L$", BUDGET_LINDEN_MAX, "L$ in its window", "denied", "policy.budgets.linden"),
    _row("BND-14", "authorised avatars", AUTHORISED_AVATARS_MAX, "avatars", "the start is refused", "roles"),
    _row("BND-15", "configuration file", CONFIG_FILE_MAX_BYTES, "bytes", "the start is refused"),
    _row("BND-15", "secret file", SECRET_FILE_MAX_BYTES, "bytes", "the start is refused"),
    _row("BND-16", "open effects of one avatar", OPEN_EFFECTS_MAX, "effects", "one more is denied; unsettled ones never go"),
    _row("BND-16", "settled effects kept in memory", SETTLED_EFFECTS_MAX, "effects", "the oldest settled one goes"),
    _row("BND-16", "audit records kept in memory", AUDIT_RECORDS_IN_MEMORY_MAX, "records", "the oldest goes"),
    _row("BND-16", "ended effects that are stored", EFFECT_ROWS_MAX, "rows", "those that ended longest ago go, those that cost nothing first", "storage.effects_keep_rows"),
    _row("BND-16", "age of an ended effect that may have cost something", KEEP_DAYS_MAX, "days", "it goes; an unsettled one never", "storage.effects_keep_days"),
    _row("BND-16", "age of an ended effect that cost nothing", KEEP_DAYS_MAX, "days", "its key goes; its words went when it ended", "storage.effects_light_keep_days"),
    _row("BND-16", "audit records that are stored", AUDIT_ROWS_MAX, "rows", "the oldest sealed segments go whole", "storage.audit_keep_rows"),
    _row("BND-16", "age of the audit trail", KEEP_DAYS_MAX, "days", "sealed segments go whole", "storage.audit_keep_days"),
    _row("BND-16", "age of an ended approval", KEEP_DAYS_MAX, "days", "it goes; a waiting one never", "storage.approvals_keep_days"),
    _row("BND-16", "age of an ended schedule grant", KEEP_DAYS_MAX, "days", "it goes; a usable one never", "storage.grants_keep_days"),
    _row("BND-17", "one model request", MODEL_REQUEST_MAX_BYTES, "bytes", "whole old turns are dropped until it fits"),
    _row("BND-17", "one model reply", MODEL_REPLY_MAX_BYTES, "bytes", "refused while streaming"),
    _row("MEM-4", "facts an avatar remembers", FACTS_MAX, "facts", "the oldest goes"),
    _row("MEM-4", "facts learnt in one conversation, or in public", FACTS_PER_SCOPE_MAX, "facts", "the oldest of them goes"),
    _row("MEM-4", "facts one recall brings", RECALLED_MAX, "facts", "the best that fit"),
    _row("MEM-6", "one SQL question", SQL_TEXT_MAX_BYTES, "bytes", "refused"),
    _row("MEM-6", "rows one SQL question answers", SQL_ROWS_MAX, "rows", "the answer is cut and says so"),
    _row("MEM-6", "one SQL answer", SQL_ANSWER_MAX_BYTES, "bytes", "the answer is cut and says so"),
    _row("SUP-11", "avatars in one service", AVATARS_PER_SERVICE_MAX, "avatars", "the start is refused", "avatars"),
    _row("PRS-6", "persona file", PERSONA_FILE_MAX_BYTES, "bytes", "the start is refused"),
    _row("SIM-1", "scenario file", SCENARIO_FILE_MAX_BYTES, "bytes", "refused before it is parsed"),
)  # fmt: skip
"""Every ceiling with its owner's behaviour there; the generated reference is this table."""

# --- bounded text: the ceiling is part of the type ---------------------------------------------
Label: TypeAlias = Annotated[str, Meta(max_length=64)]
"""A code, a button, a file-safe name: at most 64 characters."""
Name: TypeAlias = Annotated[str, Meta(max_length=128)]
"""What a grid calls an avatar, object, region or parcel: at most 128 characters. Display text, never identity."""
ShortText: TypeAlias = Annotated[str, Meta(max_length=256)]
"""A description or reason: at most 256 characters."""
ChatText: TypeAlias = Annotated[str, Meta(max_length=CHAT_MAX_BYTES, extra={"max_bytes": CHAT_MAX_BYTES})]
"""One utterance or IM: at most 1,023 bytes of UTF-8 (the grid's own limit)."""
LongText: TypeAlias = Annotated[str, Meta(max_length=MESSAGE_MAX_BYTES, extra={"max_bytes": MESSAGE_MAX_BYTES})]
"""A notecard, alert or dialog: at most 64 KiB of UTF-8."""

_Cap: TypeAlias = tuple[str, int, bool]
_CAPS: dict[type, tuple[_Cap, ...]] = {}  # one entry a struct class: bounded by the code base


def _cap_of(hint: object) -> tuple[int, bool] | None:
    """Find the length cap in a field's annotation, looking into unions; True means bytes."""
    for meta in getattr(hint, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.max_length is not None:
            return meta.max_length, bool(meta.extra and "max_bytes" in meta.extra)
    if get_origin(hint) in {Union, UnionType}:
        for part in get_args(hint):
            found = _cap_of(part)
            if found is not None:
                return found
    return None


def _caps_of(cls: type) -> tuple[_Cap, ...]:
    hints = get_type_hints(cls, include_extras=True)
    found = []
    for field in cls.__struct_fields__:  # type: ignore[attr-defined]
        cap = _cap_of(hints[field])
        if cap is not None:
            found.append((field, *cap))
    return tuple(found)


class Bounded(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every struct that crosses a border: text and tuple ceilings hold on construction too.

    Bounds: each field whose annotation carries ``Meta(max_length=…)`` is measured; ``extra`` with
    ``max_bytes`` measures UTF-8 bytes instead of characters.

    Raises:
        LimitExceeded: a text or tuple is over its ceiling (a `ValueError`, so that msgspec reports
            it with its JSON path when decoding).
    """

    def __post_init__(self) -> None:
        """Measure every bounded field."""
        cls = type(self)
        caps = _CAPS.get(cls)
        if caps is None:
            caps = _CAPS[cls] = _caps_of(cls)
        for field, allowed, in_bytes in caps:
            value = getattr(self, field)
            if value is None:
                continue
            seen = len(value)
            if in_bytes and seen <= allowed and not value.isascii():
                seen = len(value.encode("utf-8", "surrogatepass"))
            if seen > allowed:
                raise LimitExceeded(f"{cls.__name__}.{field}", allowed=allowed, seen=seen)


def clip(text: str, characters: int) -> str:
    """Cut untrusted text to ``characters``, marking the cut; the adapter's way to keep an event constructible."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def clip_bytes(text: str, size: int) -> str:
    """Cut untrusted text to at most ``size`` bytes of UTF-8 without splitting a character."""
    raw = text.encode("utf-8", "replace")
    return raw.decode("utf-8") if len(raw) <= size else raw[: size - 3].decode("utf-8", "ignore") + "…"
