"""The flags of ``gridagent init``."""

from __future__ import annotations

from gridagent.cli import init_questions
from gridagent.cli.asking import Question
from gridagent.cli.init_words import INIT_FLAGS, INIT_SWITCHES, init_answers
from gridagent.cli.parser import build_parser


def test_every_question_has_its_flag() -> None:
    """Whatever is asked can be said on the command line, and nothing else can. Spec: OPS-1."""
    questions = {each.name for each in vars(init_questions).values() if isinstance(each, Question)}
    assert questions - {name for name, _ in INIT_SWITCHES} == {flag.name for flag in INIT_FLAGS}


def test_only_what_was_said_is_an_answer() -> None:
    """Values by the name of their flag; a switch is there or not. Spec: OPS-1."""
    parse = build_parser("9").parse_args
    assert init_answers(parse(["init"])) == {}
    line = ["init", "--first-name", "Ada", "--owner", "", "--allow-plain-http", "--yes"]
    assert init_answers(parse(line)) == {"first-name": "Ada", "owner": "", "allow-plain-http": "", "yes": ""}
