"""The world: what we know of regions, people, things and ourselves, and what each message does to it."""

from live_grid.world.events import SourceKind as SourceKind
from live_grid.world.events import WorldEvent as WorldEvent
from live_grid.world.offers import Offer as Offer
from live_grid.world.offers import Offers as Offers
from live_grid.world.packed import Motion as Motion
from live_grid.world.packed import Vector as Vector
from live_grid.world.reduce import WANTED as WANTED
from live_grid.world.reduce import reduce_message as reduce_message
from live_grid.world.reduce import reduce_queue_event as reduce_queue_event
from live_grid.world.state import Avatar as Avatar
from live_grid.world.state import Region as Region
from live_grid.world.state import Thing as Thing
from live_grid.world.state import World as World

__all__ = (
    "WANTED",
    "Avatar",
    "Motion",
    "Offer",
    "Offers",
    "Region",
    "SourceKind",
    "Thing",
    "Vector",
    "World",
    "WorldEvent",
    "reduce_message",
    "reduce_queue_event",
)
