"""The event queue: the long poll of one region, its answers, and the events that say where a region is."""

from live_grid.event_queue.answer import QueueEvent as QueueEvent
from live_grid.event_queue.queue import EVENT_QUEUE_TABLE as EVENT_QUEUE_TABLE
from live_grid.event_queue.queue import EventQueue as EventQueue
from live_grid.event_queue.queue import Poll as Poll
from live_grid.event_queue.queue import QueueState as QueueState
from live_grid.event_queue.queue import QueueStatistics as QueueStatistics
from live_grid.event_queue.regions import NeighbourFound as NeighbourFound
from live_grid.event_queue.regions import NeighbourReady as NeighbourReady
from live_grid.event_queue.regions import RegionCrossed as RegionCrossed
from live_grid.event_queue.regions import RegionEvent as RegionEvent
from live_grid.event_queue.regions import TeleportFinished as TeleportFinished
from live_grid.event_queue.regions import read_region_event_untrusted as read_region_event_untrusted

__all__ = (
    "EVENT_QUEUE_TABLE",
    "EventQueue",
    "NeighbourFound",
    "NeighbourReady",
    "Poll",
    "QueueEvent",
    "QueueState",
    "QueueStatistics",
    "RegionCrossed",
    "RegionEvent",
    "TeleportFinished",
    "read_region_event_untrusted",
)
