"""Answering a turn's questions: at once from what the session knows, or by an errand.

Owns which port answers which question, and how each answer comes to be; causes nothing. One is made a turn, bound
to its own conversation: no other can be read through it (Spec: MEM-1, MEM-7, MND-13). Pure.

Invariant: what is answered here is what the avatar sees, said and was told now; what is looked up elsewhere comes
back as a value of the query's own answer, or as nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent.authority import TextSource
from gridagent.conversation.entries import Entry, Heard, Said
from gridagent.conversation.keys import ConversationKey
from gridagent.events import ParcelView
from gridagent.ids import AvatarId
from gridagent.limits import CHAT_MAX_BYTES, clip_bytes
from gridagent.memory.facts import NotKept, Reader, learn
from gridagent.memory.recall import RecallQuestion
from gridagent.mind import Surroundings
from gridagent.thinking.words import AskGrid, AskMemory, AskSql, KeepFact, Question
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Answered, Broke, ToolOutcome
from gridagent.tools.look import (
    FindRegion,
    GetTime,
    LookAtParcel,
    QueryMemory,
    ReadConversation,
    RecallMemory,
    Remember,
    SearchInventory,
    look,
    plain,
    tell_time,
)
from gridagent.tools.ports import LinesRead, LineView, OneParcel
from gridagent.tools.work import Query

__all__ = ("ALWAYS", "Sight")

ALWAYS: Final = frozenset({Port.VIEW, Port.PARCEL, Port.CONVERSATION, Port.CLOCK})
"""Ports that need nothing but the session."""


class Sight:
    """What one turn can look at.

    Args:
        around: the session's view.
        parcel: where the avatar stands, once known.
        key: the turn's conversation.
        read: returns what is kept of that conversation.
        source: label of whoever's words the turn answers.
        told_by: their UUID.
    """

    __slots__ = ("_around", "_key", "_parcel", "_read", "_source", "_told_by")

    def __init__(
        self,
        *,
        around: Surroundings,
        parcel: Callable[[], ParcelView | None],
        key: ConversationKey,
        read: Callable[[], tuple[Entry, ...]],
        source: TextSource,
        told_by: AvatarId | None,
    ) -> None:
        self._around = around
        self._parcel = parcel
        self._key = key
        self._read = read
        self._source = source
        self._told_by = told_by

    def ask(self, query: Query, wall: float, *, tainted: bool) -> ToolOutcome | Question:  # noqa: PLR0911 - a row a return
        """Answer a question, or say what has to be asked elsewhere.

        Args:
            query: the question.
            wall: wall clock now, in seconds.
            tainted: whether the turn has read words of somebody without authority.
        """
        match query:
            case LookAtParcel():
                parcel = self._parcel()
                return Answered(answer=None if parcel is None else OneParcel(parcel=parcel))
            case GetTime():
                return Answered(answer=tell_time(wall))
            case ReadConversation(limit=limit):
                return self._lines(limit, wall)
            case FindRegion() | SearchInventory():
                return AskGrid(query)
            case RecallMemory(words=words, limit=limit):
                return AskMemory(RecallQuestion(reader=self._reader, words=words, limit=limit), wall)
            case QueryMemory(sql=sql):
                return AskSql(self._reader, sql)
            case Remember(text=text, about=about):
                fact = learn(
                    text,
                    reader=self._reader,
                    source=self._source,
                    told_by=self._told_by,
                    about=about,
                    tainted=tainted,
                    at=wall,
                    region=self._around.region,
                )
                return Answered(answer=None) if isinstance(fact, NotKept) else KeepFact(fact)
            case _ if query.port is Port.VIEW:
                return Answered(answer=look(query, self._around))
            case _:
                return Broke()

    @property
    def _reader(self) -> Reader:
        return Reader(scope=self._key.scope, private=self._key.private)

    def _lines(self, limit: int, wall: float) -> Answered:
        told = [each for each in self._read() if isinstance(each, Heard | Said)]
        lines = tuple(self._line(each, wall) for each in told[-limit:])
        tainted = any(each.tainted for each in told[-limit:])
        return Answered(answer=LinesRead(lines=lines, more=len(told) - len(lines)), tainted=tainted)

    def _line(self, entry: Heard | Said, wall: float) -> LineView:
        who, avatar_id = self._around.name, self._around.self_id
        if isinstance(entry, Heard):
            who, avatar_id = plain(entry.who), entry.avatar_id
        return LineView(
            who=who,
            avatar_id=avatar_id,
            text=clip_bytes(plain(entry.text), CHAT_MAX_BYTES),
            seconds_ago=max(0.0, wall - entry.at),
        )
