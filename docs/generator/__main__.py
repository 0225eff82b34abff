"""``python -m docs.generator [--check]``: write the references, or say which are stale."""

from __future__ import annotations

import sys
from collections.abc import Callable

from docs.generator.configuration import configuration
from docs.generator.errors import errors
from docs.generator.limits import limits
from docs.generator.machines import state_machines
from docs.generator.markdown import page, table
from docs.generator.requirements import requirements
from docs.generator.scenario import scenario_format
from docs.generator.sources import ROOT
from docs.generator.vocabulary import actions, controls, denial_codes, events, observations

REFERENCE = ROOT / "docs" / "reference"

PAGES: dict[str, tuple[str, Callable[[], str | None]]] = {
    "actions": ("what an avatar can be asked to do, and what follows from each", actions),
    "configuration": ("every key with its default and its bounds", configuration),
    "controls": ("what an operator can tell a session", controls),
    "denial-codes": ("why the policy says no; doors and roles", denial_codes),
    "errors": ("every error, its code and when it is raised", errors),
    "events": ("what a grid can tell an avatar", events),
    "limits": ("every hard ceiling and what happens there", limits),
    "observations": ("what a session says about itself", observations),
    "requirements": ("every requirement with its tests", requirements),
    "scenario-format": ("every key of a scenario file, and what must fit together", scenario_format),
    "state-machines": ("every state machine, drawn from its table", state_machines),
}
BY_HAND = frozenset({"glossary.md"})


def pages() -> dict[str, str]:
    """Return the text of every page by file name, the index included."""
    written = {f"{name}.md": text for name, (_, write) in PAGES.items() if (text := write()) is not None}
    by_hand = sorted(path.name for path in REFERENCE.glob("*.md") if path.name in BY_HAND)
    rows = [[f"[{name}]({name}.md)", what] for name, (what, _) in PAGES.items() if f"{name}.md" in written]
    rows += [[f"[{name.removesuffix('.md')}]({name})", "written by hand"] for name in by_hand]
    written["README.md"] = page("Reference", "What the code says about itself.", [table(["page", "holds"], rows)])
    return written


def stale(written: dict[str, str]) -> list[str]:
    """Name the pages on disk that differ from what would be written, or that nothing writes."""
    on_disk = {path.name: path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md")}
    names = sorted((on_disk.keys() | written.keys()) - BY_HAND)
    return [name for name in names if on_disk.get(name) != written.get(name)]


def main(arguments: list[str]) -> int:
    """Write, or check with ``--check``; return the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m docs.generator [--check]", file=sys.stderr)
        return 2
    written = pages()
    old = stale(written)
    if arguments:
        for name in old:
            print(f"docs/reference/{name} is stale; run `make docs` and commit what it writes.", file=sys.stderr)
        return 1 if old else 0
    for name in old:
        path = REFERENCE / name
        if name in written:
            path.write_text(written[name], encoding="utf-8")
        else:
            path.unlink()
        print(f"{'wrote' if name in written else 'removed'} docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
