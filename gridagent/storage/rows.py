"""What SQLite returns, checked against the types that the caller names.

Owns the one way to read rows, so that a value of another type than its column should hold is found where it
is read. Called by the record families inside transactions. Invariant: nothing untyped leaves here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import apsw
import msgspec

from gridagent.storage.base import StorageFailed, StorageFault

__all__ = ("each", "one", "select")

T = TypeVar("T")


def each(connection: apsw.Connection, kind: type[T], sql: str, bound: Iterable[apsw.SQLiteValue] = ()) -> Iterator[T]:
    """Yield each row as a ``kind``, for example ``tuple[int, str]``.

    Raises:
        StorageFailed: a value is of another type: the database was changed by something else.
    """
    try:
        for row in connection.execute(sql, tuple(bound)):
            yield msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        raise StorageFailed(StorageFault.CORRUPT, f"unexpected value: {error}"[:256]) from error


def select(connection: apsw.Connection, kind: type[T], sql: str, bound: Iterable[apsw.SQLiteValue] = ()) -> list[T]:
    """Return every row; see `each`."""
    return list(each(connection, kind, sql, bound))


def one(connection: apsw.Connection, kind: type[T], sql: str, bound: Iterable[apsw.SQLiteValue] = ()) -> T | None:
    """Return the first row, or None; see `each`."""
    return next(iter(select(connection, kind, sql, bound)), None)
