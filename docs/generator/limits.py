"""The page of hard ceilings: the table in `gridagent.limits`."""

from __future__ import annotations

from docs.generator.markdown import code, page, table
from docs.generator.sources import load

__all__ = ("limits",)

INTRO = """Nothing in this project grows without a bound. Configuration can lower a ceiling and never raise it;
the last column is what happens there."""


def limits() -> str:
    """Write the page."""
    rows = [
        [row.id, row.resource, f"{row.ceiling:,} {row.unit}", code(row.key), row.at_the_ceiling]
        for row in load("gridagent.limits").HARD_LIMITS
    ]
    return page("Limits", INTRO, [table(["id", "resource", "hard ceiling", "key", "at the ceiling"], rows)])
