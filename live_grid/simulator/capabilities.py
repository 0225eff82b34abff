"""The HTTP side of a region: seeds, event queues, and what capabilities answer.

Owns the addresses that were given out (each is a secret that stands for one avatar in one region), and the table
capability → answer. Bodies come from outside: they are read by the guarded LLSD reader, and what is no LLSD is
answered with a 400 (Spec: LIV-4, LIV-8, LIV-15; Fault: 12).

Invariant: an address leads to exactly one visit, and to none once that is closed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import parse_qs
from uuid import UUID

from gridagent.ids import AvatarId, ItemId
from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.llsd import LlsdGiven, LlsdValue, read_llsd_untrusted, write_llsd_xml
from live_grid.login.request import split_name
from live_grid.simulator import holdings, travel
from live_grid.simulator.agent import Agent
from live_grid.simulator.faults import WireFaultKind
from live_grid.simulator.http1 import HttpRequest, HttpResponse
from live_grid.simulator.limits import REQUEST_MAX_BYTES
from live_grid.simulator.mailbox import Answer
from live_grid.simulator.stage import Stage
from live_grid.simulator.visit import Visit, VisitState

__all__ = ("Capabilities",)

_SEED, _QUEUE, _NOTECARD = "Seed", "EventQueueGet", "UpdateNotecardAgentInventory"
_UPLOAD: Final = "upload "
"""Before the item's id: what the address of one upload is called here."""
_UPLOADS_MAX: Final = 16
_NOT_FOUND: Final = HttpResponse(status=404, close=True)
_BAD: Final = HttpResponse(status=400, close=True)
_LLSD: Final = "application/llsd+xml"
_FOLDERS_MAX: Final = 64
_ITEMS_MAX: Final = 256
_NAMES_MAX: Final = 90
_NO_MATERIALS: Final = zlib.compress(b"[\0\0\0\0]")
"""An empty array in binary LLSD, packed as the capability wants it."""

Door: TypeAlias = tuple[Agent, Visit, str]
"""Whose capability, where, and its name."""


class Capabilities:
    """Every address that was given out.

    Args:
        stage: what is shared.
    """

    __slots__ = ("_doors", "_stage", "malformed")

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._doors: dict[str, Door] = {}  # as many as visits have capabilities
        self.malformed = 0
        """Bodies that could not be read."""

    def __len__(self) -> int:
        return len(self._doors)

    def give_out(self, agent: Agent, visit: Visit) -> None:
        """Make a visit's seed and event queue known; the rest follows when the seed is asked."""
        self._doors[visit.seed] = (agent, visit, _SEED)

    def withdraw(self, visit: Visit) -> None:
        """Forget a visit's addresses."""
        self._doors = {path: door for path, door in self._doors.items() if door[1] is not visit}

    def handle(self, request: HttpRequest, now: float, answer: Answer) -> bool:
        """Answer a request to one of the addresses; tell whether it is one.

        Args:
            request: what came.
            now: seconds.
            answer: takes the response, at once or, for a held poll, later.
        """
        path = request.path.removeprefix("/")
        door = self._doors.get(path)
        if door is None:
            return False
        agent, visit, name = door
        if visit.state is VisitState.CLOSED or not agent.live:
            answer(_NOT_FOUND)
        elif name == _QUEUE:
            self._poll(visit, request, now, answer)
        elif name.startswith(_UPLOAD):
            del self._doors[path]  # good for one upload
            answer(_written(agent, ItemId(name.removeprefix(_UPLOAD)), request, UUID(self._stage.ids())))
        elif name == _NOTECARD:
            answer(self._offer_upload(agent, visit, request))
        else:
            answer(self._respond(agent, visit, name, request))
        return True

    def _offer_upload(self, agent: Agent, visit: Visit, request: HttpRequest) -> HttpResponse:
        """Name the address that takes a notecard's text."""
        body = self._read(request)
        item_id = ItemId(str(body.get("item_id")) if isinstance(body, dict) else "")
        item = agent.avatar.inventory.get(item_id)
        waiting = sum(name.startswith(_UPLOAD) for _, owner, name in self._doors.values() if owner is visit)
        if item is None or item.kind != "notecard" or waiting >= _UPLOADS_MAX:
            return HttpResponse(status=404)
        address = self._stage.base_url + self._open(agent, visit, _UPLOAD + item_id)
        return _llsd({"state": "upload", "uploader": address})

    def _poll(self, visit: Visit, request: HttpRequest, now: float, answer: Answer) -> None:
        if self._stage.strikes(self._stage.faults.queue_mute, WireFaultKind.QUEUE_MUTE):
            return
        match self._read(request):
            case {"ack": ack, "done": bool(done)} if ack is None or isinstance(ack, int):
                visit.mailbox.poll(ack, now, answer, done=done)
            case dict():
                visit.mailbox.poll(None, now, answer)
            case _:
                answer(_BAD)

    def _respond(self, agent: Agent, visit: Visit, name: str, request: HttpRequest) -> HttpResponse:
        body = self._read(request) if request.method == "POST" else None
        if isinstance(body, RemoteProtocolError):
            return _BAD
        if name == _SEED:
            return self._seed(agent, visit, body)
        respond = _ANSWERS.get(name)
        value: LlsdGiven = {} if respond is None else respond(agent, body, request)
        return _llsd(value)

    def _read(self, request: HttpRequest) -> LlsdValue | RemoteProtocolError:
        if not request.body:
            return {}
        try:
            return read_llsd_untrusted(request.body, size_max=REQUEST_MAX_BYTES)
        except RemoteProtocolError as error:
            self.malformed += 1
            return error

    def _seed(self, agent: Agent, visit: Visit, body: LlsdValue) -> HttpResponse:
        """Give out the addresses asked for; whoever asks again gets the same ones."""
        if not isinstance(body, list):
            return _BAD
        offered = self._stage.profile.capabilities
        given = {path: name for path, (_, owner, name) in self._doors.items() if owner is visit}
        known = {name: path for path, name in given.items()}
        addresses: dict[str, LlsdGiven] = {}
        for name in offered:
            if name in body:
                path = known.get(name) or self._open(agent, visit, name)
                addresses[name] = self._stage.base_url + path
        visit.seed_asked = True
        travel.show_scene(agent, visit)
        return HttpResponse(content_type="text/html;charset=UTF-8", body=write_llsd_xml(addresses))

    def _open(self, agent: Agent, visit: Visit, name: str) -> str:
        path = f"CE/{self._stage.ids()}" if name == _QUEUE else self._stage.ids()
        self._doors[path] = (agent, visit, name)
        return path


def _llsd(value: LlsdGiven) -> HttpResponse:
    try:
        return HttpResponse(content_type=_LLSD, body=write_llsd_xml(value))
    except LocalProtocolError:
        # A name of the world holds what XML cannot carry.
        return HttpResponse(status=500)


def _written(agent: Agent, item_id: ItemId, request: HttpRequest, asset_id: UUID) -> HttpResponse:
    """Write a notecard with what was uploaded; the world keeps its text and nothing around it."""
    item = agent.avatar.inventory.get(item_id)
    text = holdings.read_notecard_untrusted(request.body)
    if item is None or text is None:
        return _BAD
    item.text = text
    return _llsd({"state": "complete", "new_asset": asset_id, "new_inventory_item": UUID(item_id)})


# --- what each capability says -------------------------------------------------------------------


def _rows(body: LlsdValue, name: str, most: int) -> list[dict[str, LlsdValue]]:
    rows = body.get(name) if isinstance(body, dict) else None
    return [row for row in rows[:most] if isinstance(row, dict)] if isinstance(rows, list) else []


def _descendents(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del request
    found: list[LlsdGiven] = []
    unknown: list[LlsdGiven] = []
    for row in _rows(body, "folders", _FOLDERS_MAX):
        folder_id = row.get("folder_id")
        if not isinstance(folder_id, UUID):
            continue
        folder = holdings.descendents_llsd(agent.stage.world, agent.avatar_id, folder_id.bytes)
        if folder is None:
            unknown.append({"folder_id": folder_id, "error": "Unknown"})
        else:
            found.append(folder)
    return {"folders": found, "bad_folders": unknown} if unknown else {"folders": found}


def _items(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del request
    found: list[LlsdGiven] = []
    for row in _rows(body, "items", _ITEMS_MAX):
        item = agent.avatar.inventory.get(ItemId(str(row.get("item_id"))))
        if item is not None:
            found.append(holdings.item_llsd(agent.avatar_id, item))
    return {"agent_id": UUID(agent.avatar_id), "items": found}


def _display_names(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del body
    world = agent.stage.world
    known = frozenset(world.avatars())
    found: list[LlsdGiven] = []
    unknown: list[LlsdGiven] = []
    asked = parse_qs(request.target.partition("?")[2], max_num_fields=2 * _NAMES_MAX).get("ids", [])
    for text in asked[:_NAMES_MAX]:
        avatar_id = text.strip("/").lower()
        if avatar_id not in known:
            unknown.append(avatar_id)
            continue
        name = world.avatar(AvatarId(avatar_id)).name
        first, last = split_name(name)
        found.append(
            {
                "id": UUID(avatar_id),
                "username": f"{first}.{last}".lower(),
                "display_name": name,
                "legacy_first_name": first,
                "legacy_last_name": last,
                "is_display_name_default": True,
            }
        )
    return {"agents": found, "bad_ids": unknown}


def _features(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del body, request
    profile = agent.stage.world.settings.profile
    return {
        "MeshRezEnabled": False,
        "PhysicsMaterialsEnabled": False,
        "OpenSimExtras": {"GridName": profile.grid, "say-range": 20, "shout-range": 100, "whisper-range": 10},
    }


def _materials(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del agent, body, request
    return {"Zipped": _NO_MATERIALS}


def _bake(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    """Take the wish to be dressed; nothing is drawn here, but a stale version is refused as a grid would."""
    del request
    version = body.get("cof_version") if isinstance(body, dict) else None
    if version != holdings.FOLDER_VERSION:
        return {"success": False, "error": "Cof Version Mismatch", "expected": holdings.FOLDER_VERSION}
    agent.dressed = True
    return {"success": True, "agent_id": UUID(agent.avatar_id)}


def _stored_ims(agent: Agent, body: LlsdValue, request: HttpRequest) -> LlsdGiven:
    del body, request
    stored, agent.stored_ims = agent.stored_ims, []
    return [
        {
            "from_agent_id": UUID(bytes=one.agent_data.agent_id),
            "from_agent_name": one.message_block.from_agent_name.rstrip(b"\0").decode(),
            "to_agent_id": UUID(agent.avatar_id),
            "dialog": one.message_block.dialog,
            "message": one.message_block.message.rstrip(b"\0").decode(),
            "timestamp": one.message_block.timestamp & 0x7FFF_FFFF,
            "offline": 1,
            "transaction-id": UUID(bytes=one.message_block.id),
        }
        for one in stored
    ]


_ANSWERS: Final[Mapping[str, Callable[[Agent, LlsdValue, HttpRequest], LlsdGiven]]] = MappingProxyType(
    {
        "FetchInventory2": _items,
        "FetchInventoryDescendents2": _descendents,
        "FetchLib2": _items,
        "FetchLibDescendents2": _descendents,
        "GetDisplayNames": _display_names,
        "ReadOfflineMsgs": _stored_ims,
        "RenderMaterials": _materials,
        "SimulatorFeatures": _features,
        "UpdateAvatarAppearance": _bake,
    }
)
"""What each capability answers; the others take what they are told and answer with an empty map."""
