"""What a grid says about itself at ``/get_grid_info``: its name and where to log in.

Owns the reading of that page, and the doubt about it: a server that was never configured guesses a loopback
address, which from elsewhere is wrong (Spec: LIV-1).
"""

from __future__ import annotations

from typing import Final

import msgspec

from live_grid.addresses import host_of
from live_grid.errors import RemoteProtocolError
from live_grid.limits import GRID_INFO_MAX_BYTES
from live_grid.llsd.xml_stream import read_xml_untrusted

__all__ = ("GridInfo", "read_grid_info_untrusted")

_ROOT: Final = "gridinfo"
_FIELDS_MAX: Final = 128
_VALUE_MAX_CHARACTERS: Final = 2_048
_LOOPBACK: Final = ("localhost", "127.", "[::1]", "::1", "0.0.0.0")  # noqa: S104 - recognised, not bound to


class GridInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A grid's own words about itself: all text from outside."""

    name: str
    nick: str
    platform: str
    login: str
    """Where it says one logs in; may be empty or wrong."""
    fields: tuple[tuple[str, str], ...]
    """Everything it said, in its order."""

    def login_url(self, asked: str) -> str:
        """Choose where to log in.

        Args:
            asked: the address whose page this is.

        Returns:
            What the grid says, unless that is nothing, or points to this machine while the page came from elsewhere.
        """
        if not self.login or (_is_loopback(self.login) and not _is_loopback(asked)):
            return asked
        return self.login


def _is_loopback(url: str) -> bool:
    return host_of(url).startswith(_LOOPBACK)


class _Reader:
    __slots__ = ("depth", "fields")

    def __init__(self) -> None:
        self.depth = 0
        self.fields: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:  # noqa: ARG002 - the stream gives both
        self.depth += 1
        if self.depth == 1 and tag != _ROOT:
            raise RemoteProtocolError("the page is no grid information")

    def end(self, tag: str, text: str) -> None:
        if self.depth > 1:
            self.fields.setdefault(tag, text.strip()[:_VALUE_MAX_CHARACTERS])
        self.depth -= 1


def read_grid_info_untrusted(body: bytes) -> GridInfo:
    """Read a page of grid information.

    Raises:
        RemoteProtocolError: it is none, malformed, or passes a bound.
    """
    reader = _Reader()
    read_xml_untrusted(
        body, reader, what="grid information", size_max=GRID_INFO_MAX_BYTES, depth_max=2, nodes_max=_FIELDS_MAX
    )
    fields = reader.fields
    return GridInfo(
        name=fields.get("gridname", ""),
        nick=fields.get("gridnick", ""),
        platform=fields.get("platform", ""),
        login=fields.get("login", ""),
        fields=tuple(fields.items()),
    )
