"""Runs and connections of each avatar, counted so that no number is used twice (Spec: SUP-5).

Owns the columns ``run`` and ``generation`` of the table ``avatar``. Called inside transactions. Invariant:
both only grow; a connection's number is stored before the connection is opened.
"""

from __future__ import annotations

import apsw

from gridagent.ids import AvatarKey, Generation
from gridagent.storage.records import GenerationUsed
from gridagent.storage.rows import select

__all__ = ("begin_run", "use")


def begin_run(connection: apsw.Connection, avatar: AvatarKey) -> tuple[int, Generation]:
    """Count one more run; return its number and the last connection's."""
    ((run, generation),) = select(
        connection,
        tuple[int, Generation],
        "INSERT INTO avatar VALUES (?, 1, 0, NULL, NULL, 0, 0) ON CONFLICT DO UPDATE SET run = run + 1"
        " RETURNING run, generation",
        (avatar,),
    )
    return run, generation


def use(connection: apsw.Connection, record: GenerationUsed) -> bool:
    """Note that a connection begins; False when one with this or a higher number was before."""
    connection.execute(
        "INSERT INTO avatar VALUES (?1, 0, ?2, NULL, NULL, 0, 0) ON CONFLICT DO UPDATE SET generation = ?2"
        " WHERE generation < ?2",
        (record.avatar, record.number),
    )
    return connection.changes() > 0
