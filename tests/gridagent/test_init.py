"""The front door of the package: public names on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gridagent


def test_public_names_are_imported_on_first_use() -> None:
    """Every name of `__all__` is there, and is the one of the room that owns it."""
    for name in gridagent.__all__:
        assert getattr(gridagent, name) is not None
    assert gridagent.open_service.__module__ == "gridagent.cli.embedding"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as on any module."""
    with pytest.raises(AttributeError, match="no attribute 'opne_service'"):
        _ = gridagent.opne_service


def test_importing_the_package_imports_no_framework() -> None:
    """Who asks for the version alone does not pay for trio, httpx or msgspec."""
    code = "import sys, gridagent; print(sorted({'trio', 'httpx', 'msgspec', 'rich', 'attrs'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == "[]"
