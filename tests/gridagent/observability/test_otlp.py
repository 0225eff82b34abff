"""Claims about spans on their way out (Spec: OPS-2)."""

from __future__ import annotations

import json
import threading

import pytest

pytest.importorskip("opentelemetry.sdk")

from gridagent.observability import otlp
from gridagent.observability.otlp import EndedSpans, encode_spans, provider_for, refused_spans
from gridagent.observability.spans import otel_spans


def _kept(sample: float = 1.0) -> tuple[EndedSpans, list[int]]:
    seen: list[int] = []
    ended = EndedSpans(lambda: seen.append(len(ended)))
    return ended, seen


def _sink(ended: EndedSpans, sample: float = 1.0):
    return otel_spans(provider_for(ended, name="here", version="1.2", sample=sample))


def test_a_message_is_what_otlp_says_it_is():
    """Ids in hexadecimal, 64-bit numbers as text, each value under its type. Spec: OPS-2."""
    ended, _ = _kept()
    sink = _sink(ended)
    above = sink.begin("turn", parent=None, at=10.0, attributes={"n": 2**40, "yes": True, "part": 0.5, "who": "robin"})
    below = sink.begin("tool", parent=above, at=11.0, attributes={})
    sink.end(below, at=11.5, error="refused")
    sink.end(above, at=12.0)
    message = encode_spans(ended.take(), str)
    assert b"\n" not in message
    (resource,) = json.loads(message)["resourceSpans"]
    assert resource["resource"]["attributes"] == [
        {"key": "service.name", "value": {"stringValue": "here"}},
        {"key": "service.version", "value": {"stringValue": "1.2"}},
    ]
    (scope,) = resource["scopeSpans"]
    assert scope["scope"] == {"name": "gridagent"}
    tool, turn = scope["spans"]
    assert (len(turn["traceId"]), len(turn["spanId"]), "parentSpanId" in turn) == (32, 16, False)
    assert (tool["traceId"], tool["parentSpanId"]) == (turn["traceId"], turn["spanId"])
    assert (turn["startTimeUnixNano"], turn["endTimeUnixNano"]) == ("10000000000", "12000000000")
    assert turn["attributes"] == [
        {"key": "n", "value": {"intValue": str(2**40)}},
        {"key": "yes", "value": {"boolValue": True}},
        {"key": "part", "value": {"doubleValue": 0.5}},
        {"key": "who", "value": {"stringValue": "robin"}},
    ]
    assert (turn["kind"], turn["status"], tool["status"]) == (1, {"code": 1}, {"code": 2, "message": "refused"})


def test_no_text_leaves_but_through_the_cleaner():
    """Names, texts and errors; times and ids cannot be spoilt by it. Spec: CFG-3."""
    ended, _ = _kept()
    sink = _sink(ended)
    sink.end(sink.begin("a canary", parent=None, at=1.0, attributes={"b": "canary"}), at=2.0, error="canary")
    message = encode_spans(ended.take(), lambda text: text.replace("canary", "***"))
    assert b"canary" not in message
    assert message.count(b"***") == 4  # the error stands in the status and in error.type


def test_what_finds_no_room_is_dropped_and_counted(monkeypatch):
    """Whoever ends a span waits for nobody. Spec: OPS-2, BND-3."""
    monkeypatch.setattr(otlp, "SPANS_MAX", 3)
    monkeypatch.setattr(otlp, "BATCH_MAX", 2)
    ended, seen = _kept()
    sink = _sink(ended)
    for number in range(5):
        sink.end(sink.begin(str(number), parent=None, at=1.0, attributes={}), at=2.0)
    assert (ended.dropped, len(ended), seen) == (2, 3, [1, 2, 3])
    assert [[span.name for span in ended.take()] for _ in range(3)] == [["0", "1"], ["2"], []]


def test_a_text_is_cut_and_no_thread_is_begun():
    """A span is of bounded size, and nothing of the library outlives a run. Spec: OPS-2."""
    before = threading.active_count()
    ended, _ = _kept()
    sink = _sink(ended)
    sink.end(sink.begin("a", parent=None, at=1.0, attributes={"long": "x" * 5_000}), at=2.0)
    (span,) = ended.take()
    assert span.attributes == {"long": "x" * 1_024}
    assert threading.active_count() == before


@pytest.mark.parametrize(("sample", "kept"), [(0.0, 0), (1.0, 2)])
def test_a_trace_is_kept_or_left_out_whole(sample, kept):
    """Spec: OPS-2 — what is below follows what is above."""
    ended, _ = _kept()
    sink = _sink(ended, sample)
    above = sink.begin("turn", parent=None, at=1.0, attributes={})
    sink.end(sink.begin("tool", parent=above, at=1.0, attributes={}), at=2.0)
    sink.end(above, at=3.0)
    assert len(ended) == kept


@pytest.mark.parametrize(
    ("reply", "refused"),
    [
        (b"", 0),
        (b"{}", 0),
        (b'{"partialSuccess":{}}', 0),
        (b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}', 3),
        (b'{"partialSuccess":{"rejectedSpans":2}}', 2),
        (b'{"partialSuccess":{"rejectedSpans":-2}}', 0),
        (b"<html>", 0),
        (b'"\xff"', 0),
        (b"[1]", 0),
        (b"[" * 60_000, 0),
        (b'{"partialSuccess":' * 10_000, 0),
        (b'{"partialSuccess":{"rejectedSpans":"' + b"9" * 5_000 + b'"}}', 0),
    ],
)
def test_a_collector_may_take_a_part(reply, refused):
    """What cannot be read says nothing, whatever a collector makes of it. Spec: OPS-2."""
    assert refused_spans(reply) == refused
