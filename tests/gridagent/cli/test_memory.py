"""Claims about `gridagent memory`: with a running service, and with the database of a stopped one."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from gridagent.authority import TextSource
from gridagent.cli import memory
from gridagent.cli.archive import open_archive
from gridagent.cli.remote import Reach
from gridagent.cli.stopped import StoppedDatabase
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.secrets import SecretStr
from gridagent.controls import ControlReply
from gridagent.conversation.changes import EntryAdded
from gridagent.conversation.entries import Heard
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.errors import OperatorError
from gridagent.fronts.control import ControlServer, Endpoint, EndpointRefused, NotRunning
from gridagent.grid.puppet import Puppet
from gridagent.memory.facts import FactKept, Reader, learn
from gridagent.mind import QuietMind
from gridagent.observations import AgentState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import SessionSettings
from gridagent.storage.records import Learnt

ANN = "0a0a0a0a-0000-4000-8000-000000000001"
TOKEN = "canary-70ken-memory"
ENDPOINT = Endpoint(host="127.0.0.1", port=9, pid=77, started_at=0.0, protocol=1, instance="inst")


class Asking(Reach):
    """A reach into the test's own loop."""

    def run(self, ask):
        self.ask = ask
        return 0


class Remembering(QuietMind):
    """Notes who is forgotten."""

    def __init__(self):
        self.forgotten = []

    def forget(self, avatar_id, now):
        self.forgotten.append(avatar_id)
        return ()


class Stage:
    """A running service over a real database, and `memory` commands to it."""

    def __init__(self, archive, minds, server, nursery):
        self.archive = archive
        self.minds = minds
        self.server = server
        self.nursery = nursery

    async def connect_tcp(self, host, port, *, timeout_s):
        """Connect in memory."""
        await trio.lowlevel.checkpoint()
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.server.handle, theirs)
        return ours

    async def __call__(self, command, *arguments, avatar=None, json=False):
        """Perform a command; return its code and what it printed."""
        out = io.StringIO()
        reach = Asking(ENDPOINT, SecretStr(TOKEN), out=out, json=json, network=self)
        command(reach, memory.About(ANN, avatar), *arguments, out=out, json=json)
        return await reach._connected(reach.ask), out.getvalue()


def learnt(avatar):
    """Return something heard and something remembered of Ann."""
    key = PersonKey(avatar=avatar, grid="g", peer=ANN, channel=Channel.IM)
    heard = Heard(at=1.0, tainted=True, who="Ann\x1b", source=TextSource.STRANGER, text=f"hello {avatar}")
    reader = Reader(scope=key.scope, private=key.private)
    fact = learn("likes tea", reader=reader, source=TextSource.OWNER, told_by=ANN, about=None, tainted=False, at=2.0)
    changes = (EntryAdded(key=key, number=1, entry=heard), FactKept(avatar=avatar, fact=fact))
    return [Learnt(avatar=avatar, change=change) for change in changes]


@asynccontextmanager
async def stage(path):
    """Run two avatars that remember Ann."""
    ports = simulated_ports(1)
    minds = {key: Remembering() for key in ("robin", "wren")}
    specs = [
        AvatarSpec(settings=SessionSettings(key=key), policy=Policy(), mind=mind, backend=Puppet())
        for key, mind in minds.items()
    ]
    archived = open_archive(path, ports=ports, pid=7, since="today", report=lambda code, error: None)
    async with archived as archive, open_service(specs, ports=ports, store=archive.store) as service:
        for key in minds:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
            await archive.store.commit(*learnt(key))
        server = ControlServer(service, token=SecretStr(TOKEN), version="9", instance="inst", archive=archive)
        async with trio.open_nursery() as nursery:
            yield Stage(archive, minds, server, nursery)
            nursery.cancel_scope.cancel()


async def test_a_running_service_shows_exports_and_forgets(autojump_clock, tmp_path):
    """Spec: MEM-5, OPS-1, OPS-6 — of every avatar, or of one; after forgetting there is nothing to show."""
    async with stage(tmp_path / "g.db") as on:
        code, text = await on(memory.show_held)
        assert (code, len(text.splitlines())) == (0, 4)
        assert (
            "robin  heard [stranger, tainted] in im:0a0a0a0a-0000-4000-8000-000000000001@g: Ann\\x1b: hello robin"
            in text
        )
        _, text = await on(memory.show_held, avatar="wren", json=True)
        assert [json.loads(line)["kind"] for line in text.splitlines()] == ["heard", "fact"]
        file = tmp_path / "ann.jsonl"
        code, text = await on(memory.export_held, file)
        assert (code, len(file.read_text(encoding="utf-8").splitlines())) == (0, 4)
        assert f"wrote {file}" in text
        assert file.stat().st_mode & 0o077 == 0
        with pytest.raises(EndpointRefused, match="there is a file at"):
            await on(memory.export_held, file)
        code, text = await on(memory.forget_held, avatar="wren")
        assert (code, on.minds["wren"].forgotten, on.minds["robin"].forgotten) == (0, [ANN], [])
        assert text == f"nothing is remembered of {ANN} any more; copies in backups and exports stay\n"
        _, text = await on(memory.forget_held, json=True)
        assert json.loads(text)["count"] == 2
        assert on.minds["robin"].forgotten == [ANN]
        assert on.minds["wren"].forgotten == [ANN, ANN]
        assert (await on(memory.show_held))[1] == f"nothing is remembered of {ANN}\n"
        assert (await on(memory.show_held, json=True))[1] == ""


async def test_an_avatar_that_does_not_answer_is_told_of(autojump_clock, tmp_path):
    """Spec: MEM-5 — what is stored goes all the same, and the exit code says that memory may hold more."""
    async with stage(tmp_path / "g.db") as on:
        slow = ControlReply(accepted=False, code="slow")
        stopped = ControlReply(accepted=False, code="stopped")
        for answer, code in ((slow, 5), (stopped, 0)):

            async def control(handle, asked, answer=answer):
                await trio.lowlevel.checkpoint()
                return answer

            on.server._control = control
            found, text = await on(memory.forget_held)
            assert (found, "robin: refused (slow)" in text) == (code, answer is slow)
        assert (await on(memory.show_held, json=True))[1] == ""


async def test_an_avatar_that_is_not_there_is_refused(autojump_clock, tmp_path):
    """Spec: OPS-6 — as for any question about it."""
    async with stage(tmp_path / "g.db") as on:
        for command in (memory.show_held, memory.forget_held):
            with pytest.raises(EndpointRefused, match="no avatar"):
                await on(command, avatar="owl")


async def test_a_stopped_service_is_read_and_not_changed(autojump_clock, tmp_path):
    """Spec: MEM-5, OPS-6 — show and export read the database; forgetting says that the service must run."""
    path = tmp_path / "g.db"
    async with stage(path):
        pass
    out = io.StringIO()
    about = memory.About(ANN, None)
    with StoppedDatabase(path, ["robin", "wren"], since="now") as database:
        assert memory.show_held(database, about, out=out, json=False) == 0
        assert len(out.getvalue().splitlines()) == 4
        one = memory.About(ANN, "robin")
        out = io.StringIO()
        memory.show_held(database, one, out=out, json=True)
        assert [json.loads(line)["avatar"] for line in out.getvalue().splitlines()] == ["robin", "robin"]
        file = tmp_path / "ann.jsonl"
        assert memory.export_held(database, about, file, out=out, json=False) == 0
        assert len(file.read_text(encoding="utf-8").splitlines()) == 4
        with pytest.raises(OperatorError, match="there is a file at"):
            memory.export_held(database, about, file, out=out, json=False)
        with pytest.raises(NotRunning, match="nothing can be forgotten"):
            memory.forget_held(database, about, out=out, json=False)


@pytest.mark.parametrize("name", ["Ann", "", "*", "00000000-0000-0000-0000-000000000000", ANN.upper()])
def test_nobody_is_meant_by_a_name(name):
    """Spec: POL-4 — a name can be had by anybody, so only a UUID says who is meant."""
    with pytest.raises(UsageProblem, match="names nobody"):
        memory.About(name, None)


def test_a_command_line_that_says_too_little_or_too_much_is_a_usage_error(gridagent, capsys):
    """Spec: OPS-1 — one sentence, the exit code of a usage error, and help with an example."""
    for words in (
        ("memory", "export", ANN),
        ("memory", "show", ANN, "x.jsonl"),
        ("memory", "show", "Ann"),
        ("memory",),
    ):
        done = gridagent(*words)
        assert done.code == 2, words
        assert done.err
    assert gridagent("memory", "--help").code == 0
    assert "memory export 5eed" in capsys.readouterr().out


def test_it_works_from_the_command_line(gridagent):
    """Spec: OPS-1, MEM-5 — after a run, the database of the stopped service answers."""
    config = gridagent.write("c.json", json.dumps({"grid": {"simulated": {"scenario": "quiet-room"}}}))
    gridagent.environ["GRIDAGENT_CONFIG"] = str(config)
    assert gridagent("run", "--for", "5s", "--plain", stdin="").code == 0
    assert gridagent("memory", "show", ANN).out == f"nothing is remembered of {ANN}\n"
    assert gridagent("memory", "export", ANN, str(gridagent.room / "ann.jsonl")).code == 0
    assert (gridagent.room / "ann.jsonl").read_bytes() == b""
    done = gridagent("memory", "forget", ANN, "--avatar", "robin")
    assert (done.code, "nothing can be forgotten" in done.err) == (4, True)
