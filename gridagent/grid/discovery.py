"""The port between a grid's home address and where one logs in: asked once, while a configuration is written.

Owns the protocol and the answer's shape. An adapter offers it under the entry point ``live`` of the group
``gridagent.discovery``; `gridagent.cli.discovery` finds it there. A running service never asks: what was found stands
in its configuration (Spec: LIV-1).
"""

from __future__ import annotations

from typing import Protocol

import attrs

__all__ = ("DiscoverGrid", "FoundGrid")


@attrs.frozen(kw_only=True)
class FoundGrid:
    """What a grid says about itself: text from outside, to be checked before it is used or shown."""

    name: str
    login_url: str
    """Where it says one logs in; the address that was asked if it says nothing."""


class DiscoverGrid(Protocol):
    """What the entry point ``live`` is."""

    async def __call__(self, url: str) -> FoundGrid:
        """Ask a grid about itself.

        Args:
            url: any http address of the grid, from the operator.

        Raises:
            OperatorError: nobody answers there, or not as a grid does.

        Cancellation: safe.
        """
        ...
