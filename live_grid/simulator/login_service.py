"""The login service: ``login_to_simulator``, ``get_grid_info`` and its page, without a socket.

Owns who is let in, where to, and the words of every refusal; a login is put into the world here, and the door that
it opens on the wire is made by the `Doors` it is given. As on OpenSimulator, a login of somebody who is in the world
ends that session and is refused once (Spec: LIV-1, LIV-15; Fault: 13).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol
from xml.sax.saxutils import escape

import msgspec

from gridagent.actions import Position
from gridagent.errors import BackendError
from gridagent.events import DisconnectCause
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.avatars import Place as Spot
from gridagent.grid.simulated.sessions import Session
from gridagent.grid.simulated.world import World
from live_grid.errors import RemoteProtocolError
from live_grid.login.request import LOGIN_METHOD, split_name
from live_grid.login.xmlrpc import RpcGiven, write_response
from live_grid.simulator.accounts import Accounts
from live_grid.simulator.holdings import FOLDER_VERSION, Folder, folders_of, library_root
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.ids import derived_id, text_id
from live_grid.simulator.places import Place, Places
from live_grid.simulator.profiles import WireProfile
from live_grid.simulator.rpc_call import RpcArgument, RpcCall, read_call_untrusted
from live_grid.simulator.second_factors import SecondFactors, Verdict

__all__ = ("REFUSALS", "Door", "Doors", "LoginService")

_XML: Final = "text/xml"
_GRID_INFO_METHOD: Final = "get_grid_info"
_START: Final = re.compile(r"uri:([^&]{1,128})&(\d{1,5})(?:\.\d+)?&(\d{1,5})(?:\.\d+)?&(\d{1,5})(?:\.\d+)?", re.ASCII)
_OUTAGE: Final = HttpResponse(
    status=503, body=b"<html><body>The grid is down for maintenance.</body></html>", close=True
)

REFUSALS: Final[Mapping[DisconnectCause, tuple[str, str]]] = MappingProxyType(
    {
        DisconnectCause.BAD_CREDENTIALS: (
            "key",
            (
                "Could not authenticate your avatar. Please check your username and password, and check the grid if "
                "problems persist."
            ),
        ),
        DisconnectCause.TERMS_NOT_ACCEPTED: ("tos", "Please read and accept the terms of service."),
        DisconnectCause.MFA_REQUIRED: ("mfa_challenge", "Please enter the code of your authenticator."),
        DisconnectCause.MFA_REFUSED: (
            "key",
            "Could not authenticate your avatar. Please check your username, your password and your code.",
        ),
        DisconnectCause.BANNED: ("key", "Your account has been suspended; this viewer or machine is banned."),
        DisconnectCause.ALREADY_LOGGED_IN: (
            "presence",
            (
                "You appear to be already logged in. If this is not the case please wait for your session to timeout. "
                "If this takes longer than a few minutes please contact the grid owner. Please wait 5 minutes if you "
                "are going to connect to a region nearby to the region you were at previously."
            ),
        ),
        DisconnectCause.MAINTENANCE: ("presence", "Logins are currently restricted. Please try again later."),
        DisconnectCause.REGION_RESTART: ("key", "Logins to this region are disabled"),
        DisconnectCause.CIRCUIT_LOST: ("key", "Failed to verify user presence in the grid, access denied to region."),
    }
)
"""Reason and message of each refusal; a cause without a row is answered with a page of HTML."""


class Door(msgspec.Struct, frozen=True, kw_only=True):
    """What a login opens on the wire."""

    session_id: bytes
    secure_session_id: bytes
    circuit_code: int
    seed: str
    place: Place


class Doors(Protocol):
    """Makes doors: the core that serves the circuits."""

    def has_room(self) -> bool:
        """Tell whether one more avatar may come over the wire."""
        ...

    def open_door(self, avatar: Avatar, session: Session, place: Place, now: float) -> Door:
        """Prepare for the circuit of somebody who was just logged in."""
        ...


class LoginService:
    """Answers logins.

    Args:
        world: whom it lets in to.
        accounts: who may come.
        places: where regions are on the wire.
        doors: makes the wire's side of a login.
        profile: how the family behaves.
        base_url: this server's address, with a slash at its end.
        second_factors: who needs a one-time code, too.
        refuse: draws whether a login is refused by a fault, and why.
    """

    __slots__ = (
        "_accounts",
        "_base_url",
        "_doors",
        "_places",
        "_profile",
        "_refuse",
        "_second_factors",
        "_world",
        "malformed",
    )

    def __init__(
        self,
        *,
        world: World,
        accounts: Accounts,
        places: Places,
        doors: Doors,
        profile: WireProfile,
        base_url: str,
        second_factors: SecondFactors,
        refuse: Callable[[], DisconnectCause | None],
    ) -> None:
        self._world = world
        self._accounts = accounts
        self._places = places
        self._doors = doors
        self._profile = profile
        self._base_url = base_url
        self._second_factors = second_factors
        self._refuse = refuse
        self.malformed = 0
        """Calls that could not be read."""

    # --- grid information ------------------------------------------------------------------------

    @property
    def _grid_name(self) -> str:
        """The grid's name, as far as XML can carry it; accounts are found by names that a client wrote in XML."""
        return "".join(one for one in self._world.settings.profile.grid if one.isprintable() and one < "\ufff0")

    @property
    def grid_info(self) -> dict[str, str]:
        """What the grid says about itself."""
        name = self._grid_name
        return {
            "platform": self._profile.platform,
            "login": self._base_url,
            "gridname": name,
            "gridnick": re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or "grid",
            "welcome": self._base_url,
        }

    def info_page(self) -> HttpResponse:
        """Answer ``/get_grid_info``; a family without such a page has none."""
        if not self._profile.platform:
            return HttpResponse(status=404)
        rows = "".join(f"<{key}>{escape(value)}</{key}>" for key, value in self.grid_info.items())
        return HttpResponse(
            content_type="application/xml", body=f'<?xml version="1.0"?><gridinfo>{rows}</gridinfo>'.encode()
        )

    def info_json(self) -> HttpResponse:
        """Answer ``/json_grid_info``."""
        if not self._profile.platform:
            return HttpResponse(status=404)
        return HttpResponse(content_type="application/json", body=json.dumps(self.grid_info).encode())

    # --- logins ----------------------------------------------------------------------------------

    def answer(self, request: HttpRequest, now: float) -> HttpResponse:
        """Answer an XML-RPC call; one that cannot be read is answered with a fault.

        Args:
            request: the POST.
            now: seconds.
        """
        try:
            call = read_call_untrusted(request.body)
        except RemoteProtocolError:
            self.malformed += 1
            return _fault(-32700, "parse error. not well formed")
        if call.method == _GRID_INFO_METHOD:
            return _say(self.grid_info)
        if call.method != LOGIN_METHOD:
            return _fault(-32601, "Requested method not found")
        return self._log_in(call, now)

    def _log_in(self, call: RpcCall, now: float) -> HttpResponse:
        admitted = self._admit(call, now)
        if isinstance(admitted, DisconnectCause):
            return _refusal(admitted)
        avatar, proof = admitted
        start = _text(call.argument, "start") or "last"
        where = self._place_for(avatar, start)
        if where is not None and not avatar.online:
            # A grid knows one place to start from: where the avatar last was.
            avatar.last = where
        try:
            session = self._world.login(avatar.avatar_id, now)
        except BackendError as refused:
            return _refusal(DisconnectCause(refused.cause))
        body = avatar.body
        place = None if body is None else self._places.named(body.region.name)
        if place is None:
            # A region that was added after the grid went on the wire has no address.
            self._world.logout(avatar.avatar_id, now, session)
            return _refusal(DisconnectCause.MAINTENANCE)
        door = self._doors.open_door(avatar, session, place, now)
        came = "safe"
        if start in {"last", "home"}:
            came = start
        elif where is not None and place.region.name == where.region:
            came = "url"
        remembered: dict[str, RpcGiven] = {"mfa_hash": proof} if proof else {}
        return _say(self._reply(avatar, door, came, now) | remembered)

    def _admit(self, call: RpcCall, now: float) -> tuple[Avatar, str] | DisconnectCause:
        """Return who may come in, with the proof of a one-time code; or why nobody may."""
        cause = self._refuse()
        if cause is not None:
            return cause
        first, last, password = (_text(call.argument, name) for name in ("first", "last", "passwd"))
        avatar = self._accounts.find(first, last, password)
        if avatar is None:
            return DisconnectCause.BAD_CREDENTIALS
        verdict, proof = self._second_factors.judge(
            avatar.avatar_id, code=_text(call.argument, "token"), proof=_text(call.argument, "mfa_hash"), now=now
        )
        if verdict is not Verdict.PASSED:
            return DisconnectCause.MFA_REQUIRED if verdict is Verdict.CHALLENGED else DisconnectCause.MFA_REFUSED
        return (avatar, proof) if self._doors.has_room() else DisconnectCause.MAINTENANCE

    def _place_for(self, avatar: Avatar, start: str) -> Spot | None:
        """Turn the client's wish into a place; one that names no region of ours is no wish."""
        if start == "home":
            return avatar.home
        named = _START.fullmatch(start)
        place = self._places.named(named[1]) if named is not None else None
        if named is None or place is None:
            return None
        x, y, z = (float(named[at]) for at in (2, 3, 4))
        inside = place.region.clamp(Position(x=min(x, 8192.0), y=min(y, 8192.0), z=min(z, 4096.0)))
        return Spot(region=place.region.name, position=inside)

    def _reply(self, avatar: Avatar, door: Door, came: str, now: float) -> dict[str, RpcGiven]:
        region = door.place.region
        first, last = split_name(avatar.name)
        home = self._places.named(avatar.home.region)
        home_region = door.place.region if home is None else home.region
        spot = avatar.home.position
        sizes: dict[str, RpcGiven] = (
            {"region_size_x": region.size_m, "region_size_y": region.size_m} if self._profile.sizes_named else {}
        )
        return {
            "login": "true",
            "agent_id": avatar.avatar_id,
            "session_id": text_id(door.session_id),
            "secure_session_id": text_id(door.secure_session_id),
            "circuit_code": door.circuit_code,
            "first_name": first,
            "last_name": last,
            "sim_ip": door.place.address[0],
            "sim_port": door.place.address[1],
            "http_port": 0,
            "seed_capability": door.seed,
            "region_x": region.x_m,
            "region_y": region.y_m,
            **sizes,
            "start_location": came,
            "look_at": "[r1,r0,r0]",
            "home": (
                f"{{'region_handle':[r{home_region.x_m},r{home_region.y_m}], "
                f"'position':[r{spot.x:g},r{spot.y:g},r{spot.z:g}], 'look_at':[r1,r0,r0]}}"
            ),
            "message": f"Welcome to {self._grid_name}!",
            "agent_access": "M",
            "agent_access_max": "A",
            "max-agent-groups": 42,
            "seconds_since_epoch": int(now) & 0x7FFF_FFFF,
            "inventory-root": [{"folder_id": text_id(folders_of(avatar.avatar_id)[0].folder_id)}],
            "inventory-skeleton": [_folder_row(folder) for folder in folders_of(avatar.avatar_id)],
            "inventory-lib-root": [{"folder_id": text_id(library_root().folder_id)}],
            "inventory-lib-owner": [{"agent_id": text_id(derived_id("librarian"))}],
            "inventory-skel-lib": [_folder_row(library_root())],
            "buddy-list": [
                {"buddy_id": friend, "buddy_rights_given": 1, "buddy_rights_has": 1} for friend in avatar.friends
            ],
            "login-flags": [
                {"daylight_savings": "N", "ever_logged_in": "Y", "stipend_since_login": "N", "gendered": "Y"}
            ],
            "ui-config": [{"allow_first_life": "Y"}],
            "global-textures": [
                {
                    "sun_texture_id": "cce0f112-878f-4586-a2e2-a8f104bba271",
                    "moon_texture_id": "ec4b9f0b-d008-45c6-96a4-01dd947ac621",
                    "cloud_texture_id": "dc4b9f0b-d008-45c6-96a4-01dd947ac621",
                }
            ],
            "event_categories": [],
            "event_notifications": [],
            "classified_categories": [{"category_id": 1, "category_name": "Shopping"}],
            "gestures": [],
            "initial-outfit": [{"folder_name": "Nightclub Female", "gender": "female"}],
            "map-server-url": self._base_url,
        }


def _folder_row(folder: Folder) -> dict[str, RpcGiven]:
    return {
        "folder_id": text_id(folder.folder_id),
        "parent_id": text_id(folder.parent_id),
        "name": folder.name,
        "type_default": folder.type_default,
        "version": FOLDER_VERSION,
    }


def _text(fields: Mapping[str, RpcArgument], name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""


def _say(value: Mapping[str, RpcGiven]) -> HttpResponse:
    return HttpResponse(content_type=_XML, body=write_response(value), close=True)


def _refusal(cause: DisconnectCause) -> HttpResponse:
    row = REFUSALS.get(cause)
    if row is None:
        return _OUTAGE
    reason, message = row
    return _say({"login": "false", "reason": reason, "message": message})


def _fault(code: int, text: str) -> HttpResponse:
    body = (
        '<?xml version="1.0"?><methodResponse><fault><value><struct>'
        f"<member><name>faultCode</name><value><int>{code}</int></value></member>"
        f"<member><name>faultString</name><value><string>{text}</string></value></member>"
        "</struct></value></fault></methodResponse>"
    )
    return HttpResponse(content_type=_XML, body=body.encode(), close=True)
