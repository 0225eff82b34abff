"""The questions of ``gridagent init``."""

from __future__ import annotations

from gridagent.cli import init_questions
from gridagent.cli.asking import Question
from gridagent.config.known_grids import KNOWN_GRIDS


def test_what_is_asked_fits_a_screen() -> None:
    """No line is wider than 100 columns, and no question is longer than ten lines. Spec: OPS-1."""
    for question in (each for each in vars(init_questions).values() if isinstance(each, Question)):
        assert len(question.explains) <= 9, question.name
        assert max(map(len, (question.asks, *question.explains))) <= 100, question.name


def test_a_grid_whose_login_is_not_encrypted_is_said_to_be_one() -> None:
    """Whoever chooses knows what they choose; every grid that can be named is offered. Spec: CFG-1."""
    for grid, facts in KNOWN_GRIDS.items():
        (line,) = (line for line in init_questions.GRID.explains if line.split()[0] == grid.value)
        assert ("not encrypted" in line) is not facts.login_url.is_encrypted
