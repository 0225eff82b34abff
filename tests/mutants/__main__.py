"""``python -m tests.mutants [NAME…]``: break each line of the policy on purpose and count the breaks no test notices.

Every break is tried in a process of its own, with only the tests that run its line, the fastest first. The score and
every break that no test noticed are printed. Those in ``argued.txt`` have an argument why no test can or should notice
them; any other one, and an argument about a break that is gone or noticed, fails the run.

It runs on one interpreter, needs no service and no package beyond the tests' own, and gives the same result each time.
About five minutes on two cores; a name narrows it to modules whose path contains it.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NoReturn

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.breaks import Break, breaks_of, broken

ROOT = Path(__file__).resolve().parents[2]
TARGETS = (*sorted((ROOT / "gridagent" / "policy").glob("*.py")), ROOT / "gridagent" / "runtime" / "generation.py")
TESTS = ("tests/gridagent/policy", "tests/gridagent/runtime/test_generation.py")
ARGUED = Path(__file__).with_name("argued.txt")
JOBS = int(os.environ.get("JOBS", "2"))
PATIENCE_S = 60
"""Processor time after which a break is taken for one that runs for ever."""
WORDS = ("test_structs", "test_decisions", "test_rules")
"""Tests of what most breaks that take effect on import are about."""
SLOW_S = 0.5
"""Processor time, watched; tests that take longer are left out where all tests would have to be run."""
SURVIVED, KILLED, UNTRIED = 0, 1, 2
QUIET = (
    "-q",
    "-x",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "-s",
    "-W",
    "ignore::DeprecationWarning",
    "-o",
    "timeout=0",
)
"""Without a time limit by the clock: watched tests are slow, and `PATIENCE_S` bounds a break."""


class Watcher:
    """Notes which lines of the targets each test runs, and how much processor time it takes."""

    def __init__(self) -> None:
        self.files = {str(path) for path in TARGETS}
        self.lines: set[tuple[str, int]] = set()
        self.ran: dict[str, set[tuple[str, int]]] = {}
        self.took: dict[str, float] = {}

    def _trace(self, frame, event, arg):
        if frame.f_code.co_filename not in self.files:
            return None
        self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _line(self, frame, event, arg):
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Watch one test."""
        self.lines = set()
        began = time.process_time()  # a busy machine must not make a test look slow, and leave it out
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.ran[item.nodeid] = self.lines
            self.took[item.nodeid] = time.process_time() - began


class Tries:
    """A pytest plugin that, instead of running the tests once, runs them against one break after the other."""

    def __init__(self, watcher: Watcher, wanted: list[tuple[Path, Break]]) -> None:
        self._watcher = watcher
        self._wanted = wanted
        self._slow = [name for name, took in watcher.took.items() if took > SLOW_S]
        self.results: dict[tuple[Path, str], int] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Try each break in a child, so many at once."""
        by_id = {item.nodeid: item for item in session.items}
        running: dict[int, tuple[Path, Break]] = {}
        for path, each in self._wanted:
            if len(running) >= JOBS:
                self._reap(running)
            names, anew = self._relevant(path, each)
            items = [by_id[name] for name in names if name in by_id]
            child = os.fork()
            if not child:
                _exit_after(path, each, items, self._slow, anew=anew)
            running[child] = (path, each)
        while running:
            self._reap(running)
        return True

    def _relevant(self, path: Path, each: Break) -> tuple[list[str], bool]:
        """Return the tests to run, and whether the module must be loaded anew: no test runs what runs on import."""
        here = [name for name, lines in self._watcher.ran.items() if (str(path), each.line) in lines]
        mirror = f"test_{path.stem}"
        if each.function and here:
            return sorted(here, key=lambda name: self._watcher.took[name]), False
        room = [name for name in self._watcher.ran if ("runtime" in name) is ("runtime" in str(path))]
        return sorted(room, key=lambda name: (mirror not in name, self._watcher.took[name])), True

    def _reap(self, running: dict[int, tuple[Path, Break]]) -> None:
        child, status = os.wait()
        path, each = running.pop(child)
        code = os.waitstatus_to_exitcode(status)
        result = code if code in {SURVIVED, KILLED, UNTRIED} else KILLED  # a signal: it ran for ever, or crashed
        self.results[path, each.name] = result
        if len(self.results) % 200 == 0:
            _say(f"  ({len(self.results)} of {len(self._wanted)})")
        if result != KILLED:
            _say(f"  {path.relative_to(ROOT)}:{each.line}: {each.name}")


def _exit_after(path: Path, each: Break, items: list[pytest.Item], slow: list[str], *, anew: bool) -> NoReturn:
    """Try one break in a child process, and end it with the result."""
    result = UNTRIED
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE_S)  # each test has a time-out of its own, by another timer
        result = _try(path, each, items, slow, anew=anew)
    finally:
        os._exit(result)


def _try(path: Path, each: Break, items: list[pytest.Item], slow: list[str], *, anew: bool) -> int:
    """Run tests against one break: in place, or in the module loaded anew and without the slow ones."""
    tree = broken(path.read_text(encoding="utf-8"), each.place)
    if anew or not _replace(path, compile(tree, str(path), "exec"), each.function):
        return _try_anew(path, tree, [item.nodeid for item in items], slow)
    for item, after in zip(items, [*items[1:], None], strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
            return KILLED
    return SURVIVED


def _replace(path: Path, code: CodeType, function: str) -> bool:
    """Give the live function the broken code, so that whoever holds it runs that; False where it can't be done."""
    holder: object = importlib.import_module(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."))
    for part in function.split("."):
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == part)
        holder = vars(holder)[part]
    for wrapped in ("__func__", "fget", "__wrapped__"):
        if hasattr(holder, "cache_clear"):
            holder.cache_clear()  # what the whole function answered before must not stand in for the broken one
        holder = getattr(holder, wrapped, holder)
    if not isinstance(holder, FunctionType) or holder.__code__.co_freevars != code.co_freevars:
        return False
    holder.__code__ = code
    return True


def _try_anew(path: Path, tree: ast.Module, names: list[str], slow: list[str]) -> int:
    """Run tests in a fresh interpreter state: the break takes effect on import."""
    module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for name in [name for name in sys.modules if name.partition(".")[0] in {"gridagent", "live_grid", "tests"}]:
        del sys.modules[name]

    class Loader:
        """Loads the broken module."""

        def find_spec(self, name, where=None, target=None):
            return importlib.util.spec_from_loader(name, self, origin=str(path)) if name == module else None

        def create_module(self, spec):
            return None

        def exec_module(self, made):
            made.__file__ = str(path)
            exec(compile(tree, str(path), "exec"), vars(made))  # noqa: S102 - a module of our own, broken on purpose

    sys.meta_path.insert(0, Loader())
    left_out = [argument for name in slow for argument in ("--deselect", name)]
    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    nearest = [file for file in files if Path(file).stem.startswith((f"test_{path.stem}", *WORDS))]
    for some in (nearest, [file for file in files if file not in nearest]):
        if some and pytest.main([*QUIET, "--no-header", *left_out, *some]) != pytest.ExitCode.OK:
            return KILLED
    return SURVIVED


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _argued() -> dict[str, str]:
    """Read the arguments: a line with a break, and below it, indented, why no test notices it."""
    found: dict[str, str] = {}
    name = ""
    for line in ARGUED.read_text(encoding="utf-8").splitlines():
        if line.startswith("    ") and name:
            found[name] += line.strip() + " "
        elif line.strip() and not line.startswith("#"):
            name = line.strip()
            found[name] = ""
    return found


def _listed(narrow: list[str]) -> Iterator[tuple[Path, Break]]:
    for path in TARGETS:
        if not narrow or any(name in str(path) for name in narrow):
            for each in breaks_of(path.read_text(encoding="utf-8")):
                yield path, each


def main(narrow: list[str]) -> int:
    """Try every break and print what came of it; return the exit code."""
    os.chdir(ROOT)
    watcher = Watcher()
    if pytest.main([*QUIET, "--no-header", *TESTS], plugins=[watcher]) != pytest.ExitCode.OK:
        _say("The tests fail without any break; mend them first.")
        return 2
    wanted = list(_listed(narrow))
    began = time.monotonic()
    tries = Tries(watcher, wanted)
    _say(f"Trying {len(wanted)} breaks; those that no test notices:")
    pytest.main([*QUIET, "--no-header", *TESTS], plugins=[tries])
    argued = _argued()
    names = {f"{path.relative_to(ROOT)}: {name}": result for (path, name), result in tries.results.items()}
    survived = {name for name, result in names.items() if result != KILLED}
    unargued = sorted(survived - argued.keys())
    stale = sorted(name for name in argued if name in names and name not in survived)
    stale += sorted(argued.keys() - names.keys()) if not narrow else []
    empty = sorted(name for name, why in argued.items() if not why.strip())
    killed = len(names) - len(survived)
    _say(
        f"{killed} of {len(names)} breaks were noticed: {100 * killed / max(1, len(names)):.1f} %;"
        f" {len(survived) - len(unargued)} have an argument, {len(unargued)} have none"
        f" ({time.monotonic() - began:.0f} s)."
    )
    for title, found in (("no argument for", unargued), ("argument about nothing", stale), ("empty argument", empty)):
        for name in found:
            _say(f"{title}: {name}")
    return 1 if unargued or stale or empty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
