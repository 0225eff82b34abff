"""Handover: one session's links to regions, which of them has authority, and the way from one to the next."""

from live_grid.handover.events import EndCause as EndCause
from live_grid.handover.events import Journey as Journey
from live_grid.handover.events import SessionEnded as SessionEnded
from live_grid.handover.events import SessionEvent as SessionEvent
from live_grid.handover.link import WebRequest as WebRequest
from live_grid.handover.session import GridSession as GridSession
from live_grid.handover.session import SessionSettings as SessionSettings
from live_grid.handover.session import SessionStatistics as SessionStatistics
from live_grid.handover.tables import LINK_TABLE as LINK_TABLE
from live_grid.handover.tables import TRAVEL_TABLE as TRAVEL_TABLE
from live_grid.handover.travel import TravelTimes as TravelTimes

__all__ = (
    "LINK_TABLE",
    "TRAVEL_TABLE",
    "EndCause",
    "GridSession",
    "Journey",
    "SessionEnded",
    "SessionEvent",
    "SessionSettings",
    "SessionStatistics",
    "TravelTimes",
    "WebRequest",
)
