"""An actor and a teller on a fake grid: what is sent, what is told, and a clock turned by hand."""

from __future__ import annotations

from uuid import UUID

from gridagent.actions import Action
from gridagent.events import GridEvent
from gridagent.limits import Label
from live_grid.backend.acting import Actor
from live_grid.backend.pending import Pending
from live_grid.backend.stage import Stage
from live_grid.backend.telling import Teller
from live_grid.handover import SessionEvent
from live_grid.messages import Message
from live_grid.world import Avatar, Thing, World
from live_grid.world.events import ItemMade
from live_grid.world.packed import Motion
from live_grid.world.state import Details
from tests.live_grid.handover.fake_grid import ME, FakeGrid

BEN, CLEO = (bytes(15) + bytes([number]) for number in (2, 3))
BOX = bytes(15) + b"\x0b"
ITEM = bytes(15) + b"\x1e"
NOTHING = bytes(16)


def text(uuid: bytes) -> str:
    """An id as the session writes it."""
    return str(UUID(bytes=uuid))


class Hands:
    """Somebody in a region who can act and tell."""

    def __init__(self) -> None:
        self.grid = FakeGrid()
        self.grid.enter()
        self.grid.run(1.0)
        self.session = self.grid.session
        self.pending = Pending()
        self.waiting: set[Label] = set()
        self.nudged = 0
        self.teller = Teller(self.world, self.pending, lambda: self.session.body.busy)
        self.stage = Stage(
            self.session,
            self.pending,
            self.teller,
            send=lambda request: self.session.send(request, self.grid.now),
            nudge=self._nudge,
            now=lambda: self.grid.now,
            new_id=self._new_id,
        )
        self.actor = Actor(self.stage, self.pending, is_waiting=self.waiting.__contains__)
        self._ids = 0
        self._heard = len(self.grid.plaza.received)
        self._told = len(self.grid.events)
        me = self.world.here.add_avatar(ME)
        assert me is not None
        me.coarse = False
        self.me = me

    @property
    def world(self) -> World:
        """What is known."""
        return self.session.world

    def _nudge(self) -> None:
        self.nudged += 1

    def _new_id(self) -> str:
        self._ids += 1
        return str(UUID(int=0xABC000 + self._ids))

    def perform(self, action: Action, reference: Label = "r1") -> Label | list[GridEvent]:
        """Do something; return why not, or what is evident at once."""
        refused, evident = self.actor.perform(action, reference)
        return evident if refused is None else refused

    def sent(self) -> list[Message]:
        """What has arrived at the region since the last time, without what is sent all the time."""
        self.grid.run(1.0)
        new = self.grid.plaza.received[self._heard :]
        self._heard = len(self.grid.plaza.received)
        routine = {"AgentUpdate", "RequestObjectPropertiesFamily", "UUIDNameRequest"}
        return [message for message in new if type(message).__name__ not in routine]

    def told(self, *events: SessionEvent) -> list[GridEvent]:
        """What is told of these, or of all that has happened since the last time."""
        if not events:
            events = tuple(self.grid.events[self._told :])
            self._told = len(self.grid.events)
        return [told for event in events for told in self.teller.tell(event)]

    # --- what there is ---------------------------------------------------------------------------
    def avatar(
        self, avatar_id: bytes = BEN, name: str = "Ben Boat", at: tuple[float, float, float] = (12.0, 10.0, 25.0)
    ) -> Avatar:
        """Somebody here."""
        found = self.world.here.add_avatar(avatar_id)
        assert found is not None
        found.name, found.motion, found.coarse = name, Motion(at), False
        return found

    def thing(
        self, object_id: bytes = BOX, *, flags: int = 0, owner: bytes = BEN, local: int = 5, state: int = 0
    ) -> Thing:
        """Something here that has said what it is."""
        found = self.world.here.add_object(object_id, local)
        found.flags, found.state = flags, state
        found.motion = Motion((20.0, 20.0, 25.0))
        found.details = Details(
            name="Box",
            description="Square",
            owner_id=owner,
            group_id=NOTHING,
            owner_mask=0,
            everyone_mask=0,
            sale_type=0,
            sale_price=0,
        )
        return found

    def item(self, item_id: bytes = ITEM, kind: int = 6, *, mask: int = 0xFFFF, name: str = "Rose") -> ItemMade:
        """Something we hold."""
        found = ItemMade(item_id, NOTHING, bytes(15) + b"\xa5", kind, name, "", 0, 0, mask)
        self.world.inventory.learn([found])
        return found
