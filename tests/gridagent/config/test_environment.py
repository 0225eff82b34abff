"""Environment variables and options over the file's tree."""

from __future__ import annotations

import pytest

from gridagent.config.document import GivenText, Node, Problems, nodes_of
from gridagent.config.environment import lay_over

DEFAULTS: dict[str, object] = {"avatars": {"robin": {"first_name": "Robin"}}, "log": {"level": "info"}}


def _laid(
    file: dict[str, object], environ: dict[str, str] | None = None, options: dict[str, str] | None = None
) -> tuple[object, list[str]]:
    problems = Problems()
    tree = nodes_of(file, "")
    lay_over(tree, environ or {}, options or {}, defaults=DEFAULTS, problems=problems)
    return _plain(tree), [str(problem) for problem in problems.listed()]


def _plain(node: Node) -> object:
    match node.value:
        case dict():
            return {key: _plain(child) for key, child in node.value.items()}
        case list():
            return [_plain(child) for child in node.value]
        case GivenText():
            return f"<{node.origin}: {node.value.text}>"
        case _:
            return node.value


def test_a_variable_sets_the_key_its_name_spells() -> None:
    """Capitals and double underscores give the path; other variables are left alone. Spec: CFG-1."""
    tree, problems = _laid({}, {"GRIDAGENT_QUEUES__GRID_EVENTS": "5", "HOME": "/x", "GRIDAGENTX": "1"})
    assert tree == {"queues": {"grid_events": "<GRIDAGENT_QUEUES__GRID_EVENTS: 5>"}}
    assert problems == []


def test_the_variable_that_names_the_file_is_no_key() -> None:
    """GRIDAGENT_CONFIG is for the commands."""
    assert _laid({}, {"GRIDAGENT_CONFIG": "/etc/x.json"}) == ({}, [])


def test_later_sources_win_key_by_key() -> None:
    """File, then environment, then options; neighbours stay. Spec: CFG-1."""
    tree, _ = _laid(
        {"log": {"level": "info", "format": "json"}},
        {"GRIDAGENT_LOG__LEVEL": "debug", "GRIDAGENT_LOG__DESTINATION": "stderr"},
        {"log.level": "error"},
    )
    assert tree == {
        "log": {
            "level": "<option log.level: error>",
            "format": "json",
            "destination": "<GRIDAGENT_LOG__DESTINATION: stderr>",
        }
    }


def test_a_variable_inside_a_section_the_file_leaves_out_changes_the_default_one() -> None:
    """The default avatar can be adjusted without being written out."""
    tree, _ = _laid({}, {"GRIDAGENT_AVATARS__ROBIN__DRY_RUN": "true"})
    assert tree == {
        "avatars": {"robin": {"first_name": "Robin", "dry_run": "<GRIDAGENT_AVATARS__ROBIN__DRY_RUN: true>"}}
    }


def test_a_variable_inside_null_makes_an_object() -> None:
    """A section that is null by default can be filled."""
    tree, problems = _laid({"avatars": {"a": {"policy": None}}}, {"GRIDAGENT_AVATARS__A__POLICY__PRESET": "guide"})
    assert tree == {"avatars": {"a": {"policy": {"preset": "<GRIDAGENT_AVATARS__A__POLICY__PRESET: guide>"}}}}
    assert problems == []


@pytest.mark.parametrize(
    "name", ["GRIDAGENT_", "GRIDAGENT_LOG__", "GRIDAGENT___LEVEL__", "GRIDAGENT_" + "A__" * 20 + "B"]
)
def test_a_variable_that_names_nothing_is_a_problem(name: str) -> None:
    """A slip of the keyboard does not go unnoticed. Spec: CFG-1."""
    tree, problems = _laid({}, {name: "canary"})
    assert tree == {}
    assert len(problems) == 1
    assert "names no key" in problems[0]
    assert "canary" not in problems[0]


def test_a_key_inside_a_value_that_is_no_object_is_a_problem() -> None:
    """Neither side is silently dropped, whatever the order of the variables."""
    _, problems = _laid({"log": 5}, {"GRIDAGENT_LOG__LEVEL": "debug"})
    assert problems == [
        (
            "$.log.level: cannot be set by GRIDAGENT_LOG__LEVEL: the value around it is not an object; "
            "mend that value, or set it as a whole"
        )
    ]
    _, problems = _laid({}, {"GRIDAGENT_LOG__LEVEL": "debug", "GRIDAGENT_LOG": "{}"})
    assert len(problems) == 1


def test_an_endless_variable_is_a_problem() -> None:
    """Values are bounded like the file. Spec: BND-15."""
    tree, problems = _laid({}, {"GRIDAGENT_LLM__MODEL": "x" * 65_537})
    assert tree == {}
    assert "is longer than 65536 characters (found text of 65537 characters)" in problems[0]


def test_names_are_made_printable_in_messages() -> None:
    """A hostile environment cannot write into the terminal."""
    _, problems = _laid({"log": 5}, {}, {"log.\x1b[31m": "x"})
    assert "\x1b" not in problems[0]
