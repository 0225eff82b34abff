"""Writing LLSD: what cannot be said is refused."""

from __future__ import annotations

from datetime import datetime

import pytest

from live_grid.errors import LocalProtocolError
from live_grid.llsd import (
    Uri,
    write_llsd_binary,
    write_llsd_notation,
    write_llsd_xml,
)


class Odd:
    """A type LLSD has no word for."""


def deep(levels: int) -> list[object]:
    """Nest lists."""
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        2**31,
        float("nan"),
        float("inf"),
        Odd(),
        {"a": Odd()},
        deep(64),
        "\ud800",
        Uri("\ud800"),
        {"\ud800": 1},
        datetime(2026, 1, 1),  # noqa: DTZ001 - the point
    ],
)
@pytest.mark.parametrize("write", [write_llsd_xml, write_llsd_binary, write_llsd_notation])
def test_what_llsd_cannot_say_is_our_own_mistake(write, value) -> None:
    """Nothing is written that our own reader would refuse."""
    with pytest.raises(LocalProtocolError):
        write(value)
