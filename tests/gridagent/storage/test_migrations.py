"""Older files are brought up to date in one step or left alone."""

from __future__ import annotations

from pathlib import Path

import apsw
import msgspec
import pytest

from gridagent.conversation.entries import Entry, Used
from gridagent.memory.recall import RecallQuestion
from gridagent.storage.migrations import MIGRATIONS, expected_schema, migrate, schema_of
from gridagent.storage.schema import APPLICATION_ID, SCHEMA_VERSION
from gridagent.storage.settings import StorageSettings

NEXT = ("ALTER TABLE effect ADD COLUMN note TEXT", "CREATE TABLE extra (x INTEGER) STRICT")
FIXTURES = Path(__file__).parent / "fixtures"


def _version(connection):
    return connection.pragma("user_version")


def test_a_new_file_gets_the_newest_schema() -> None:
    """Version and application id are set with the tables; doing it again changes nothing."""
    connection = apsw.Connection(":memory:")
    migrate(connection, found=0)
    assert (_version(connection), connection.pragma("application_id")) == (SCHEMA_VERSION, APPLICATION_ID)
    assert schema_of(connection) == expected_schema()
    migrate(connection, found=SCHEMA_VERSION)
    assert schema_of(connection) == expected_schema()
    assert len(MIGRATIONS) == SCHEMA_VERSION


def test_an_older_file_is_upgraded_with_what_is_in_it() -> None:
    """A later step adds to what is there."""
    connection = apsw.Connection(":memory:")
    migrate(connection, found=0)
    connection.execute("INSERT INTO meta VALUES ('ledger', 'old')")
    newer = (*MIGRATIONS, NEXT)
    migrate(connection, found=SCHEMA_VERSION, migrations=newer)
    assert _version(connection) == SCHEMA_VERSION + 1
    assert schema_of(connection) == expected_schema(newer)
    assert connection.execute("SELECT value FROM meta").fetchall() == [("old",)]


def test_a_step_that_fails_changes_nothing() -> None:
    """The file stays at the version it had. Fault: 41."""
    connection = apsw.Connection(":memory:")
    migrate(connection, found=0)
    before = schema_of(connection)
    with pytest.raises(apsw.SQLError):
        migrate(connection, found=SCHEMA_VERSION, migrations=(*MIGRATIONS, (*NEXT, "CREATE TABLE extra (x)")))
    assert (_version(connection), schema_of(connection)) == (SCHEMA_VERSION, before)


def test_a_commit_that_rolled_itself_back_is_not_rolled_back_again() -> None:
    """A failure that already ended the transaction is the one that is reported."""
    connection = apsw.Connection(":memory:")
    with pytest.raises(apsw.SQLError):
        migrate(connection, found=0, migrations=(("ROLLBACK", "nonsense"),))
    assert not connection.in_transaction


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_every_released_schema_is_upgraded(version, disk, make) -> None:
    """A file as that version left it, with one row of every family, opens and says what it said. Fault: 41."""
    from gridagent.storage.database import Holder, open_database  # noqa: PLC0415 - only here
    from gridagent.storage.transactions import Ledger  # noqa: PLC0415

    disk.prepare(make.path)
    old = apsw.Connection(make.path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=disk.vfs)
    old.execute((FIXTURES / f"schema-{version}.sql").read_text(encoding="utf-8"))
    old.close()
    holder = Holder(pid=1, since="now")
    database = open_database(make.path, files=disk, holder=holder, new_ledger="another")
    assert database.ledger == "ledger-as-shipped"
    ledger = Ledger(database, StorageSettings())
    recovered = ledger.open_avatar(make.robin)
    found = recovered.snapshot
    assert (recovered.run, found.generation, found.held) == (4, 9, True)
    assert [(row.key, row.buckets[0][1]) for row in found.budgets.rows] == [("", 5), ("somebody", 12)]
    assert [(each.effect, each.state.value) for each in found.open_effects] == [
        ("was-reserved", "reserved"),
        ("was-sent", "sent"),
        ("doubtful", "in_doubt"),
    ]
    assert found.open_effects[0].request == make.request("was-reserved")
    assert (found.ended_once, found.ended_light) == (("confirmed",), ("said",))
    assert [(each.opened.approval_id, each.state.value, each.wrong_nonces) for each in found.approvals] == [
        ("claimed", "claimed", 0),
        ("waiting", "pending", 2),
    ]
    assert [(each.grant.grant_id, each.state.value) for each in found.grants] == [
        ("ended", "revoked"),
        ("grant", "active"),
    ]
    assert found.grants[1].use == make.used(1, key="grant")
    assert ledger.write([[make.audited(20, run=3), make.audited(21, run=3)]]) == [(False, True)]
    if version == 1:
        assert ledger.write([make.learnt()]) == [(True,) * len(make.learnt())]
    assert _learnt(ledger, make) == (5, ["[stranger] Ann: hm", "hello", "hello Ann", "in public"], ["Ann likes tea"])
    database.close()


def _learnt(ledger, make):
    """Return how many entries there are, their texts, and what is known of tea."""
    from gridagent.storage import conversations, facts  # noqa: PLC0415 - only here

    numbers = ledger.read(lambda connection: conversations.numbers(connection, make.robin))
    rows = ledger.read(lambda connection: conversations.entries_of(connection, make.robin, numbers))
    entries = [msgspec.msgpack.decode(row.body, type=Entry) for row in rows]
    question = RecallQuestion(reader=make.reads(make.key()), words="tea")
    found = ledger.read(lambda connection: facts.recall(connection, make.robin, question))
    texts = sorted(entry.text for entry in entries if not isinstance(entry, Used))
    return len(entries), texts, [each.text for each in found]
