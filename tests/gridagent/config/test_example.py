"""The example at the top of the tree."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from gridagent.config import Config, parse_config
from gridagent.config.annotations import fields_of
from gridagent.config.example import render_example

ROOT = Path(__file__).parents[3]


def test_the_committed_example_is_fresh() -> None:
    """It shows every key at its default; after a change: python -m gridagent.config.example. Spec: CFG-1."""
    assert (ROOT / "config.example.json").read_text(encoding="utf-8") == render_example()


def test_the_example_loads_to_the_defaults() -> None:
    """A newcomer can start from it without changing anything. Spec: CFG-1."""
    assert parse_config(render_example().encode()) == Config()


def test_the_example_shows_every_section() -> None:
    """Nothing of the model is left out."""
    assert all(f'\n  "{name}": ' in render_example() for name in fields_of(Config))


def test_the_module_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The command that writes the file anew."""
    runpy.run_path(str(ROOT / "gridagent" / "config" / "example.py"), run_name="__main__")
    assert capsys.readouterr().out == render_example()
