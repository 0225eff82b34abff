"""What the live view knows: who is near, what was said and decided, how full queues and budgets are.

Owns that picture and keeps it from observations and statuses; draws nothing (that is
`gridagent.cli.screen`) and writes nothing. Bounded: the newest lines, at most 256 people an avatar.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from gridagent import events as seen
from gridagent import observations as told
from gridagent.cli.safe_text import shown
from gridagent.cli.wording import Line, People, Tone, in_words
from gridagent.runtime.channels import Lagged
from gridagent.service.api import SessionStatus

__all__ = ("Scene", "Stamped", "plain_line", "summary")

LINES_KEPT: Final = 200
NEAR_MAX: Final = 256
_NEAR_NAME_MAX: Final = 18


class Stamped(msgspec.Struct, frozen=True):
    """One line of the story."""

    at: float
    """Seconds since the view began."""
    avatar: str
    line: Line


class Scene:
    """The picture of one run.

    Args:
        avatars: keys, in the order in which they are shown.
        roles: UUID to the word shown behind a name.
        began: monotonic seconds at which the story begins.
    """

    __slots__ = ("_began", "_near", "avatars", "lines", "people", "statuses")

    def __init__(self, avatars: Sequence[str], *, roles: Mapping[str, str], began: float) -> None:
        self.avatars = tuple(avatars)
        self.people = People(roles)
        self.lines: deque[Stamped] = deque(maxlen=LINES_KEPT)
        self.statuses: tuple[SessionStatus, ...] = ()
        self._near: dict[str, dict[str, seen.AvatarView]] = {}
        self._began = began

    def note(self, item: told.Observation | Lagged, avatar: str) -> Stamped | None:
        """Take one observation; returns the line it comes to, if it comes to one."""
        if isinstance(item, Lagged):
            words = f"{item.missed} observations were too many for this view and are not shown"
            return self.add(Tone.NOTE, words, avatar=avatar, at=None)
        body = item.body
        self._keep_near(body, avatar)
        line = in_words(body, self.people)
        return None if line is None else self._put(Stamped(item.at - self._began, avatar, line))

    def add(self, tone: Tone, text: str, *, avatar: str = "", at: float | None) -> Stamped:
        """Add a line of the view's own; ``text`` is safe to show, ``at`` in monotonic seconds or None for as before."""
        before = self.lines[-1].at if self.lines else 0.0
        return self._put(Stamped(before if at is None else at - self._began, avatar, Line(tone, text)))

    def _put(self, stamped: Stamped) -> Stamped:
        self.lines.append(stamped)
        return stamped

    def _keep_near(self, body: told.ObservationBody, avatar: str) -> None:
        near = self._near.setdefault(avatar, {})  # one an avatar of the service
        match body:
            case told.EventSeen(event=seen.AvatarSeen(avatar=view)):
                if view.avatar_id in near or len(near) < NEAR_MAX:
                    near[view.avatar_id] = view
            case told.EventSeen(event=seen.AvatarLeft(avatar_id=avatar_id)):
                near.pop(avatar_id, None)
            case told.GenerationClosed():
                near.clear()

    def near(self, avatar: str) -> list[str]:
        """Return who is near an avatar, nearest first, as they are shown."""
        views = sorted(self._near.get(avatar, {}).values(), key=lambda view: (view.distance_m, view.avatar_id))
        return [f"{view.distance_m:3.0f} m {self.people.named(view.avatar_id, _NEAR_NAME_MAX)}" for view in views]

    def gauges(self, status: SessionStatus) -> list[tuple[str, int, int]]:
        """Return name, use and limit of every queue, and of every budget that is in use."""
        queues = [
            (shown(each.name.partition(".")[2] or each.name, 24), each.used, each.limit) for each in status.queues
        ]
        budgets = [
            (f"{each.meter.value}/{each.window_s}s {each.per.value}", each.used, each.limit)
            for each in status.gateway.budgets
            if each.used
        ]
        return queues + budgets


def plain_line(stamped: Stamped, *, several: bool) -> str:
    """Return one line of the story without colour."""
    who = f"{stamped.avatar}: " if several and stamped.avatar else ""
    return f"{stamped.at:7.1f}  {stamped.line.tone.value:<8} {who}{stamped.line.text}"


def summary(status: SessionStatus) -> str:
    """Return one avatar's state on one line, as ``status`` and the view show it."""
    place = shown(status.region, 40) or "nowhere"
    if status.position is not None:
        place += f" ({status.position.x:.0f}, {status.position.y:.0f}, {status.position.z:.0f})"
    parts = [
        f"{status.key}: {status.agent.value}, {status.link.value}",
        f"connection {status.generation}",
        place,
        f"{status.near} near",
    ]
    if status.balance is not None:
        parts.append(f"L${status.balance}")
    if status.gateway.held:
        parts.append("HELD")
    if status.gateway.safe_mode:
        parts.append("SAFE MODE: nothing that costs anything is done")
    if status.gateway.in_doubt:
        parts.append(f"{len(status.gateway.in_doubt)} in doubt")
    if status.gateway.dry_run:
        parts.append("dry run")
    if status.last_error:
        parts.append(f"last error {shown(status.last_error, 64)}")
    return " · ".join(parts)
