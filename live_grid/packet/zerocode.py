"""Zero-coding: a run of zero bytes travels as a zero and a count.

Owns the expansion of bytes from outside, capped before anything is allocated, and the compression of
our own. A count of zero is the old way to write 256 zeros and more to come: accepted, never
written. Used by `live_grid.packet.codec` only.

Invariant: `expand_untrusted` never returns, nor builds on its way, more than its cap (Fault: 4).
"""

from __future__ import annotations

import re
from typing import Final

from live_grid.errors import RemoteProtocolError

__all__ = ("compress", "expand_untrusted")

_RUN_MAX: Final = 255
_LEGACY_RUN: Final = 256
_ZEROS: Final = tuple(bytes(count) for count in range(_RUN_MAX + 1))
_CODED: Final = tuple(bytes((0, count)) for count in range(_RUN_MAX + 1))
_RUNS: Final = re.compile(rb"\x00{1,255}")


def expand_untrusted(data: bytes, cap: int) -> bytes:
    """Expand zero-coded bytes.

    Args:
        data: bytes from outside.
        cap: most bytes the result may have.

    Raises:
        RemoteProtocolError: the result would be longer than ``cap``, or a run has no count (Fault: 4).
    """
    # Everything after a zero begins with its count: splitting at the zeros leaves count + literal bytes.
    parts = data.split(b"\0")
    head = parts[0]
    if len(parts) == 1:
        if len(head) > cap:
            raise RemoteProtocolError(f"zero-coded body expands beyond {cap} bytes")
        return head
    try:
        # Two zeros in a row leave an empty part, which has no first byte: the old coding, or a missing count.
        total = len(data) - 2 * (len(parts) - 1) + sum([part[0] for part in parts[1:]])
    except IndexError:
        return _expand_slowly(data, cap)
    if total > cap:
        raise RemoteProtocolError(f"zero-coded body expands beyond {cap} bytes")
    zeros = _ZEROS
    return b"".join([head, *[zeros[part[0]] + part[1:] for part in parts[1:]]])


def _expand_slowly(data: bytes, cap: int) -> bytes:
    """Expand byte by byte what the fast way cannot: counts of zero."""
    out = bytearray()
    at, size = 0, len(data)
    while at < size:
        zero = data.find(b"\0", at)
        end = size if zero < 0 else zero
        out += data[at:end]
        at = end + 1
        if zero >= 0:
            run = 0
            while at < size and data[at] == 0:
                run += _LEGACY_RUN
                at += 1
            if at == size:
                raise RemoteProtocolError("zero-coded body ends inside a run")
            run += data[at]
            at += 1
            if len(out) + run > cap:
                raise RemoteProtocolError(f"zero-coded body expands beyond {cap} bytes")
            out += bytes(run)
    if len(out) > cap:
        raise RemoteProtocolError(f"zero-coded body expands beyond {cap} bytes")
    return bytes(out)


def _code_run(found: re.Match[bytes]) -> bytes:
    return _CODED[found.end() - found.start()]


def compress(data: bytes) -> bytes:
    """Zero-code ``data``; the result may be longer than what was given."""
    return _RUNS.sub(_code_run, data)
