"""Where an avatar goes that is sent home: to the place of its configuration, else to where the grid has its home.

Owns the reading of that place, and the one step from the action that was authorised to the way it is done. Called by
every backend behind the redeeming, so that ``teleport_home`` stays what was asked for, decided on and recorded, and the
place comes from nobody but the operator. Pure. Invariant: a home that cannot be reached refuses the action with the
reason; nobody is brought to another home instead (Spec: LIV-7, EFX-1).
"""

from __future__ import annotations

from gridagent.actions import Action, Position, TeleportHome, TeleportTo

__all__ = ("home_of", "sent_home")


def home_of(place: str | None) -> TeleportTo | None:
    """Return the way to a home as the configuration writes it.

    Args:
        place: ``Region/x/y/z`` in whole metres; ``home`` and None leave it to the grid.

    Raises:
        ValueError: it is no place.
    """
    if place is None or place == "home":
        return None
    region, *numbers = place.rsplit("/", 3)
    x, y, z = map(float, numbers)
    return TeleportTo(region=region, position=Position(x=x, y=y, z=z))


def sent_home(action: Action, home: TeleportTo | None) -> Action:
    """Return how an action is done by an avatar with this home; every action but the way home stays itself."""
    return home if home is not None and isinstance(action, TeleportHome) else action
