"""Claims about storage behind a running service, through the endpoint and without it."""

from __future__ import annotations

import io
import json
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random

import msgspec
import pytest
import trio
import trio.testing

from gridagent.actions import InDoubt, PayAvatar
from gridagent.cli import records, remote
from gridagent.cli.archive import StoreArchive, open_archive, settings_of
from gridagent.cli.remote import Reach
from gridagent.config.model import StorageConfig
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.secrets import SecretStr
from gridagent.controls import RequestAction, SayAsOperator, SettleEffect
from gridagent.fronts.control import ControlServer, Endpoint, EndpointRefused
from gridagent.fronts.control.archive import list_doubts
from gridagent.fronts.control.words import SearchAudit
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import AgentState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.storage.base import LedgerRefused, StorageFailed, StorageFault
from gridagent.storage.database import holder_path
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk

OWNER = "00000000-0000-4000-8000-0000000000aa"
SECTION = {
    "preset": "observer",
    "budgets": {
        "calls.money": [{"per": "global", "limit": 100, "window_s": 86400}],
        "linden": [{"per": "global", "limit": 50, "window_s": 86400}],
        "calls.speak": [{"per": "global", "limit": 9000, "window_s": 60}],
        "speech_bytes": [{"per": "global", "limit": 90000, "window_s": 60}],
    },
}
TOKEN = "canary-70ken-archive"
ENDPOINT = Endpoint(host="127.0.0.1", port=9, pid=77, started_at=0.0, protocol=1, instance="inst")


class Asking(Reach):
    """A reach into the test's own loop."""

    def run(self, ask):
        self.ask = ask
        return 0

    async def perform(self):
        return await self._connected(self.ask)


class Stage:
    """A running service over a real database, and commands to it."""

    def __init__(self, service, archive, puppet, server, nursery):
        self.service = service
        self.archive = archive
        self.puppet = puppet
        self.server = server
        self.nursery = nursery

    async def connect_tcp(self, host, port, *, timeout_s):
        await trio.lowlevel.checkpoint()
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.server.handle, theirs)
        return ours

    async def __call__(self, command, *arguments, json=False, **named):
        out = io.StringIO()
        reach = Asking(ENDPOINT, SecretStr(TOKEN), out=out, json=json, network=self)
        if command.__module__ == "gridagent.cli.records" and command is not records.show_storage:
            named |= {"out": out, "json": json}
        command(reach, *arguments, **named)
        return await reach.perform(), out.getvalue()

    async def pay(self, amount=5):
        reply = await self.service.avatar().control(RequestAction(action=PayAvatar(to=OWNER, amount=amount)))
        await trio.sleep(1)
        return reply


@asynccontextmanager
async def stage(path, *, files=None, kept=True):
    """Run one avatar that may pay, on a database at a path."""
    ports = simulated_ports(1)
    puppet = Puppet()
    errors = []
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(msgspec.convert(SECTION, PolicySection), RolesSection(owners=(OWNER,))),
        mind=QuietMind(),
        backend=puppet,
    )
    archived = open_archive(
        path, ports=ports, pid=7, since="today", report=lambda *each: errors.append(each), files=files
    )
    async with archived as archive, open_service([spec], ports=ports, store=archive.store) as service:
        await service.avatar().wait_agent(AgentState.RUNNING)
        server = ControlServer(
            service, token=SecretStr(TOKEN), version="9", instance="inst", archive=archive if kept else None
        )
        async with trio.open_nursery() as nursery:
            yield Stage(service, archive, puppet, server, nursery)
            nursery.cancel_scope.cancel()


async def lost(action):
    """Get no evidence."""
    await trio.lowlevel.checkpoint()
    return InDoubt(reason="no_evidence")


async def test_what_is_in_doubt_is_told_with_what_and_since_when_also_after_a_restart(autojump_clock, tmp_path):
    """Status and settle work on the same effect before and after a restart. Spec: EFX-1, EFX-2."""
    path = tmp_path / "gridagent.db"
    async with stage(path) as on:
        on.puppet.applier = lost
        await on.pay(5)
        (first,) = await list_doubts([on.service.avatar()], on.archive)
        assert (first.action, first.avatar) == ("pay_avatar", "robin")
        assert "amount=5" in first.summary
        assert first.since is not None
    async with stage(path) as on:
        (again,) = await list_doubts([on.service.avatar()], on.archive)
        assert again == first
        assert not on.puppet.now.applied
        code, text = await on(remote.show_status, None, json=True)
        (told,) = json.loads(text)["doubts"]
        assert told == {
            "effect": first.effect, "action": "pay_avatar", "summary": first.summary, "since": first.since,
            "nonce": first.effect[:16], "why": first.why, "look_at": first.look_at,
        }  # fmt: skip
        assert "the balance alone does not tell" in first.why
        _, text = await on(remote.show_status, "robin")
        assert f"settle {first.effect} happened, or: failed" in text
        assert f"look at {first.look_at} (its nonce is {first.nonce}), then say: settle" in text
        assert "1 in doubt" in text
        code, _ = await on(remote.send_control, "settle", f"{first.effect} happened", avatar=None, every=False)
        assert code == 0
        assert await list_doubts([on.service.avatar()], on.archive) == []


async def test_what_was_settled_meanwhile_is_not_listed(autojump_clock, tmp_path):
    """Between the question and storage's answer an effect may end. Spec: EFX-2."""
    async with stage(tmp_path / "gridagent.db") as on:
        on.puppet.applier = lost
        await on.pay()
        robin = on.service.avatar()
        (effect,) = robin.status().gateway.in_doubt

        class Slow:
            async def doubtful(self):
                await robin.control(SettleEffect(effect=effect, happened=False))
                return {}

        assert await list_doubts([robin], Slow()) == []


async def test_without_storage_doubt_is_told_without_a_moment(autojump_clock, tmp_path):
    """The demonstration keeps effects in memory; doubt shows all the same. Spec: EFX-2."""
    async with stage(tmp_path / "gridagent.db", kept=False) as on:
        on.puppet.applier = lost
        await on.pay()
        _, text = await on(remote.show_status, "robin", json=True)
        assert json.loads(text)["doubts"][0]["since"] is None
        for command in (records.check_audit, records.search_audit):
            arguments = (SearchAudit(),) if command is records.search_audit else ()
            with pytest.raises(EndpointRefused, match="keeps effects in memory only"):
                await on(command, *arguments)


async def test_the_audit_trail_is_searched_page_by_page(autojump_clock, tmp_path):
    """Every record that is wanted comes once and in order, over the borders of pages. Spec: POL-10."""
    async with stage(tmp_path / "gridagent.db") as on:
        robin = on.service.avatar()
        for number in range(8):
            await robin.control(SayAsOperator(text=f"{number}"))
        await trio.sleep(1)
        _, text = await on(records.search_audit, SearchAudit(most=3), json=True)
        rows = [json.loads(line) for line in text.splitlines()]
        assert [row["row"] for row in rows] == list(range(1, 17))
        _, text = await on(records.search_audit, SearchAudit(kind="settlement", avatar="robin", most=4), json=True)
        kinds = [json.loads(line)["record"]["kind"] for line in text.splitlines()]
        assert kinds == ["settlement"] * 8
        _, text = await on(records.search_audit, SearchAudit(since=2.0**40))
        assert text == ""
        _, text = await on(records.search_audit, SearchAudit(most=1, until=2.0**40))
        assert len(text.splitlines()) == 16
        assert " UTC robin" in text


async def test_the_trail_is_checked_and_exported_and_the_database_copied_while_it_runs(autojump_clock, tmp_path):
    """An existing file is never written over. Spec: POL-10, OPS-1."""
    async with stage(tmp_path / "gridagent.db") as on:
        await on.service.avatar().control(SayAsOperator(text="hello"))
        await trio.sleep(1)
        code, text = await on(records.check_audit)
        assert (code, text.startswith("2 records in 1 segments fit together; newest digest ")) == (0, True)
        export, copy = tmp_path / "audit.jsonl", tmp_path / "copy.db"
        code, text = await on(records.export_audit, export, json=True)
        assert code == 0
        assert len(export.read_bytes().splitlines()) == 3
        assert json.loads(text)["bytes"] == export.stat().st_size
        assert export.stat().st_mode & 0o077 == 0
        code, text = await on(records.back_up, copy)
        assert f"wrote {copy}" in text
        assert "1 effects, 2 audit records" in text
        for command, file in ((records.export_audit, export), (records.back_up, copy)):
            with pytest.raises(EndpointRefused, match="there is a file at"):
                await on(command, file)
        with pytest.raises(EndpointRefused, match="cannot be written"):
            await on(records.export_audit, tmp_path / "nowhere" / "audit.jsonl")


async def test_safe_mode_shows_and_is_left_by_retry_only_when_the_disk_works(autojump_clock):
    """Talk yes, pay no; `storage` says why, and `storage retry` leaves it. Spec: EFX-4."""
    disk = SimulatedDisk(Random(1), name="archive-disk")
    with closing(disk):
        async with stage(Path("/s/gridagent.db"), files=disk) as on:
            code, text = await on(records.show_storage, retry=False)
            assert (code, text.startswith("/s/gridagent.db works: ")) == (0, True)
            on.puppet.applier = lost
            await on.pay(5)
            disk.fail("full")
            await on.pay(7)
            assert on.service.status()[0].gateway.safe_mode
            code, text = await on(records.show_storage, retry=False)
            assert code == 9
            assert "the disk is full (/s/gridagent.db), so nothing that costs anything is done" in text
            _, text = await on(remote.show_status, None)
            assert "SAFE MODE" in text
            assert "gridagent storage retry leaves it" in text
            with pytest.raises(EndpointRefused):
                await on(records.show_storage, retry=True)
            applied = len(on.puppet.now.applied)
            assert (await on.pay(9)).code == "safe_mode"
            assert len(on.puppet.now.applied) == applied
            disk.heal()
            code, text = await on(records.show_storage, retry=True, json=True)
            assert (code, json.loads(text)["fault"]) == (0, "")
            await trio.sleep(1)
            assert not on.service.status()[0].gateway.safe_mode


async def test_a_database_that_cannot_be_used_is_refused(autojump_clock, tmp_path):
    """A file that is no database is said to be none. Spec: EFX-4."""
    path = tmp_path / "gridagent.db"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(LedgerRefused, match="damaged"):
        async with stage(path):
            raise AssertionError("it must not open")


async def test_the_holder_is_written_beside_the_database(autojump_clock, tmp_path):
    """Whoever comes second is told who has it. Spec: OPS-4."""
    path = tmp_path / "gridagent.db"
    async with stage(path) as on:
        assert json.loads((tmp_path / holder_path("gridagent.db")).read_bytes()) == {"pid": 7, "since": "today"}
        assert on.archive.state().file == str(path)


def test_a_disk_that_fails_at_the_start_is_one_sentence(gridagent, monkeypatch):
    """Not a fault of ours: where the database lies, and what to look at. Spec: EFX-4."""

    def broken(*arguments, **named):
        raise StorageFailed(StorageFault.DISK_FULL, "FullError")

    monkeypatch.setattr("gridagent.storage.store.open_database", broken)
    config = gridagent.write("c.json", "{}")
    done = gridagent("run", "--config", str(config), "--for", "1s")
    assert done.code == 9
    assert "storage failed: disk_full (FullError): see that the disk of paths.state_dir has room" in done.err


async def test_while_storage_fails_doubt_is_told_without_a_moment(autojump_clock):
    """The list does not depend on the disk. Spec: EFX-2, EFX-4."""

    class Failing:
        async def in_doubt(self):
            await trio.lowlevel.checkpoint()
            raise StorageFailed(StorageFault.IO_ERROR)

    assert await StoreArchive(Failing(), "/d", None).doubtful() == {}


async def test_an_export_that_fails_leaves_nothing_and_one_that_retention_overtakes_goes_on(tmp_path):
    """A segment that went meanwhile is left out; a disk that fails leaves no half a file. Spec: POL-10."""

    class Segments:
        async def segments(self):
            await trio.lowlevel.checkpoint()
            return (1, 2)

        async def export_segment(self, number):
            await trio.lowlevel.checkpoint()
            if number == 1:
                raise KeyError(number)
            if self.broken:
                raise StorageFailed(StorageFault.IO_ERROR)
            return b"two\n"

    class Inline:
        async def run(self, fn, *arguments, name):
            await trio.lowlevel.checkpoint()
            return fn(*arguments)

    store = Segments()
    store.broken = True
    archive = StoreArchive(store, "/d", Inline())
    file = tmp_path / "audit.jsonl"
    with pytest.raises(StorageFailed):
        await archive.export(str(file))
    assert not file.exists()
    store.broken = False
    assert (await archive.export(str(file))).bytes == 4
    assert file.read_bytes() == b"two\n"


def test_the_configuration_says_how_long_things_are_kept():
    """Each key is storage's own, with its default and its bounds. Spec: BND-16, CFG-1."""
    assert settings_of(StorageConfig()) == StorageSettings()
    chosen = settings_of(StorageConfig(audit_keep_days=7, effects_keep_rows=2_000))
    assert (chosen.audit_keep_days, chosen.effects_keep_rows) == (7, 2_000)
    told = msgspec.inspect.type_info(StorageConfig)
    kept = msgspec.inspect.type_info(StorageSettings)
    bounds = {field.name: (field.type, field.default) for field in kept.fields}
    assert {field.name: (field.type, field.default) for field in told.fields}.items() <= bounds.items()


async def test_storage_keeps_as_long_as_it_is_told(autojump_clock, tmp_path):
    """What the configuration says reaches the store. Spec: BND-16."""
    keep = StorageConfig(tend_every_s=7.0)
    opened = open_archive(
        tmp_path / "gridagent.db", ports=simulated_ports(1), pid=1, since="now", report=lambda *_: None, keep=keep
    )
    async with opened as archive:
        assert archive.store._settings.tend_every_s == 7.0
