"""What answers a mind's errands: the model, the grid's own look-ups, and what storage remembers.

Owns the way from each question of `gridagent.thinking.words` to whoever knows; causes nothing in the world. Made by
the composition root, one an avatar; the session calls it in a worker of its own for each errand.

Invariant: what comes back is a value of the question's own answer, or an error of ours (Spec: MND-2, MND-18).
"""

from __future__ import annotations

from typing import Final

from gridagent.cli.sql_answers import SqlAnswers
from gridagent.grid.base import GridBackend
from gridagent.ids import AvatarKey
from gridagent.limits import Label
from gridagent.llm import LanguageModel
from gridagent.memory.facts import Fact, FactKept
from gridagent.mind import ErrandFailed
from gridagent.storage.base import Store
from gridagent.storage.records import Learnt
from gridagent.thinking.words import AskGrid, AskMemory, AskSql, KeepFact, Think
from gridagent.tools.look import FindRegion, SearchInventory
from gridagent.tools.ports import FactsFound, FactView, InventoryPort, MapPort, Remembered

__all__ = ("AvatarFaculties",)

_DAY_S: Final = 86_400.0
_REFUSED: Final = ErrandFailed(code="refused")


class AvatarFaculties:
    """One avatar's.

    Args:
        avatar: whose.
        model: thinks.
        store: remembers; None remembers nothing.
        tables: answers questions in SQL over it; None answers none.
    """

    __slots__ = ("_avatar", "_model", "_store", "_tables")

    def __init__(
        self, avatar: AvatarKey, model: LanguageModel, store: Store | None, tables: SqlAnswers | None = None
    ) -> None:
        self._avatar = avatar
        self._tables = tables
        self._model = model
        self._store = store

    async def perform(self, what: object, backend: GridBackend) -> object:  # noqa: PLR0911 - one branch an errand
        """Return what an errand brings; see `gridagent.session.faculties.Faculties`.

        Raises:
            LlmFailure: the model gave no usable reply.
            StorageFailed: what is remembered cannot be read or kept.
            SqlRefused: a question in SQL is not one that may be asked.

        Cancellation: safe; a fact may have been kept.
        """
        match what:
            case Think(request=request):
                return await self._model.complete(request)
            case AskGrid(query=FindRegion(region=region)) if isinstance(backend, MapPort):
                return await backend.find_region(region)
            case AskGrid(query=SearchInventory() as query) if isinstance(backend, InventoryPort):
                return await backend.search(words=query.words, kind=query.kind, limit=query.limit)
            case AskMemory() if self._store is not None:
                return await self._recall(what, self._store)
            case AskSql(reader=reader, sql=sql) if self._tables is not None:
                return await self._tables.ask(self._avatar, reader, sql)
            case KeepFact(fact=fact) if self._store is not None:
                (new,) = await self._store.commit(
                    Learnt(avatar=self._avatar, change=FactKept(avatar=self._avatar, fact=fact))
                )
                return Remembered(new=new)
            case _:
                return _REFUSED

    async def _recall(self, what: AskMemory, store: Store) -> FactsFound:
        facts = await store.recall(self._avatar, what.question)
        return FactsFound(facts=tuple(_view(fact, what.wall) for fact in facts))


def _view(fact: Fact, wall: float) -> FactView:
    source: Label = fact.source.value
    return FactView(text=fact.text, source=source, about=fact.about, days_ago=max(0.0, wall - fact.at) / _DAY_S)
