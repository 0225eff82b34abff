"""The words between a service and the manager that started it: systemd's notification protocol, without a library.

Owns the address, the datagram and the two variables of the environment; what is said when is `gridagent.cli.manager`.
Without ``NOTIFY_SOCKET`` nobody listens and nothing is sent. A manager that cannot be reached is logged once and never
the reason that anything fails. Uses a Unix socket and the kernel's own monotonic clock, since the protocol is made of
them; both belong to the command line (Spec: OPS-3, OPS-7).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import Final

__all__ = ("Notifier", "monotonic_usec", "watchdog_seconds")

SOCKET_VARIABLE: Final = "NOTIFY_SOCKET"
WATCHDOG_VARIABLE: Final = "WATCHDOG_USEC"
WATCHDOG_PID_VARIABLE: Final = "WATCHDOG_PID"
_SEND_S: Final = 0.5
"""Longest that a datagram may wait for room: the manager reads them at once, unless something is very wrong."""
_VALUE_MAX_CHARS: Final = 256
_USEC: Final = 1_000_000
_WATCHDOG_MAX_S: Final = 86_400.0


class Notifier:
    """Sends what a service has to say; an inert one where nobody listens.

    Args:
        address: path of the manager's socket, or ``@`` and an abstract name; empty where there is none.
        log_error: takes a stable code and the first error.
    """

    __slots__ = ("_address", "_log_error", "_told")

    def __init__(self, address: str, log_error: Callable[[str, BaseException], None]) -> None:
        self._address = address
        self._log_error = log_error
        self._told = False

    @property
    def heard(self) -> bool:
        """Whether there is a manager that listens."""
        return bool(self._address)

    def send(self, **assignments: str | int) -> None:
        """Send assignments in one datagram, such as ``READY=1``; a value is one line."""
        if not self._address:
            return
        lines = (f"{name}={_one_line(str(value))}\n" for name, value in assignments.items())
        try:
            self._send("".join(lines).encode())
        except (OSError, ValueError) as error:
            if not self._told:
                self._told = True
                self._log_error("service_manager_unreachable", error)

    def _send(self, datagram: bytes) -> None:
        family = getattr(socket, "AF_UNIX", None)
        if family is None or self._address[0] not in "/@":
            raise ValueError(f"{SOCKET_VARIABLE} names no Unix socket of this machine")
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with socket.socket(family, socket.SOCK_DGRAM) as sending:
            sending.settimeout(_SEND_S)
            sending.sendto(datagram, address)


def _one_line(value: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in value[:_VALUE_MAX_CHARS])


def watchdog_seconds(environ: Mapping[str, str], pid: int) -> float | None:
    """Return within how many seconds the manager wants a sign of life each time; None where it wants none from us."""
    if environ.get(WATCHDOG_PID_VARIABLE, str(pid)) != str(pid):
        return None
    text = environ.get(WATCHDOG_VARIABLE, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - digits of the largest 64-bit number
        return None
    seconds = int(text) / _USEC
    return min(seconds, _WATCHDOG_MAX_S) if seconds > 0 else None


def monotonic_usec() -> int:
    """Return microseconds on the clock that the manager compares with; 0 where the platform has none."""
    clock = getattr(time, "CLOCK_MONOTONIC", None)
    return 0 if clock is None else time.clock_gettime_ns(clock) // 1_000
