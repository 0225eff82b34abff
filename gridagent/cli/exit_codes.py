"""Every exit code of the command line, and why a run ends; documented in ``docs/reference/command-line.md``.

Owns the numbers; a script may rely on them.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

__all__ = ("Ending", "ExitCode")


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    """Done; for ``run``: stopped in order (its time was up, ``quit``, ``stop``, or SIGTERM)."""
    INTERNAL = 1
    """A promise of our own was broken: a bug. The log has the whole of it."""
    USAGE = 2
    """The command line was wrong."""
    CONFIGURATION = 3
    """The configuration, or a file it names, cannot be used; every problem is listed."""
    NOT_RUNNING = 4
    """No running service was found, or it went away."""
    REFUSED = 5
    """The service or its policy said no; nothing happened."""
    AVATAR_FAILED = 6
    """At least one avatar failed for good."""
    AUTHENTICATION_BLOCKED = 7
    """At least one avatar may not log in until an operator mends its account."""
    ALREADY_RUNNING = 8
    """Another service holds this runtime directory or this avatar."""
    STORAGE = 9
    """The database cannot be used as it is, or storage had failed when the run ended; the sentence says which."""
    PROBLEM_FOUND = 10
    """``doctor`` found a problem; its lines say which, and how to mend it."""
    INTERRUPTED = 130
    """Ended by SIGINT (Ctrl-C)."""
    TERMINATED = 143
    """Ended by SIGTERM without waiting: a second signal, or the shutdown time-out."""


class Ending(StrEnum):
    """Why a run ends."""

    BLOCKED = "blocked"
    """Nobody is left who may log in, or could with a code that an operator can give while it runs."""
    STOPPED = "stopped"
    """Every avatar has stopped."""
    TIME_UP = "time_up"
    QUIT = "quit"
    INTERRUPT = "interrupt"
    TERMINATE = "terminate"
    UNREAD = "unread"
    """Nobody reads its output any more."""
