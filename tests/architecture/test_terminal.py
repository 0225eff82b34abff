"""Terminal, signals and console belong to the command line; nothing else relies on one platform's ways."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.source_tree import Module, modules_of_packages, report, sample, uses, within

COMMAND_LINE = ("gridagent/cli/", "gridagent/__main__.py")

BELONGS_TO_CLI = frozenset(
    {
        *(
            "sys.stdin",
            "sys.stdout",
            "sys.stderr",
            "sys.exit",
            "sys.argv",
            "os._exit",
            "builtins.print",
            "builtins.input",
        ),
        *(
            "signal",
            "trio.open_signal_receiver",
            "rich",
            "argparse",
            "getpass",
            "curses",
            "termios",
            "tty",
            "pty",
            "readline",
        ),
        *("os.isatty", "os.get_terminal_size", "shutil.get_terminal_size"),
        *("fcntl", "pwd", "grp", "resource", "syslog", "socket.AF_UNIX", "trio.open_unix_socket"),
    }
)
FIXED_PATH = re.compile(r"(?:/(?:tmp|var|etc|usr|opt|home|root|run|dev|proc)(?:/|$)|~/[\w.]|[A-Z]:\\)")

ALLOWED: dict[str, frozenset[str]] = {
    # path → what it may use; the reason stands in the module's docstring
    "gridagent/simulation/__main__.py": frozenset({"sys.argv", "sys.stdout", "sys.exit"}),
    "live_grid/check/__main__.py": frozenset({"sys.exit"}),
    "live_grid/check/command.py": frozenset({"argparse", "sys.stderr", "sys.stdout"}),
    "live_grid/simulator/__main__.py": frozenset({"sys.exit"}),
    "live_grid/simulator/command.py": frozenset(
        {"argparse", "builtins.print", "signal", "sys.stderr", "trio.open_signal_receiver"}
    ),
}


def platform_ways(module: Module) -> list[str]:
    """Find terminal, signals, Unix-only modules and fixed paths outside the command line."""
    if module.path.startswith(COMMAND_LINE):
        return []
    allowed = ALLOWED.get(module.path, frozenset())
    found: dict[str, None] = {}
    for node, name in uses(module):
        root = within(name, BELONGS_TO_CLI)
        if root is not None and root not in allowed:
            found.setdefault(module.finding(node, f"{root} belongs to the command line"))
    for node in module.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and FIXED_PATH.match(node.value):
            found.setdefault(module.finding(node, f"fixed path {node.value[:40]!r}"))
    return list(found)


def test_the_core_relies_on_no_terminal_and_no_platform() -> None:
    """Only the command line knows terminal, signals and console. Spec: OPS-7."""
    assert not report(finding for module in modules_of_packages() for finding in platform_ways(module))


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "import sys\nsys.stdout.write('x')",
        "from sys import stderr",
        "import signal",
        "import trio\ntrio.open_signal_receiver(2)",
        "import fcntl",
        "import socket\nsocket.AF_UNIX",
        "from rich.table import Table",
        "path = '/var/lib/gridagent'",
        "path = '~/.config'",
    ],
)
def test_the_rule_sees_each_platform_way(source: str) -> None:
    """Each way to lean on a terminal or one platform is found outside the command line, and not in it."""
    assert len(platform_ways(sample(source))) == 1
    assert platform_ways(sample(source, "gridagent/cli/view.py")) == []


def test_the_rule_lets_urls_and_json_pointers_pass() -> None:
    """A slash alone makes no path of this machine, and a local name is no builtin."""
    assert platform_ways(sample("class Request:\n    input: int = 0\ndef f(input): return input")) == []
    assert platform_ways(sample("a = 'https://example.org/tmp'; b = '/avatars/0'; c = '/me waves'")) == []
