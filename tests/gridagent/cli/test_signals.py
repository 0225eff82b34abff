"""Signals."""

from __future__ import annotations

import signal

import pytest
import trio

from gridagent.cli import signals
from gridagent.cli.signals import Summons, attend, signals_here


async def test_each_signal_asks_for_its_own() -> None:
    """SIGINT and SIGTERM end, SIGUSR1 holds, SIGHUP reloads. Spec: OPS-4, POL-12."""
    heard: list[Summons] = []
    async with trio.open_nursery() as nursery:
        await nursery.start(attend, heard.append)
        for number, summons in signals_here().items():
            signal.raise_signal(number)
            with trio.fail_after(5):
                while summons not in heard:
                    await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert heard == [Summons.INTERRUPT, Summons.TERMINATE, Summons.HOLD, Summons.RELOAD]


def test_a_platform_without_a_signal_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no SIGUSR1 and no SIGHUP. Spec: OPS-7."""
    monkeypatch.delattr(signals.signal, "SIGUSR1")
    monkeypatch.delattr(signals.signal, "SIGHUP")
    assert set(signals_here().values()) == {Summons.INTERRUPT, Summons.TERMINATE}
