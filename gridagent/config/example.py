"""``config.example.json``: every key at its default, rendered from the model.

Owns the rendering and writes nothing. The file at the top of the tree is its output; a test holds the two together
and says how to write the file anew.
"""

from __future__ import annotations

import msgspec

from gridagent.config.model import Config

__all__ = ("render_example",)


def render_example() -> str:
    """Return the text of ``config.example.json``: valid JSON that loads to the defaults."""
    return msgspec.json.format(msgspec.json.encode(Config()), indent=2).decode() + "\n"
