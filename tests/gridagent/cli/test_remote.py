"""Commands that reach a running service, against a service in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import asynccontextmanager

import msgspec
import pytest
import trio
import trio.testing

from gridagent import open_service
from gridagent.actions import SettledBy
from gridagent.cli import remote
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.remote import Reach, find_service
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.secrets import SecretStr
from gridagent.errors import OperatorError
from gridagent.events import GridProfile, PartHealth
from gridagent.fronts.control import ControlServer, Endpoint, NotRunning, RuntimeDirectory
from gridagent.fronts.control.words import Ended, Missed, Omitted, Refused, StatusRow
from gridagent.observations import AgentState, LinkState
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import Service

TOKEN = "canary-70ken-remote"
ENDPOINT = Endpoint(host="127.0.0.1", port=9, pid=77, started_at=0.0, protocol=1, instance="inst")
OLIVE = "5eed0000-0000-4000-8000-000000000001"
OWNED = {
    "roles": {"owners": [OLIVE]},
    "policy": {"preset": "shopkeeper", "approvals": {"move": "required"}},
}


class InMemory:
    """A network on which only the test's server listens."""

    def __init__(self, server: ControlServer, nursery: trio.Nursery) -> None:
        self.server = server
        self.nursery = nursery

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:
        """Connect to it."""
        await trio.lowlevel.checkpoint()
        ours, theirs = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self.server.handle, theirs)
        return ours


class Asked(Reach):
    """A reach that works inside the test's own loop: what would be run is kept."""

    def run(self, ask: Callable) -> ExitCode:
        self.ask = ask
        return ExitCode.OK

    async def perform(self) -> ExitCode:
        """Do what was asked for."""
        return await self._connected(self.ask)


class Room:
    """A running service and the commands to it."""

    def __init__(self, service: Service, network: InMemory) -> None:
        self.service = service
        self.network = network

    async def __call__(self, command: Callable, *arguments: object, json: bool = False, **named: object):
        """Perform a command; returns its exit code and its output."""
        out = io.StringIO()
        reach = Asked(ENDPOINT, SecretStr(TOKEN), out=out, json=json, network=self.network)
        command(reach, *arguments, **named)
        return await reach.perform(), out.getvalue()


@asynccontextmanager
async def room(config: object = None, *, scenario: str = "quiet-room"):
    """A service whose avatars are running."""
    async with (
        open_service(config, scenario=scenario, ports=simulated_ports(1)) as service,
        trio.open_nursery() as nursery,
    ):
        server = ControlServer(service, token=SecretStr(TOKEN), version="9.9", instance="inst")
        for key in service.avatars:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
        yield Room(service, InMemory(server, nursery))
        nursery.cancel_scope.cancel()


async def test_status_is_read_by_people_and_programs(autojump_clock) -> None:
    """State, queues and budgets in use; with --json one status a line. Spec: OPS-1."""
    async with room() as ask:
        code, text = await ask(remote.show_status, None)
        assert code == 0
        assert text.startswith("gridagent 9.9, process 77, running since 1970-01-01 00:00 UTC\nrobin: running, online")
        assert "robin.inbox.controls: 0 of 64 wait" in text
        await ask(remote.send_control, "say", "hello", avatar=None, every=False)
        _, text = await ask(remote.show_status, "robin")
        assert "budget calls.speak (global, 60 s): 1 of 300" in text
        _, text = await ask(remote.show_status, None, json=True)
        told = json.loads(text)
        assert (told["agent"], told["profile"]["has_money"]) == ("running", True)
        row = StatusRow(status=ask.service.status()[0], approvals=0, in_doubt=0)
        poor = msgspec.structs.replace(row.status, profile=GridProfile(grid="Poor", has_money=False))
        lines = remote._status_lines(msgspec.structs.replace(row, status=poor), [])
        assert lines[1] == "  the grid Poor has no money: tools for it are not offered"
        ill = msgspec.structs.replace(row.status, profile=None, sick=("event_queue", "world"), retry_in_s=12.4)
        lines = remote._status_lines(msgspec.structs.replace(row, status=ill), [])
        assert lines[1:3] == [
            "  sick: event_queue, world; it mends itself or reconnects",
            "  next attempt to connect in 12 s; at once with: gridagent connect",
        ]
        wired = (
            PartHealth(part="circuit", figure="ping_s", value=0.0234),
            PartHealth(part="circuit", figure="silent_s", value=2.0),
            PartHealth(part="wire", figure="loss_ratio", value=0.004),
            PartHealth(part="wire", figure="lost", value=3.0),
        )
        live = msgspec.structs.replace(row.status, profile=None, vitals=wired)
        lines = remote._status_lines(msgspec.structs.replace(row, status=live), [])
        assert lines[1] == "  ping 23 ms, heard 2 s ago, 0.4 % sent again"
        blocked = msgspec.structs.replace(
            row.status, link=LinkState.AUTHENTICATION_BLOCKED, last_error="mfa_required", profile=None
        )
        lines = remote._status_lines(msgspec.structs.replace(row, status=blocked), [])
        assert lines[1] == "  the grid wants a one-time code; give it with: gridagent connect --code CODE"


async def test_status_of_a_failed_avatar_has_its_code(autojump_clock) -> None:
    """A script learns it from the code. Spec: SUP-7."""
    async with room({"grid": {"simulated": {"scenario": "quiet-room"}}}) as ask:
        handle = ask.service.avatar()
        handle._session.core.fail("by_hand")
        assert (await ask(remote.show_status, None))[0] is ExitCode.AVATAR_FAILED


async def test_controls_print_what_became_of_them(autojump_clock) -> None:
    """Accepted, refused, and by whom; the code says whether all were accepted. Spec: OPS-1, SUP-8."""
    async with room() as ask:
        code, text = await ask(remote.send_control, "say", "hello", avatar=None, every=False)
        assert (code, text[:23]) == (0, "robin: allowed (effect ")
        code, text = await ask(remote.send_control, "resume", "", avatar="robin", every=False)
        assert code is ExitCode.REFUSED
        assert text == "robin: refused (not_paused): the avatar is not paused\n"
        code, text = await ask(remote.send_control, "hold", "", avatar=None, every=False, json=True)
        assert json.loads(text)["accepted"]
        code, text = await ask(remote.send_control, "release", "", avatar=None, every=True)
        assert (code, text) == (0, "robin: done\n")


async def test_stop_concerns_every_avatar(autojump_clock) -> None:
    """Without a name the whole service stops. Spec: SUP-8."""
    async with room() as ask:
        code, text = await ask(remote.send_control, "stop", "", avatar=None, every=False)
        assert (code, text) == (0, "robin: logging out and stopping\n")
        await ask.service.wait_stopped()


async def test_a_control_too_large_to_send_says_what_else_works(autojump_clock, tmp_path) -> None:
    """A configuration near its ceiling does not fit into a frame. Spec: BND-7."""
    path = tmp_path / "config.json"
    path.write_text("{" + " " * 60_000 + "}", encoding="utf-8")
    async with room() as ask:
        with pytest.raises(OperatorError, match=r"too large to be sent .*SIGHUP"):
            await ask(remote.send_control, "reload", str(path), avatar=None, every=False)


async def test_a_wrong_argument_is_refused_before_anything_is_sent(autojump_clock) -> None:
    """Usage errors need no service. Spec: OPS-1."""
    async with room() as ask:
        with pytest.raises(UsageProblem):
            await ask(remote.send_control, "forget", "somebody", avatar=None, every=False)


async def test_a_one_time_code_is_for_one_avatar(autojump_clock) -> None:
    """It is never shown to another account's login; a grid that knows none says so. Spec: SUP-8, CFG-3."""
    async with room() as ask:
        with pytest.raises(UsageProblem, match="belongs to one account; name it with --avatar"):
            await ask(remote.send_control, "connect", "246810", avatar=None, every=True)
        await ask(remote.send_control, "disconnect", "", avatar=None, every=False)
        code, text = await ask(remote.send_control, "connect", "246810", avatar="robin", every=False)
        assert code == ExitCode.REFUSED
        assert "no_code_wanted" in text
        assert "246810" not in text


async def test_approvals_are_listed_and_answered_without_naming_the_avatar(autojump_clock) -> None:
    """The one that has it is found. Spec: POL-7."""
    async with room(OWNED, scenario="plaza") as ask:
        assert (await ask(remote.show_approvals, None))[1] == "nothing waits for an answer\n"
        assert (await ask(remote.show_approvals, None, json=True))[1] == ""
        while not (waiting := ask.service.status()[0].gateway.approvals):  # noqa: ASYNC110 - virtual time
            await trio.sleep(5)
        _, text = await ask(remote.show_approvals, "robin")
        assert text.startswith(f"{waiting[0].approval_id}  robin: walk_to ")
        assert " s left" in text
        _, text = await ask(remote.show_status, None)
        assert "1 approvals wait for an answer" in text
        code, text = await ask(remote.answer_approval, waiting[0].approval_id, allow=False, avatar=None)
        assert code == 0
        code, text = await ask(remote.answer_approval, waiting[0].approval_id, allow=True, avatar="robin")
        assert code is ExitCode.REFUSED
        assert "refused" in text


async def test_effects_in_doubt_are_listed_to_be_settled(autojump_clock) -> None:
    """What nobody knows is shown with the way to settle it. Spec: EFX-1."""
    async with room() as ask:
        row = remote.StatusRow(status=ask.service.status()[0], approvals=2, in_doubt=1)
        doubt = remote.DoubtRow(
            avatar="robin", effect="e1", action="pay_avatar", summary="pay_avatar amount=5", since=0.0
        )
        lines = remote._status_lines(row, (doubt,))
        assert "  2 approvals wait for an answer: gridagent approvals" in lines
        assert any(line.startswith("  in doubt since 1970-01-01 00:00:00 UTC: pay_avatar amount=5") for line in lines)


async def test_the_audit_is_shown_oldest_first(autojump_clock) -> None:
    """Every decision with its rule; with --json the whole record. Spec: POL-10."""
    async with room() as ask:
        await ask(remote.send_control, "say", "hello", avatar=None, every=False)
        await trio.sleep(2)
        await ask(remote.send_control, "hold", "", avatar=None, every=False)
        _, text = await ask(remote.show_audit, None, 20)
        first, *_, last = text.splitlines()
        assert "authorized say for client:operator (rule matrix.operator_console.speak)" in first
        assert last.split()[-2:] == ["hold", "held"]
        _, text = await ask(remote.show_audit, "robin", 1, json=True)
        assert json.loads(text)["record"]["code"] == "held"


async def test_watching_shows_the_story_and_ends_with_it(autojump_clock) -> None:
    """State first, then what happens, then that it is over. Spec: OPS-1, BND-3."""
    async with room() as ask:

        async def stop_soon() -> None:
            await trio.sleep(2)
            await ask(remote.send_control, "say", "hello \x1b[2J", avatar=None, every=False)
            await trio.sleep(2)
            await ask(remote.send_control, "stop", "", avatar=None, every=False)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(stop_soon)
            code, text = await ask(remote.watch, None, for_s=None)
        assert code == 0
        assert text.startswith("robin: running")
        assert "Robin Resident says: hello \\x1b[2J" in text
        assert text.endswith("robin: has stopped\n")
        assert all(char.isprintable() or char == "\n" for char in text)


async def test_watching_as_json_is_observations_only(autojump_clock) -> None:
    """Neither status nor notes stand between them; the time can be bounded. Spec: OPS-1."""
    async with room() as ask:
        began = trio.current_time()
        code, text = await ask(remote.watch, "robin", json=True, for_s=120.0)
        assert (code, trio.current_time() - began) == (0, pytest.approx(120.0))
        assert all("body" in json.loads(line) for line in text.splitlines())


async def test_watching_ends_when_nobody_reads(autojump_clock, monkeypatch) -> None:
    """`gridagent watch | head` ends with head."""

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(io, "StringIO", Gone)
    async with room() as ask:
        out = Gone()
        reach = Asked(ENDPOINT, SecretStr(TOKEN), out=out, json=False, network=ask.network)
        remote.watch(reach, None, for_s=None)
        assert await reach.perform() == 0


def test_what_else_a_stream_says_is_printed() -> None:
    """Lagging, omissions, the end and refusals are lines too."""
    printer = remote._Printer(json=False, several=True)
    assert "7 observations" in printer.text(Missed(avatar="robin", missed=7))
    assert printer.text(Omitted(avatar="robin", seq=1, kind="reply")) == "robin: one reply was too large to be sent\n"
    assert printer.text(Ended(avatar="robin")) == "robin: has stopped\n"
    assert printer.text(Refused(code="x", message="no \x1b[2J")) == "no \\x1b[2J\n"
    assert remote._Printer(json=True, several=True).text(Ended(avatar="robin")) == ""


def test_no_service_is_one_sentence(tmp_path) -> None:
    """It names the place and the way to start one. Spec: OPS-1."""
    with pytest.raises(NotRunning, match=r"no control endpoint in .*; start one with: gridagent run"):
        find_service(None, tmp_path / "run", {}, out=io.StringIO(), json=False)


def test_a_broken_configuration_does_not_keep_the_kill_switch_out(tmp_path) -> None:
    """With --runtime-dir the configuration isn't read; without it, the way is told. Spec: OPS-6, POL-12."""
    broken = tmp_path / "config.json"
    broken.write_text("{", encoding="utf-8")
    with RuntimeDirectory(tmp_path / "run") as directory:
        directory.publish(ENDPOINT, TOKEN)
    assert find_service(broken, tmp_path / "run", {}, out=io.StringIO(), json=False)
    with pytest.raises(OperatorError, match="name the place with --runtime-dir"):
        find_service(broken, None, {}, out=io.StringIO(), json=False)
    environ = {"GRIDAGENT_PATHS__RUNTIME_DIR": str(tmp_path / "run")}
    assert find_service(None, None, environ, out=io.StringIO(), json=False)


@pytest.mark.parametrize(
    ("by", "proof", "words"),
    [
        (SettledBy.RECONCILIATION, "history", ", was in doubt, by reconciliation (history)"),
        (SettledBy.OPERATOR, "", ", was in doubt, by operator"),
        (None, "", " for client:operator"),
    ],
)
def test_the_audit_says_who_ended_a_doubt(by, proof, words) -> None:
    """And by what proof. Spec: EFX-2, POL-10."""
    record = AuditRecord(
        seq=7, at=0.0, kind=AuditKind.SETTLEMENT, code="confirmed", who="client:operator", action="pay_avatar",
        settled_by=by, proof=proof,
    )  # fmt: skip
    assert remote.audit_line("robin", record).endswith(words)
