"""Where files are kept when the configuration doesn't say (Spec: CFG-4).

Owns the defaults, from `platformdirs`; makes no directory and opens nothing. The composition root calls
`resolve_paths` once and hands single paths on. Kept apart from the loader because it alone looks at the platform.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gridagent.config.model import PathsConfig

__all__ = ("ResolvedPaths", "resolve_paths")

_APP = "gridagent"


class ResolvedPaths(msgspec.Struct, frozen=True, kw_only=True):
    """Every path of the service, absolute."""

    state_dir: Path
    """What must survive a restart."""
    runtime_dir: Path
    """What may go when the service stops."""
    log_file: Path


def resolve_paths(paths: PathsConfig) -> ResolvedPaths:
    """Put the platform's usual places where the configuration says nothing."""
    from platformdirs import PlatformDirs  # noqa: PLC0415 - only the composition root pays for it

    usual = PlatformDirs(_APP, appauthor=False, ensure_exists=False)
    return ResolvedPaths(
        state_dir=Path(paths.state_dir) if paths.state_dir else usual.user_state_path,
        runtime_dir=Path(paths.runtime_dir) if paths.runtime_dir else usual.user_runtime_path,
        log_file=Path(paths.log_file) if paths.log_file else usual.user_log_path / "gridagent.log",
    )
