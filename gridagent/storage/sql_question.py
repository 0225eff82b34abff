"""A question in SQL about one conversation, answered without touching the database (Spec: MEM-6, MEM-7).

Owns the two tables that a question may name, what of SQL it may use, and how much it may cost. What the reading
conversation sees is copied into a connection of its own that lives for this one question; the question runs there,
read-only and judged by SQLite's authorizer. Blocks; called through the blocking port, in simulation and live alike.

Invariants: rows of another conversation are not there to be read, whatever the question says and whatever the
authorizer let pass; nothing but `TABLES` and `FUNCTIONS` can be named; a question ends within its bounds of
instructions, time and memory, and its answer within those of rows and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

import apsw
import msgspec
from msgspec import Meta

from gridagent.authority import TextSource
from gridagent.conversation.entries import Entry, Heard, Said, Summary
from gridagent.errors import ToolRetry
from gridagent.limits import KIB, MIB, SQL_ANSWER_MAX_BYTES, SQL_ROWS_MAX, SQL_TEXT_MAX_BYTES, Bounded, clip
from gridagent.storage.records import Readable

__all__ = ("FUNCTIONS", "TABLES", "SqlAnswer", "SqlProblem", "SqlRefused", "answer_sql")

COLUMNS_MAX: Final = 16
CELL_MAX_CHARACTERS: Final = 2_048
VALUE_MAX_BYTES: Final = 16 * KIB
"""Longest text that a question may make or read."""
INSTRUCTIONS_MAX: Final = 500_000
"""Of SQLite's virtual machine: some tens of milliseconds."""
MEMORY_MAX_BYTES: Final = 32 * MIB
SECONDS_MAX: Final = 0.5
_CHECKED_EVERY: Final = 500
_DAY_S: Final = 86_400.0
_NAME_MAX: Final = 64

TABLES: Final = {
    "lines": "CREATE TABLE lines (said_at TEXT, seconds_ago REAL, who TEXT, avatar_id TEXT, source TEXT, text TEXT)",
    "facts": "CREATE TABLE facts (learnt_at TEXT, days_ago REAL, text TEXT, source TEXT, about TEXT, region TEXT)",
}
"""What a question may read: what was said in this conversation, and the facts it sees."""
FUNCTIONS: Final = frozenset(
    {
        *("abs", "avg", "coalesce", "count", "glob", "group_concat", "ifnull", "iif", "instr", "length", "like"),
        *("lower", "ltrim", "max", "min", "nullif", "replace", "round", "rtrim", "string_agg", "substr", "substring"),
        *("sum", "total", "trim", "typeof", "upper"),
    }
)
"""Functions that a question may call: none that reads a clock, draws a number, loads, or makes something of nothing."""
_LIMITS: Final = (
    (apsw.SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES),
    (apsw.SQLITE_LIMIT_SQL_LENGTH, SQL_TEXT_MAX_BYTES),
    (apsw.SQLITE_LIMIT_COLUMN, 32),
    (apsw.SQLITE_LIMIT_EXPR_DEPTH, 64),
    (apsw.SQLITE_LIMIT_COMPOUND_SELECT, 4),
    (apsw.SQLITE_LIMIT_FUNCTION_ARG, 8),
    (apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 128),
    (apsw.SQLITE_LIMIT_ATTACHED, 0),
    (apsw.SQLITE_LIMIT_VARIABLE_NUMBER, 0),
    (apsw.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    (apsw.SQLITE_LIMIT_WORKER_THREADS, 0),
)
_entry: Final[msgspec.msgpack.Decoder[Entry]] = msgspec.msgpack.Decoder(Entry)

Cell: TypeAlias = str | int | float | None


class SqlProblem(StrEnum):
    """Why a question is not answered; stable, and safe to show to the model."""

    TOO_LONG = "too_long"
    FORBIDDEN = "forbidden"
    """It names something that it may not: only `TABLES` and `FUNCTIONS` are there."""
    MALFORMED = "malformed"
    """It is no SQL, or not one SELECT."""
    TOO_MUCH = "too_much"
    """It takes too many instructions, too long or too much memory."""


_SENTENCES: Final = {
    SqlProblem.TOO_LONG: f"a question has at most {SQL_TEXT_MAX_BYTES} bytes",
    SqlProblem.FORBIDDEN: "only one SELECT over the tables lines and facts is allowed, with simple functions",
    SqlProblem.MALFORMED: "the question is not one SELECT that SQLite understands",
    SqlProblem.TOO_MUCH: "the question is too much work; ask for less",
}


class SqlRefused(ToolRetry):
    """A question cannot be answered; the sentence is ours, never SQLite's."""

    code = "sql_refused"

    def __init__(self, problem: SqlProblem) -> None:
        self.problem = problem
        super().__init__(_SENTENCES[problem])


class SqlAnswer(Bounded, frozen=True, kw_only=True):
    """What a question brought; as untrusted as the text in it."""

    columns: Annotated[tuple[str, ...], Meta(max_length=COLUMNS_MAX)]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Meta(max_length=SQL_ROWS_MAX)]
    cut: bool
    """There is more than is shown: rows, columns, or the end of a long text."""


def answer_sql(readable: Readable, sql: str, *, wall: float, seconds: Callable[[], float]) -> SqlAnswer:
    """Answer a question about what one conversation sees.

    Args:
        readable: from `gridagent.storage.base.Store.readable`.
        sql: as the model wrote it.
        wall: wall clock, in seconds; how long ago something was is counted from here.
        seconds: clock of the bound in time. In simulation it stands still, and the bound of instructions holds.

    Raises:
        SqlRefused: it is not answered.
    """
    if len(sql.encode("utf-8", "replace")) > SQL_TEXT_MAX_BYTES:
        raise SqlRefused(SqlProblem.TOO_LONG)
    connection = apsw.Connection(":memory:")
    try:
        _fill(connection, readable, wall)
        with _bounded(connection, seconds):
            return _ask(connection, sql)
    finally:
        connection.close(True)


def _ask(connection: apsw.Connection, sql: str) -> SqlAnswer:
    started = 0

    def one_statement(_: object, __: str, ___: object) -> bool:
        nonlocal started
        started += 1
        return started == 1

    rows: list[tuple[Cell, ...]] = []
    columns: tuple[str, ...] = ()
    room = SQL_ANSWER_MAX_BYTES
    cut = False
    try:
        cursor = connection.cursor()
        cursor.exec_trace = one_statement
        for row in cursor.execute(sql, can_cache=False):
            if not rows:
                columns = tuple(clip(str(each[0]), _NAME_MAX) for each in cursor.get_description())
                cut = len(columns) > COLUMNS_MAX
                columns = columns[:COLUMNS_MAX]
            cells = tuple(_cell(value) for value in row[:COLUMNS_MAX])
            cut |= any(isinstance(each, str) and len(each) > CELL_MAX_CHARACTERS for each in row)
            room -= len(msgspec.json.encode(cells))
            if room < 0 or len(rows) >= SQL_ROWS_MAX:
                cut = True
                break
            rows.append(cells)
    except apsw.AuthError:
        raise SqlRefused(SqlProblem.FORBIDDEN) from None
    except (apsw.InterruptError, apsw.NoMemError, MemoryError):
        raise SqlRefused(SqlProblem.TOO_MUCH) from None
    except (apsw.Error, UnicodeError, ValueError):
        raise SqlRefused(SqlProblem.MALFORMED) from None
    return SqlAnswer(columns=columns, rows=tuple(rows), cut=cut)


@contextmanager
def _bounded(connection: apsw.Connection, seconds: Callable[[], float]) -> Iterator[None]:
    """Let nothing but reading happen, and not for long."""
    for limit, value in _LIMITS:
        connection.limit(limit, value)
    connection.pragma("temp_store", "MEMORY")  # where it is counted; SQLite would put a large sort into a file
    connection.pragma("query_only", 1)
    connection.authorizer = _allows
    until = seconds() + SECONDS_MAX
    memory = apsw.memory_used() + MEMORY_MAX_BYTES
    left = INSTRUCTIONS_MAX // _CHECKED_EVERY

    def stop() -> bool:
        nonlocal left
        left -= 1
        return left < 0 or apsw.memory_used() > memory or seconds() > until

    connection.set_progress_handler(stop, _CHECKED_EVERY)
    yield


def _allows(action: int, first: str | None, second: str | None, _: str | None, __: str | None) -> int:
    """Judge one thing that a statement would do; everything that is not listed is refused."""
    if action == apsw.SQLITE_SELECT:
        return apsw.SQLITE_OK
    if action == apsw.SQLITE_READ and first in TABLES:
        return apsw.SQLITE_OK
    if action == apsw.SQLITE_FUNCTION and second is not None and second.casefold() in FUNCTIONS:
        return apsw.SQLITE_OK
    return apsw.SQLITE_DENY


def _cell(value: apsw.SQLiteValue) -> Cell:
    if isinstance(value, str):
        return clip(value, CELL_MAX_CHARACTERS)
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    return value


def _fill(connection: apsw.Connection, readable: Readable, wall: float) -> None:
    for statement in TABLES.values():
        connection.execute(statement)
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?)", _lines(readable, wall))
    connection.executemany(
        "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)",
        (
            (_moment(fact.at), (wall - fact.at) / _DAY_S, fact.text, fact.source.value, fact.about, fact.region)
            for fact in readable.facts
        ),
    )
    connection.execute("COMMIT")


def _lines(readable: Readable, wall: float) -> Iterator[tuple[apsw.SQLiteValue, ...]]:
    for row in readable.entries:
        try:
            entry = _entry.decode(row.body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # counted where conversations are restored
        at, ago = _moment(entry.at), wall - entry.at
        match entry:
            case Heard():
                text = _fitting(entry.text)
                yield at, ago, entry.who, entry.avatar_id, entry.source.value, text
            case Said():
                yield at, ago, "me", None, "me", _fitting(entry.text)
            case Summary():
                yield at, ago, "summary", None, TextSource.MEMORY.value, entry.text


def _fitting(text: str) -> str:
    return clip(text, VALUE_MAX_BYTES // 8).encode("utf-8", "replace").decode()


def _moment(at: float) -> str | None:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return None
