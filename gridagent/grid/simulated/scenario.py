"""Scenarios: worlds that users write as files, and the ones that are shipped.

Owns the way from bytes to a checked `Scenario`, and the list of shipped ones; opens no file of the user's
(whoever calls gives the bytes) and builds no world (that is
`gridagent.grid.simulated.scenario_build`). Called by the command line, by embedders and by tests.

Invariant: `parse_scenario` returns a scenario that can be built, or raises one `ConfigError` that lists
everything wrong with it, each problem with its JSON path, what was found and how to mend it.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from gridagent.errors import ConfigError, OperatorError
from gridagent.grid.simulated.scenario_check import check
from gridagent.grid.simulated.scenario_format import Scenario
from gridagent.grid.simulated.scenario_json import decode, listed, read_tree
from gridagent.limits import SCENARIO_FILE_MAX_BYTES

__all__ = ("DEFAULT_SCENARIO", "load_shipped", "parse_scenario", "shipped_scenarios")

DEFAULT_SCENARIO: Final = "plaza"
"""What runs when nobody chooses."""
_SUFFIX: Final = ".json"


def parse_scenario(raw: bytes, source: str) -> Scenario:
    """Turn the bytes of a scenario file into a scenario.

    Args:
        raw: the file's content.
        source: what the error calls it, such as its path.

    Bounds: 256 KiB, 16 levels of nesting; 100 problems are listed, one more counts the rest.

    Raises:
        ConfigError: it cannot be used; lists every problem at once.
    """
    tree = read_tree(raw, source=source, max_bytes=SCENARIO_FILE_MAX_BYTES)
    decoded = decode(tree, Scenario)
    problems = (*decoded.problems, *check(decoded))
    if decoded.value is None or problems:
        raise ConfigError(listed(problems, len(problems)), source=source)
    return decoded.value


def shipped_scenarios() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package, in alphabetical order."""
    return tuple(
        sorted(entry.name.removesuffix(_SUFFIX) for entry in _folder().iterdir() if entry.name.endswith(_SUFFIX))
    )


def load_shipped(name: str) -> Scenario:
    """Return a shipped scenario.

    Raises:
        OperatorError: none is called that.
    """
    known = shipped_scenarios()
    if name not in known:
        raise OperatorError(
            f"no scenario named {name[:64]!r} is shipped; choose one of {', '.join(known)}, or give a file"
        )
    return parse_scenario((_folder() / f"{name}{_SUFFIX}").read_bytes(), f"shipped scenario {name}")


def _folder() -> Traversable:
    return resources.files("gridagent.grid.simulated") / "scenarios"
