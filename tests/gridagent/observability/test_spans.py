"""Claims about where spans go (Spec: OPS-2)."""

import sys

import pytest

from gridagent.errors import InternalError, OperatorError
from gridagent.observability import spans
from gridagent.observability.spans import RecordedSpans, otel_spans


def test_the_recorder_keeps_the_newest():
    """Bounded, with parents, times, errors and attributes as they were given."""
    sink = RecordedSpans(keep=2)
    first = sink.begin("a", parent=None, at=1.0, attributes={"x": 1})
    second = sink.begin("b", parent=first, at=2.0, attributes={})
    sink.end(second, at=3.0, error="oh", attributes={"y": True})
    third = sink.begin("c", parent=first, at=4.0, attributes={})
    sink.end(first, at=9.0)
    sink.end(third, at=5.0)
    kept = [(span.name, span.parent, span.begun, span.ended, span.error, span.attributes) for span in sink]
    assert kept == [("b", first, 2.0, 3.0, "oh", {"y": True}), ("c", first, 4.0, 5.0, "", {})]


def test_without_the_extra_one_sentence_says_what_is_missing(monkeypatch):
    """Spec: OPS-2 — traces are optional, and nothing else needs the library."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(OperatorError, match=r"gridagent\[otel\]"):
        otel_spans()


class _Span:
    """One span of a tracer of our own, with the calls that OpenTelemetry's has."""

    def __init__(self, name, context, attributes, start_time):
        self.name, self.context, self.attributes, self.start_time = name, context, attributes, start_time
        self.status = None
        self.end_time = None

    def get_span_context(self):
        return f"context of {self.name}"

    def set_attributes(self, attributes):
        self.attributes |= attributes

    def set_attribute(self, name, value):
        self.attributes[name] = value

    def set_status(self, status):
        self.status = status

    def end(self, *, end_time):
        self.end_time = end_time


class _Tracer:
    """A tracer, and the provider of it."""

    def __init__(self):
        self.spans = []

    def get_tracer(self, name):
        assert name == "gridagent"
        return self

    def start_span(self, name, *, context, attributes, start_time):
        self.spans.append(_Span(name, context, attributes, start_time))
        return self.spans[-1]


@pytest.fixture
def library(monkeypatch):
    """Put the few names of OpenTelemetry that are used in its place, so that this is tested without the extra."""
    import types  # noqa: PLC0415 - only to build the stand-in

    package = types.ModuleType("opentelemetry")
    trace = types.ModuleType("opentelemetry.trace")
    context = types.ModuleType("opentelemetry.context")
    context.Context = dict
    trace.set_span_in_context = lambda span, context: context | {"span": span}
    trace.NonRecordingSpan = lambda context: ("of", context)
    trace.Status = lambda code, text=None: (code, text)
    trace.StatusCode = types.SimpleNamespace(OK="ok", ERROR="error")
    tracer = _Tracer()
    trace.get_tracer_provider = lambda: tracer
    package.trace = trace
    for module in (package, trace, context):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return tracer


def test_opentelemetry_is_told_times_parents_and_a_status_by_hand(library):
    """Spec: OPS-2 — a span that was not failed is OK, also where its work was cancelled, and never UNSET."""
    sink = otel_spans()
    turn = sink.begin("turn", parent=None, at=10.0, attributes={"a": 1})
    tool = sink.begin("tool", parent=turn, at=11.0, attributes={})
    sink.end(tool, at=11.5, error="refused")
    sink.end(turn, at=12.0, attributes={"b": 2})
    sink.end(turn, at=99.0)
    above, below = library.spans
    assert (above.context, below.context) == ({}, {"span": ("of", "context of turn")})
    assert (above.start_time, above.end_time) == (10_000_000_000, 12_000_000_000)
    assert above.attributes == {"a": 1, "b": 2}
    assert above.status == ("ok", None)
    assert below.status == ("error", "refused")
    assert below.attributes == {"error.type": "refused"}


def test_what_comes_late_is_still_below_its_parent_while_that_is_known(library, monkeypatch):
    """A reply is spoken after its turn; of very many spans the oldest are no longer known as parents."""
    monkeypatch.setattr(spans, "_OPEN_MAX", 2)
    sink = otel_spans(library)
    turn = sink.begin("turn", parent=None, at=10.0, attributes={})
    sink.end(turn, at=11.0)
    for context in ({"span": ("of", "context of turn")}, {"span": ("of", "context of turn")}, {}):
        late = sink.begin("late", parent=turn, at=12.0, attributes={})
        sink.end(late, at=13.0)
        assert library.spans[-1].context == context


def test_spans_that_are_never_ended_are_a_mistake_of_ours(library, monkeypatch):
    """The number of open ones is bounded."""
    monkeypatch.setattr(spans, "_OPEN_MAX", 2)
    sink = otel_spans()
    for _ in range(2):
        sink.begin("a", parent=None, at=1.0, attributes={})
    with pytest.raises(InternalError):
        sink.begin("a", parent=None, at=1.0, attributes={})


@pytest.mark.peer
def test_the_library_itself_takes_them():
    """Spec: OPS-2 — OpenTelemetry's own exporter shows the tree, the times and the status."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - where it is installed
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415 - the same
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter  # noqa: PLC0415 - the same

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    sink = otel_spans(provider)
    turn = sink.begin("invoke_agent robin", parent=None, at=10.0, attributes={"gen_ai.operation.name": "invoke_agent"})
    sink.end(sink.begin("execute_tool say", parent=turn, at=11.0, attributes={}), at=11.0, error="refused")
    sink.end(turn, at=12.5, attributes={"gen_ai.usage.input_tokens": 7})
    below, above = exporter.get_finished_spans()
    assert below.parent.span_id == above.context.span_id
    assert above.parent is None
    assert (above.start_time, above.end_time) == (10_000_000_000, 12_500_000_000)
    assert above.status.status_code.name == "OK"
    assert below.status.status_code.name == "ERROR"
    assert above.attributes["gen_ai.usage.input_tokens"] == 7
