"""What a POSIX access list adds to a file's mode: who is really behind the group's bits.

Owns the reading of one extended attribute. Where a file has such a list, the group's bits of its mode are only the most
that the list may grant, so a file that one user may read looks as if a group could. systemd hands credentials over in
just that way: the file is root's, and a list lets the service's user read it. Pure; `gridagent.config.files` asks.

Invariant: a list that cannot be read in full grants somebody something.
"""

from __future__ import annotations

import struct
from typing import Final

__all__ = ("ATTRIBUTE", "grants_others")

ATTRIBUTE: Final = "system.posix_acl_access"
"""Name of the extended attribute."""
_VERSION: Final = 2
_HEAD: Final = struct.Struct("<I")
_ENTRY: Final = struct.Struct("<HHI")
_OWNER, _USER, _GROUP, _NAMED_GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_READ: Final = 0o4


def grants_others(data: bytes, user: int) -> bool:
    """Tell whether a list grants anything to anybody but the file's owner, and reading to ``user``.

    Args:
        data: the attribute's value.
        user: who may read, by number.
    """
    if len(data) < _HEAD.size or (len(data) - _HEAD.size) % _ENTRY.size or _HEAD.unpack_from(data) != (_VERSION,):
        return True
    for tag, permissions, number in _ENTRY.iter_unpack(data[_HEAD.size :]):
        if tag in {_OWNER, _MASK} or not permissions:
            continue
        if tag != _USER or number != user or permissions != _READ:
            return True
    return False
