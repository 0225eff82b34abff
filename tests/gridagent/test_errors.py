"""Claims about the error tree."""

import inspect

import pytest

from gridagent import errors
from gridagent.errors import ConfigError, ConfigProblem, GridAgentError, LimitExceeded, ResourceBusy, StaleGeneration


def raisable():
    """Every class of the tree that can be raised."""
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, GridAgentError)]
    return [c for c in classes if c.code]


def test_families_cannot_be_raised():
    """A family names who must act; only its members say what happened."""
    with pytest.raises(TypeError, match="is a family"):
        GridAgentError("x")
    with pytest.raises(TypeError, match="is a family"):
        errors._ResourceError("x")


def test_every_code_is_stable_and_its_own():
    """Two errors never share a code, and a code is a plain word that can stand in a log."""
    codes = [c.code for c in raisable()]
    assert len(codes) == len(set(codes))
    assert all(code.isidentifier() and code == code.lower() for code in codes)


def test_all_names_are_drawn_in_the_module_docstring():
    """The tree in the docstring is whole: whoever reads it knows every error there is."""
    assert errors.__doc__ is not None
    assert [c.__name__ for c in raisable() if c.__name__ not in errors.__doc__] == []


def test_config_error_lists_every_problem_in_one_message():
    """Spec: CFG-1 — one error says where, what it found and how to mend each problem."""
    problems = (
        ConfigProblem(path="$.a", what="unknown key", shape="", mend="remove it"),
        ConfigProblem(path="$.b", what="not a number", shape="text of 3 characters", mend="write a number"),
    )
    text = str(ConfigError(problems, source="config.json"))
    assert text.splitlines() == [
        "config.json has 2 problems:",
        "  $.a: unknown key; remove it",
        "  $.b: not a number (found text of 3 characters); write a number",
    ]
    assert str(ConfigError(problems[:1])).startswith("configuration has 1 problem:")
    assert "unknown key" in repr(problems[0])


def test_sentences_are_built_from_fields():
    """An error's fields stay readable beside its sentence."""
    limit = LimitExceeded("queue", allowed=3, seen=4)
    assert (limit.limit, limit.allowed, limit.seen, str(limit)) == ("queue", 3, 4, "queue: at most 3 allowed, got 4")
    assert str(LimitExceeded("queue", allowed=3)) == "queue: at most 3 allowed"
    assert str(ResourceBusy("inbox")) == "inbox is busy"
    assert str(ResourceBusy("inbox", "one reader")) == "inbox is busy: one reader"
    assert str(StaleGeneration(seen=1, current=2)) == "generation 1 is over; 2 is current"
    assert "bad_credentials" in str(errors.BackendError("bad_credentials", detail="secret"))


def test_outside_text_of_a_backend_error_stays_out_of_its_sentence():
    """Spec: SUP-10 — what a grid said is for the redacted log; the sentence carries a code only."""
    error = errors.BackendError("kicked", detail="<b>hunter2</b>")
    assert "hunter2" not in str(error)
    assert "hunter2" not in repr(error)
    assert error.detail == "<b>hunter2</b>"


def test_refusals_name_their_reason():
    """A refused handle and an illegal transition say why in fields."""
    assert errors.AuthorityRefused("replayed").reason == "replayed"
    illegal = errors.IllegalTransition("agent", "stopped", "pause")
    assert (illegal.table, illegal.state, illegal.given) == ("agent", "stopped", "pause")
