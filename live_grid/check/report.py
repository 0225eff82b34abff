"""What a step found, as one line of JSON, and the two ways in which a step ends early.

Owns the form of the output, which scripts may rely on. Evidence is our own words, names of regions and numbers: no
text of other people and no secret (Spec: SUP-10).
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

__all__ = ("Evidence", "StepFailed", "StepReport", "StepSkipped")

Evidence: TypeAlias = dict[str, str | int | float | bool]
"""What a step saw; keys are its own."""


class StepReport(msgspec.Struct, frozen=True, kw_only=True):
    """One step, done; one JSON line."""

    step: str
    ok: bool | None
    """None for a step that was skipped; the evidence says why."""
    seconds: float
    evidence: Evidence


class StepFailed(Exception):
    """The grid, or we, did not do what the step is about."""

    def __init__(self, why: str, **evidence: str | float) -> None:
        self.evidence: Evidence = {"why": why, **evidence}
        super().__init__(why)


class StepSkipped(Exception):
    """The step cannot be judged here."""
