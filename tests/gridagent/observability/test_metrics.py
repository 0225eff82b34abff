"""Claims about counters, gauges, histograms and their text (Spec: OPS-2)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import InternalError
from gridagent.observability.metrics import FAMILIES_MAX, SERIES_MAX, VALUE_MAX_CHARS, Registry, TextFormat

SAMPLE = re.compile(
    r'(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>(?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (?P<value>\S+)\Z'
)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def _read(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read an exposition strictly, as the format's description says."""
    assert text.endswith("\n")
    found = {}
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            assert line.split(" ")[1] in {"HELP", "TYPE"}
            continue
        sample = SAMPLE.match(line)
        assert sample is not None, line
        labels = tuple(
            (name, value.replace(r"\n", "\n").replace(r"\"", '"').replace(r"\\", "\\"))
            for name, value in LABEL.findall(sample["labels"] or "")
        )
        key = (sample["name"], labels)
        assert key not in found, line
        found[key] = float(sample["value"])
    return found


def test_a_counter_goes_up_and_is_written_with_its_labels():
    """Spec: OPS-2 — one line a series, with help and type before them."""
    registry = Registry("x")
    counter = registry.counter("words_total", "Words\nheard \\.", "who")
    counter.add("ann")
    counter.add("ann", by=2)
    counter.add("ben", by=0.5)
    assert counter.value("ann") == 3.0
    assert counter.value("nobody") == 0.0
    text = registry.exposition()
    assert text.startswith(
        '# HELP x_words_total Words\\nheard \\\\.\n# TYPE x_words_total counter\nx_words_total{who="ann"} 3\n'
    )
    assert _read(text)["x_words_total", (("who", "ben"),)] == 0.5
    assert "0.0.4" in TextFormat.PROMETHEUS


def test_what_has_no_labels_is_there_from_the_start():
    """A counter that never moved is zero, not missing."""
    registry = Registry("x")
    registry.counter("words_total", "Words.")
    registry.gauge("depth", "Depth.").set(to=-1.5)
    assert _read(registry.exposition()) == {("x_words_total", ()): 0.0, ("x_depth", ()): -1.5}


def test_a_counter_that_would_go_down_is_a_mistake_of_ours():
    """Neither down, nor by what is no number, nor with a label too few."""
    counter = Registry("x").counter("words_total", "Words.", "who")
    for values, by in ((("ann",), -1.0), (("ann",), float("nan")), ((), 1.0), (("ann", "ben"), 1.0)):
        with pytest.raises(InternalError):
            counter.add(*values, by=by)


def test_a_gauge_stands_where_it_was_set_and_may_choose():
    """Spec: OPS-2 — of several states one is 1."""
    registry = Registry("x")
    gauge = registry.gauge("state", "State.", "avatar", "state")
    gauge.choose("robin", "up", among=("up", "down"))
    gauge.choose("robin", "down", among=("up", "down"))
    assert (gauge.value("robin", "up"), gauge.value("robin", "down")) == (0.0, 1.0)
    gauge.add("robin", "down", by=-3.0)
    assert gauge.value("robin", "down") == -2.0
    gauge.clear()
    assert _read(registry.exposition()) == {}


def test_a_histogram_counts_each_bucket_with_those_below():
    """Spec: OPS-2 — a value on a bound belongs to it; what is no number is in the last."""
    registry = Registry("x")
    histogram = registry.histogram("took_seconds", "Took.", "who", bounds=(1, 2.5))
    for amount in (0.5, 1, 2.0, 9.0, float("inf"), float("nan")):
        histogram.observe("ann", amount=amount)
    assert histogram.count("ann") == 6
    assert histogram.count("ben") == 0
    read = _read(registry.exposition())
    who = ("who", "ann")
    assert read["x_took_seconds_bucket", (who, ("le", "1.0"))] == 2
    assert read["x_took_seconds_bucket", (who, ("le", "2.5"))] == 3
    assert read["x_took_seconds_bucket", (who, ("le", "+Inf"))] == 6
    assert read["x_took_seconds_count", (who,)] == 6
    assert read["x_took_seconds_sum", (who,)] == 12.5


@pytest.mark.parametrize("bounds", [(), (1.0, 1.0), (2.0, 1.0), (1.0, float("inf")), (float("nan"),)])
def test_bounds_that_do_not_go_up_are_refused(bounds):
    """A histogram is made once, in code."""
    with pytest.raises(InternalError):
        Registry("x").histogram("took", "Took.", bounds=bounds)


def test_names_that_prometheus_would_refuse_are_refused_here():
    """At the start, not at the first scrape."""
    registry = Registry("x")
    registry.gauge("depth", "Depth.")
    for make in (
        lambda: registry.gauge("depth", "Again."),
        lambda: registry.gauge("de pth", "Bad."),
        lambda: registry.counter("depth_total", "The same family in OpenMetrics."),
        lambda: registry.gauge("depths", "Bad.", "le"),
        lambda: registry.gauge("depths", "Bad.", "__who"),
        lambda: registry.gauge("depths\n", "Bad."),
        lambda: registry.counter("words", "No suffix."),
        lambda: registry.counter("metrics_series_dropped_total", "Ours."),
    ):
        with pytest.raises(InternalError):
            make()
    for number in range(FAMILIES_MAX - 1):
        registry.gauge(f"g{number}", "One of many.")
    with pytest.raises(InternalError):
        registry.gauge("one_more", "Too many.")


def test_series_are_bounded_and_what_finds_no_room_is_counted():
    """A label that is never the same again fills its family and no more; the rest goes on."""
    registry = Registry("x")
    counter = registry.counter("words_total", "Words.", "who")
    gauge = registry.gauge("last", "Last.", "who")
    histogram = registry.histogram("took", "Took.", "who", bounds=(1.0,))
    for number in range(SERIES_MAX + 5):
        counter.add(f"w{number}")
        gauge.set(f"w{number}", to=number)
        histogram.observe(f"w{number}", amount=0.5)
    counter.add("w0")
    assert counter.value("w0") == 2.0
    assert counter.value(f"w{SERIES_MAX}") == 0.0
    read = _read(registry.exposition())
    for family in ("x_words_total", "x_last", "x_took"):
        assert read["x_metrics_series_dropped_total", (("family", family),)] == 5
    counter.add("v" * (VALUE_MAX_CHARS + 50))
    assert max(map(len, counter._values)) == 1


@given(
    st.lists(st.tuples(st.text(max_size=VALUE_MAX_CHARS), st.floats(min_value=0.0, allow_infinity=True)), max_size=20)
)
def test_any_label_and_number_reads_back(samples):
    """Spec: OPS-2 — quotes, line breaks, backslashes and lone surrogates break no line."""
    registry = Registry("x")
    counter = registry.counter("words_total", "Words.", "who")
    wanted: dict[str, float] = {}
    for who, by in samples:
        counter.add(who, by=by)
        shown = who.encode("utf-8", "replace").decode()
        wanted[shown] = wanted.get(shown, 0.0) + by
    text = registry.exposition()
    lines = [line for line in text.split("\n") if line.startswith("x_words_total")]
    assert len(lines) == len({who for who, _ in samples})
    if len(lines) == len(wanted) and not any("\\" in who for who in wanted):
        assert {labels[0][1]: value for (_, labels), value in _read(text).items()} == wanted


@pytest.mark.peer
@pytest.mark.parametrize("form", list(TextFormat), ids=lambda form: form.name)
def test_an_independent_reader_agrees(form):
    """Spec: OPS-2 — Prometheus' own parsers read names, labels, escapes and buckets as they were meant."""
    module = "prometheus_client.parser" if form is TextFormat.PROMETHEUS else "prometheus_client.openmetrics.parser"
    parser = pytest.importorskip(module)
    registry = Registry("x")
    registry.counter("words_total", 'Words \\ and\nmore "of" them.', "who").add('a"b\\c\nd', by=2.5)
    registry.gauge("depth", "Depth.").set(to=float("inf"))
    registry.histogram("took_seconds", "Took.", bounds=(0.5, 1)).observe(amount=0.7)
    families = {family.name: family for family in parser.text_string_to_metric_families(registry.exposition(form))}
    assert families["x_words"].type == "counter"
    assert families["x_words"].documentation == 'Words \\ and\nmore "of" them.'
    assert families["x_words"].samples[0].name == "x_words_total"
    assert families["x_words"].samples[0].labels == {"who": 'a"b\\c\nd'}
    assert families["x_words"].samples[0].value == 2.5
    assert families["x_depth"].samples[0].value == float("inf")
    buckets = {
        sample.labels["le"]: sample.value for sample in families["x_took_seconds"].samples if "le" in sample.labels
    }
    assert buckets == {"0.5": 0.0, "1.0": 1.0, "+Inf": 1.0}


def test_both_formats_have_the_same_series():
    """A scraper that changes its mind about the format finds the series it knew. Spec: OPS-2."""
    registry = Registry("x")
    registry.counter("words_total", "Words.", "who").add("ann")
    registry.histogram("took_seconds", "Took.", bounds=(0.5, 120)).observe(amount=0.7)
    one, other = (registry.exposition(form).splitlines() for form in TextFormat)
    assert other[-1] == "# EOF"
    assert [line for line in one if line[0] != "#"] == [line for line in other if line[0] != "#"]
