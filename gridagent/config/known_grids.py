"""Grids that can be called by name: what each is, and the one address its avatars log in at.

Owns the table and nothing else: it asks no grid and resolves no name, so that a service never depends on a look-up.
An address stands here only where the grid itself or a viewer in wide use publishes it; `KnownGridFacts.source` says
where it was found. The model reads it.

Invariant: an address without encryption is no less in need of ``grid.live.allow_plain_http`` for standing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from gridagent.config.secrets import EndpointUrl

__all__ = ("KNOWN_GRIDS", "KnownGrid", "KnownGridFacts")


class KnownGrid(StrEnum):
    """A grid that is named instead of its login address."""

    SECONDLIFE = "secondlife"
    """Second Life: the main grid, Agni."""
    SECONDLIFE_BETA = "secondlife_beta"
    """Second Life's test grid, Aditi."""
    OSGRID = "osgrid"
    """OSgrid, the oldest public OpenSimulator grid; its login is unencrypted."""
    KITELY = "kitely"
    """Kitely, a commercial OpenSimulator grid; its login is unencrypted."""


class KnownGridFacts(NamedTuple):
    """What is known of one grid."""

    label: str
    """What people call it."""
    login_url: EndpointUrl
    source: str
    """Where its address is published."""


_VIEWER: Final = "secondlife/viewer, indra/newview/llviewernetwork.cpp"
_FIRESTORM: Final = "FirestormViewer/phoenix-firestorm, indra/newview/app_settings/grids.xml"

KNOWN_GRIDS: Final[Mapping[KnownGrid, KnownGridFacts]] = {
    KnownGrid.SECONDLIFE: KnownGridFacts(
        "Second Life", EndpointUrl("https://login.agni.lindenlab.com/cgi-bin/login.cgi"), _VIEWER
    ),
    KnownGrid.SECONDLIFE_BETA: KnownGridFacts(
        "Second Life's test grid", EndpointUrl("https://login.aditi.lindenlab.com/cgi-bin/login.cgi"), _VIEWER
    ),
    KnownGrid.OSGRID: KnownGridFacts("OSgrid", EndpointUrl("http://login.osgrid.org/"), _FIRESTORM),
    KnownGrid.KITELY: KnownGridFacts("Kitely", EndpointUrl("http://grid.kitely.com:8002/"), _FIRESTORM),
}
"""One row a grid."""
