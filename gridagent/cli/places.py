"""Where this machine keeps the service's files, without the platform's remarks about it.

Owns one call: `gridagent.config.paths` decides. On a machine without a runtime directory of its own (a
container, a cron job) the platform library warns on standard error and takes a temporary one, which
`gridagent.fronts.control.rendezvous` then makes private or refuses; the warning would be noise.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Final

from gridagent.config.model import PathsConfig
from gridagent.config.paths import ResolvedPaths, resolve_paths

__all__ = ("database_of", "find_places")

_DATABASE: Final = "gridagent.db"


def find_places(paths: PathsConfig) -> ResolvedPaths:
    """Return every path of the service."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return resolve_paths(paths)


def database_of(paths: ResolvedPaths) -> Path:
    """Return where the service keeps what must survive it."""
    return paths.state_dir.absolute() / _DATABASE
