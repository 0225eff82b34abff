"""From any schema this code knows to the newest, in one transaction.

Owns the numbered steps; `gridagent.storage.schema` owns the SQL. Called by `gridagent.storage.database` when
a file is opened. Invariants: a step is never changed once it was released; a file that cannot be brought up
to date is left exactly as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import apsw

from gridagent.storage.schema import APPLICATION_ID, SCHEMA_1, SCHEMA_2

__all__ = ("MIGRATIONS", "Migration", "expected_schema", "migrate", "schema_of")

Migration: TypeAlias = tuple[str, ...]
"""SQL that leads from one version to the next."""

MIGRATIONS: Final[tuple[Migration, ...]] = (SCHEMA_1, SCHEMA_2)
"""Step *n* (counted from 1) leads to version *n*."""

SchemaRow: TypeAlias = tuple[str, str, str]


def migrate(connection: apsw.Connection, *, found: int, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a database from version ``found`` to the newest; 0 is an empty file.

    Raises:
        apsw.Error: a step failed; then nothing was changed.
    """
    if found >= len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in migrations[found:]:
            for statement in step:
                connection.execute(statement)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", len(migrations))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def schema_of(connection: apsw.Connection) -> frozenset[SchemaRow]:
    """Return every table and index of ours as ``(kind, name, sql)``; what SQLite makes behind a search is its own."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
        " AND tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')"
    )
    return frozenset((str(kind), str(name), str(sql)) for kind, name, sql in rows)


def expected_schema(migrations: Sequence[Migration] = MIGRATIONS) -> frozenset[SchemaRow]:
    """Return what `schema_of` says of a database that took every step."""
    with apsw.Connection(":memory:") as connection:
        for step in migrations:
            for statement in step:
                connection.execute(statement)
        found = schema_of(connection)
    connection.close()
    return found
