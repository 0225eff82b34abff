"""When the operator wants the avatar to keep to itself: spans of the local day (Spec: PRS-1).

Owns the one question whether a moment lies in one of them. A moment is turned from UTC into what a clock on the wall
shows there, and that is compared, so a span holds by the wall on every day: an hour that daylight saving leaves out is
not missed, and one that it repeats counts twice. Pure: the wall clock is handed in.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from gridagent.config.wall_time import minutes_of, zone_of
from gridagent.errors import ConfigError, ConfigProblem

__all__ = ("QuietHours",)

_HOUR_MINUTES: Final = 60


class QuietHours:
    """The quiet hours of one avatar.

    Args:
        spans: as the configuration writes them.
        zone: IANA name of the time zone they are meant in.

    Raises:
        ConfigError: the zone is not known on this machine (the loader refuses it before).
    """

    __slots__ = ("_spans", "_zone")

    def __init__(self, spans: Iterable[str], zone: str) -> None:
        self._spans = tuple(found for span in spans if (found := minutes_of(span)) is not None)
        known = zone_of(zone)
        if known is None:
            problem = ConfigProblem(
                path="$.presence.time_zone", what="is not known on this machine", shape="", mend="use UTC"
            )
            raise ConfigError((problem,))
        self._zone = known

    def hold(self, wall: float) -> bool:
        """Tell whether a moment, in seconds since 1970 in UTC, lies in a quiet span."""
        if not self._spans:
            return False
        local = datetime.fromtimestamp(wall, self._zone)
        minute = local.hour * _HOUR_MINUTES + local.minute
        return any(
            begins <= minute < ends if begins < ends else minute >= begins or minute < ends
            for begins, ends in self._spans
        )
