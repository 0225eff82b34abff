"""Where spans are handed over, and what their failures mean."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest
import trio

from gridagent.cli.span_sinks import SEND_S, SpanCollector, SpanFile, Unsent, token_header
from gridagent.config.model import LogConfig
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import ConfigError, OutcomeUnknown
from gridagent.observability import Redactor
from tests.gridagent.llm.llm_server import always, serve

TOKEN = SecretStr("canary-token-1")


class Inline:
    """Runs what blocks at once, or fails as it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def run(self, fn, *args, name):  # type: ignore[no-untyped-def]
        assert name == "traces"
        await trio.lowlevel.checkpoint()
        if self.error is not None:
            raise self.error
        return fn(*args)


async def test_a_file_holds_one_message_a_line_and_stays_bounded(tmp_path: Path) -> None:
    """Private, whole lines, set aside as the log is. Spec: CFG-2, OPS-2."""
    bounds = LogConfig(max_bytes=65_536, keep_files=1)
    file = SpanFile(tmp_path / "spans", bounds, io.StringIO(), Inline())
    for letter in (b"a", b"b", b"c"):
        assert await file.send(letter * 40_000) == b""
    await file.aclose()
    file.close()
    texts = {each.name: each.read_text(encoding="utf-8") for each in sorted(tmp_path.iterdir())}  # noqa: ASYNC240 - a test
    assert texts == {"spans": "c" * 40_000 + "\n", "spans.1": "b" * 40_000 + "\n"}
    assert stat.S_IMODE((tmp_path / "spans").stat().st_mode) == 0o600


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    """Which key, and how to mend it. Spec: OPS-1."""
    (tmp_path / "spans").mkdir()
    with pytest.raises(ConfigError, match=r"\$\.tracing\.file: the file of traces .* cannot be opened"):
        SpanFile(tmp_path / "spans", LogConfig(), io.StringIO(), Inline())


@pytest.mark.parametrize(
    ("error", "why", "again"),
    [
        (OSError(28, "No space left on device"), "No space left on device", True),
        (OSError(), "unknown error", True),
        (OutcomeUnknown("traces"), "the disk did not answer in time", False),
    ],
)
async def test_a_disk_that_refuses(tmp_path: Path, error: Exception, why: str, again: bool) -> None:  # noqa: FBT001
    """What may have been written is not written twice. Spec: OPS-2."""
    file = SpanFile(tmp_path / "spans", LogConfig(), io.StringIO(), Inline(error))
    with pytest.raises(Unsent, match=why) as caught:
        await file.send(b"{}")
    assert caught.value.again is again
    file.close()


async def test_a_collector_gets_the_message_and_the_token() -> None:
    """As JSON, to the one exact URL. Spec: OPS-2."""
    async with serve(always('{"partialSuccess":{}}')) as server:
        goal = SpanCollector(
            EndpointUrl(f"http://127.0.0.1:{server.port}/v1/traces"), token_header("authorization", TOKEN, Redactor())
        )
        assert await goal.send(b'{"resourceSpans":[]}') == b'{"partialSuccess":{}}'
        await goal.aclose()
        (seen,) = server.seen
    assert (seen.target, seen.body) == ("/v1/traces", b'{"resourceSpans":[]}')
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["authorization"] == "Bearer canary-token-1"


@pytest.mark.parametrize(("status", "again"), [(429, True), (503, True), (404, False), (401, False), (307, False)])
async def test_what_a_refusal_means(status: int, again: bool) -> None:  # noqa: FBT001 - a table
    """OTLP says which answers are worth a second try; nothing a collector says is repeated. Spec: OPS-2."""
    async with serve(always("canary words", status)) as server:
        goal = SpanCollector(server.url, {})
        with pytest.raises(Unsent, match=rf"^status {status}$") as caught:
            await goal.send(b"{}")
        await goal.aclose()
    assert caught.value.again is again


async def test_nobody_there_and_nobody_who_answers(autojump_clock) -> None:
    """Both may change; the bound on waiting is ours. Spec: OPS-2, BND-7."""

    async def silent(exchange) -> None:  # type: ignore[no-untyped-def]
        await trio.sleep_forever()

    async with serve(silent) as server:
        goal, url = SpanCollector(server.url, {}), server.url
        began = trio.current_time()
        with pytest.raises(Unsent, match=r"^timeout$") as caught:
            await goal.send(b"{}")
        assert trio.current_time() - began <= SEND_S
        await goal.aclose()
    gone = SpanCollector(url, {})
    with pytest.raises(Unsent, match=r"^unreachable$") as missed:
        await gone.send(b"{}")
    await gone.aclose()
    assert (caught.value.again, missed.value.again) == (True, True)


def test_a_token_goes_as_its_collector_wants_it() -> None:
    """A bearer's, with a scheme of its own, or in a header of its own; no part of it is ever shown. Spec: CFG-3."""
    redactor = Redactor(["canary-token-1"])
    assert token_header("Authorization", None, redactor) == {}
    assert token_header("AUTHORIZATION", TOKEN, redactor)["AUTHORIZATION"].matches(b"Bearer canary-token-1")
    assert token_header("x-key", TOKEN, redactor)["x-key"].matches(b"canary-token-1")
    basic = token_header("Authorization", SecretStr("Basic Y2FuYXJ5OnRva2Vu"), redactor)
    assert basic["Authorization"].matches(b"Basic Y2FuYXJ5OnRva2Vu")
    assert redactor.scrub("Y2FuYXJ5OnRva2Vu") == "***"
