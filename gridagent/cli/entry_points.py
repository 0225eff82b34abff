"""The one module that loads what other packages offer by name: backends, commands and discovery.

Owns the groups, and the sentence for what is missing or cannot be loaded. An entry point's name comes from this
package's own code, never from a configuration or from the world; what is loaded is installed code, and installed code
is trusted (Spec: OPS-5). The composition root and the command line call it; nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from gridagent.errors import OperatorError

__all__ = ("BACKENDS", "COMMANDS", "DISCOVERY", "NotInstalled", "load_entry_point")

BACKENDS: Final = "gridagent.backends"
"""What carries avatars to a grid; see ``docs/reference/live-grid.md``."""
COMMANDS: Final = "gridagent.commands"
"""Commands that take the rest of the command line and return an exit code."""
DISCOVERY: Final = "gridagent.discovery"
"""What asks a grid about itself, see `gridagent.grid.discovery`."""
_OURS: Final = frozenset({"gridagent", "live_grid"})


class NotInstalled(OperatorError):
    """Nothing of that name is installed, or something that it needs is not."""

    code = "not_installed"

    def __init__(self, what: str, mend: str) -> None:
        self.what = what
        self.mend = mend
        super().__init__(f"{what}; {mend}")


def load_entry_point(group: str, name: str, *, extra: str) -> object:
    """Load what an installed package offers under a name.

    Args:
        group: `BACKENDS`, `COMMANDS` or `DISCOVERY`.
        name: of the entry point.
        extra: of this distribution, that brings what it needs.

    Raises:
        NotInstalled: no package offers it, or one that it needs is missing.
        ImportError: a module of our own is missing: the installation is not whole.
    """
    mend = f"run: pip install 'gridagent[{extra}]'"
    # By name: two distributions that offer the same are told apart in the order in which they are found.
    found = next(iter(entry_points(group=group, name=name)), None)
    if found is None:
        raise NotInstalled(f"nothing installed offers {name!r} ({group})", mend)
    try:
        loaded: object = found.load()
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing in _OURS:
            raise
        raise NotInstalled(f"{name!r} needs the package {missing}, which is not installed", mend) from error
    return loaded
