"""What can become of a tool call, in words that are ours alone.

Owns the result codes, the status and the fixed sentence of each, and which codes of a grid are repeated to a
model. Called by everything in this room; holds no state. May not carry text from a backend, a provider or a
model: a reason that isn't on the list becomes ``refused`` (Spec: MND-3, MND-7, SUP-10).

Invariant: every code but `ResultCode.DONE` says that nothing may be claimed, and has a sentence that says what
to do next.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

__all__ = ("REASONS", "ResultCode", "Status", "error_text", "safe_reason", "wording")


class Status(StrEnum):
    """How a call ended, as a model is told."""

    DONE = "done"
    INVALID = "invalid"
    """The call was no good; nothing ran."""
    DENIED = "denied"
    """It may not be done; nothing ran."""
    REFUSED = "refused"
    """The grid, or the state of things, said no; nothing happened."""
    NEEDS_APPROVAL = "needs_approval"
    """A person was asked; nothing happened yet."""
    FAILED = "failed"
    """There is no usable result; nothing was changed."""
    IN_DOUBT = "in_doubt"
    """It may have happened."""
    CANCELLED = "cancelled"
    """It was given up before it began, or changed nothing."""


class ResultCode(StrEnum):
    """What became of a call; stable and documented."""

    DONE = "done"
    """It succeeded, and there is evidence or an answer."""
    UNKNOWN_TOOL = "unknown_tool"
    """No tool has exactly this name."""
    HIDDEN_TOOL = "hidden_tool"
    """The tool is there, and not in this turn."""
    TOOL_CHANGED = "tool_changed"
    """A foreign tool is no longer the one that was agreed to."""
    TOOL_WITHDRAWN = "tool_withdrawn"
    """The tool failed too often in this turn."""
    MALFORMED_ARGUMENTS = "malformed_arguments"
    """The arguments are no JSON object."""
    DUPLICATE_KEYS = "duplicate_keys"
    """A key stands twice in one object of the arguments."""
    BAD_NUMBER = "bad_number"
    """A number is none, infinite, or larger than 64 bits hold."""
    BAD_TEXT = "bad_text"
    """A text has half a character or a zero character in it."""
    ARGUMENTS_TOO_LARGE = "arguments_too_large"
    """The arguments have too many bytes or are nested too deeply."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments do not fit the tool's schema."""
    TOO_MANY_CALLS = "too_many_calls"
    """The reply, or the session, has more calls than it may; none of the reply's calls ran."""
    CUT_OFF = "cut_off"
    """The reply ended in the middle, so none of its calls is known to be whole; none ran."""
    TOOL_CALLS_SPENT = "tool_calls_spent"
    """This tool was called as often as it may be in one turn."""
    DUPLICATE_CALL_ID = "duplicate_call_id"
    """Another call has the same id."""
    DUPLICATE = "duplicate"
    """The same call was made already, and nothing has changed since."""
    IN_FLIGHT = "in_flight"
    """The same call is under way."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The same call was made before, and nobody knows whether it took effect."""
    PREREQUISITE_MISSING = "prerequisite_missing"
    """Another tool must have succeeded first."""
    DENIED = "denied"
    """The policy says no."""
    NEEDS_APPROVAL = "needs_approval"
    """A person must agree first and has been asked."""
    REFUSED = "refused"
    """The grid said no."""
    NOT_FOUND = "not_found"
    """There is no such thing to be seen now."""
    TIMED_OUT = "timed_out"
    """No answer in time."""
    TOOL_FAILED = "tool_failed"
    """The tool broke."""
    MALFORMED_RESULT = "malformed_result"
    """What came back is not what the tool gives."""
    RESULT_TOO_LARGE = "result_too_large"
    """What came back has too many bytes."""
    IN_DOUBT = "in_doubt"
    """It was begun and may have happened."""
    CANCELLED = "cancelled"
    """The turn was ended before the call was."""
    SUPERSEDED = "superseded"
    """A newer message took the turn's place."""


_WORDING: Final[dict[ResultCode, tuple[Status, str]]] = {
    ResultCode.DONE: (Status.DONE, ""),
    ResultCode.UNKNOWN_TOOL: (Status.INVALID, "No tool has this name; use one of the listed names exactly."),
    ResultCode.HIDDEN_TOOL: (Status.DENIED, "This tool cannot be used in this turn; do without it."),
    ResultCode.TOOL_CHANGED: (Status.DENIED, "This tool has changed and is withdrawn; do without it."),
    ResultCode.TOOL_WITHDRAWN: (Status.DENIED, "This tool failed too often; do without it in this turn."),
    ResultCode.MALFORMED_ARGUMENTS: (Status.INVALID, "The arguments are no JSON object; write one."),
    ResultCode.DUPLICATE_KEYS: (Status.INVALID, "A key stands twice in the arguments; write each once."),
    ResultCode.BAD_NUMBER: (Status.INVALID, "A number in the arguments is no usable number; write a plain one."),
    ResultCode.BAD_TEXT: (Status.INVALID, "A text in the arguments is broken; write it without odd characters."),
    ResultCode.ARGUMENTS_TOO_LARGE: (Status.INVALID, "The arguments are too large or too deep; write less."),
    ResultCode.INVALID_ARGUMENTS: (Status.INVALID, "The arguments do not fit the tool's schema; mend them."),
    ResultCode.TOO_MANY_CALLS: (Status.DENIED, "Too many calls; none of them ran. Answer with what is known."),
    ResultCode.CUT_OFF: (Status.INVALID, "The reply was cut off, so none of its calls ran; write less at once."),
    ResultCode.TOOL_CALLS_SPENT: (Status.DENIED, "This tool was called often enough in this turn; do without it."),
    ResultCode.DUPLICATE_CALL_ID: (Status.INVALID, "Another call has the same id; this one did not run."),
    ResultCode.DUPLICATE: (Status.DENIED, "The same call was made already; use its result."),
    ResultCode.IN_FLIGHT: (Status.DENIED, "The same call is under way; use its result."),
    ResultCode.OUTCOME_UNKNOWN: (Status.DENIED, "The same call may have taken effect before; it is not repeated."),
    ResultCode.PREREQUISITE_MISSING: (Status.DENIED, "Another tool has to be used first; see the description."),
    ResultCode.DENIED: (Status.DENIED, "The policy does not allow it; do not claim that it was done."),
    ResultCode.NEEDS_APPROVAL: (Status.NEEDS_APPROVAL, "A person has to agree first and was asked; it is not done."),
    ResultCode.REFUSED: (Status.REFUSED, "It was not done; do not claim that it was."),
    ResultCode.NOT_FOUND: (Status.REFUSED, "There is no such thing to be seen now."),
    ResultCode.TIMED_OUT: (Status.FAILED, "No answer came in time; say that you do not know."),
    ResultCode.TOOL_FAILED: (Status.FAILED, "The tool did not work; say that you do not know."),
    ResultCode.MALFORMED_RESULT: (Status.FAILED, "The tool gave no usable result; say that you do not know."),
    ResultCode.RESULT_TOO_LARGE: (Status.FAILED, "The result is too large; ask for less."),
    ResultCode.IN_DOUBT: (Status.IN_DOUBT, "Nobody knows whether it happened; do not claim it and do not repeat it."),
    ResultCode.CANCELLED: (Status.CANCELLED, "The turn ended before this was done."),
    ResultCode.SUPERSEDED: (Status.CANCELLED, "A newer message came before this was done."),
}

REASONS: Final = frozenset(
    {
        # the grid
        *("no_money", "no_inventory", "no_build", "no_upload", "unknown_avatar", "unknown_object", "unknown_item"),
        *("unknown_animation", "unknown_offer", "not_yourself", "not_here", "outside_region", "seated", "in_transit"),
        *("superseded", "cannot_sit", "seat_taken", "not_touchable", "too_many_animations", "offline_store_full"),
        *("offers_full", "already_friends", "not_friends", "not_online", "wrong_kind", "no_such_button", "not_asked"),
        *("offer_gone", "no_transfer", "inventory_full", "insufficient_funds", "not_payable", "wrong_price"),
        *("no_build_rights", "no_land_rights", "not_owner", "prim_limit", "not_an_object", "not_on_parcel"),
        *("ban_list_full", "nowhere_to_send", "region_not_found", "region_down", "region_full", "no_access"),
        *("interrupted", "money_service_down", "declined"),
        # ourselves
        *("no_evidence", "stopped", "connection_lost", "settled_by_hand", "crashed", "not_sent", "dry_run"),
        *("preempted", "safe_mode", "storage_unknown", "duplicate", "held", "expired", "stale_generation", "cancelled"),
    }
)
"""Reasons that are repeated to a model; any other might be somebody's text."""


def wording(code: ResultCode) -> tuple[Status, str]:
    """Return the status of a code and the sentence a model is told."""
    return _WORDING[code]


def safe_reason(reason: str) -> str:
    """Return a reason as it may be repeated to a model: itself where it is one of ours, ``other`` otherwise."""
    return reason if reason in REASONS else "other"


class _Error(msgspec.Struct, frozen=True, omit_defaults=True):
    """The JSON form of what is told of a call that did not succeed."""

    ok: bool = msgspec.field(default=True)
    status: str = ""
    code: str = ""
    reason: str = ""
    at: str = ""
    hint: str = ""


_encode: Final = msgspec.json.Encoder().encode


def error_text(code: ResultCode, *, reason: str = "", at: str = "") -> str:
    """Return the JSON text a model is told of a call that did not succeed.

    Args:
        code: anything but `ResultCode.DONE`.
        reason: a stable code, already safe.
        at: a place in the tool's own schema.
    """
    status, hint = _WORDING[code]
    return _encode(_Error(ok=False, status=status.value, code=code.value, reason=reason, at=at, hint=hint)).decode()
