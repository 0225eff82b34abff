"""Documents point to what exists, and their examples run."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`((?:gridagent|live_grid|tests|docs|benchmarks|requirements)/[\w./-]*)`")
BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)

LATER: frozenset[str] = frozenset(
    # paths that a document names ahead of their time
)


def broken_links(document: Path, text: str) -> list[str]:
    """Find relative links and named paths that lead nowhere."""
    targets = [target.partition("#")[0] for target in LINK.findall(text) if not re.match(r"[a-z]+:|#", target)]
    found = [f"{document.name}: {target}" for target in targets if not (document.parent / target).exists()]
    named = [name for name in NAMED_PATH.findall(text) if name not in LATER]
    return found + [f"{document.name}: {name}" for name in named if not (ROOT / name).exists()]


def examples(text: str) -> list[tuple[str, str]]:
    """Return every Python block as ``(word after the language, source)``."""
    return [(word.strip(), source) for word, source in BLOCK.findall(text)]


RUNNABLE = [
    pytest.param(source, id=f"{document.relative_to(ROOT)}-{number}")
    for document in DOCUMENTS
    for number, (word, source) in enumerate(examples(document.read_text(encoding="utf-8")), 1)
    if word != "fragment"
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    """Relative links and paths in backquotes exist."""
    assert broken_links(document, document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("index", sorted((ROOT / "docs").glob("*/README.md")), ids=lambda path: path.parent.name)
def test_every_page_is_in_its_index(index: Path) -> None:
    """A page that no index names is found by nobody; fragments of the changelog are gathered, not listed."""
    pages = {page.name for page in index.parent.glob("*.md")} - {"README.md"}
    listed = set(LINK.findall(index.read_text(encoding="utf-8")))
    assert index.parent.name == "changes.d" or pages <= listed, pages - listed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_parses(document: Path) -> None:
    """Python in a document is Python, fragments included."""
    for _, source in examples(document.read_text(encoding="utf-8")):
        assert ast.parse(source).body


@pytest.mark.slow
@pytest.mark.skipif(not RUNNABLE, reason="no document has an example yet")
@pytest.mark.parametrize("source", RUNNABLE)
def test_every_example_runs(source: str, tmp_path: Path) -> None:
    """A block of Python runs as it stands, by itself, in an empty folder; one marked `fragment` only parses."""
    command = [sys.executable, "-W", "error", "-c", source]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=18)  # noqa: S603
    assert run.returncode == 0, run.stderr


def test_the_rules_see_a_dead_link_and_a_dead_path() -> None:
    """A link to nothing and a path to nothing are found; anchors, addresses and real ones are not."""
    text = "[a](nowhere.md) `gridagent/nothing.py` [b](#x) [c](https://example.org) [d](limits.md) `gridagent/ids.py`"
    page = ROOT / "docs" / "reference" / "errors.md"
    assert broken_links(page, text) == ["errors.md: nowhere.md", "errors.md: gridagent/nothing.py"]
    assert examples("```python fragment\nx\n```\n```python\ny\n```\n") == [("fragment", "x\n"), ("", "y\n")]
