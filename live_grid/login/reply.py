"""The answer to a login: let in, sent elsewhere, or refused.

Owns the reading of the reply's fields into typed structs, once and strictly where we depend on them, leniently
where a grid may leave them out. The reply holds secrets (session ids, seed): its ``repr`` shows none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from live_grid.errors import RemoteProtocolError
from live_grid.limits import MFA_HASH_MAX_CHARACTERS
from live_grid.llsd import read_llsd_notation_untrusted
from live_grid.llsd.values import LlsdValue, uuid_of_text
from live_grid.login.refusal import LoginRefused, classify, unavailable
from live_grid.login.xmlrpc import RpcFault, RpcValue, read_response_untrusted

__all__ = ("Buddy", "Folder", "LoginOutcome", "LoginRedirect", "LoginReply", "read_login_reply_untrusted")

_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|methodResponse)", re.IGNORECASE)
_OK: Final = 200
_U32: Final = 0xFFFF_FFFF
_PORT_MAX: Final = 0xFFFF
_IPV4: Final = re.compile(r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}", re.ASCII)
_REGION_SIZE: Final = 256
_NAME_MAX_CHARACTERS: Final = 128
_VECTOR_PARTS: Final = 3

Fields: TypeAlias = Mapping[str, RpcValue]


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of the inventory skeleton."""

    folder_id: bytes
    parent_id: bytes
    name: str
    type_default: int
    version: int


class Buddy(msgspec.Struct, frozen=True, kw_only=True):
    """One friend, with the rights given and had, as bits."""

    avatar_id: bytes
    rights_given: int
    rights_had: int


class LoginReply(msgspec.Struct, frozen=True, kw_only=True):
    """We are let in. Ids are sixteen bytes, as on the wire."""

    agent_id: bytes
    session_id: bytes
    secure_session_id: bytes
    circuit_code: int
    sim_ip: str
    """Dotted IPv4."""
    sim_port: int
    seed_capability: str
    """A secret address, not yet vetted; see `live_grid.addresses`."""
    region_x: int
    """Metres from the grid's western border."""
    region_y: int
    region_size_x: int = _REGION_SIZE
    """Metres."""
    region_size_y: int = _REGION_SIZE
    look_at: tuple[float, float, float] = (1.0, 0.0, 0.0)
    first_name: str = ""
    last_name: str = ""
    start_location: str = ""
    """What the grid made of our wish: ``last``, ``home``, ``url`` or ``safe``."""
    agent_access: str = ""
    message: str = ""
    """The grid's greeting: text from outside."""
    mfa_hash: str = ""
    """A secret; kept to skip the next challenge."""
    max_agent_groups: int = 0
    seconds_since_epoch: int = 0
    inventory_root: bytes | None = None
    inventory_skeleton: tuple[Folder, ...] = ()
    library_root: bytes | None = None
    library_owner: bytes | None = None
    library_skeleton: tuple[Folder, ...] = ()
    buddies: tuple[Buddy, ...] = ()

    @property
    def region_handle(self) -> int:
        """The region's handle: its place in the grid, in metres, packed into 64 bits."""
        return self.region_x << 32 | self.region_y

    def __repr__(self) -> str:
        return f"LoginReply(agent_id={self.agent_id.hex()}, sim_ip={self.sim_ip!r}, sim_port={self.sim_port}, …)"


class LoginRedirect(msgspec.Struct, frozen=True, kw_only=True):
    """Ask again over there. The address is not vetted yet."""

    url: str
    method: str
    message: str = ""


LoginOutcome: TypeAlias = LoginReply | LoginRedirect | LoginRefused


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""


def _name(fields: Fields, name: str) -> str:
    return _text(fields, name).strip('"')[:_NAME_MAX_CHARACTERS]


def _id(fields: Fields, name: str) -> bytes:
    return uuid_of_text(_text(fields, name)).bytes


def _integer(fields: Fields, name: str, default: int = 0) -> int:
    """Read a number that some grids write as text."""
    value = fields.get(name, default)
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,10}", value, re.ASCII):
        value = int(value)
    return value if isinstance(value, int) else default


def _mfa_hash(fields: Fields) -> str:
    """Read the proof of a passed challenge; one that no grid would make is none, since it is kept and sent again."""
    value = _text(fields, "mfa_hash")
    return value if len(value) <= MFA_HASH_MAX_CHARACTERS and value.isascii() and value.isprintable() else ""


def _needed_id(fields: Fields, name: str) -> bytes:
    value = _id(fields, name)
    if not any(value):
        raise RemoteProtocolError(f"login reply without {name}")
    return value


def _needed_integer(fields: Fields, name: str, *, most: int) -> int:
    value = _integer(fields, name, -1)
    if not 0 <= value <= most:
        raise RemoteProtocolError(f"login reply without a usable {name}")
    return value


def _rows(fields: Fields, name: str) -> list[Fields]:
    value = fields.get(name)
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _first_id(fields: Fields, name: str, key: str) -> bytes | None:
    rows = _rows(fields, name)
    return _id(rows[0], key) if rows else None


def _folders(fields: Fields, name: str) -> tuple[Folder, ...]:
    return tuple(
        Folder(
            folder_id=_id(row, "folder_id"),
            parent_id=_id(row, "parent_id"),
            name=_name(row, "name"),
            type_default=_integer(row, "type_default", -1),
            version=_integer(row, "version"),
        )
        for row in _rows(fields, name)
    )


def _buddies(fields: Fields) -> tuple[Buddy, ...]:
    return tuple(
        Buddy(
            avatar_id=_id(row, "buddy_id"),
            rights_given=_integer(row, "buddy_rights_given"),
            rights_had=_integer(row, "buddy_rights_has"),
        )
        for row in _rows(fields, "buddy-list")
    )


def _look_at(text: str) -> tuple[float, float, float]:
    """Read ``[r1,r0,r0]``; anything else looks east."""
    try:
        value: LlsdValue = read_llsd_notation_untrusted(text.encode("utf-8", "replace"), size_max=_NAME_MAX_CHARACTERS)
    except RemoteProtocolError:
        return 1.0, 0.0, 0.0
    if isinstance(value, list) and len(value) == _VECTOR_PARTS:
        x, y, z = value
        if isinstance(x, float) and isinstance(y, float) and isinstance(z, float):
            return x, y, z
    return 1.0, 0.0, 0.0


def _reply(fields: Fields) -> LoginReply:
    sim_ip = _text(fields, "sim_ip")
    if not _IPV4.fullmatch(sim_ip):
        raise RemoteProtocolError("login reply without a usable sim_ip")
    code = fields.get("circuit_code")
    if not isinstance(code, int):
        raise RemoteProtocolError("login reply without a usable circuit_code")
    return LoginReply(
        agent_id=_needed_id(fields, "agent_id"),
        session_id=_needed_id(fields, "session_id"),
        secure_session_id=_needed_id(fields, "secure_session_id"),
        circuit_code=code & _U32,  # XML-RPC has signed numbers only
        sim_ip=sim_ip,
        sim_port=_needed_integer(fields, "sim_port", most=_PORT_MAX),
        seed_capability=_text(fields, "seed_capability"),
        region_x=_needed_integer(fields, "region_x", most=_U32),
        region_y=_needed_integer(fields, "region_y", most=_U32),
        region_size_x=_integer(fields, "region_size_x") or _REGION_SIZE,
        region_size_y=_integer(fields, "region_size_y") or _REGION_SIZE,
        look_at=_look_at(_text(fields, "look_at")),
        first_name=_name(fields, "first_name"),
        last_name=_name(fields, "last_name"),
        start_location=_name(fields, "start_location"),
        agent_access=_name(fields, "agent_access"),
        message=_text(fields, "message")[:1024],
        mfa_hash=_mfa_hash(fields),
        max_agent_groups=_integer(fields, "max-agent-groups"),
        seconds_since_epoch=_integer(fields, "seconds_since_epoch"),
        inventory_root=_first_id(fields, "inventory-root", "folder_id"),
        inventory_skeleton=_folders(fields, "inventory-skeleton"),
        library_root=_first_id(fields, "inventory-lib-root", "folder_id"),
        library_owner=_first_id(fields, "inventory-lib-owner", "agent_id"),
        library_skeleton=_folders(fields, "inventory-skel-lib"),
        buddies=_buddies(fields),
    )


def read_login_reply_untrusted(body: bytes, *, status: int = _OK) -> LoginOutcome:
    """Read what came back from a login.

    Args:
        body: of the HTTP response, whole.
        status: of the HTTP response.

    Returns:
        The reply, a redirect, or a refusal; a page that is no XML-RPC at all is a refusal too.

    Raises:
        RemoteProtocolError: it is XML-RPC and malformed, passes a bound, or lets us in without saying
            where (Fault: 13).
    """
    if status != _OK or not _XML.match(body):
        return unavailable(status)
    answer = read_response_untrusted(body)
    if isinstance(answer, RpcFault):
        return classify("fault", answer.text)
    if not isinstance(answer, dict):
        raise RemoteProtocolError("login reply is no struct")
    match answer.get("login"):
        case "true" | True:
            return _reply(answer)
        case "indeterminate":
            return LoginRedirect(
                url=_text(answer, "next_url"),
                method=_text(answer, "next_method"),
                message=_text(answer, "message")[:1024],
            )
        case _:
            refused = classify(_text(answer, "reason"), _text(answer, "message"))
            return msgspec.structs.replace(refused, mfa_hash=_mfa_hash(answer))
