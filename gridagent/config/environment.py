"""Laying environment variables and command-line options over the tree that came from the file.

Owns the names: ``GRIDAGENT_`` and the key's path in capitals, levels joined by two underscores
(``GRIDAGENT_QUEUES__GRID_EVENTS=512``). A value is the text itself where the key wants text, and JSON elsewhere
(``true``, ``512``, ``["a", "b"]``); an empty one means null where null is allowed. Options are the same with dotted
paths. Reads no ambient environment: the mapping is an argument.

Invariant: later wins, key by key; a variable that begins with the prefix and names nothing is a problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gridagent.config.document import GivenText, Node, Problems, nodes_of
from gridagent.limits import CONFIG_FILE_MAX_BYTES

__all__ = ("CONFIG_FILE_VARIABLE", "PREFIX", "lay_over")

PREFIX: Final = "GRIDAGENT_"
CONFIG_FILE_VARIABLE: Final = "GRIDAGENT_CONFIG"
"""Names the configuration file for the commands; not a key itself."""
_DEPTH_MAX: Final = 16


def lay_over(
    tree: Node,
    environ: Mapping[str, str],
    options: Mapping[str, str],
    *,
    defaults: Mapping[str, object],
    problems: Problems,
) -> None:
    """Put every variable and option into the tree, in place.

    Args:
        tree: the file's tree; an object.
        environ: the environment; only names with the prefix are looked at.
        options: values by dotted path, such as ``{"log.level": "debug"}``; they win over variables.
        defaults: plain values of the default configuration, by section: where the file leaves a section out,
            a variable inside it changes the default one.
        problems: where what can't be placed is noted.
    """
    variables = (
        (name.removeprefix(PREFIX).lower().split("__"), name, text)
        for name, text in environ.items()
        if name.startswith(PREFIX) and name != CONFIG_FILE_VARIABLE
    )
    chosen = ((path.split("."), f"option {path}", text) for path, text in options.items())
    # Outer keys first: a variable for a section and one for a key inside it clash in any order, and the clash is told.
    for given in (variables, chosen):
        for keys, origin, text in sorted(given, key=lambda item: (len(item[0]), item[1])):
            _place(tree, keys, Node(GivenText(text), origin=origin), defaults=defaults, problems=problems)


def _place(tree: Node, keys: Sequence[str], node: Node, *, defaults: Mapping[str, object], problems: Problems) -> None:
    path = f"$.{'.'.join(keys)}"
    size = len(node.value.text) if isinstance(node.value, GivenText) else 0
    if not all(keys) or len(keys) > _DEPTH_MAX:
        problems.add(
            _clean(node.origin), "names no key", f"name it as in {PREFIX}QUEUES__GRID_EVENTS or queues.grid_events"
        )
        return
    if size > CONFIG_FILE_MAX_BYTES:
        problems.add(
            _clean(path),
            f"is longer than {CONFIG_FILE_MAX_BYTES} characters",
            "shorten it",
            f"text of {size} characters",
        )
        return
    here = tree
    for depth, key in enumerate(keys[:-1]):
        assert isinstance(here.value, dict)  # noqa: S101 - the root is an object, and each step checks the next
        inner = here.value.get(key)
        if inner is None and depth == 0 and key in defaults:
            inner = nodes_of(defaults[key], "")
        if inner is None or inner.value is None:
            inner = Node({})
        here.value[key] = inner
        if not isinstance(inner.value, dict):
            problems.add(
                _clean(path),
                f"cannot be set by {_clean(node.origin)}: the value around it is not an object",
                "mend that value, or set it as a whole",
            )
            return
        here = inner
    assert isinstance(here.value, dict)  # noqa: S101 - as above
    here.value[keys[-1]] = node


def _clean(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:160])
