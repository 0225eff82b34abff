"""Claims about writing LLSD binary."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import llsd
import pytest

from live_grid.llsd import Uri, read_llsd_binary_untrusted, write_llsd_binary

PLAIN = [
    None,
    True,
    False,
    7,
    -1,
    2.5,
    UUID(int=5),
    b"raw",
    "text \u00e9",
    [],
    {},
    [1, ["a"], {"k": b""}],
    {"a": [None]},
]


@pytest.mark.parametrize("value", PLAIN, ids=range(len(PLAIN)))
def test_what_the_library_writes_well_is_written_the_same(value):
    """Spec: LIV-4 — byte for byte what the library of Linden Lab writes, where that can be trusted."""
    assert write_llsd_binary(value) == llsd.format_binary(value)
    assert read_llsd_binary_untrusted(write_llsd_binary(value)) == value


def test_a_uri_stays_a_uri():
    """Spec: LIV-4 — the library writes it as a plain string in this coding; the kind survives here."""
    back = read_llsd_binary_untrusted(write_llsd_binary({"seed": Uri("http://127.0.0.1/cap")}))
    assert isinstance(back["seed"], Uri)
    assert write_llsd_binary(Uri("a")) == b"<?llsd/binary?>\nl\x00\x00\x00\x01a"


def test_a_date_keeps_its_fraction():
    """Spec: LIV-4 — the library cuts it to whole seconds in this coding."""
    moment = datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC)
    back = read_llsd_binary_untrusted(write_llsd_binary(moment))
    assert abs(back - moment) < timedelta(milliseconds=1)
