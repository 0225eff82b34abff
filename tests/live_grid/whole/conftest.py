"""Every test here has the entry points of this checkout on its import path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live_grid.whole.life import install


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation with its entry points."""
    install(tmp_path, monkeypatch.syspath_prepend)
