"""Counters, gauges and histograms, and their text as Prometheus and OpenMetrics have it (Spec: OPS-2).

Mechanism only: no domain word, no clock, no task, no lock, no network. One event loop writes, so a counter is one
addition to a dictionary; a library with locks and a process-wide registry would cost several times that and share
state between services of one process. What is counted is said by who owns the words (`gridagent.service.metering`);
serving the text is a front's.

Invariant: the number of series is bounded whatever the labels hold; what finds no room is counted, never kept.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

from gridagent.errors import InternalError

__all__ = ("Counter", "Gauge", "Histogram", "Registry", "TextFormat")

FAMILIES_MAX: Final = 128
SERIES_MAX: Final = 8_192
"""Series of one family; Prometheus itself is not meant for more."""
VALUE_MAX_CHARS: Final = 128
"""Longer label values are cut."""

_METRIC: Final = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
_LABEL: Final = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*\Z")
_DROPPED: Final = "metrics_series_dropped_total"

Values: TypeAlias = tuple[str, ...]


class TextFormat(StrEnum):
    """How everything is written; the value is the content type. Series have the same names and labels in each."""

    PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class _Family(ABC):
    """Everything under one name."""

    __slots__ = ("_dropped", "help", "labels", "name")
    kind = ""

    def __init__(self, name: str, text: str, labels: Sequence[str], dropped: dict[str, float]) -> None:
        self.name = name
        self.help = text
        self.labels = tuple(labels)
        self._dropped = dropped

    def _key(self, values: Values, known: dict[Values, float] | dict[Values, _Buckets]) -> Values | None:
        """Return the key of a series, or None where there is no room for one more."""
        if len(values) != len(self.labels):
            raise InternalError(f"{self.name} has {len(self.labels)} labels, not {len(values)}")
        if values in known:
            return values
        values = tuple(value[:VALUE_MAX_CHARS] for value in values)
        if values not in known and len(known) >= SERIES_MAX:
            self._dropped[self.name] = self._dropped.get(self.name, 0.0) + 1.0
            return None
        return values

    @abstractmethod
    def samples(self) -> Iterator[str]:
        """Yield the lines of its series."""
        ...


class Counter(_Family):
    """Only goes up, from zero at the start of the process."""

    __slots__ = ("_values",)
    kind = "counter"

    def __init__(self, name: str, text: str, labels: Sequence[str], dropped: dict[str, float]) -> None:
        super().__init__(name, text, labels, dropped)
        self._values: dict[Values, float] = {} if labels else {(): 0.0}

    def add(self, *values: str, by: float = 1.0) -> None:
        """Add to the series of these label values.

        Raises:
            InternalError: there are too few or too many values, or it would go down.
        """
        if not by >= 0.0:
            raise InternalError(f"{self.name} only goes up")
        key = self._key(values, self._values)
        if key is not None:
            self._values[key] = self._values.get(key, 0.0) + by

    def value(self, *values: str) -> float:
        """Return where a series stands; zero where there is none."""
        return self._values.get(values, 0.0)

    def samples(self) -> Iterator[str]:
        """Yield the lines of its series."""
        for values, value in self._values.items():
            yield f"{self.name}{_braces(self.labels, values)} {_number(value)}"


class Gauge(Counter):
    """Stands where it was last set."""

    __slots__ = ()
    kind = "gauge"

    def add(self, *values: str, by: float = 1.0) -> None:
        """Move the series of these label values up or down."""
        self.set(*values, to=self.value(*values) + by)

    def set(self, *values: str, to: float) -> None:
        """Set the series of these label values."""
        key = self._key(values, self._values)
        if key is not None:
            self._values[key] = float(to)

    def choose(self, *values: str, among: Sequence[str]) -> None:
        """Show one state of several: the series whose last label value is given is 1, those of the others are 0."""
        for state in among:
            self.set(*values[:-1], state, to=float(state == values[-1]))

    def clear(self) -> None:
        """Drop every series, before they are read anew."""
        self._values.clear()


class _Buckets:
    """One histogram series."""

    __slots__ = ("counts", "total")

    def __init__(self, size: int) -> None:
        self.counts = [0] * size
        self.total = 0.0


class Histogram(_Family):
    """How large values were, in buckets."""

    __slots__ = ("_bounds", "_series")
    kind = "histogram"

    def __init__(
        self, name: str, text: str, labels: Sequence[str], dropped: dict[str, float], bounds: Sequence[float]
    ) -> None:
        super().__init__(name, text, labels, dropped)
        self._bounds = tuple(map(float, bounds))
        self._series: dict[Values, _Buckets] = {}

    def observe(self, *values: str, amount: float) -> None:
        """Count one value in the series of these label values; what is no number counts in no bucket but the last."""
        key = self._key(values, self._series)
        if key is None:
            return
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Buckets(len(self._bounds) + 1)
        if math.isfinite(amount):
            series.counts[bisect_left(self._bounds, amount)] += 1
            series.total += amount
        else:
            series.counts[-1] += 1

    def count(self, *values: str) -> int:
        """Return how many values a series holds."""
        series = self._series.get(values)
        return 0 if series is None else sum(series.counts)

    def samples(self) -> Iterator[str]:
        """Yield the lines of its series; each bucket counts those below it too."""
        labels = (*self.labels, "le")
        for values, series in self._series.items():
            below = 0
            # a bound is a label: "1" and "1.0" would be two series, and OpenMetrics has the second
            for bound, count in zip((*map(repr, self._bounds), "+Inf"), series.counts, strict=True):
                below += count
                yield f"{self.name}_bucket{_braces(labels, (*values, bound))} {below}"
            yield f"{self.name}_sum{_braces(self.labels, values)} {_number(series.total)}"
            yield f"{self.name}_count{_braces(self.labels, values)} {below}"


_FamilyT = TypeVar("_FamilyT", bound=_Family)


class Registry:
    """The metrics of one service.

    Args:
        prefix: stands before every name, with an underscore.

    Bounds: `FAMILIES_MAX` families of `SERIES_MAX` series each.
    """

    __slots__ = ("_dropped", "_families", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._families: dict[str, _Family] = {}  # at most FAMILIES_MAX
        self._dropped: dict[str, float] = {}  # one a family

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        """Make a counter; its name ends in ``_total``."""
        if not name.endswith("_total"):
            raise InternalError(f"the counter {name} does not end in _total")
        return self._keep(Counter(self._named(name, labels), text, labels, self._dropped))

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """Make a gauge."""
        return self._keep(Gauge(self._named(name, labels), text, labels, self._dropped))

    def histogram(self, name: str, text: str, *labels: str, bounds: Sequence[float]) -> Histogram:
        """Make a histogram with these upper bounds, going up; one without a bound is added."""
        if not bounds or list(bounds) != sorted(set(bounds)) or not all(map(math.isfinite, bounds)):
            raise InternalError(f"the bounds of {name} do not go up")
        return self._keep(Histogram(self._named(name, labels), text, labels, self._dropped, bounds))

    def exposition(self, form: TextFormat = TextFormat.PROMETHEUS) -> str:
        """Return everything as text, in the order it was made."""
        lines: list[str] = []
        for family in self._families.values():
            lines += _head(family.name, family.kind, family.help, form)
            lines += family.samples()
        name = f"{self._prefix}_{_DROPPED}"
        lines += _head(name, "counter", "Samples that found no room, by family.", form)
        lines += (
            f"{name}{_braces(('family',), (family,))} {_number(count)}" for family, count in self._dropped.items()
        )
        if form is TextFormat.OPENMETRICS:
            lines.append("# EOF")
        return "\n".join(lines) + "\n"

    def _named(self, name: str, labels: Sequence[str]) -> str:
        full = f"{self._prefix}_{name}"
        if not _METRIC.match(full) or not all(_LABEL.match(label) and label != "le" for label in labels):
            raise InternalError(f"{full} or one of its labels is no name that Prometheus takes")
        # OpenMetrics leaves _total out of a family's name
        if full.removesuffix("_total") in {each.removesuffix("_total") for each in self._families} or name == _DROPPED:
            raise InternalError(f"{full} is made twice")
        if len(self._families) >= FAMILIES_MAX:
            raise InternalError(f"more than {FAMILIES_MAX} families of metrics")
        return full

    def _keep(self, family: _FamilyT) -> _FamilyT:
        self._families[family.name] = family
        return family


def _head(name: str, kind: str, text: str, form: TextFormat) -> tuple[str, str]:
    shown = text.replace("\\", r"\\").replace("\n", r"\n")
    if form is TextFormat.OPENMETRICS:
        name = name.removesuffix("_total")  # there, that is a sample of the family
        shown = shown.replace('"', r"\"")
    return f"# HELP {name} {shown}", f"# TYPE {name} {kind}"


def _braces(labels: Sequence[str], values: Sequence[str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{label}="{_escaped(value)}"' for label, value in zip(labels, values, strict=True)) + "}"


def _escaped(value: str) -> str:
    plain = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return plain.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)  # noqa: PLR2004 - whole numbers a float holds
    return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
