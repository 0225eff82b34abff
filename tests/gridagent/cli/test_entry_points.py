"""What installed packages offer by name, and the sentence where they don't."""

from __future__ import annotations

import pytest

from gridagent.cli.entry_points import BACKENDS, NotInstalled, load_entry_point
from live_grid.backend import live_backends
from tests.gridagent.cli.installed import write_entry_points


def test_what_is_installed_is_loaded_by_name(tmp_path, monkeypatch) -> None:
    """The live backend of this checkout. Spec: OPS-5, LIV-14."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path)))
    assert load_entry_point(BACKENDS, "live", extra="live") is live_backends


def test_what_is_not_installed_is_one_sentence_with_its_mend(tmp_path, monkeypatch) -> None:
    """No package offers it, or one that it needs is missing. Spec: LIV-14, OPS-1."""
    offered = {"needy": "a_package_nobody_has.module:thing"}
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path, gridagent_backends=offered)))
    with pytest.raises(NotInstalled, match=r"nothing installed offers 'other'.*pip install 'gridagent"):
        load_entry_point(BACKENDS, "other", extra="live")
    with pytest.raises(NotInstalled, match="'needy' needs the package a_package_nobody_has, which is not installed"):
        load_entry_point(BACKENDS, "needy", extra="live")


def test_an_installation_that_is_not_whole_is_not_called_an_extra(tmp_path, monkeypatch) -> None:
    """A module of our own that is missing is said as such: no extra would bring it."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path, gridagent_backends={"torn": "live_grid.gone:thing"})))
    with pytest.raises(ModuleNotFoundError, match=r"live_grid\.gone"):
        load_entry_point(BACKENDS, "torn", extra="live")
