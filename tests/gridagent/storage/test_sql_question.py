"""A question in SQL reads what its conversation sees, and can do nothing else."""

from __future__ import annotations

import itertools
from contextlib import suppress

import apsw
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.conversation.changes import StoredEntry
from gridagent.limits import SQL_ANSWER_MAX_BYTES, SQL_ROWS_MAX
from gridagent.storage import sql_question
from gridagent.storage.learnt import LearntInMemory
from gridagent.storage.records import Readable
from gridagent.storage.sql_question import SqlProblem, SqlRefused, answer_sql

NOTHING = Readable(entries=(), facts=())


@pytest.fixture
def asked(make):
    """Ask a question in the IM with Ann, beside which there is one with Ben and public talk."""
    memory = LearntInMemory()
    for record in make.learnt():
        memory.learn(record.change)
    memory.learn(make.added(9, make.heard("canary"), make.key(make.ben)).change)
    memory.learn(make.fact("canary fact", key_=make.key(make.ben)).change)

    def ask(sql, *, wall=101.0):
        return answer_sql(memory.readable(make.reads(make.key())), sql, wall=wall, seconds=lambda: 0.0)

    return ask


def ask_nothing(sql):
    """Ask a conversation in which nothing was said."""
    return answer_sql(NOTHING, sql, wall=0.0, seconds=lambda: 0.0)


def refusal(sql):
    """Return why a question is refused."""
    with pytest.raises(SqlRefused) as refused:
        ask_nothing(sql)
    return refused.value.problem


def test_what_was_said_and_learnt_can_be_asked_for(asked) -> None:
    """Spec: MEM-6 — columns by name, rows in order, and nothing was cut."""
    found = asked("SELECT said_at, who, source, text, seconds_ago FROM lines ORDER BY said_at")
    assert found.columns == ("said_at", "who", "source", "text", "seconds_ago")
    assert found.rows == (
        ("1970-01-01 00:01:40", "Ann", "stranger", "hello", 1.0),
        ("1970-01-01 00:01:41", "me", "me", "hello Ann", 0.0),
    )
    assert not found.cut
    facts = asked("SELECT text, source, region FROM facts ORDER BY text")
    assert facts.rows == (("Ann likes tea", "owner", ""), ("the café is shut", "stranger", "Plaza"))
    assert asked("SELECT count(*) AS n, max(length(text)) FROM lines").columns[0] == "n"


def test_rows_of_another_conversation_are_not_there(asked) -> None:
    """Spec: MEM-7 — no question, however it is put, brings back a text of another key."""
    for everything, counted in (
        ("SELECT * FROM lines", "SELECT count(*) FROM lines WHERE text LIKE '%canary%'"),
        ("SELECT * FROM facts", "SELECT count(*) FROM facts WHERE text LIKE '%canary%'"),
    ):
        assert "canary" not in repr(asked(everything).rows)
        assert asked(counted).rows == ((0,),)


def test_a_thread_sees_its_summary_as_memory(make) -> None:
    """Spec: MEM-3 — what was summed up is shown, and labelled as what it is."""
    memory = LearntInMemory()
    for record in make.learnt():
        memory.learn(record.change)
    thread = make.learnt()[4].change.key
    readable = memory.readable(make.reads(thread))
    found = answer_sql(readable, "SELECT who, source, text FROM lines", wall=0.0, seconds=lambda: 0.0)
    assert found.rows == (("summary", "memory", "[stranger] Ann: hm"),)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM sqlite_schema",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM entry",
        "SELECT * FROM pragma_table_info('lines')",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM json_each('[1]')",
        "SELECT * FROM dbstat",
        "SELECT * FROM bytecode('SELECT 1')",
        "PRAGMA query_only = 0",
        "PRAGMA table_info(lines)",
        "PRAGMA writable_schema = 1",
        "PRAGMA temp_store_directory = '/x'",
        "ATTACH ':memory:' AS other",
        "ATTACH '/etc/passwd' AS other",
        "DETACH main",
        "VACUUM INTO '/x'",
        "VACUUM",
        "INSERT INTO lines (text) VALUES ('x')",
        "UPDATE facts SET text = 'x'",
        "DELETE FROM facts",
        "REPLACE INTO facts (text) VALUES ('x')",
        "DROP TABLE lines",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON lines BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE x USING fts5(y)",
        "ALTER TABLE lines ADD COLUMN z",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT s",
        "SELECT load_extension('x')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/x', 'y')",
        "SELECT randomblob(1000000000)",
        "SELECT zeroblob(1000000000)",
        "SELECT random()",
        "SELECT datetime('now')",
        "SELECT strftime('%s', 'now')",
        "SELECT unixepoch()",
        "SELECT printf('%1000000d', 1)",
        "SELECT format('%1000000d', 1)",
        "SELECT hex(text) FROM lines",
        "SELECT char(65)",
        "SELECT sqlite_version()",
        "SELECT sqlite_compileoption_get(1)",
        "SELECT changes()",
        "SELECT last_insert_rowid()",
        "SELECT fts5(1)",
        "SELECT json('[1]')",
        "SELECT text REGEXP 'a' FROM lines",
        "SELECT text MATCH 'a' FROM lines",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x",
        "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 9) SELECT * FROM x",
        "SELECT 1; SELECT 2",
        "SELECT 1; DELETE FROM lines",
        "",
        " ",
        ";",
        "nonsense",
        "SELECT FROM",
        "SELECT * FROM lines WHERE ?",
        "SELECT \x00 1",
        "SELECT '\ud800'",
        "SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5",
        "SELECT " + "(" * 200 + "1" + ")" * 200,
        "SELECT " + "-" * 60 + "1",
    ],
)
def test_everything_else_is_refused(sql) -> None:
    """Spec: MEM-6 — no other table, pragma, attachment, function, recursion, write, or second statement."""
    if sql.startswith("SELECT (") or sql in {"", " ", ";", "REINDEX"}:
        assert ask_nothing(sql).rows in {(), ((1,),)}, "nothing was asked, nothing is indexed, or a plain number"
        return
    with pytest.raises(SqlRefused) as refused:
        ask_nothing(sql)
    assert refused.value.problem in {SqlProblem.FORBIDDEN, SqlProblem.MALFORMED}
    assert not set("'\"/") & set(str(refused.value)), "the sentence is ours"


def test_every_action_that_is_not_listed_is_refused() -> None:
    """Spec: MEM-6 — the authorizer names what may be, so that a new kind of action is refused by itself."""
    actions = {value for value in apsw.mapping_authorizer_function if isinstance(value, int)}
    assert len(actions) > 30
    allowed = set()
    for action, name in itertools.product(actions, [*sql_question.TABLES, "count", "entry", "load_extension", None]):
        for first, second in ((name, None), (None, name), (name, name)):
            if sql_question._allows(action, first, second, "main", None) == apsw.SQLITE_OK:
                allowed.add((apsw.mapping_authorizer_function[action], first, second))
    assert {each[0] for each in allowed} == {"SQLITE_SELECT", "SQLITE_READ", "SQLITE_FUNCTION"}
    assert {each[1] for each in allowed if each[0] == "SQLITE_READ"} == set(sql_question.TABLES)
    assert {each[2] for each in allowed if each[0] == "SQLITE_FUNCTION"} == {"count"}


def test_a_question_that_is_too_long_is_not_looked_at() -> None:
    """Spec: MEM-6 — 4 KiB of SQL say all that need be said."""
    assert refusal("SELECT '" + "x" * 5_000 + "'") is SqlProblem.TOO_LONG
    assert refusal("SELECT '" + "\N{SNOWMAN}" * 1_400 + "'") is SqlProblem.TOO_LONG


@pytest.fixture
def full(make):
    """A conversation of as many lines and facts as there may be."""
    memory = LearntInMemory()
    for number in range(256):
        memory.learn(make.added(number + 1, make.heard("x" * 1_000)).change)
    for number in range(1_024):
        memory.learn(make.fact(f"{number} {'y' * 400}").change)
    return memory.readable(make.reads(make.key()))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM facts a, facts b, facts c, lines d",
        "SELECT a.text || b.text FROM facts a, facts b ORDER BY b.text || a.text DESC LIMIT 1",
        "SELECT DISTINCT a.text || b.text || c.text FROM facts a, facts b, facts c LIMIT 1 OFFSET 1000000000",
        "SELECT group_concat(a.text) FROM facts a, facts b",
        "SELECT count(*) FROM lines a, lines b, lines c WHERE a.text || b.text || c.text LIKE '%x%x%x%x%x%x%x%y%'",
        "SELECT max(replace(replace(a.text, 'x', 'xxxxxxxxxxxx'), 'x', 'yyyyyyy')) FROM lines a, lines b, lines c",
    ],
)
def test_a_bomb_ends_within_its_bounds(full, sql) -> None:
    """Spec: MEM-6 — instructions, memory and the size of a value are bounded, and the answer is a typed refusal."""
    before = apsw.memory_used()
    apsw.memory_high_water(True)
    with pytest.raises(SqlRefused) as refused:
        answer_sql(full, sql, wall=0.0, seconds=lambda: 0.0)
    assert refused.value.problem in {SqlProblem.TOO_MUCH, SqlProblem.MALFORMED}
    assert apsw.memory_high_water(True) - before < 2 * sql_question.MEMORY_MAX_BYTES
    assert apsw.memory_used() - before < 1 << 20, "everything was given back"


def test_memory_is_a_bound_of_its_own(full, monkeypatch) -> None:
    """Spec: MEM-6 — a question that sorts much text ends by what it holds, long before it ran out of instructions."""
    monkeypatch.setattr(sql_question, "INSTRUCTIONS_MAX", 2_000_000)
    monkeypatch.setattr(sql_question, "MEMORY_MAX_BYTES", 4 << 20)
    before = apsw.memory_used()
    apsw.memory_high_water(True)
    with pytest.raises(SqlRefused) as refused:
        answer_sql(
            full,
            "SELECT DISTINCT a.text || b.text || c.text FROM facts a, facts b, facts c LIMIT 1 OFFSET 1000000000",
            wall=0.0,
            seconds=lambda: 0.0,
        )
    assert refused.value.problem is SqlProblem.TOO_MUCH
    assert apsw.memory_high_water(True) - before < 8 << 20


def test_time_is_a_bound_of_its_own(full) -> None:
    """Spec: MEM-6 — where the clock runs, a question ends by it, however few instructions it took."""
    ticks = itertools.count(0.0, 0.1)
    with pytest.raises(SqlRefused) as refused:
        answer_sql(full, "SELECT count(*) FROM facts a, facts b", wall=0.0, seconds=lambda: next(ticks))
    assert refused.value.problem is SqlProblem.TOO_MUCH
    assert next(ticks) < 2.0


def test_an_answer_is_cut_and_says_so(full) -> None:
    """Spec: MEM-6 — rows, columns, cells and bytes have their ceilings."""
    many = answer_sql(full, "SELECT days_ago FROM facts", wall=0.0, seconds=lambda: 0.0)
    assert (len(many.rows), many.cut) == (SQL_ROWS_MAX, True)
    large = answer_sql(full, "SELECT text FROM lines", wall=0.0, seconds=lambda: 0.0)
    assert large.cut
    assert len(repr(large.rows)) < SQL_ANSWER_MAX_BYTES + 1_000
    wide = ask_nothing("SELECT " + ", ".join(str(number) for number in range(20)))
    assert (len(wide.columns), len(wide.rows[0]), wide.cut) == (16, 16, True)
    long = answer_sql(full, "SELECT text || text || text FROM lines LIMIT 1", wall=0.0, seconds=lambda: 0.0)
    assert long.cut
    assert len(long.rows[0][0]) == 2_048


def test_no_bytes_are_shown() -> None:
    """A blob is told by its size."""
    assert ask_nothing("SELECT x'00ff', NULL, 1.5, 9223372036854775807").rows == (("(2 bytes)", None, 1.5, 2**63 - 1),)


def test_rows_that_cannot_be_read_are_left_out(make) -> None:
    """Spec: MEM-3 — a malformed row hides itself and nothing else; a time that is none has no date."""
    good = make.heard("hello", at=1e300)
    rows = (
        StoredEntry(number=1, key=b"", body=b"\x99"),
        StoredEntry(number=2, key=b"", body=b"\x91" * 100_000),
        StoredEntry(number=3, key=b"", body=msgspec.msgpack.encode(good)),
    )
    found = answer_sql(
        Readable(entries=rows, facts=()), "SELECT said_at, text FROM lines", wall=0.0, seconds=lambda: 0.0
    )
    assert found.rows == ((None, "hello"),)


@given(st.text(max_size=120))
def test_no_text_does_anything_but_be_answered_or_refused(text) -> None:
    """Spec: MEM-6 — whatever a model writes, the outcome is typed."""
    for sql in (text, "SELECT " + text, "SELECT text FROM lines WHERE " + text):  # noqa: S608 - the point
        with suppress(SqlRefused):
            assert len(ask_nothing(sql).rows) <= SQL_ROWS_MAX
