"""Claims about what answers a mind's errands."""

import pytest
import trio

from gridagent.authority import TextSource
from gridagent.cli.answering import AvatarFaculties
from gridagent.cli.sql_answers import SqlAnswers
from gridagent.language import FailureKind, LlmFailure, LlmReply, LlmRequest, UserTurn
from gridagent.memory.facts import Reader, learn
from gridagent.memory.recall import RecallQuestion
from gridagent.mind import ErrandFailed
from gridagent.runtime.deterministic import simulated_ports
from gridagent.storage.memory import MemoryStore
from gridagent.storage.sql_question import SqlRefused
from gridagent.thinking.words import AskGrid, AskMemory, AskSql, KeepFact, Think
from gridagent.tools.look import FindRegion, SearchInventory
from gridagent.tools.ports import InventoryFound, RegionFound, Remembered

ANN = "00000000-0000-4000-8000-0000000000b1"
REQUEST = LlmRequest(turns=(UserTurn(text="hello"),))
REFUSED = ErrandFailed(code="refused")


class Model:
    """Says one thing, or fails."""

    def __init__(self, answer):
        self.answer = answer

    async def complete(self, request):
        await trio.lowlevel.checkpoint()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Grid:
    """Knows one region and no items."""

    async def find_region(self, region):
        await trio.lowlevel.checkpoint()
        return RegionFound(region=region, online=True, avatars=1)

    async def search(self, *, words, kind, limit):
        await trio.lowlevel.checkpoint()
        return InventoryFound(items=(), more=limit)


def faculties(answer=None, store=None):
    """Build faculties."""
    return AvatarFaculties("robin", Model(answer), store)


async def test_the_model_is_asked_and_its_failure_is_an_error_of_ours():
    """Spec: MND-1, MND-3 — the reply comes back as it is; a failure is raised typed."""
    reply = LlmReply(text="hi")
    assert await faculties(reply).perform(Think(REQUEST), None) is reply
    with pytest.raises(LlmFailure):
        await faculties(LlmFailure(FailureKind.TIMEOUT)).perform(Think(REQUEST), None)


async def test_the_grid_is_asked_where_it_can_be():
    """Spec: MND-13 — a region, the inventory; a grid without such look-ups refuses."""
    found = await faculties().perform(AskGrid(FindRegion(region="Annex")), Grid())
    assert found.region == "Annex"
    assert (await faculties().perform(AskGrid(SearchInventory(limit=3)), Grid())).more == 3
    assert await faculties().perform(AskGrid(SearchInventory()), object()) == REFUSED
    assert await faculties().perform(AskGrid(FindRegion(region="Annex")), object()) == REFUSED


async def test_facts_are_kept_once_and_recalled_by_who_may_read_them():
    """Spec: MEM-4, MEM-7 — new the first time only; what was learnt in an IM is recalled in that IM alone."""
    store = MemoryStore(simulated_ports(0).clock)
    await store.open_avatar("robin")
    mine = faculties(store=store)
    private = Reader(scope=f"im:{ANN}@g", private=True)
    fact = learn(
        "Ann likes cake", reader=private, source=TextSource.OWNER, told_by=ANN, about=ANN, tainted=False, at=1e9
    )
    assert await mine.perform(KeepFact(fact), None) == Remembered(new=True)
    assert await mine.perform(KeepFact(fact), None) == Remembered(new=False)
    for reader, texts in ((private, ["Ann likes cake"]), (Reader(scope="public:x@g", private=False), [])):
        question = RecallQuestion(reader=reader, words="cake")
        found = await mine.perform(AskMemory(question, 1e9 + 86_400), None)
        assert [each.text for each in found.facts] == texts
        assert all((each.source, each.days_ago) == ("owner", 1.0) for each in found.facts)


async def test_a_question_in_sql_is_answered_over_what_the_conversation_sees():
    """Spec: MEM-6, MEM-7 — its own facts and nothing else; what may not be asked is refused typed."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    mine = AvatarFaculties("robin", Model(None), store, SqlAnswers(store, ports))
    private = Reader(scope=f"im:{ANN}@g", private=True)
    fact = learn("likes cake", reader=private, source=TextSource.OWNER, told_by=ANN, about=ANN, tainted=False, at=1e9)
    await mine.perform(KeepFact(fact), None)
    found = await mine.perform(AskSql(private, "SELECT text FROM facts"), None)
    assert found.rows == (("likes cake",),)
    elsewhere = Reader(scope="im:other@g", private=True)
    assert (await mine.perform(AskSql(elsewhere, "SELECT text FROM facts"), None)).rows == ()
    with pytest.raises(SqlRefused):
        await mine.perform(AskSql(private, "DELETE FROM facts"), None)


async def test_without_storage_nothing_is_remembered_and_unknown_errands_are_refused():
    """Spec: MEM-4 — no store: neither kept nor recalled; an errand of an unknown kind causes nothing."""
    question = RecallQuestion(reader=Reader(scope="s", private=False), words="cake")
    for what in (AskMemory(question, 0.0), AskSql(question.reader, "SELECT 1"), KeepFact(None), "anything"):
        assert await faculties().perform(what, None) == REFUSED
