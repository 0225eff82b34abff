"""Traces of a run: in order, whole, bounded, and never the reason that anything waits or fails."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import trio

pytest.importorskip("opentelemetry.sdk")

from gridagent.cli import tracing
from gridagent.cli.embedding import open_service
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.span_sinks import SpanFile, Unsent
from gridagent.cli.tracing import GATHER_S, LAST_S, RETRY_MAX_S, TOKEN, Outbox, Traces, check_tracing, span_goal
from gridagent.config.annotations import fields_of
from gridagent.config.model import Config
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.config.tracing import TracingSection
from gridagent.controls import Hold
from gridagent.errors import ConfigError
from gridagent.observability import Redactor, open_log, otlp
from gridagent.observability.otlp import provider_for
from gridagent.observability.spans import otel_spans
from gridagent.observations import AgentState
from gridagent.runtime.channels import Lagged
from gridagent.runtime.deterministic import simulated_ports


class Goal:
    """Takes messages, or does not."""

    def __init__(self, *answers: bytes | Unsent) -> None:
        self.answers = list(answers)
        self.messages: list[list[str]] = []
        self.at: list[float] = []
        self.closed = False
        self.sleeps = False

    async def send(self, message: bytes) -> bytes:
        """Answer as it was told to."""
        self.at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if self.sleeps:
            await trio.sleep_forever()
        (resource,) = json.loads(message)["resourceSpans"]
        self.messages.append([span["name"] for span in resource["scopeSpans"][0]["spans"]])
        answer = self.answers.pop(0) if self.answers else b"{}"
        if isinstance(answer, Unsent):
            raise answer
        return answer

    async def aclose(self) -> None:
        """Remember that it was let go."""
        self.closed = True


class Posted:
    """An outbox, a goal, a log, and spans by name."""

    def __init__(self, *answers: bytes | Unsent) -> None:
        self.goal = Goal(*answers)
        self.text = io.StringIO()
        self.log = _log(self.text)
        self.outbox = Outbox(self.goal, Redactor(), self.log)
        self._sink = otel_spans(provider_for(self.outbox.ended, name="x", version="1", sample=1.0))

    def end(self, *names: str) -> None:
        """End spans of these names."""
        for name in names:
            self._sink.end(self._sink.begin(name, parent=None, at=1.0, attributes={}), at=2.0)

    @property
    def said(self) -> list[str]:
        """Why, of each complaint."""
        return [json.loads(line)["why"] for line in self.text.getvalue().splitlines()]


def _log(stream: io.StringIO):  # type: ignore[no-untyped-def]
    return open_log(stream, Redactor(), clock=simulated_ports(1).clock.wall)


async def test_spans_are_gathered_and_go_in_order(autojump_clock) -> None:
    """What ends within two seconds is one message; a full one goes at once. Spec: OPS-2."""
    posted = Posted()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(posted.outbox.run)
        await trio.sleep(10)
        posted.end("a")
        await trio.sleep(GATHER_S / 2)
        posted.end("b")
        await trio.sleep(GATHER_S)
        assert posted.goal.messages == [["a", "b"]]
        posted.end(*(["c"] * otlp.BATCH_MAX), "d")
        began = trio.current_time()
        await trio.testing.wait_all_tasks_blocked()
        assert (trio.current_time() - began, len(posted.goal.messages[1]), posted.goal.messages[2]) == (0, 512, ["d"])
        nursery.cancel_scope.cancel()
    assert (posted.outbox.exported, sum(posted.outbox.dropped.values()), posted.said) == (515, 0, [])


async def test_a_collector_that_is_away_is_asked_again_ever_less_often(autojump_clock) -> None:
    """The same spans, none lost, and one line in the log. Spec: OPS-2."""
    posted = Posted(*(Unsent("unreachable", again=True) for _ in range(9)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(posted.outbox.run)
        posted.end("a")
        await trio.sleep(60)
        posted.end("b")
        await trio.sleep(400)
        nursery.cancel_scope.cancel()
    pauses = [
        round(later - sooner - GATHER_S) for sooner, later in zip(posted.goal.at, posted.goal.at[1:], strict=False)
    ]
    assert pauses[:8] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert max(pauses) <= RETRY_MAX_S
    assert posted.goal.messages == [["a"]] * 10 + [["b"]]
    assert (posted.outbox.exported, sum(posted.outbox.dropped.values())) == (2, 0)
    assert posted.said == ["unreachable"]


async def test_what_is_refused_is_dropped_and_said_again_only_after_it_went_well(autojump_clock) -> None:
    """Whole messages and parts of them are counted. Spec: OPS-2."""
    never, part = Unsent("status 400", again=False), b'{"partialSuccess":{"rejectedSpans":"1"}}'
    posted = Posted(never, never, b"", part, b'{"partialSuccess":{"rejectedSpans":"99"}}')
    for names in (("a", "b"), ("c",), ("d",), ("e", "f"), ("g",)):
        posted.end(*names)
        await posted.outbox.flush()
    assert (posted.outbox.exported, posted.outbox.dropped) == (2, {"queue_full": 0, "refused": 5, "unsent": 0})
    assert posted.said == ["status 400", "1 spans refused"]


async def test_what_is_left_at_the_end_is_counted() -> None:
    """In hand and in the queue; the last try is one. Spec: OPS-2."""
    posted = Posted(Unsent("timeout", again=True))
    posted.end("a")
    await posted.outbox.flush()
    posted.end("b", "c")
    posted.outbox.give_up()
    await posted.outbox.flush()
    assert (posted.outbox.dropped["unsent"], posted.goal.messages) == (3, [["a"]])


def _traces(handle, goal: Goal, stream: io.StringIO) -> Traces:  # type: ignore[no-untyped-def]
    config = Config(tracing=TracingSection(enabled=True, file="unused"))
    return Traces(config, [handle], goal, clock=simulated_ports(1).clock, redactor=Redactor(), log=_log(stream))


async def test_the_last_words_of_an_avatar_are_traced_too(autojump_clock) -> None:
    """From the block's beginning until the avatar is over. Spec: OPS-2, MND-18."""
    goal, stream = Goal(), io.StringIO()
    async with open_service(scenario="plaza", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        with _traces(handle, goal, stream) as traces:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(traces.run)
                await trio.sleep(30)
                await handle.shut_down()
                nursery.cancel_scope.cancel()
    names = {name for message in goal.messages for name in message}
    assert {"invoke_agent robin", "reply"} <= names
    assert goal.closed
    assert traces.done.is_set()
    last = json.loads(stream.getvalue().splitlines()[-1])
    assert (last["event"], last["exported"]) == ("traces_ended", sum(map(len, goal.messages)))


async def test_a_collector_that_hangs_holds_up_nothing_but_the_end_a_little(autojump_clock) -> None:
    """The avatar answers its operator as ever; then three seconds at most. Spec: OPS-2, MND-18."""
    goal, stream = Goal(), io.StringIO()
    goal.sleeps = True
    async with open_service(scenario="plaza", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        with _traces(handle, goal, stream) as traces:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(traces.run)
                await trio.sleep(30)
                assert (await handle.control(Hold())).accepted
                began = trio.current_time()
                nursery.cancel_scope.cancel()
            assert trio.current_time() - began <= LAST_S
    assert traces.outbox.exported == 0
    assert traces.outbox.dropped["unsent"] > 0


async def test_what_was_missed_is_said(autojump_clock) -> None:
    """A gap is no reason to stop. Spec: BND-3."""
    stream = io.StringIO()
    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        with _traces(handle, Goal(), stream) as traces:

            async def gap():  # type: ignore[no-untyped-def]
                yield Lagged(missed=7)

            await traces._take_all("robin", gap())  # type: ignore[arg-type]
    assert '"traces_lagged","avatar":"robin","missed":7' in stream.getvalue()


# --- a whole run ------------------------------------------------------------------------------------


@contextmanager
def collector() -> Iterator[tuple[int, list[tuple[dict[str, str], dict]]]]:
    """Listen on loopback, on a thread of its own; give the port and what came."""
    seen: list[tuple[dict[str, str], dict]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()} | {"path": self.path}
            seen.append((headers, json.loads(self.rfile.read(int(headers["content-length"])))))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port, seen
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
def test_a_run_sends_its_traces_to_a_collector(gridagent) -> None:
    """From the configuration to the wire; the token is shown nowhere, and the numbers agree. Spec: OPS-2, CFG-3."""
    gridagent.write("token", "canary-token-of-traces")
    with collector() as (port, seen):
        tracing_section = {
            "enabled": True,
            "endpoint": f"http://127.0.0.1:{port}/v1/traces",
            "token_file": "token",
            "service_name": "plaza-1",
        }
        file = gridagent.write("config.json", json.dumps({"tracing": tracing_section}))
        numbers = gridagent.room / "x.prom"
        done = gridagent(
            "run", "--config", str(file), "--for", "1s", "--metrics", str(numbers), stdin="say Hello!\n", real_time=True
        )
    assert (done.code, done.err) == (0, "")
    spans = [
        (resource["resource"]["attributes"][0]["value"]["stringValue"], span["name"])
        for _, message in seen
        for resource in message["resourceSpans"]
        for span in resource["scopeSpans"][0]["spans"]
    ]
    assert ("plaza-1", "action say") in spans, (spans, done.out)
    assert {(each["path"], each["authorization"]) for each, _ in seen} == {
        ("/v1/traces", "Bearer canary-token-of-traces")
    }
    assert f"gridagent_spans_exported_total {len(spans)}\n" in numbers.read_text(encoding="utf-8")
    log = (gridagent.room / "gridagent.log").read_text(encoding="utf-8")
    assert '"event":"traces_ended"' in log
    assert "canary-token" not in log + done.out + numbers.read_text(encoding="utf-8")


def test_a_run_writes_its_traces_to_a_file(gridagent) -> None:
    """One message a line. Spec: OPS-2."""
    gridagent.environ |= {
        "GRIDAGENT_TRACING__ENABLED": "true",
        "GRIDAGENT_TRACING__FILE": str(gridagent.room / "spans"),
    }
    done = gridagent("run", "--for", "40s")
    assert (done.code, done.err) == (0, "")
    lines = (gridagent.room / "spans").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 1
    assert all("resourceSpans" in json.loads(line) for line in lines)


# --- before anything runs ---------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "check-config"])
@pytest.mark.parametrize("missing", ["opentelemetry", "opentelemetry.sdk.trace"])
def test_without_the_extra_one_sentence_says_what_is_missing(
    gridagent, monkeypatch: pytest.MonkeyPatch, command: str, missing: str
) -> None:
    """At the check and at the start, before anything runs. Spec: OPS-2, CFG-5."""
    monkeypatch.setitem(sys.modules, missing, None)
    file = gridagent.write("config.json", '{"tracing": {"enabled": true, "file": "spans"}}')
    done = gridagent(command, "--config", str(file)) if command == "run" else gridagent(command, str(file))
    assert done.code == ExitCode.CONFIGURATION
    assert (
        "$.tracing.enabled: needs OpenTelemetry, which is not installed; install gridagent with the extra" in done.err
    )
    assert not (gridagent.room / "spans").exists()


def test_who_traces_nothing_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Off by default, whatever is installed. Spec: OPS-2."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    check_tracing(Config())
    with ExitStack() as stack:
        ports = simulated_ports(1)
        assert span_goal(Config(), None, ports=ports, redactor=Redactor(), complain=io.StringIO(), stack=stack) is None


def test_a_token_that_no_header_can_carry_is_one_sentence() -> None:
    """The sentence holds nothing of it. Spec: OPS-1, CFG-3."""
    assert "token_file" in fields_of(TracingSection)
    assert TOKEN == "tracing.token_file"
    config = Config(tracing=TracingSection(enabled=True, endpoint=EndpointUrl("http://127.0.0.1:1/v1/traces")))
    with ExitStack() as stack, pytest.raises(ConfigError, match=r"\$\.tracing\.token_file: holds what") as caught:
        span_goal(
            config,
            SecretStr("canary-é"),
            ports=simulated_ports(1),
            redactor=Redactor(),
            complain=io.StringIO(),
            stack=stack,
        )
    assert "canary" not in str(caught.value)


def test_a_file_is_closed_also_where_nothing_came_of_it(tmp_path) -> None:
    """A run that ends before it began leaves nothing open. Spec: OPS-1."""
    config = Config(tracing=TracingSection(enabled=True, file=str(tmp_path / "spans")))
    with ExitStack() as stack:
        goal = span_goal(
            config, None, ports=simulated_ports(1), redactor=Redactor(), complain=io.StringIO(), stack=stack
        )
        assert isinstance(goal, SpanFile)
    assert goal._file._file.closed
    assert tracing.SAID_S < LAST_S
