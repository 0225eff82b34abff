"""Claims about what the endpoint asks of storage, with a storage of its own; the real one is the command line's."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from gridagent.cli.embedding import open_service
from gridagent.config.secrets import SecretStr
from gridagent.errors import LimitExceeded, OperatorError, RemoteProtocolError
from gridagent.fronts.control import ControlClient, ControlServer, EndpointRefused
from gridagent.fronts.control.words import (
    AuditChecked,
    Done,
    FileWritten,
    HeldGone,
    HeldRow,
    SearchAudit,
    StorageRow,
)
from gridagent.runtime.deterministic import simulated_ports

TOKEN = "canary-70ken-archive"
PERSON = "0a0a0a0a-0000-4000-8000-000000000001"


class Shelf:
    """A storage that says what it is told to."""

    def __init__(self):
        self.asked = []
        self.fails = None

    def _say(self, what, answer):
        self.asked.append(what)
        if self.fails is not None:
            raise self.fails
        return answer

    def state(self):
        return self._say("state", StorageRow(file="/d", waiting=0, commits=1, records=2, lost=0))

    async def retry(self):
        return self._say("retry", StorageRow(file="/d", waiting=0, commits=9, records=2, lost=0))

    async def doubtful(self):
        return self._say("doubtful", {})

    async def search(self, wanted):
        return self._say(wanted, ())

    async def verify(self):
        return self._say("verify", AuditChecked(segments=1, rows=2, missing=0, head="h"))

    async def export(self, file):
        return self._say(f"export {file}", FileWritten(file=file, bytes=3))

    async def back_up(self, file):
        return self._say(f"back up {file}", FileWritten(file=file, bytes=4, effects=5, audit_rows=6))

    async def held(self, avatars, person):
        row = HeldRow(
            avatar=avatars[0], kind="fact", conversation="public", at=1.0, source="owner", text="x", tainted=False
        )
        return self._say(f"held {person}", (row,))

    async def export_held(self, avatars, person, file):
        return self._say(f"export {person} {file}", FileWritten(file=file, bytes=3))

    async def forget_held(self, avatars, person):
        return self._say(f"forget {person} {len(avatars)}", HeldGone(count=4))


@asynccontextmanager
async def connected(shelf):
    """A client of a service with this storage."""
    async with open_service(scenario="quiet-room", seed=1, ports=simulated_ports(1)) as service:
        server = ControlServer(service, token=SecretStr(TOKEN), version="9", instance="inst", archive=shelf)
        async with trio.open_nursery() as nursery:
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(server.handle, theirs)
            client = ControlClient(ours)
            await client.greet(SecretStr(TOKEN), instance="inst")
            yield client
            nursery.cancel_scope.cancel()


async def test_each_question_reaches_storage_and_comes_back(autojump_clock):
    """Five requests, one connection. Spec: OPS-6, POL-10, EFX-4."""
    shelf = Shelf()
    async with connected(shelf) as client:
        assert (await client.storage()).commits == 1
        assert (await client.storage(retry=True)).commits == 9
        assert (await client.verify_audit()).head == "h"
        assert (await client.export_audit("/x")).bytes == 3
        assert (await client.back_up("/y")).audit_rows == 6
        assert await client.search_audit(SearchAudit(kind="hold", most=7)) == ()
        assert await client.in_doubt() == ()
    *told, wanted = shelf.asked
    assert told == ["state", "retry", "verify", "export /x", "back up /y"]
    assert (wanted.kind, wanted.most) == ("hold", 7)


async def test_what_is_remembered_of_a_person_is_listed_exported_and_forgotten(autojump_clock):
    """Of all avatars or one; another avatar is refused, and so is a relative path. Spec: MEM-5, OPS-6."""
    shelf = Shelf()
    async with connected(shelf) as client:
        assert [row.text for row in await client.held(PERSON)] == ["x"]
        assert (await client.export_held(PERSON, "/x")).bytes == 3
        assert (await client.forget_held(PERSON)).count == 4
        with pytest.raises(EndpointRefused, match="absolute path"):
            await client.export_held(PERSON, "x.jsonl")
        with pytest.raises(EndpointRefused, match="no avatar"):
            await client.forget_held(PERSON, "wren")
    assert shelf.asked == [f"held {PERSON}", f"export {PERSON} /x", f"forget {PERSON} 1"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(OperatorError("no room"), "operator_error"), (LimitExceeded("steps", allowed=1), "limit_exceeded")],
)
async def test_what_storage_cannot_do_is_a_refusal_and_the_connection_goes_on(autojump_clock, error, code):
    """One clear sentence, one stable code; the next question is answered. Spec: OPS-6."""
    shelf = Shelf()
    shelf.fails = error
    async with connected(shelf) as client:
        with pytest.raises(EndpointRefused) as refused:
            await client.verify_audit()
        assert refused.value.reason == code
        shelf.fails = None
        assert (await client.verify_audit()).rows == 2


async def test_a_file_is_named_by_its_absolute_path(autojump_clock):
    """The service has another working directory than whoever asks. Spec: OPS-6."""
    shelf = Shelf()
    async with connected(shelf) as client:
        for ask in (client.export_audit, client.back_up):
            with pytest.raises(EndpointRefused, match="absolute path"):
                await ask("audit.jsonl")
    assert shelf.asked == []


async def test_effects_of_an_avatar_that_is_not_there_are_refused(autojump_clock):
    """As any question about it. Spec: OPS-6."""
    async with connected(None) as client:
        with pytest.raises(EndpointRefused, match="no avatar"):
            await client.in_doubt("wren")
        with pytest.raises(EndpointRefused, match="keeps effects in memory only"):
            await client.storage()


async def test_an_answer_of_another_kind_breaks_the_protocol(autojump_clock):
    """A client does not guess. Spec: OPS-6."""

    class Wrong(Shelf):
        async def verify(self):
            return Done(count=0)

    async with connected(Wrong()) as client:
        with pytest.raises(RemoteProtocolError, match="something else"):
            await client.verify_audit()
