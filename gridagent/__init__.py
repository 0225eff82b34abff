"""gridagent: a supervised, LLM-driven avatar for Second Life and OpenSimulator grids.

The public names are loaded on first use (PEP 562), so that ``gridagent --version`` and a library
user who needs one room do not pay for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gridagent.cli.embedding import open_service as open_service
    from gridagent.cli.embedding import open_simulation as open_simulation
    from gridagent.service import Service as Service

__version__ = "0.1.0"

__all__ = ("Service", "__version__", "open_service", "open_simulation")

_LAZY = {
    "Service": "gridagent.service",
    "open_service": "gridagent.cli.embedding",
    "open_simulation": "gridagent.cli.embedding",
}


def __getattr__(name: str) -> object:
    """Import the room that owns ``name`` when it is first asked for."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'gridagent' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - kept out of `gridagent --version`

    return getattr(import_module(module), name)
