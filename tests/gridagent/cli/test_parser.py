"""The grammar of the command line."""

from __future__ import annotations

import argparse

import pytest

from gridagent.cli.parser import build_parser, duration
from gridagent.cli.vocabulary import UsageProblem


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Every command's parser by name."""
    (commands,) = (action for action in build_parser("9.9")._actions if isinstance(action, argparse._SubParsersAction))
    return dict(commands.choices)


def test_every_command_has_help_with_examples_that_parse() -> None:
    """Help is what an operator reads first: a sentence and lines to copy. Spec: OPS-1."""
    top = build_parser("9.9")
    for name, parser in parsers().items():
        text = parser.format_help()
        assert "examples:" in text, name
        lines = [line.strip() for line in text.partition("examples:")[2].splitlines() if line.strip()]
        assert lines, name
        for line in lines:
            words = line.partition(">")[0].partition("|")[0] if "| gridagent" not in line else line.partition("| ")[2]
            words = words.replace('\'{"action":"emote","text":"waves"}\'', "{}").split()
            assert words[0] == "gridagent"
            assert top.parse_args(words[1:]).command == name


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20s", 20.0), ("2m", 120.0), ("1h", 3600.0), ("1d", 86_400.0), ("500ms", 0.5), ("1.5m", 90.0)],
)
def test_durations_are_read(text, seconds) -> None:
    """A number and its unit."""
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "20", "s", "-5s", "0s", "1e3s", "inf", "nan", "2 m", "9999999d", "1s1s", "٣s"])
def test_what_is_no_duration_is_refused(text) -> None:
    """No unit, no bound or no time at all is a usage error."""
    with pytest.raises(argparse.ArgumentTypeError, match="is no duration"):
        duration(text)


@pytest.mark.parametrize(
    "line",
    [
        [],
        ["frobnicate"],
        ["run", "--for", "soon"],
        ["run", "--seed", "-1"],
        ["run", "--seed", "99999999999999999999"],
        ["run", "--seed", "x"],
        ["run", "--sc", "plaza"],
        ["run", "extra"],
        ["check-config"],
        ["say"],
        ["forget"],
        ["settle", "e1"],
        ["approvals", "maybe"],
        ["audit", "--last", "5000"],
        ["simulate", "--hours", "many"],
        ["policy"],
    ],
)
def test_a_wrong_command_line_is_one_sentence(line) -> None:
    """It says what is wrong and where to look. Spec: OPS-1."""
    with pytest.raises(UsageProblem) as caught:
        build_parser("9.9").parse_args(line)
    assert "\n" not in str(caught.value)
    assert "--help" in str(caught.value)


def test_run_for_ever_is_said_in_words() -> None:
    """Without a terminal a run ends by itself, unless somebody says otherwise."""
    parser = build_parser("9.9")
    assert parser.parse_args(["run"]).for_s == 0.0
    assert parser.parse_args(["run", "--for", "ever"]).for_s is None
    assert parser.parse_args(["run", "--for", "20s"]).for_s == 20.0
