"""The page on testing one's own code: its examples are test modules, and they pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "test-your-own-code.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_every_example_passes_as_a_test_module(tmp_path) -> None:
    """Whoever copies a block has a test that passes, in an empty folder, with warnings as errors. Spec: SIM-1."""
    for number, block in enumerate(BLOCKS):
        (tmp_path / f"test_example_{number}.py").write_text(block, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntrio_mode = true\nfilterwarnings = error\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=18
    )
    assert done.returncode == 0, done.stdout
    wanted = sum(block.count("async def test_") for block in BLOCKS)
    assert f"{wanted} passed" in done.stdout


def test_the_page_shows_each_of_its_promises() -> None:
    """Virtual time, observations, refusals, faults by hand, a world of one's own: an example each."""
    assert len(BLOCKS) >= 5
    for word in (
        "autojump_clock",
        "simulated_ports",
        "observe(",
        "reply.code",
        "grid.disconnect",
        "Faults(",
        "path.write",
    ):
        assert any(word in block for block in BLOCKS), word
