"""What a provider means when it does not answer: statuses, error objects and the words in them.

Owns the table from statuses and error names to `FailureKind`, and the few phrases by which servers tell what no
status tells (tools unsupported, context too long, refused by a filter, quota used up). Reads provider text and
returns none of it. Both codecs use it; pure.

Invariant: every status and every body gives exactly one `LlmFailure`, without any of their text (Spec: MND-3).
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from gridagent.language import BadReply, FailureKind, LlmFailure
from gridagent.llm.untrusted import unusable

__all__ = ("failure_if_empty", "failure_of_error", "failure_of_status")

_SNIFF_MAX_BYTES: Final = 8 * 1024

_BY_STATUS: Final[dict[int, FailureKind]] = {
    400: FailureKind.REJECTED,
    401: FailureKind.AUTH,
    402: FailureKind.NO_CREDIT,
    403: FailureKind.AUTH,
    404: FailureKind.REJECTED,
    405: FailureKind.REJECTED,
    408: FailureKind.TIMEOUT,
    410: FailureKind.REJECTED,
    413: FailureKind.TOO_LARGE,
    415: FailureKind.REJECTED,
    421: FailureKind.REJECTED,
    422: FailureKind.REJECTED,
    425: FailureKind.OVERLOADED,
    429: FailureKind.RATE_LIMITED,
    499: FailureKind.CANCELLED,
    503: FailureKind.OVERLOADED,
    504: FailureKind.TIMEOUT,
    524: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}

_BY_NAME: Final[dict[str, FailureKind]] = {
    "authentication_error": FailureKind.AUTH,
    "invalid_api_key": FailureKind.AUTH,
    "permission_error": FailureKind.AUTH,
    "billing_error": FailureKind.NO_CREDIT,
    "insufficient_quota": FailureKind.NO_CREDIT,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "rate_limit_exceeded": FailureKind.RATE_LIMITED,
    "overloaded_error": FailureKind.OVERLOADED,
    "unavailable_error": FailureKind.OVERLOADED,
    "timeout_error": FailureKind.TIMEOUT,
    "api_error": FailureKind.SERVER_ERROR,
    "server_error": FailureKind.SERVER_ERROR,
    "request_too_large": FailureKind.TOO_LARGE,
    "context_length_exceeded": FailureKind.TOO_LARGE,
    "exceed_context_size_error": FailureKind.TOO_LARGE,
    "content_filter": FailureKind.REFUSED,
    "content_policy_violation": FailureKind.REFUSED,
    "invalid_request_error": FailureKind.REJECTED,
    "not_found_error": FailureKind.REJECTED,
    "model_not_found": FailureKind.REJECTED,
}

# Phrases that tell more than the status they come with; the first that is found counts. Linear patterns only: the
# text is a stranger's.
_QUOTA: Final = re.compile(
    r"insufficient[_ ]quota|billing[_ ](?:error|hard)|credit balance|out of credits|exceeded your current quota"
)
_FILTER: Final = re.compile(r"content[_ ]filter|content[_ ]policy|moderation|flagged|safety system|usage polic")
_CONTEXT: Final = re.compile(
    r"context[_ ](?:length|size|window)|maximum context|prompt is too long|too many tokens|input is too long"
    r"|exceeds? the (?:available )?context|reduce the length"
)
_TOOLS: Final = re.compile(
    r"support (?:the use of )?tool|support function|tool[_ ]choice|tool-call-parser|tools? (?:param|is not|are not|not)"
    r"|--jinja|does not support tools|tool use"
)
_SNIFFED: Final = frozenset({400, 403, 404, 413, 422, 429, 500, 501})


class _Error(msgspec.Struct):
    """An error object as the servers write it."""

    code: int | float | str | None = None
    type: str | None = None
    status: int | float | str | None = None


_ERRORS: Final = msgspec.json.Decoder(_Error)


def failure_of_status(status: int, body: bytes, *, had_tools: bool, retry_after_s: float | None = None) -> LlmFailure:
    """Return what a status other than 200 means.

    Args:
        status: as it came; anything is possible.
        body: what came with it; looked into, never passed on.
        had_tools: whether the request offered tools.
        retry_after_s: what the header said.
    """
    if 300 <= status < 400:  # noqa: PLR2004 - the statuses that point elsewhere
        return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.REDIRECT, status=status)
    kind = _BY_STATUS.get(status)
    if kind is None:
        if status < 400 or status >= 600:  # noqa: PLR2004 - not an error in HTTP's own sense
            return LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.STATUS, status=status)
        kind = FailureKind.SERVER_ERROR if status >= 500 else FailureKind.REJECTED  # noqa: PLR2004 - HTTP's classes
    if status in _SNIFFED:
        kind = _sniffed(kind, body, had_tools=had_tools)
    return LlmFailure(kind, status=status, retry_after_s=retry_after_s)


def failure_of_error(error: msgspec.Raw, *, had_tools: bool) -> LlmFailure:
    """Return what an error object inside a reply with status 200 means.

    Args:
        error: the value of ``error``; any JSON.
        had_tools: whether the request offered tools.
    """
    data = bytes(error)
    try:
        told = _ERRORS.decode(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        told = _Error()
    for name in (told.type, told.code, told.status):
        if isinstance(name, str) and name in _BY_NAME:
            return LlmFailure(_sniffed(_BY_NAME[name], data, had_tools=had_tools))
    for number in (told.code, told.status):
        try:
            status = int(number or 0)
        except ValueError:
            continue
        if 400 <= status < 600:  # noqa: PLR2004 - HTTP's errors
            return failure_of_status(status, data, had_tools=had_tools)
    return LlmFailure(_sniffed(FailureKind.SERVER_ERROR, data, had_tools=had_tools))


def failure_if_empty(error: msgspec.Raw, *, had_tools: bool) -> LlmFailure:
    """Return what a reply without an answer means: its error if it has one, and that it is empty otherwise."""
    if bytes(error) in {b"", b"null"}:
        return unusable(BadReply.EMPTY)
    return failure_of_error(error, had_tools=had_tools)


def _sniffed(kind: FailureKind, body: bytes, *, had_tools: bool) -> FailureKind:
    """Let the words of a body tell more than its status did."""
    text = body[:_SNIFF_MAX_BYTES].decode("utf-8", "replace").lower()
    if kind in {FailureKind.RATE_LIMITED, FailureKind.REJECTED, FailureKind.AUTH} and _QUOTA.search(text):
        return FailureKind.NO_CREDIT
    if kind is FailureKind.RATE_LIMITED:
        return kind
    if kind in {FailureKind.REJECTED, FailureKind.SERVER_ERROR, FailureKind.TOO_LARGE} and _CONTEXT.search(text):
        return FailureKind.TOO_LARGE
    if kind in {FailureKind.REJECTED, FailureKind.AUTH} and _FILTER.search(text):
        return FailureKind.REFUSED
    if had_tools and kind in {FailureKind.REJECTED, FailureKind.SERVER_ERROR} and _TOOLS.search(text):
        return FailureKind.TOOLS_UNSUPPORTED
    return kind
