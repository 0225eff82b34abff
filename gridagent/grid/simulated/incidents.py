"""What happens to people without their asking: restarts of regions, kicks, alerts, group notices.

Owns the verbs of the grid's own operators. A restart is announced, then everybody in the region loses
their session, then the region is back after a while with everything that stood in it. Invariant: a
region is restarting at most once at a time.
"""

from __future__ import annotations

from functools import partial

from gridagent.events import AlertShown, DisconnectCause, GroupImSeen, Kicked, RegionRestarting
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.presence import end_session
from gridagent.grid.simulated.region import Region
from gridagent.grid.simulated.state import State

__all__ = ("alert", "group_im", "kick", "restart_region")


def kick(state: State, avatar: Avatar, reason: str) -> bool:
    """End somebody's session with a reason; tell whether there was one."""
    if not avatar.online:
        return False
    state.tell(avatar, Kicked(reason=reason))
    end_session(state, avatar, DisconnectCause.KICKED)
    return True


def alert(state: State, avatar: Avatar, text: str, *, modal: bool = False) -> None:
    """Show somebody a text."""
    state.tell(avatar, AlertShown(text=text, modal=modal))


def group_im(state: State, avatar: Avatar, group: str) -> None:
    """Let somebody see that a group talks."""
    state.tell(avatar, GroupImSeen(group=group))


def restart_region(state: State, region: Region, notice_s: float, down_s: float) -> bool:
    """Announce a restart; tell whether none was under way already."""
    if region.restarting:
        return False
    region.restarting = True
    state.tell_region(region, RegionRestarting(region=region.name, seconds=notice_s))
    state.after(notice_s, partial(_go_down, state, region, down_s))
    return True


def _go_down(state: State, region: Region, down_s: float) -> None:
    region.up = False
    for avatar in tuple(region.avatars.values()):
        end_session(state, avatar, DisconnectCause.REGION_RESTART)
    state.after(down_s, partial(_come_up, region))


def _come_up(region: Region) -> None:
    region.up = True
    region.restarting = False
