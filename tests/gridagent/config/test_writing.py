"""A configuration file as it is written for somebody."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gridagent.config import Config, parse_config
from gridagent.config.document import Node, Problems, parse
from gridagent.config.writing import nested, problems_of, render

ROOM = Path("/somewhere")


def _plain(node: Node | None) -> object:
    assert node is not None
    match node.value:
        case dict():
            return {key: _plain(child) for key, child in node.value.items()}
        case list():
            return [_plain(child) for child in node.value]
        case value:
            return value


def test_values_stand_in_their_sections_with_their_comments() -> None:
    """The head first, a comment above its key, an example kept as it is. Spec: CFG-1."""
    text = render(
        {"log.level": "debug", "log.max_bytes": 65_536, "roles.owners": [], "policy": {}},
        {"": "Head.\n\nSecond.", "log": "The log.", "log.level": "word " * 30, "policy": "As in\n  {a}"},
    ).decode()
    words = "word " * 17
    assert text == (
        f'// Head.\n//\n// Second.\n{{\n  // The log.\n  "log": {{\n    // {words}word\n    // {"word " * 11}word\n'
        '    "level": "debug",\n    "max_bytes": 65536\n  },\n  "roles": {\n    "owners": []\n  },\n'
        '  // As in\n  //   {a}\n  "policy": {}\n}\n'
    )
    assert parse_config(text.encode()).log.level.value == "debug"


def test_nothing_at_all_is_the_defaults() -> None:
    """An empty configuration is a good one. Spec: CFG-1."""
    assert render({}, {}) == b"{\n}\n"
    assert parse_config(render({}, {})) == Config()


def test_what_the_loader_would_say_is_said_before_there_is_a_file() -> None:
    """The same rules, between keys too. Spec: CFG-1."""
    assert problems_of({"log.level": "debug"}, base=ROOM) == ()
    (problem,) = problems_of({"log.level": "loud"}, base=ROOM)
    assert problem.path == "$.log.level"
    (problem,) = problems_of({"llm.provider": "anthropic"}, base=ROOM)
    assert problem.path == "$.llm.endpoint"


_KEYS = st.sampled_from(["a", "b", "a.b", "c.d", "c.e", "c.f.g", "h"])
_REMARKS = st.text(st.characters(categories=("L", "P", "Zs")) | st.just("\n"), max_size=130)


@given(
    st.dictionaries(_KEYS, st.text(max_size=20) | st.integers(-9, 9) | st.lists(st.text(max_size=4), max_size=3)),
    st.dictionaries(st.just("") | _KEYS, _REMARKS),
)
def test_whatever_is_written_is_read_as_it_was(settings: dict[str, object], remarks: dict[str, str]) -> None:
    """No value and no comment breaks out of its place. Spec: CFG-1."""
    if {"a", "a.b"} <= settings.keys():
        del settings["a"]
    problems = Problems()
    node = parse(render(settings, remarks), problems, comments=True)
    assert not problems.listed()
    assert _plain(node) == nested(settings)
