"""The example at the top of the tree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gridagent.config import Config, parse_config
from gridagent.config.annotations import fields_of
from gridagent.config.example import render_example
from gridagent.errors import ConfigError

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "how-to" / "configure.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


def test_the_committed_example_is_fresh() -> None:
    """It shows every key at its default. Spec: CFG-1."""
    committed = (ROOT / "config.example.json").read_text(encoding="utf-8")
    assert committed == render_example(), (
        "write the file anew with the text of gridagent.config.example.render_example()"
    )


def test_the_example_loads_to_the_defaults() -> None:
    """A newcomer can start from it without changing anything. Spec: CFG-1."""
    assert parse_config(render_example().encode()) == Config()


def test_the_example_shows_every_section() -> None:
    """Nothing of the model is left out."""
    assert all(f'\n  "{name}": ' in render_example() for name in fields_of(Config))


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_of_the_guide_loads(text: str) -> None:
    """What a newcomer copies works as it stands. Spec: CFG-1."""
    assert parse_config(text.encode()) != Config()


def test_the_guide_shows_messages_as_they_are() -> None:
    """The sentences in the guide are those of the program. Spec: CFG-1."""
    text = b'{"quues": {"a": 1}, "llm": {"max_concurrent_requests": 300}, "roles": {"owners": ["*"]}}'
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    assert "\n".join(f"  {problem}" for problem in caught.value.problems) in GUIDE
