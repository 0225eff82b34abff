"""Where spans of traces go: a small port, a bounded recorder, and OpenTelemetry as an extra (Spec: OPS-2).

Mechanism only. Whoever owns the words begins and ends spans with times of its own, so that no context variable has
to cross a channel or a task. OpenTelemetry is imported when `otel_spans` is called and not before: an install
without the extra ``otel`` is told in one sentence what is missing. Exporting and sampling are the provider's.

Invariant: a span that ended is ended; its status is set by hand, also where the work was cancelled.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import msgspec

from gridagent.errors import InternalError, OperatorError

if TYPE_CHECKING:
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import SpanContext, Tracer, TracerProvider

__all__ = ("Attributes", "RecordedSpan", "RecordedSpans", "SpanSink", "otel_spans")

Value: TypeAlias = str | int | float | bool
Attributes: TypeAlias = Mapping[str, Value]

_SCOPE: Final = "gridagent"
_NANOSECONDS: Final = 1_000_000_000
_OPEN_MAX: Final = 16_384
_KEPT_MAX: Final = 1_024


class SpanSink(Protocol):
    """Takes spans; times are Unix seconds."""

    def begin(self, name: str, *, parent: int | None, at: float, attributes: Attributes) -> int:
        """Begin a span and return its number; a parent may be over already."""
        ...

    def end(self, span: int, *, at: float, error: str = "", attributes: Attributes | None = None) -> None:
        """End a span; ``error`` is the stable code of what went wrong, empty where nothing did."""
        ...


class RecordedSpan(msgspec.Struct, kw_only=True):
    """One span of `RecordedSpans`."""

    number: int
    name: str
    parent: int | None
    begun: float
    attributes: dict[str, Value]
    ended: float | None = None
    error: str = ""


class RecordedSpans:
    """Keeps the newest spans in memory, for tests and diagnostics.

    Bounds: at most ``keep`` spans; the oldest goes first, ended or not.
    """

    __slots__ = ("_number", "_spans")

    def __init__(self, keep: int = _KEPT_MAX) -> None:
        self._spans: deque[RecordedSpan] = deque(maxlen=keep)
        self._number = 0

    def __iter__(self) -> Iterator[RecordedSpan]:
        """Yield what is kept, oldest first."""
        return iter(tuple(self._spans))

    def begin(self, name: str, *, parent: int | None, at: float, attributes: Attributes) -> int:
        """Begin a span and return its number."""
        self._number += 1
        span = RecordedSpan(number=self._number, name=name, parent=parent, begun=at, attributes=dict(attributes))
        self._spans.append(span)
        return span.number

    def end(self, span: int, *, at: float, error: str = "", attributes: Attributes | None = None) -> None:
        """End a span; one that went already is over."""
        for each in self._spans:
            if each.number == span:
                each.ended, each.error = at, error
                each.attributes.update(attributes or {})


class _OtelSpans:
    """Hands spans to an OpenTelemetry tracer."""

    __slots__ = ("_contexts", "_number", "_open", "_tracer")

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._open: dict[int, OtelSpan] = {}  # at most _OPEN_MAX
        self._contexts: OrderedDict[int, SpanContext] = OrderedDict()  # at most _OPEN_MAX; ended ones too
        self._number = 0

    def begin(self, name: str, *, parent: int | None, at: float, attributes: Attributes) -> int:
        """Begin a span below another, or at the top of a trace of its own."""
        from opentelemetry.context import Context  # noqa: PLC0415 - an extra, imported on use
        from opentelemetry.trace import NonRecordingSpan, set_span_in_context  # noqa: PLC0415 - the same

        if len(self._open) >= _OPEN_MAX:
            raise InternalError(f"more than {_OPEN_MAX} spans are open; one of them is never ended")
        above = None if parent is None else self._contexts.get(parent)
        # Never the ambient context: a span belongs below what its observer says, whatever task runs it.
        context = Context() if above is None else set_span_in_context(NonRecordingSpan(above), Context())
        span = self._tracer.start_span(
            name, context=context, attributes=dict(attributes), start_time=int(at * _NANOSECONDS)
        )
        self._number += 1
        self._open[self._number] = span
        self._contexts[self._number] = span.get_span_context()
        if len(self._contexts) > _OPEN_MAX:
            self._contexts.popitem(last=False)
        return self._number

    def end(self, span: int, *, at: float, error: str = "", attributes: Attributes | None = None) -> None:
        """End a span; one that ended already is over."""
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - an extra, imported on use

        opened = self._open.pop(span, None)
        if opened is None:
            return
        if attributes:
            opened.set_attributes(dict(attributes))
        if error:
            opened.set_attribute("error.type", error)
            opened.set_status(Status(StatusCode.ERROR, error))
        else:
            opened.set_status(Status(StatusCode.OK))
        opened.end(end_time=int(at * _NANOSECONDS))


def otel_spans(provider: TracerProvider | None = None) -> SpanSink:
    """Return a sink that hands spans to OpenTelemetry.

    Args:
        provider: whose tracer is used; None takes the one the process has set up (by the usual ``OTEL_…`` variables).

    Raises:
        OperatorError: the extra ``otel`` is not installed.
    """
    try:
        from opentelemetry import trace  # noqa: PLC0415 - an extra, imported on use
    except ModuleNotFoundError as error:
        raise OperatorError(
            "traces need OpenTelemetry, which is not installed; install gridagent with the extra: gridagent[otel]"
        ) from error
    return _OtelSpans((provider or trace.get_tracer_provider()).get_tracer(_SCOPE))
