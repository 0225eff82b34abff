"""What goes first when nobody takes the messages: three classes of patience.

Owns which message is chatter, which is control, and how many untaken events each class puts up with. A packet
that is shed is treated as lost on the wire: not acknowledged, not remembered, so a reliable one comes again.
Acks and pings are never in question: the circuit handles them itself, at once (Spec: LIV-9, Fault: 6).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from live_grid.limits import EVENTS_CHATTER_MAX, EVENTS_CONTROL_MAX, EVENTS_MAX
from live_grid.messages import BY_NAME, LAYOUTS

__all__ = ("patience_for",)


def _numbers(names: str) -> frozenset[int]:
    return frozenset(BY_NAME[name].number for name in names.split())


_CHATTER: Final = _numbers(
    "ObjectUpdate ObjectUpdateCompressed ObjectUpdateCached ImprovedTerseObjectUpdate AvatarAnimation AvatarAppearance "
    "LayerData SimStats CoarseLocationUpdate SimulatorViewerTimeMessage ParcelOverlay"
)
"""State that comes again or is not missed."""
_CONTROL: Final = _numbers(
    "UseCircuitCode CompleteAgentMovement AgentMovementComplete RegionHandshake RegionHandshakeReply KickUser "
    "DisableSimulator LogoutRequest LogoutReply TeleportStart TeleportProgress TeleportLocal TeleportFailed "
    "AlertMessage AgentAlertMessage"
)
"""What a session lives or dies by."""


def patience_for(numbers: Iterable[int] | None) -> dict[int, int]:
    """Tell how many untaken events each wanted message puts up with.

    Args:
        numbers: the messages somebody wants; None for all that have a layout.
    """
    patience = {}
    for number in LAYOUTS if numbers is None else numbers:
        if number in _CHATTER:
            patience[number] = EVENTS_CHATTER_MAX
        elif number in _CONTROL:
            patience[number] = EVENTS_CONTROL_MAX
        else:
            patience[number] = EVENTS_MAX
    return patience
