"""Judges a grid and ourselves against each other: one account goes through everything a bot does, step by step.

`python -m live_grid.check` performs it against any grid; start reading with `live_grid.check.course`.
"""

from live_grid.check.course import Check as Check
from live_grid.check.plan import Plan as Plan
from live_grid.check.report import StepReport as StepReport
from live_grid.check.steps import STEPS as STEPS

__all__ = ("STEPS", "Check", "Plan", "StepReport")
