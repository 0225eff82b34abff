"""Reading a line from a terminal without showing it.

Owns the terminal's echo for as long as one line takes. May not keep what was typed. Invariant: however the reading
ends, the terminal is afterwards as it was (Spec: OPS-7, CFG-3).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

from gridagent.errors import OperatorError

__all__ = ("read_hidden_line",)

_LOCAL_MODES: Final = 3
"""Where `termios` keeps the flags of echoing."""


def read_hidden_line(stdin: TextIO, most: int, *, prompt: Callable[[], None]) -> str:
    """Read a line from a terminal; blocks.

    Args:
        stdin: the terminal.
        most: characters of the line.
        prompt: asks for it; called once nothing is shown any more, so that no hand is too fast.

    Raises:
        OperatorError: this platform cannot hide what is typed.
    """
    try:
        import termios  # noqa: PLC0415 - not every platform has it
    except ImportError:
        raise OperatorError(
            "this system cannot hide what is typed; put the secret into a file and name it by its flag"
        ) from None
    terminal = stdin.fileno()
    before = termios.tcgetattr(terminal)
    hidden = [*before]
    hidden[_LOCAL_MODES] = (before[_LOCAL_MODES] & ~termios.ECHO) | termios.ECHONL
    try:
        termios.tcsetattr(terminal, termios.TCSADRAIN, hidden)
        prompt()
        return stdin.readline(most)
    finally:
        with suppress(termios.error):  # a terminal that went away shows nothing any more
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
