"""``config.example.json``: every key at its default, rendered from the model.

Owns the rendering; the file at the top of the tree is its output, and a test holds the two together. To write the
file anew: ``python -m gridagent.config.example > config.example.json``.
"""

from __future__ import annotations

import sys

import msgspec

from gridagent.config.model import Config

__all__ = ("render_example",)


def render_example() -> str:
    """Return the text of ``config.example.json``: valid JSON that loads to the defaults."""
    return msgspec.json.format(msgspec.json.encode(Config()), indent=2).decode() + "\n"


if __name__ == "__main__":
    sys.stdout.write(render_example())
