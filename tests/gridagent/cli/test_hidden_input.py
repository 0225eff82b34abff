"""A line typed unseen."""

from __future__ import annotations

import builtins
import os

import pytest

from gridagent.cli.hidden_input import read_hidden_line
from gridagent.errors import OperatorError

termios = pytest.importorskip("termios")


class Terminal:
    """One side of a pseudo-terminal that notes how it echoes while a line is read."""

    def __init__(self, ends: BaseException | None = None) -> None:
        self.ours, self.theirs = os.openpty()
        self.ends = ends
        self.echoed: list[bool] = []

    def fileno(self) -> int:
        return self.theirs

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO)

    def prompt(self) -> None:
        self.echoed.append(self.echoes())

    def readline(self, size: int = -1, /) -> str:
        self.echoed.append(self.echoes())
        if self.ends is not None:
            raise self.ends
        return "canary\n"[:size]

    def close(self) -> None:
        os.close(self.ours)
        os.close(self.theirs)


@pytest.mark.parametrize("ends", [None, KeyboardInterrupt(), OSError(5, "gone")])
def test_nothing_is_shown_while_a_line_is_typed(ends: BaseException | None) -> None:
    """The terminal is as it was afterwards, however the reading ends. Spec: OPS-7, CFG-3."""
    terminal = Terminal(ends)
    try:
        assert terminal.echoes()
        if ends is None:
            assert read_hidden_line(terminal, 100, prompt=terminal.prompt) == "canary\n"  # type: ignore[arg-type]
        else:
            with pytest.raises(type(ends)):
                read_hidden_line(terminal, 100, prompt=terminal.prompt)  # type: ignore[arg-type]
        assert terminal.echoed == [False, False], "hidden before it is asked for"
        assert terminal.echoes()
    finally:
        terminal.close()


def test_a_terminal_that_goes_away_is_what_is_told() -> None:
    """That its echo cannot be had back any more hides nothing. Spec: OPS-7."""
    terminal = Terminal()

    def gone() -> None:
        terminal.close()
        raise OSError(5, "gone")

    with pytest.raises(OSError, match="gone"):
        read_hidden_line(terminal, 100, prompt=gone)  # type: ignore[arg-type]


def test_a_system_that_cannot_hide_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Better no password than one on the screen. Spec: OPS-7."""
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "termios":
            raise ImportError
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OperatorError, match="cannot hide what is typed; put the secret into a file"):
        read_hidden_line(None, 10, prompt=lambda: None)  # type: ignore[arg-type]
