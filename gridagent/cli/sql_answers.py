"""Answers to questions in SQL about one conversation, in the words of the tools (Spec: MEM-6, MEM-7).

Owns the way from a question to its answer: storage hands out what the reading conversation sees, and the blocking
port runs the question over a copy of that. Made by the composition root, one a service; decides nothing.

Invariant: only what the reading conversation sees is ever handed to the question.
"""

from __future__ import annotations

from gridagent.ids import AvatarKey
from gridagent.memory.facts import Reader
from gridagent.runtime.ports import Ports
from gridagent.storage.base import Store
from gridagent.tools.ports import TableRead

__all__ = ("SqlAnswers",)


class SqlAnswers:
    """Asks one store.

    Args:
        store: what is remembered.
        ports: the clock, and where the question runs.
    """

    __slots__ = ("_ports", "_store")

    def __init__(self, store: Store, ports: Ports) -> None:
        self._store = store
        self._ports = ports

    async def ask(self, avatar: AvatarKey, reader: Reader, sql: str) -> TableRead:
        """Answer one question.

        Args:
            avatar: ours.
            reader: the conversation that asks; it is asked about itself and what it sees.
            sql: as the model wrote it.

        Raises:
            SqlRefused: it is not one read-only question within its bounds.
            StorageFailed: what is remembered cannot be read.

        Cancellation: safe; a question that runs ends by its own bounds.
        """
        from gridagent.storage.sql_question import answer_sql  # noqa: PLC0415 - SQLite only where it is used

        readable = await self._store.readable(avatar, reader)
        clock = self._ports.clock.wall  # the other clock belongs to the loop and cannot be read in a thread
        wall = clock()
        found = await self._ports.blocking.run(
            lambda: answer_sql(readable, sql, wall=wall, seconds=clock), name="memory question"
        )
        return TableRead(columns=found.columns, rows=found.rows, cut=found.cut)
