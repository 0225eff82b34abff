"""Figures of speed and memory, as ratios within one run, because machines are noisy and ratios are less so.

Each ``bench_<subject>.py`` exposes ``figures()``, which yields one dictionary a figure:

    name    stable, dotted: ``channels.hop``
    value   the figure itself
    unit    what it counts: ``events/s``, ``KiB``, ``ms``
    ratio   the figure over a reference measured in the same run, where there is one
    of      what that reference is
    goal    what is aimed at, and ``note`` what bounds it where it isn't met
    better  ``higher`` or ``lower``; units ending in ``/s`` are better higher, others lower

`python -m benchmarks` runs them, and ``--check`` holds the ratios against ``baseline.json``.
"""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ("WORSE_ALLOWED", "Figure", "Kept", "complaint", "kept")

WORSE_ALLOWED = 0.25


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure, as a benchmark yields it; keys that are not here are printed and otherwise ignored."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    of: str = ""
    goal: float | str | None = None
    note: str = ""
    better: Literal["higher", "lower"] | None = None

    @property
    def higher_is_better(self) -> bool:
        """Direction of figure and ratio."""
        return self.better == "higher" if self.better else self.unit.endswith("/s")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What the baseline keeps of a figure."""

    ratio: float
    of: str
    better: Literal["higher", "lower"]


def kept(figure: Figure) -> Kept | None:
    """Take what the baseline keeps; None for a figure without a ratio."""
    if figure.ratio is None:
        return None
    return Kept(ratio=round(figure.ratio, 4), of=figure.of, better="higher" if figure.higher_is_better else "lower")


def complaint(before: Kept | None, now: Figure | None, name: str) -> str:
    """Say what is wrong with a figure against the baseline; empty when nothing is."""
    if now is None:
        return f"{name}: in the baseline, but no benchmark yields it"
    if before is None:
        return "" if now.ratio is None else f"{name}: not in the baseline; run `python -m benchmarks --update`"
    if now.ratio is None:
        return f"{name}: has lost its ratio"
    worse = before.ratio / now.ratio if before.better == "higher" else now.ratio / before.ratio
    if worse <= 1 + WORSE_ALLOWED:
        return ""
    return f"{name}: ratio {now.ratio:.4g} to {now.of}, was {before.ratio:.4g}: {worse - 1:.0%} worse"
