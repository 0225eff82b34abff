"""Reading LLSD of any coding: round trips, fuzz, and the choice by first bytes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_grid.errors import RemoteProtocolError
from live_grid.llsd import (
    LlsdValue,
    Uri,
    read_llsd_binary_untrusted,
    read_llsd_notation_untrusted,
    read_llsd_untrusted,
    read_llsd_xml_untrusted,
    write_llsd_binary,
    write_llsd_notation,
    write_llsd_xml,
)

READERS = [read_llsd_xml_untrusted, read_llsd_binary_untrusted, read_llsd_notation_untrusted, read_llsd_untrusted]
CODINGS = pytest.mark.parametrize(
    ("write", "read"),
    [
        (write_llsd_xml, read_llsd_xml_untrusted),
        (write_llsd_binary, read_llsd_binary_untrusted),
        (write_llsd_notation, read_llsd_notation_untrusted),
        (write_llsd_xml, read_llsd_untrusted),
        (write_llsd_binary, read_llsd_untrusted),
        (write_llsd_notation, read_llsd_untrusted),
    ],
    ids=["xml", "binary", "notation", "xml told", "binary told", "notation told"],
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.just("\n"), max_size=12).filter(
    lambda text: not {"\ufffe", "\uffff"} & set(text)
)
DATES = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2500, 1, 1)).map(  # noqa: DTZ001
    lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000, tzinfo=UTC)
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | TEXTS.map(Uri)
    | st.uuids()
    | st.binary(max_size=20)
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@CODINGS
@settings(max_examples=60, deadline=None)
@given(value=VALUES)
def test_every_value_is_read_as_it_was_written(write, read, value) -> None:
    """Round trip in each coding, types and all; the coding is told by the first bytes too."""
    again = read(write(value))
    assert again == value
    assert type(again) is type(value)


@CODINGS
@settings(max_examples=20, deadline=None)
@given(date=DATES)
def test_dates_are_read_as_they_were_written(write, read, date) -> None:
    """Dates are of UTC; binary ones are a real number of seconds, exact to a few microseconds."""
    again = read(write(date))
    assert again.tzinfo is UTC
    assert abs(again - date) < timedelta(milliseconds=1)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=120), reader=st.sampled_from(READERS), value=VALUES, at=st.integers(0, 200))
def test_any_bytes_give_a_value_or_the_one_error(data, reader, value, at) -> None:
    """Junk, and good documents with junk inside, raise `RemoteProtocolError` and nothing else. Fault: 12."""
    for write in (lambda _: b"", write_llsd_xml, write_llsd_binary, write_llsd_notation):
        good = write(value)
        try:
            result: LlsdValue = reader(good[:at] + data + good[at + len(data) :])
        except RemoteProtocolError:
            continue
        assert result is None or type(result) in {bool, int, float, str, bytes, UUID, datetime, list, dict, Uri}


def test_a_caller_can_lower_the_size() -> None:
    """The bound on bytes is checked before anything is read. Spec: BND-7."""
    for read, data in ((READERS[0], b"<llsd><undef/></llsd>"), (READERS[1], b"!" * 9), (READERS[2], b"'12345678'")):
        with pytest.raises(RemoteProtocolError, match="over the 5 allowed"):
            read(data, size_max=5)
