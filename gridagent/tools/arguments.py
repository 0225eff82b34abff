"""The arguments of a call: raw text from a model to canonical bytes, or a typed refusal.

Owns what is taken for arguments at all, before any schema is looked at: one JSON object, read strictly. Nothing
written counts as an empty object, since that is how some models call a tool without arguments. Pure.

Invariant: whatever the text, `parse_arguments` returns `Arguments` or a `ResultCode`, and equal arguments have
equal bytes (Spec: MND-5, MND-7, Fault: 17, 23, 24).
"""

from __future__ import annotations

from typing import Final

import msgspec

from gridagent.limits import MESSAGE_MAX_BYTES
from gridagent.tools.codes import ResultCode
from gridagent.tools.strict_json import Json, JsonProblem, canonical, read_json

__all__ = ("ARGUMENTS_MAX_BYTES", "Arguments", "parse_arguments")

ARGUMENTS_MAX_BYTES: Final = MESSAGE_MAX_BYTES
DEPTH_MAX: Final = 16
VALUES_MAX: Final = 4_096
"""Values and keys; with the size of a schema, what bounds the time that checking takes."""

_CODES: Final[dict[JsonProblem, ResultCode]] = {
    JsonProblem.TOO_LARGE: ResultCode.ARGUMENTS_TOO_LARGE,
    JsonProblem.TOO_DEEP: ResultCode.ARGUMENTS_TOO_LARGE,
    JsonProblem.NOT_JSON: ResultCode.MALFORMED_ARGUMENTS,
    JsonProblem.DUPLICATE_KEY: ResultCode.DUPLICATE_KEYS,
    JsonProblem.BAD_NUMBER: ResultCode.BAD_NUMBER,
    JsonProblem.BAD_TEXT: ResultCode.BAD_TEXT,
}


class Arguments(msgspec.Struct, frozen=True):
    """Arguments that were read strictly, and are not checked against a schema yet."""

    value: dict[str, Json]
    canonical: bytes
    """Keys sorted, no spaces."""


_EMPTY: Final = Arguments({}, b"{}")


def parse_arguments(raw: str) -> Arguments | ResultCode:
    """Read what a model wrote.

    Bounds: `ARGUMENTS_MAX_BYTES` of UTF-8, as written and in canonical form; `DEPTH_MAX` objects and lists within
    each other; `VALUES_MAX` values and keys.
    """
    value = read_json(raw, max_bytes=ARGUMENTS_MAX_BYTES, depth_max=DEPTH_MAX, values_max=VALUES_MAX)
    if isinstance(value, JsonProblem):
        return _EMPTY if value is JsonProblem.NOT_JSON and not raw.strip(" \t\r\n") else _CODES[value]
    if not isinstance(value, dict):
        return ResultCode.MALFORMED_ARGUMENTS
    written = canonical(value)
    if len(written) > ARGUMENTS_MAX_BYTES:  # a number may take more room than it was written in
        return ResultCode.ARGUMENTS_TOO_LARGE
    return Arguments(value, written)
