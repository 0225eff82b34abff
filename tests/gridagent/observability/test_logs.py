"""The log: structured, redacted last, and never the end of whoever writes it."""
# ruff: noqa: A002, G003, LOG014, TRY301, PT017 - `log` is the thing under test, not a logger

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gridagent.config.model import LogFormat, LogLevel
from gridagent.config.secrets import derived_forms
from gridagent.errors import ResourceClosed
from gridagent.observability.logs import (
    CAUSES_MAX,
    FRAMES_MAX,
    LINE_MAX_CHARS,
    Log,
    LogStatistics,
    open_log,
    render_exception,
)
from gridagent.observability.redaction import Redactor

SECRET = 'hunter2-Canary&"é'
REDACTOR = Redactor(derived_forms(SECRET))


def _noon() -> float:
    return 1_700_000_000.5


def _opened(
    format: LogFormat = LogFormat.JSON, redactor: Redactor = REDACTOR, level: LogLevel = LogLevel.DEBUG
) -> tuple[Log, list[str]]:
    lines: list[str] = []
    return open_log(lines.append, redactor, level=level, format=format, clock=_noon), lines


def _written(write: Callable[[Log], object], redactor: Redactor = REDACTOR) -> dict[str, object]:
    log, lines = _opened(redactor=redactor)
    write(log)
    (line,) = lines
    assert line.endswith("\n")
    assert line.count("\n") == 1
    record = json.loads(line)
    assert isinstance(record, dict)
    return record


def test_a_record_is_one_json_line_in_order() -> None:
    """Time from the given clock, level, event, then the fields. Spec: OPS-2, SIM-2."""
    record = _written(lambda log: log.info("avatar_ready", region="Plaza", count=3))
    assert list(record.items()) == [
        ("time", "2023-11-14T22:13:20.500Z"),
        ("level", "info"),
        ("event", "avatar_ready"),
        ("region", "Plaza"),
        ("count", 3),
    ]


def test_correlation_ids_are_bound_fields() -> None:
    """Each bound log adds its fields, and the one it came from does not. Spec: OPS-2, MND-14."""
    log, lines = _opened()
    session = log.bind(avatar="robin", generation=3)
    session.bind(correlation="c-1").info("decided")
    session.info("idle")
    log.info("stopped")
    records = [json.loads(line) for line in lines]
    assert [record.get("correlation") for record in records] == ["c-1", None, None]
    assert [record.get("generation") for record in records] == [3, 3, None]
    assert repr(session) == "<Log with 2 fields>"


def test_a_field_may_have_any_name() -> None:
    """Names of parameters and of our own keys are no trap."""
    fields = {"self": 1, "event": 2, "method_name": 3, "time": 4, "level": 5, "fields": 6}
    record = _written(lambda log: log.info("named", **fields))
    assert record == {
        "time": "2023-11-14T22:13:20.500Z",
        "level": "info",
        "event": "named",
        "self": 1,
        "method_name": 3,
        "fields": 6,
    }


@pytest.mark.parametrize("level", list(LogLevel))
def test_records_below_the_level_are_not_written(level: LogLevel) -> None:
    """The level is a floor. Spec: OPS-2."""
    log, lines = _opened(level=level)
    for write in (log.debug, log.info, log.warning, log.error):
        write("said")
    expected = ["debug", "info", "warning", "error"]
    assert [json.loads(line)["level"] for line in lines] == expected[expected.index(level.value) :]


def test_the_level_changes_live_for_every_bound_log() -> None:
    """A reload reaches all who hold one. Spec: SUP-8."""
    log, lines = _opened(level=LogLevel.ERROR)
    bound = log.bind(avatar="robin")
    log.set_level(LogLevel.DEBUG)
    bound.debug("heard")
    assert len(lines) == 1


@pytest.mark.parametrize("format", list(LogFormat))
def test_a_secret_is_masked_wherever_it_stands(format: LogFormat) -> None:
    """Event, field, key, nesting, exception and its cause. Spec: CFG-3. Fault: 42."""
    log, lines = _opened(format)
    try:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(f"login with {SECRET} failed") from error
    except ValueError as error:
        log.bind(bound=SECRET).error(f"event {SECRET}", exc_info=error, field={SECRET: [SECRET.encode()]}, error=error)
    text = "".join(lines)
    assert text.count("***") >= 7
    assert not any(form in text for form in derived_forms(SECRET))


@pytest.mark.parametrize("secret", ["true", '","event":"', "2023", "level", "1234"])
def test_a_secret_that_is_part_of_a_lines_structure_is_masked_too(secret: str) -> None:
    """Even then nothing of it is shown, and JSON stays JSON wherever it can. Spec: CFG-3."""
    log, lines = _opened(redactor=Redactor([secret]))
    log.info("happened", flag=True, number=12345)
    assert secret not in lines[0]
    json.loads(lines[0])


def test_a_line_that_cannot_be_cleaned_is_withheld() -> None:
    """A fixed sentence stands in its place, and it is counted. Spec: CFG-3."""
    log, lines = _opened(redactor=Redactor([',"flag":']))
    log.info("happened", flag=True)
    assert json.loads(lines[0]) == {
        "level": "warning",
        "event": "a log line was withheld: a secret was part of its structure",
    }
    assert log.statistics() == LogStatistics(written=1, lost=0, withheld=1)


@pytest.mark.parametrize("format", list(LogFormat))
def test_a_record_beyond_the_bound_is_written_without_its_fields(format: LogFormat) -> None:
    """A huge record costs no more than a line of bounded length."""
    log, lines = _opened(format)
    log.info("huge " + "x" * 1_000, **{f"field{number}": "y" * 200_000 for number in range(8)})
    assert len(lines[0]) < 1_000
    assert "cut_chars" in lines[0]
    assert "huge xxx" in lines[0]
    assert LINE_MAX_CHARS < 8 * 200_000


def test_the_event_of_a_huge_record_is_cut_after_it_is_masked() -> None:
    """No half secret at the end of what is kept."""
    log, lines = _opened()
    log.info("x" * 250 + SECRET, **{f"field{number}": "y" * 200_000 for number in range(8)})
    assert "hunter" not in lines[0]


def test_the_console_shows_one_readable_line() -> None:
    """Fields follow the event; what could command a terminal or break the line is escaped. Spec: OPS-2. Fault: 17."""
    log, lines = _opened(LogFormat.CONSOLE)
    log.warning(
        "heard\nsomething", who="Ada", text="two words", empty="", odd="\x1b[31m\u202eevil\u200b", n=None, l=[1]
    )
    assert lines == [
        (
            '2023-11-14T22:13:20.500Z warning heard\\nsomething who=Ada text="two words" empty="" '
            "odd=\\x1b[31m\\u202eevil\\u200b n=null l=[1]\n"
        )
    ]


def test_the_console_shows_exceptions_indented() -> None:
    """Each line of a traceback stands below its record."""
    log, lines = _opened(LogFormat.CONSOLE)
    log.error("failed", exc_info=ValueError("first\nsecond"))
    assert lines[0].splitlines()[1:] == ["    builtins.ValueError: first", "    second"]


def _local_values() -> None:
    password = SECRET  # noqa: F841 - it must not show
    raise OSError("disk")


def test_exceptions_are_written_without_locals() -> None:
    """Where it broke, in which order, but no variable's value. Spec: CFG-3. Fault: 42."""
    with pytest.raises(OSError, match="disk") as caught:
        _local_values()
    record = _written(lambda log: log.error("failed", exc_info=caught.value), redactor=Redactor())
    text = record["exception"]
    assert isinstance(text, str)
    assert text.startswith("builtins.OSError: disk\n  ")
    assert "in _local_values: raise OSError" in text
    assert "hunter2" not in text


def _raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as caught:  # noqa: BLE001 - made here
        return caught


def test_causes_contexts_and_members_are_written() -> None:
    """The whole story of a group, in order."""
    context = ValueError("context")
    try:
        try:
            raise context
        except ValueError:
            raise KeyError("with context")  # noqa: B904 - the context is the point
    except KeyError as error:
        group = ExceptionGroup("both", [error, _raised(OSError("member"), cause=TypeError("cause"))])
    heads = [line for line in render_exception(group).splitlines() if not line.startswith("  ")]
    assert heads == [
        "builtins.ExceptionGroup: both (2 sub-exceptions)",
        "member: builtins.KeyError: 'with context'",
        "member: builtins.OSError: member",
        "caused by: builtins.ValueError: context",
        "caused by: builtins.TypeError: cause",
    ]


def test_a_suppressed_context_stays_suppressed() -> None:
    """`from None` is respected."""
    try:
        try:
            raise ValueError("hidden")
        except ValueError:
            raise KeyError from None
    except KeyError as error:
        assert [line for line in render_exception(error).splitlines() if not line.startswith("  ")] == [
            "builtins.KeyError"
        ]


def test_chains_and_stacks_are_bounded() -> None:
    """A thousand causes, a cycle or a deep recursion do not fill the disk."""
    error: BaseException = ValueError("0")
    for number in range(1, 1_000):
        error = _raised(ValueError(str(number)), cause=error)
    text = render_exception(error)
    assert text.count("builtins.ValueError") == CAUSES_MAX
    assert text.endswith("and 1 more")
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert render_exception(first).splitlines() == [
        "builtins.ValueError: first",
        "caused by: builtins.ValueError: second",
    ]

    def down(depth: int) -> None:
        if depth:
            down(depth - 1)
        raise ValueError("deep")

    with pytest.raises(ValueError) as caught:
        down(200)
    assert len(render_exception(caught.value).splitlines()) == FRAMES_MAX + 1


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


def test_an_exception_that_cannot_speak_is_named() -> None:
    """Foreign code in the middle of a log line does not break it."""
    name = f"{Unspeakable.__module__}.Unspeakable"
    assert render_exception(Unspeakable()) == f"{name}: (its text cannot be read)"


def test_exc_info_that_is_no_exception_is_told() -> None:
    """A slip of the programmer shows in the log and nowhere else."""
    assert _written(lambda log: log.error("x", exc_info=True))["exception"] == "exc_info was a bool, not an exception"
    assert "exception" not in _written(lambda log: log.error("x", exc_info=None))


class FailingSink:
    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        if self.error is not None:
            raise self.error
        self.lines.append(line)


@pytest.mark.parametrize(
    "error", [OSError(28, "disk full"), BrokenPipeError(), ValueError("closed file"), ResourceClosed("log")]
)
def test_a_sink_that_fails_is_counted_and_said_once(error: Exception) -> None:
    """The session goes on; when the sink works again, the log says how much is missing. Spec: OPS-2. Fault: 39."""
    sink, said = FailingSink(error), []
    log = open_log(sink, REDACTOR, clock=_noon, complain=said.append)
    for number in range(5):
        log.info("lost", number=number)
    assert said == [f"gridagent: the log cannot be written ({type(error).__name__}); going on without it\n"]
    assert log.statistics() == LogStatistics(written=0, lost=5, withheld=0)
    sink.error = None
    log.info("back")
    log.info("again")
    records = [json.loads(line) for line in sink.lines]
    assert [record["event"] for record in records] == ["back", "log_lines_lost", "again"]
    assert records[1]["lost"] == 5
    sink.error = error
    log.info("lost again")
    assert len(said) == 2
    assert log.statistics() == LogStatistics(written=3, lost=6, withheld=0)


def test_a_sink_that_fails_with_nobody_to_tell_is_only_counted() -> None:
    """Neither a missing nor a broken complaint kills the writer."""
    log = open_log(FailingSink(OSError()), REDACTOR, clock=_noon)
    log.info("lost")
    broken = FailingSink(BrokenPipeError())
    log = open_log(FailingSink(OSError()), REDACTOR, clock=_noon, complain=broken)
    log.info("lost")
    assert log.statistics().lost == 1


def test_other_errors_of_a_sink_are_not_hidden() -> None:
    """A bug in the sink is a bug, not a full disk."""
    log = open_log(FailingSink(RuntimeError("bug")), REDACTOR, clock=_noon)
    with pytest.raises(RuntimeError, match="bug"):
        log.info("x")


def test_a_stream_is_flushed_after_each_line(tmp_path: Path) -> None:
    """What was written before a crash is there after it."""
    path = tmp_path / "log"
    with path.open("w", encoding="utf-8") as stream:
        open_log(stream, REDACTOR, clock=_noon).info("written")
        assert json.loads(path.read_text())["event"] == "written"
    closed = open_log(stream, REDACTOR, clock=_noon)
    closed.info("lost")
    assert closed.statistics().lost == 1
    memory = io.StringIO()
    open_log(memory, REDACTOR, clock=_noon).info("kept")
    assert "kept" in memory.getvalue()
