"""Rows are typed where they are read."""

from __future__ import annotations

import apsw
import pytest

from gridagent.storage.base import LedgerRefused, StorageFailed, StorageFault
from gridagent.storage.database import refused_when_damaged
from gridagent.storage.rows import each, one, select


def test_rows_come_back_as_the_types_that_were_named() -> None:
    """All of them, the first of them, or none."""
    connection = apsw.Connection(":memory:")
    sql = "SELECT value, 'x' FROM json_each('[1, 2]') WHERE value > ?"
    assert select(connection, tuple[int, str], sql, (0,)) == [(1, "x"), (2, "x")]
    assert list(each(connection, tuple[int, str], sql, (1,))) == [(2, "x")]
    assert one(connection, tuple[int, str], sql, (1,)) == (2, "x")
    assert one(connection, tuple[int, str], sql, (9,)) is None


def test_a_value_of_another_type_is_damage() -> None:
    """Something else changed the database; it is not taken for what it isn't. Fault: 41."""
    with pytest.raises(StorageFailed) as failed:
        select(apsw.Connection(":memory:"), tuple[int], "SELECT 'text'")
    assert failed.value.fault is StorageFault.CORRUPT


def test_damage_at_start_is_told_from_a_failing_disk() -> None:
    """A value of another type refuses the database; a failing disk does not. Fault: 39, 41."""
    with pytest.raises(LedgerRefused, match="is damaged"), refused_when_damaged("x"):
        raise StorageFailed(StorageFault.CORRUPT, "a value")
    with pytest.raises(StorageFailed), refused_when_damaged("x"):
        raise StorageFailed(StorageFault.IO_ERROR)
