"""Reads LLSD of whichever coding it is in.

Owns the choice by a document's first bytes, for answers whose content type cannot be trusted; the readers are
next door.
"""

from __future__ import annotations

import re
from typing import Final

from live_grid.limits import HTTP_BODY_MAX_BYTES
from live_grid.llsd.binary_reader import BINARY_HEADER, read_llsd_binary_untrusted
from live_grid.llsd.notation_reader import NOTATION_HEADER, read_llsd_notation_untrusted
from live_grid.llsd.values import LlsdValue
from live_grid.llsd.xml_reader import read_llsd_xml_untrusted

__all__ = ("read_llsd_untrusted",)

_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")


def read_llsd_untrusted(data: bytes, *, size_max: int = HTTP_BODY_MAX_BYTES) -> LlsdValue:
    """Read LLSD of whichever coding it is in, told by its first bytes.

    Raises:
        RemoteProtocolError: it is malformed or passes a bound (Fault: 12).
    """
    if BINARY_HEADER.match(data):
        return read_llsd_binary_untrusted(data, size_max=size_max)
    if NOTATION_HEADER.match(data) or not _MARKUP.match(data):
        return read_llsd_notation_untrusted(data, size_max=size_max)
    return read_llsd_xml_untrusted(data, size_max=size_max)
