"""The one log: structured records with correlation ids, redacted last, that never kill who writes them.

Owns `Log` (bound context, levels), the two renderings (JSON lines for machines, one readable line for people) and
the handling of a sink that fails. Configures nothing global: each `Log` carries its structlog pipeline. Time comes
from the clock that was given. Correlation ids are fields that the writer binds (``log.bind(avatar=…,
generation=…, correlation=…)``); they travel in messages, not in ambient context.

Invariant: nothing reaches the sink but through the redactor, and no failure of the sink reaches the writer
(Spec: OPS-2, CFG-3).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from enum import IntEnum
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias

import msgspec
import structlog
from structlog.typing import Processor

from gridagent.config.model import LogFormat, LogLevel
from gridagent.errors import GridAgentError
from gridagent.observability.redaction import Plain, Redactor, to_plain

__all__ = ("Log", "LogStatistics", "open_log")

Fields: TypeAlias = MutableMapping[str, object]
LineSink: TypeAlias = Callable[[str], object]
"""Takes one line, its line end included."""
Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970-01-01T00:00Z."""

LINE_MAX_CHARS: Final = 512 * 1024
"""A record that would be longer is written without its fields."""
_EVENT_MAX_CHARS: Final = 256
FRAMES_MAX: Final = 24
"""Innermost frames of each exception that are written."""
CAUSES_MAX: Final = 8
"""Exceptions of one chain or group that are written."""
_WITHHELD: Final = "a log line was withheld: a secret was part of its structure"
_ENCODER: Final = msgspec.json.Encoder()


class Rank(IntEnum):
    """Order of the levels."""

    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40


class TextStream(Protocol):
    """What an open text file has and a log needs."""

    def write(self, text: str, /) -> object:
        """Write text."""

    def flush(self) -> object:
        """Hand it to the system."""


class LogStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the records so far."""

    written: int
    lost: int
    """Lines that the sink would not take."""
    withheld: int
    """Lines that could not be cleaned without breaking them."""


class _Output:
    """The far end: level, counters, and a sink that may fail."""

    __slots__ = ("_complain", "_failing", "_sink", "_unreported", "lost", "rank", "withheld", "written")

    def __init__(self, sink: LineSink, rank: Rank, complain: LineSink | None) -> None:
        self._sink = sink
        self._complain = complain
        self._failing = False
        self._unreported = 0
        self.rank = rank
        self.written = 0
        self.lost = 0
        self.withheld = 0

    def take_lost(self) -> int:
        """Return how many lines were lost since last told, once the sink works again."""
        if self._failing:
            return 0
        told, self._unreported = self._unreported, 0
        return told

    def put(self, line: str) -> None:
        """Write one line; a failure is counted, and said once until the sink works again."""
        try:
            self._sink(line)
        except (OSError, ValueError, GridAgentError) as error:
            # Disk full, a closed pipe or file, a closed channel: the session goes on without a log.
            self.lost += 1
            self._unreported += 1
            if not self._failing:
                self._failing = True
                self._say(f"gridagent: the log cannot be written ({type(error).__name__}); going on without it\n")
            return
        self.written += 1
        self._failing = False

    def _say(self, sentence: str) -> None:
        if self._complain is None:
            return
        try:
            self._complain(sentence)
        except (OSError, ValueError):
            self._complain = None  # nowhere left to say it; the counter keeps it


class Log(structlog.BoundLoggerBase):
    """Writes records; `bind` returns one that adds fields to each of its records."""

    _logger: _Output

    def debug(self, event: str, /, **fields: object) -> None:
        """Write what helps to follow the program."""
        self._write(Rank.DEBUG, event, fields)

    def info(self, event: str, /, **fields: object) -> None:
        """Write what happened."""
        self._write(Rank.INFO, event, fields)

    def warning(self, event: str, /, **fields: object) -> None:
        """Write what an operator may want to look at."""
        self._write(Rank.WARNING, event, fields)

    def error(self, event: str, /, **fields: object) -> None:
        """Write what went wrong; ``exc_info=error`` adds the exception."""
        self._write(Rank.ERROR, event, fields)

    def __repr__(self) -> str:
        return f"<Log with {len(self._context)} fields>"

    def bind(self, **fields: object) -> Self:
        """Return a log whose records carry these fields too."""
        return super().bind(**fields)

    def set_level(self, level: LogLevel) -> None:
        """Change the level of this log and of every one bound from the same origin."""
        self._logger.rank = Rank[level.name]

    def statistics(self) -> LogStatistics:
        """Return what became of the records so far."""
        out = self._logger
        return LogStatistics(written=out.written, lost=out.lost, withheld=out.withheld)

    def _write(self, rank: Rank, event: str, fields: dict[str, object]) -> None:
        if rank < self._logger.rank:
            return
        lost = self._logger.take_lost()
        if lost:
            self._put("log_lines_lost", {"level": "warning", "lost": lost})
        self._put(event, {**fields, "level": rank.name.lower()})

    def _put(self, event: str, fields: dict[str, object]) -> None:
        # Not as keyword arguments: a field may have any name, also one of a parameter.
        type(self)(self._logger, self._processors, {**self._context, **fields})._proxy_to_logger("put", event)  # noqa: SLF001 - its own class


def open_log(
    sink: LineSink | TextStream,
    redactor: Redactor,
    *,
    level: LogLevel = LogLevel.INFO,
    format: LogFormat = LogFormat.JSON,  # noqa: A002 - the name of the configuration key
    clock: Clock,
    complain: LineSink | None = None,
) -> Log:
    """Make a log.

    Args:
        sink: takes each line; or an open text file, which is flushed after each.
        redactor: what must not be written.
        level: the least important record that is written; `Log.set_level` changes it live.
        format: JSON lines or readable ones.
        clock: wall-clock seconds, for the time stamps.
        complain: told in one sentence when the sink begins to fail.

    Bounds: a record is as large as `Redactor` lets it be; exceptions are cut to `FRAMES_MAX` frames.
    """
    out = _Output(sink if callable(sink) else _stream_sink(sink), Rank[level.name], complain)
    pipeline: list[Processor] = [
        _Stamp(clock),
        _exceptions,
        (_JsonLine if format is LogFormat.JSON else _ConsoleLine)(redactor, out),
    ]
    return Log(out, pipeline, {})


def _stream_sink(stream: TextStream) -> LineSink:
    def write(line: str) -> None:
        stream.write(line)
        stream.flush()

    return write


# --- the pipeline: each takes a record and hands it on --------------------------------------------


class _Stamp:
    """Adds the time, in UTC."""

    __slots__ = ("_clock",)

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __call__(self, _: object, __: str, record: Fields) -> Fields:
        now = datetime.fromtimestamp(self._clock(), UTC)
        time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        first = {"time": time, "level": record.pop("level"), "event": record.pop("event")}
        return first | {name: value for name, value in record.items() if name != "time"}


def _exceptions(_: object, __: str, record: Fields) -> Fields:
    """Turn ``exc_info`` into text without the values of any variable."""
    error = record.pop("exc_info", None)
    if isinstance(error, BaseException):
        record["exception"] = render_exception(error)
    elif error is not None:
        record["exception"] = f"exc_info was a {type(error).__name__}, not an exception"
    return record


def render_exception(error: BaseException) -> str:
    """Return the traceback of an exception, its causes and its members, without locals and cut to a bound."""
    lines: list[str] = []
    pending: list[tuple[str, BaseException]] = [("", error)]
    seen: set[int] = set()
    while pending and len(seen) < CAUSES_MAX:
        relation, current = pending.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        lines.append(f"{relation}{_one_line(current)}")
        lines.extend(_frames(current.__traceback__))
        cause = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        if cause is not None:
            pending.append(("caused by: ", cause))
        if isinstance(current, BaseExceptionGroup):
            pending.extend(("member: ", member) for member in current.exceptions)
    if pending:
        lines.append(f"and {len(pending)} more")
    return "\n".join(lines)


def _one_line(error: BaseException) -> str:
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a foreign exception that cannot even say what it is
        text = "(its text cannot be read)"
    return f"{kind}: {text}" if text else kind


def _frames(trace: TracebackType | None) -> list[str]:
    frames = traceback.extract_tb(trace)[-FRAMES_MAX:]
    return [f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in frames]


class _JsonLine:
    """One JSON object a line. The last look at it is the redactor's."""

    __slots__ = ("_out", "_redactor")

    def __init__(self, redactor: Redactor, out: _Output) -> None:
        self._redactor = redactor
        self._out = out

    def __call__(self, _: object, __: str, record: Fields) -> str:
        line = _encode(to_plain(record, self._redactor.bound))
        if len(line) > LINE_MAX_CHARS:
            event = self._redactor.scrub(str(record["event"]))[:_EVENT_MAX_CHARS]
            record = {"time": record["time"], "level": record["level"], "event": event, "cut_chars": len(line)}
            line = _encode(to_plain(record, self._redactor.bound))
        if self._redactor.mask(line) == line:
            return f"{line}\n"
        # Something is in there: mask each value by itself, so that the line stays JSON.
        line = _encode(self._redactor.plain(record))
        masked = self._redactor.mask(line)
        if masked != line and not _is_json(masked):
            # A secret such as "true" or a bracket: masking it broke the line, and leaving it would show it.
            self._out.withheld += 1
            masked = self._redactor.mask(_encode({"level": "warning", "event": _WITHHELD}))
        return f"{masked}\n"


class _ConsoleLine:
    """``time level event key=value …`` on one line, whatever the values hold; exceptions indented below it."""

    __slots__ = ("_redactor",)

    def __init__(self, redactor: Redactor, _: _Output) -> None:
        self._redactor = redactor

    def __call__(self, _: object, __: str, record: Fields) -> str:
        # Each value is masked before it is escaped, and the whole once more after it.
        plain = self._redactor.plain(record)
        assert isinstance(plain, dict)  # noqa: S101 - a mapping stays one
        exception = plain.pop("exception", None)
        time, level, event = (str(plain.pop(name, "")) for name in ("time", "level", "event"))
        fields = [f"{name}={_shown(value)}" for name, value in plain.items()]
        line = one_line(" ".join([time, f"{level:<7}", event, *fields]))
        if len(line) > LINE_MAX_CHARS:
            line = one_line(f"{time} {level:<7} {event[:_EVENT_MAX_CHARS]} cut_chars={len(line)}")
        if exception is not None:
            line += "".join(f"\n    {one_line(part)}" for part in str(exception).split("\n"))
        return self._redactor.mask(line) + "\n"


def _encode(plain: Plain) -> str:
    return _ENCODER.encode(plain).decode()


def _is_json(line: str) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError:
        return False
    return True


def _shown(value: Plain) -> str:
    if isinstance(value, str) and value and not any(char.isspace() or char in '"=' for char in value):
        return value
    return _encode(value)


def one_line(text: str) -> str:
    """Escape what could move the cursor, colour the terminal, end the line or turn its direction."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
