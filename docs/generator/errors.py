"""The page of errors: both trees, with their stable codes."""

from __future__ import annotations

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load, summary

__all__ = ("errors",)

INTRO = """Errors are sorted by who must act. Each carries fields, and a sentence built from them; its code is
stable and is what logs and observers show. Expected refusals of the policy are no
errors: see [denial codes](denial-codes.md)."""


def _tree(root: type[Exception], depth: int = 0) -> list[list[str]]:
    text = class_text(root)
    rows = [["&nbsp;" * 4 * depth + code(root.__name__), code(getattr(root, "code", "")), prose(summary(text.doc))]]
    for child in root.__subclasses__():
        if child.__module__ == root.__module__:
            rows += _tree(child, depth + (0 if child.__name__.startswith("_") else 1))
    return [row for row in rows if not row[0].removeprefix("&nbsp;" * 4 * depth).startswith("`_")]


def errors() -> str:
    """Write the page."""
    parts = []
    for module, root in (("gridagent.errors", "GridAgentError"), ("live_grid.errors", "LiveGridError")):
        rows = _tree(getattr(load(module), root))
        parts.append(f"## `{module}`\n\n{table(['error', 'code', 'when'], rows)}")
    return page("Errors", INTRO, parts)
