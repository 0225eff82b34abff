"""The login request: who we are, where to, and with which consents.

Owns the fields of ``login_to_simulator`` and the hashing of the password. A request is a secret: its
password hash is as good as the password, so nothing of it is shown (Spec: LIV-1).
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

import msgspec

from live_grid.login.start import LAST, StartLocation
from live_grid.login.xmlrpc import RpcGiven, write_call

__all__ = ("LOGIN_METHOD", "LoginRequest", "password_hash", "split_name", "write_login_request")

LOGIN_METHOD: Final = "login_to_simulator"
_HASHED: Final = re.compile(r"\$1\$[0-9a-f]{32}")
_HASHED_CHARACTERS: Final = 16
_OPTIONS: Final = (
    "inventory-root",
    "inventory-skeleton",
    "inventory-lib-root",
    "inventory-lib-owner",
    "inventory-skel-lib",
    "buddy-list",
    "login-flags",
    "max-agent-groups",
    "display_names",
)


class LoginRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a grid is told to let us in."""

    first: str
    last: str
    password: str
    """The hash made by `password_hash`."""
    start: StartLocation = LAST
    channel: str
    """What we are, without version: grids can refuse by it."""
    version: str
    mac: str
    """A stable number in hex, one for each machine; grids can ban by it."""
    id0: str
    """A stable number in hex, one for each avatar; a multi-factor trust is tied to it."""
    agree_to_tos: bool = False
    """The operator has read and accepted the terms."""
    read_critical: bool = False
    """The operator has read the critical message."""
    token: str = ""
    """The one-time code of a multi-factor challenge."""
    mfa_hash: str = ""
    """The proof of an earlier challenge, from that login's reply."""

    def __repr__(self) -> str:
        return f"LoginRequest(first={self.first!r}, last={self.last!r}, start={self.start.text!r}, …)"


def password_hash(password: str, *, second_life: bool) -> str:
    """Hash a password as grids want it; what is a hash already passes through.

    Args:
        password: plain, or a hash made before.
        second_life: count only the first 16 characters, as Second Life does; OpenSimulator takes them all.
    """
    if _HASHED.fullmatch(password):
        return password
    counted = password[:_HASHED_CHARACTERS] if second_life else password
    digest = hashlib.md5(counted.encode("utf-8", "surrogatepass"), usedforsecurity=False)  # the protocol's own choice
    return f"$1${digest.hexdigest()}"


def split_name(name: str) -> tuple[str, str]:
    """Part an avatar's name in two; one that stands alone is a ``Resident``."""
    first, _, last = " ".join(name.replace(".", " ", 1).split()).partition(" ")
    return first, last or "Resident"


def write_login_request(request: LoginRequest) -> bytes:
    """Write the XML-RPC call. What is returned is as secret as the password.

    Raises:
        LocalProtocolError: a text holds a character that XML cannot carry.
    """
    fields: dict[str, RpcGiven] = {
        "first": request.first,
        "last": request.last,
        "passwd": request.password,
        "start": request.start.text,
        "channel": request.channel,
        "version": request.version,
        "platform": "lnx",
        "platform_string": "Linux",
        "platform_version": "1.0.0",
        "mac": request.mac,
        "id0": request.id0,
        "viewer_digest": "",
        "agree_to_tos": "true" if request.agree_to_tos else "false",
        "read_critical": "true" if request.read_critical else "false",
        "token": request.token,
        "mfa_hash": request.mfa_hash,
        "extended_errors": 1,
        "address_size": 64,
        "host_id": "",
        "options": _OPTIONS,
    }
    return write_call(LOGIN_METHOD, fields)
