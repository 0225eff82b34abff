"""``python -m docs.generator [--check]``: write the references, or say which are stale."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from docs.generator.configuration import configuration
from docs.generator.errors import errors
from docs.generator.limits import limits
from docs.generator.machines import state_machines
from docs.generator.markdown import BANNER, page, table
from docs.generator.reconciliation import reconciliation
from docs.generator.requirements import requirements
from docs.generator.scenario import scenario_format
from docs.generator.sources import ROOT, load
from docs.generator.tools import tools
from docs.generator.vocabulary import actions, controls, denial_codes, events, observations

REFERENCE = "docs/reference"

PAGES: dict[str, tuple[str, Callable[[], str | None]]] = {
    "actions": ("what an avatar can be asked to do, and what follows from each", actions),
    "configuration": ("every key with its default and its bounds", configuration),
    "controls": ("what an operator can tell a session", controls),
    "denial-codes": ("why the policy says no; doors and roles", denial_codes),
    "errors": ("every error, its code and when it is raised", errors),
    "events": ("what a grid can tell an avatar", events),
    "limits": ("every hard ceiling and what happens there", limits),
    "observations": ("what a session says about itself", observations),
    "reconciliation": ("how what is in doubt is found out, kind by kind", reconciliation),
    "requirements": ("every requirement with its tests", requirements),
    "scenario-format": ("every key of a scenario file, and what must fit together", scenario_format),
    "state-machines": ("every state machine, drawn from its table", state_machines),
    "tools": ("what a model may call, in which turn, and what can become of a call", tools),
}


def pages() -> dict[str, str]:
    """Return the text of every generated file by its path in the tree, the index of the references included."""
    written = {name: text for name, (_, write) in PAGES.items() if (text := write()) is not None}
    rows = [[f"[{name}]({name}.md)", what] for name, (what, _) in PAGES.items() if name in written]
    by_hand = [
        path for path in sorted((ROOT / REFERENCE).glob("*.md")) if BANNER not in path.read_text(encoding="utf-8")
    ]
    rows += [[f"[{path.stem}]({path.name})", f"{_title(path)} (written by hand)"] for path in by_hand]
    written["README"] = page("Reference", "What the code says about itself.", [table(["page", "holds"], rows)])
    files = {f"{REFERENCE}/{name}.md": text for name, text in written.items()}
    return files | {"config.example.json": load("gridagent.config.example").render_example()}


def stale(root: Path, written: dict[str, str]) -> list[str]:
    """Name the files on disk that differ from what would be written, and generated ones that nothing writes now."""
    pages_there = (root / REFERENCE).glob("*.md")
    generated = {f"{REFERENCE}/{path.name}" for path in pages_there if BANNER in path.read_text(encoding="utf-8")}
    return [name for name in sorted(generated | written.keys()) if _read(root / name) != written.get(name)]


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def main(arguments: list[str], *, root: Path = ROOT) -> int:
    """Write, or check with ``--check``; return the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m docs.generator [--check]", file=sys.stderr)
        return 2
    written = pages()
    old = stale(root, written)
    if arguments:
        for name in old:
            print(f"{name} is stale; run `make docs` and commit what it writes.", file=sys.stderr)
        return 1 if old else 0
    for name in old:
        path = root / name
        if name in written:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written[name], encoding="utf-8")
        else:
            path.unlink()
        print(f"{'wrote' if name in written else 'removed'} {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
