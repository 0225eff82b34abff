"""Claims about questions in SQL, from the tool's words to storage and back."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.authority import TextSource
from gridagent.cli.sql_answers import SqlAnswers
from gridagent.conversation.changes import EntryAdded
from gridagent.conversation.entries import Heard
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.memory.facts import Reader
from gridagent.runtime.deterministic import simulated_ports
from gridagent.storage import MemoryStore
from gridagent.storage.records import Learnt
from gridagent.storage.sql_question import SqlProblem, SqlRefused
from gridagent.tools.envelope import RESULT_MAX_BYTES
from gridagent.tools.ports import TableRead

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
BEN = "0b0b0b0b-0000-4000-8000-000000000002"


def key(peer=ANN):
    """Return an IM with somebody."""
    return PersonKey(avatar="robin", grid="g", peer=peer, channel=Channel.IM)


async def answers():
    """Return answers over a store in which Ann and Ben each said something."""
    ports = simulated_ports(1)
    store = MemoryStore(ports.clock)
    for number, (peer, text) in enumerate(((ANN, "hello"), (BEN, "canary")), 1):
        heard = Heard(at=1.0, tainted=True, who="Somebody", source=TextSource.STRANGER, text=text)
        await store.commit(Learnt(avatar="robin", change=EntryAdded(key=key(peer), number=number, entry=heard)))
    return SqlAnswers(store, ports)


async def test_a_question_is_answered_from_its_own_conversation(autojump_clock) -> None:
    """Spec: MEM-6, MEM-7 — the reading conversation is all that there is, whatever is asked."""
    asked = await answers()
    reader = Reader(scope=key().scope, private=True)
    assert await asked.ask("robin", reader, "SELECT text FROM lines") == TableRead(
        columns=("text",), rows=(("hello",),), cut=False
    )
    nobody = Reader(scope="public:nobody@g", private=False)
    assert (await asked.ask("robin", nobody, "SELECT count(*) FROM lines")).rows == ((0,),)
    assert (await asked.ask("wren", reader, "SELECT count(*) FROM lines")).rows == ((0,),)


async def test_a_question_that_is_none_is_refused(autojump_clock) -> None:
    """Spec: MEM-6 — typed, with a sentence of ours."""
    asked = await answers()
    with pytest.raises(SqlRefused) as refused:
        await asked.ask("robin", Reader(scope=key().scope, private=True), "PRAGMA user_version")
    assert refused.value.problem is SqlProblem.FORBIDDEN


async def test_the_longest_answer_fits_into_a_result(autojump_clock) -> None:
    """Spec: MEM-6, MND-5 — rows and bytes are bounded below what a tool's result may hold."""
    asked = await answers()
    sql = "SELECT replace(replace('" + "x" * 900 + "', 'x', 'yy'), 'y', '\N{SNOWMAN}') FROM lines a"
    found = await asked.ask("robin", Reader(scope=key().scope, private=True), sql)
    assert found.rows
    assert len(msgspec.json.encode(found)) < RESULT_MAX_BYTES
