"""No container grows without a bound, and no bound is infinite."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.source_tree import Module, dotted, modules_of_packages, report, sample

CHANNELS = "gridagent/runtime/channels.py"
SOCKET_SHELLS = "live_grid/io/"

ALLOWED: dict[str, str] = {
    # path:finding → why it is none all the same
    "gridagent/grid/simulated/scenario_json.py:an infinite number as a bound": (
        "an over-long integer of a file becomes a value that no ceiling admits"
    ),
    "gridagent/config/build.py:cache without a size": "one entry an annotation of the model",
    "gridagent/policy/policy.py:cache without a size": "one entry a preset",
}

INFINITE = re.compile(r"['\"][+-]?inf(?:inity)?['\"]", re.IGNORECASE)
QUEUES = frozenset({"queue.Queue", "queue.LifoQueue", "queue.PriorityQueue", "queue.SimpleQueue", "asyncio.Queue"})


def _keyword(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position is not None and len(call.args) > position else None


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _unbounded_call(module: Module, call: ast.Call, name: str) -> str | None:
    if name == "collections.deque":
        limit = _keyword(call, "maxlen", 1)
        if limit is None or _is_none(limit):
            return "deque without maxlen"
    elif name in QUEUES:
        return f"{name} is no bounded channel"
    elif name == "functools.lru_cache":
        if _is_none(_keyword(call, "maxsize", 0)):
            return "lru_cache without a size"
    elif name == "trio.open_memory_channel":
        if not module.path.startswith((CHANNELS, SOCKET_SHELLS)):
            return "open_memory_channel outside runtime/channels.py"
    elif name == "builtins.float" and call.args and INFINITE.fullmatch(ast.unparse(call.args[0])):
        return "an infinite number as a bound"
    return None


def unbounded_uses(module: Module) -> list[str]:
    """Find containers without a bound and bounds that are none."""
    names = module.names
    never = {node.operand for node in module.nodes if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)}
    found = []
    for node in module.nodes:
        what = None
        if isinstance(node, ast.Call):
            name = dotted(node.func, names)
            what = None if name is None else _unbounded_call(module, node, name)
        elif isinstance(node, ast.Attribute | ast.Name):
            name = dotted(node, names)
            if name == "math.inf" and module.path != CHANNELS and node not in never:
                what = "an infinite number as a bound"
            elif name == "functools.cache":
                what = "cache without a size"
        if what is not None and f"{module.path}:{what}" not in ALLOWED:
            found.append(module.finding(node, what))
    return found


def test_every_container_has_a_bound() -> None:
    """Queues, deques and caches state their size; infinity is no limit. Spec: BND-1, BND-2, BND-3."""
    assert not report(finding for module in modules_of_packages() for finding in unbounded_uses(module))


@pytest.mark.parametrize(
    ("source", "culprit"),
    [
        ("from collections import deque\nd = deque()", "deque without maxlen"),
        ("import collections\nd = collections.deque([], None)", "deque without maxlen"),
        ("from collections import deque\nd = deque([], maxlen=None)", "deque without maxlen"),
        ("import trio\ntrio.open_memory_channel(3)", "open_memory_channel"),
        ("from trio import open_memory_channel as o\no(3)", "open_memory_channel"),
        ("import math\nlimit = math.inf", "infinite"),
        ("limit = float('inf')", "infinite"),
        ("import queue\nq = queue.Queue(3)", "no bounded channel"),
        ("from functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(): ...", "lru_cache without a size"),
        ("import functools\n@functools.cache\ndef f(): ...", "cache without a size"),
    ],
)
def test_the_rule_sees_each_kind(source: str, culprit: str) -> None:
    """Each unbounded container is found, under any alias."""
    findings = unbounded_uses(sample(source))
    assert len(findings) == 1
    assert culprit in findings[0]


def test_the_rule_lets_bounded_containers_pass() -> None:
    """A bounded deque or cache is fine, a finite channel in a socket shell, and "never yet"."""
    bounded = "from collections import deque\nfrom functools import lru_cache\nd = deque((), 4)\ne = deque(maxlen=d)\n"
    assert unbounded_uses(sample(bounded + "@lru_cache\ndef f(): ...")) == []
    assert unbounded_uses(sample("import math\nlast_seen = -math.inf")) == []
    assert unbounded_uses(sample("import trio\ntrio.open_memory_channel(3)", "live_grid/io/reader.py")) == []
