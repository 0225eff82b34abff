"""Ended spans on their way out: a bounded queue behind OpenTelemetry, and OTLP's message in JSON (Spec: OPS-2).

Owns the queue, the making of a provider that feeds it, and the message. OpenTelemetry's own exporters bring threads,
and packages that nothing else needs; here nobody waits: what finds no room is dropped and counted. Sending is the
composition root's. Imported only where traces are asked for, since it imports OpenTelemetry.

Invariant: at most `SPANS_MAX` spans wait, each of bounded size, and no text leaves but through the given cleaner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

__all__ = ("BATCH_MAX", "SPANS_MAX", "EndedSpans", "encode_spans", "provider_for", "refused_spans")

SPANS_MAX: Final = 4_096
"""Spans that may wait."""
BATCH_MAX: Final = 512
"""Spans of one message."""
_ATTRIBUTES_MAX: Final = 64
_TEXT_MAX_CHARS: Final = 1_024

Clean = Callable[[str], str]


class EndedSpans(SpanProcessor):
    """Keeps spans that ended until somebody takes them.

    Args:
        arrived: called after each one that was kept; must not block.

    Bounds: `SPANS_MAX`; what ends beyond it is counted in ``dropped``.
    """

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._spans: deque[ReadableSpan] = deque(maxlen=SPANS_MAX)
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._spans)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep a span, if there is room."""
        if len(self._spans) >= SPANS_MAX:
            self.dropped += 1
            return
        self._spans.append(span)
        self._arrived()

    def take(self) -> list[ReadableSpan]:
        """Take the oldest, at most `BATCH_MAX`."""
        return [self._spans.popleft() for _ in range(min(len(self._spans), BATCH_MAX))]


def provider_for(ended: EndedSpans, *, name: str, version: str, sample: float) -> TracerProvider:
    """Return a provider whose spans go into a queue; it has no thread and leaves nothing to the end of the process.

    Args:
        ended: the queue.
        name: of the service, among all that a collector knows.
        version: of it.
        sample: the part of all traces that is kept, 0 to 1.
    """
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(sample)),
        resource=Resource({"service.name": name, "service.version": version}),
        span_limits=SpanLimits(max_span_attributes=_ATTRIBUTES_MAX, max_span_attribute_length=_TEXT_MAX_CHARS),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(ended)
    return provider


def encode_spans(spans: Sequence[ReadableSpan], clean: Clean) -> bytes:
    """Return the OTLP message of some spans of one provider, as JSON on one line.

    Args:
        spans: at least one.
        clean: masks what no text may hold.
    """
    resource = _attributes(spans[0].resource.attributes, clean)
    scope = spans[0].instrumentation_scope
    told = [_span(span, clean) for span in spans]
    message = {
        "resourceSpans": [
            {
                "resource": {"attributes": resource},
                "scopeSpans": [{"scope": {"name": "" if scope is None else scope.name}, "spans": told}],
            }
        ]
    }
    return msgspec.json.encode(message)


def _span(span: ReadableSpan, clean: Clean) -> dict[str, object]:
    context = span.get_span_context()
    assert context is not None  # noqa: S101 - a span that was begun has one
    status: dict[str, object] = {"code": span.status.status_code.value}
    if span.status.description:
        status["message"] = clean(span.status.description)
    return {
        # Ids are hexadecimal and 64-bit numbers are text: OTLP's JSON differs from Protobuf's in the first.
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        **({} if span.parent is None else {"parentSpanId": f"{span.parent.span_id:016x}"}),
        "name": clean(span.name),
        "kind": span.kind.value + 1,  # on the wire 0 is "unspecified"
        "startTimeUnixNano": str(span.start_time or 0),
        "endTimeUnixNano": str(span.end_time or 0),
        "attributes": _attributes(span.attributes or {}, clean),
        "status": status,
    }


def _attributes(given: Mapping[str, object], clean: Clean) -> list[dict[str, object]]:
    return [{"key": name, "value": _value(value, clean)} for name, value in given.items()]


def _value(value: object, clean: Clean) -> dict[str, object]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": clean(str(value))}


class _PartialSuccess(msgspec.Struct, rename="camel"):
    rejected_spans: int = 0


class _Response(msgspec.Struct, rename="camel"):
    partial_success: _PartialSuccess = msgspec.field(default_factory=_PartialSuccess)


def refused_spans(reply: bytes) -> int:
    """Return how many spans a collector says it did not take; 0 where it says nothing that can be read."""
    try:
        # lax: OTLP writes 64-bit numbers as text
        response = msgspec.convert(msgspec.json.decode(reply), _Response, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # the last: it nests too deeply
        return 0
    return max(0, response.partial_success.rejected_spans)
