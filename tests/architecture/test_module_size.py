"""A module is one thing: at most 400 lines without a reason, never over 600 (tests 900)."""

from __future__ import annotations

from tests.architecture.source_tree import Module, modules_of_packages, modules_of_tests, report, sample

SOFT, HARD, TESTS = 400, 600, 900

OVER_SOFT: dict[str, str] = {
    # path → why it is one thing; a module that shrank leaves the list
    "gridagent/actions.py": "one catalogue: every verb with what follows from it",
    "gridagent/cli/main.py": "one way in: every command, and every error as a sentence",
    "gridagent/cli/parser.py": "one grammar: every command with its help and examples",
    "gridagent/cli/run.py": "one run: the order of starting and stopping, and every reason to end",
    "gridagent/cli/wording.py": "one vocabulary: the sentence for each observation",
    "gridagent/config/model.py": "one model: every key with its meaning and default",
    "gridagent/events.py": "one catalogue: everything a grid can tell",
    "gridagent/fronts/control/server.py": "one protocol: a connection from its first frame to its last",
    "gridagent/fronts/control/words.py": "one catalogue: every request and reply of one protocol",
    "gridagent/llm/anthropic.py": "one wire format, read and written",
    "gridagent/policy/budgets.py": "one set of windows: charging, refunding and restoring share it",
    "gridagent/policy/gateway.py": "one class: every way in and out of the only mint",
    "gridagent/runtime/channels.py": "one primitive: two ends over one core",
    "gridagent/runtime/supervisor.py": "one actor: starting, restarting, stopping and escalating share its records",
    "gridagent/session/actor.py": "the one shell that performs every effect of an avatar",
    "gridagent/session/core.py": "one decision maker over one avatar's state",
    "gridagent/thinking/thinker.py": "one mind: the order in which presence, conversation, turn and speech meet",
    "live_grid/backend/backend.py": "one connection: the whole port and the tasks behind it",
    "live_grid/simulator/core.py": "one decision maker: datagrams, requests and time meet here",
}


def oversized(modules: tuple[Module, ...], over_soft: dict[str, str], *, soft: int, hard: int) -> list[str]:
    """Find modules over a cap, and entries of the list that need no exception any more."""
    found = []
    for module in modules:
        lines = module.text.count("\n")
        if lines > hard:
            found.append(f"{module.path}: {lines} lines, over the hard cap of {hard}")
        elif lines > soft and not over_soft.get(module.path):
            found.append(f"{module.path}: {lines} lines, over {soft} without a reason in OVER_SOFT")
    sizes = {module.path: module.text.count("\n") for module in modules}
    found += [
        f"{path}: no longer over {soft}; take it off the list" for path in over_soft if sizes.get(path, 0) <= soft
    ]
    return found


def test_no_module_is_too_big() -> None:
    """Source modules keep the soft cap or say why not, and nothing passes the hard cap."""
    assert not report(oversized(modules_of_packages(), OVER_SOFT, soft=SOFT, hard=HARD))


def test_no_test_module_is_too_big() -> None:
    """Test modules keep their own cap."""
    assert not report(oversized(modules_of_tests(), {}, soft=TESTS, hard=TESTS))


def test_the_rule_sees_size_and_stale_exceptions() -> None:
    """Too long, too long without a reason, and an exception that is no longer needed are all found."""
    modules = tuple(sample("x = 1\n" * lines, path) for path, lines in (("a", 601), ("b", 401), ("c", 401), ("d", 400)))
    found = oversized(modules, {"c": "a table", "d": "was big"}, soft=SOFT, hard=HARD)
    assert [finding[0] for finding in found] == ["a", "b", "d"]
