"""Time, randomness, ids, threads, sockets and processes come through ports; code does not come from data.

The ports' real side is `gridagent.runtime.system`. Every exception is listed here with its reason.
"""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source_tree import (
    Module,
    dotted,
    modules_of_packages,
    report,
    sample,
    uses,
    within,
)

AMBIENT = frozenset(
    {
        # time and randomness
        *("time", "random", "uuid.uuid1", "uuid.uuid4", "uuid.getnode", "secrets", "os.urandom", "os.getrandom"),
        *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
        # threads, processes, other loops
        *("threading", "_thread", "multiprocessing", "concurrent", "subprocess", "asyncio", "sched"),
        *("os.fork", "os.forkpty", "os.system", "os.popen", "os.posix_spawn", "os.posix_spawnp", "os.startfile"),
        *("os.execv", "os.execve", "os.execvp", "os.execl", "os.spawnv", "os.spawnl", "os.kill", "pty"),
        *("trio.to_thread", "trio.from_thread", "trio.run_process", "trio.lowlevel.open_process", "trio.Process"),
        *("trio.lowlevel.start_thread_soon", "trio.lowlevel.start_guest_run", "trio.lowlevel.spawn_system_task"),
        # the network
        *("socket", "ssl", "select", "selectors", "socketserver", "urllib.request", "http.client", "http.server"),
        *("trio.socket", "trio.open_tcp_stream", "trio.open_tcp_listeners", "trio.serve_tcp", "trio.serve_listeners"),
        *("trio.open_ssl_over_tcp_stream", "trio.open_unix_socket", "trio.SocketStream", "trio.SocketListener"),
        # code from data
        *(
            "builtins.eval",
            "builtins.exec",
            "builtins.compile",
            "builtins.__import__",
            "pickle",
            "marshal",
            "shelve",
            "ctypes",
            "cffi",
            "runpy",
            "code",
        ),
        *("importlib.import_module", "importlib.util", "importlib.machinery", "importlib.metadata", "pkgutil"),
    }
)

ALLOWED: dict[str, frozenset[str]] = {
    # the real side of the ports
    "gridagent/runtime/system.py": frozenset(
        {
            "time",
            "random",
            "random.Random()",
            "uuid.uuid4",
            "secrets",
            "os.urandom",
            "socket",
            "threading",
            "trio.to_thread",
        }
        | {"trio.socket", "trio.open_tcp_stream", "trio.open_tcp_listeners", "trio.serve_tcp", "trio.serve_listeners"}
        | {"trio.SocketStream", "trio.SocketListener"}
    ),
    # the simulated side: seeded streams, one a component
    "gridagent/runtime/deterministic.py": frozenset({"random.Random()"}),
    # derives a character's stream from the world's own
    "gridagent/grid/simulated/state.py": frozenset({"random.Random()"}),
    # the shells of a live session: its one socket, and names that are resolved to be vetted
    "live_grid/io/udp.py": frozenset({"socket"}),
    "live_grid/io/web.py": frozenset({"trio.socket"}),
    # `simulate --verify` runs each seed in two fresh processes (Spec: OPS-5 names it)
    "gridagent/simulation/processes.py": frozenset({"subprocess", "trio.run_process"}),
    # the service manager's protocol: a datagram to a Unix socket, and the clock that the manager compares with
    "gridagent/cli/notify.py": frozenset({"socket", "time"}),
    # the one module that loads configured entry points (Spec: OPS-5 names it)
    "gridagent/cli/entry_points.py": frozenset({"importlib.metadata"}),
    # PEP 562: public names are imported on first use, from a constant table
    "gridagent/__init__.py": frozenset({"importlib.import_module"}),
    "gridagent/storage/__init__.py": frozenset({"importlib.import_module"}),
    # the simulator on the wire listens on loopback; its one module with sockets
    "live_grid/simulator/sockets.py": frozenset({"trio.socket"}),
}


def ambient_uses(module: Module) -> list[str]:
    """Find what reaches around the ports."""
    allowed = ALLOWED.get(module.path, frozenset())
    found: dict[str, None] = {}
    for node, name in uses(module):
        root = within(name, AMBIENT)
        if root == "random" and name in {"random", "random.Random"}:
            continue  # the type of a stream that a port handed out
        if root is not None and root not in allowed:
            found.setdefault(module.finding(node, f"{root} is ambient; take it through a port"))
    names = module.names
    for node in module.nodes:
        if (
            isinstance(node, ast.Call)
            and dotted(node.func, names) == "random.Random"
            and "random.Random()" not in allowed
        ):
            found.setdefault(module.finding(node, "random.Random() is ambient; take the stream through a port"))
    return list(found)


def test_nothing_reaches_around_the_ports() -> None:
    """Ambient time, randomness, threads, sockets and code from data stay in one module. Spec: OPS-5, SIM-2."""
    assert not report(finding for module in modules_of_packages() for finding in ambient_uses(module))


@pytest.mark.parametrize(
    ("source", "culprit"),
    [
        ("import time", "time"),
        ("from time import monotonic as now", "time"),
        ("import os\nos.urandom(4)", "os.urandom"),
        ("from os import urandom", "os.urandom"),
        ("import datetime as d\nd.datetime.now()", "datetime.datetime.now"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("import trio\nasync def f(g): await trio.to_thread.run_sync(g)", "trio.to_thread"),
        ("from trio import to_thread", "trio.to_thread"),
        ("def f(text): return eval(text)", "builtins.eval"),
        ("import importlib\nimportlib.import_module('x')", "importlib.import_module"),
        ("import concurrent.futures", "concurrent"),
        ("from uuid import uuid4", "uuid.uuid4"),
        ("import random\nrandom.random()", "random"),
        ("from random import choice", "random"),
        ("from random import Random\nrng = Random(3)", "random.Random()"),
    ],
)
def test_the_rule_sees_each_way_around(source: str, culprit: str) -> None:
    """A module that imports or calls something ambient is found, under any alias."""
    findings = ambient_uses(sample(source))
    assert findings
    assert all(f": {culprit} is ambient" in finding for finding in findings)


def test_the_rule_lets_innocent_code_pass() -> None:
    """Look-alikes are not flagged: a local called time, a method called now, the type of a random stream."""
    source = "import os, random\ndef f(clock, rng: random.Random, time): return clock.now() + time.time(), os.fsync"
    assert ambient_uses(sample(source)) == []
