"""The page of the scenario format, read off the structs that decode it."""

from __future__ import annotations

import enum
import re
from typing import get_args

import msgspec
from msgspec import inspect

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load, summary
from docs.generator.types import default_words, type_words

__all__ = ("scenario_format",)

ROOM = "gridagent.grid.simulated"
LONGEST_DEFAULT = 120

INTRO = """A scenario is one JSON file of at most 256 KiB: a world and its story. How to write one is told in [write a
scenario](../how-to/write-a-scenario.md). Unknown keys, keys written twice, comments and values out of range are
refused; one message lists everything wrong with a file, each problem with its JSON path, what was found and how
to mend it. Times are seconds, lengths metres, amounts L$."""

RELATIONS = """Beyond what each key takes, the parts must fit together:

- names of regions (without regard to case), of avatars and of objects are given once, and every name that is
  used exists;
- ids that are written differ from each other;
- regions do not overlap, parcels lie inside their region, points lie inside the region they name
  (0 ≤ x, y < `size_m`);
- the buttons of a dialog differ, and there are no more answers than buttons; an object that pushes has targets;
- an owner's written errands `sit` and `tip` come with a `seat` and a `payee`;
- nobody is their own friend, and two are friends once;
- ranges run from the smaller number to the larger one;
- objects of no more prims than `prim_limit` stand in a region and on a parcel;
- `disconnect`, `stall` and `flood` befall avatars without a character: inhabitants have no connection;
- at least one avatar has no character, so that an agent can log in."""

IDS = """An avatar, object or item whose id is not written gets one that follows from names alone, the same on every
machine: the first 128 bits of the SHA-256 of `gridagent scenario`, the scenario's name, the kind (`avatar`,
`object` or `item`) and the name, joined by NUL characters, marked as a UUID of version 8. (The id of an item
also depends on its avatar's name and on its place in the list.) The shipped scenarios write the ids of the
agent and of its owner."""


class _Names:
    """What the page calls each class, and where it is described."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}

    def link(self, text: str) -> str:
        """Put links where class names stand."""
        return re.sub(r"\b[A-Z]\w+\b", lambda found: self.labels.get(found[0], found[0]), text)

    def name(self, cls: type, label: str) -> None:
        """Let ``cls`` be called ``label``, the heading it has on the page."""
        anchor = re.sub(r"[^\w -]", "", label.lower()).replace(" ", "-")
        self.labels[cls.__name__] = f"[{label}](#{anchor})"


def scenario_format() -> str:
    """Write the page of the scenario format."""
    form = load(f"{ROOM}.scenario_format")
    casting = load(f"{ROOM}.inhabitants.casting")
    registry = load(f"{ROOM}.inhabitants.registry")
    incidents = load(f"{ROOM}.scenario_incidents")
    talking = load(f"{ROOM}.inhabitants.talking_object")
    injector = load(f"{ROOM}.inhabitants.injector")
    owner = load(f"{ROOM}.inhabitants.owner")
    faults = load(f"{ROOM}.faults")
    events = load("gridagent.events")
    parts = {
        form.RegionSpec: "region",
        form.ParcelSpec: "parcel",
        form.AvatarSpec: "avatar",
        form.ItemSpec: "item",
        form.ObjectSpec: "object",
        casting.Spot: "point",
        load(f"{ROOM}.state").WorldSettings: "grid",
        events.GridProfile: "profile",
        faults.Faults: "faults",
        talking.Dialog: "dialog",
    }
    words = {
        owner.Errand: "errand",
        injector.Attack: "attack",
        talking.Push: "push",
        events.DisconnectCause: "disconnect cause",
    }
    people, things, timeline = (
        get_args(union) for union in (registry.AvatarCharacter, registry.ObjectCharacter, incidents.Incident)
    )
    names = _Names()
    for cls, label in (parts | words).items():
        names.name(cls, label)
    for cls in (*people, *things, *timeline):
        names.name(cls, _tag(cls))
    return page(
        "Scenario format",
        INTRO,
        [
            "## The file",
            _keys(form.Scenario, names),
            "## Parts",
            *(_section(cls, label, names) for cls, label in parts.items()),
            "## Characters of avatars",
            *(_section(cls, _tag(cls), names) for cls in people),
            "## Characters of objects",
            *(_section(cls, _tag(cls), names) for cls in things),
            "## Incidents",
            *(_section(cls, _tag(cls), names) for cls in timeline),
            "## Words",
            *(_words(cls, label) for cls, label in words.items() if cls is not events.DisconnectCause),
            _causes(faults.LOGIN_CAUSES, events.DisconnectCause),
            "## What must fit together",
            RELATIONS,
            "## Ids",
            IDS,
            "## Shipped",
            _shipped(),
        ],
    )


def _tag(cls: type[msgspec.Struct]) -> str:
    return str(cls.__struct_config__.tag)


def _section(cls: type[msgspec.Struct], label: str, names: _Names) -> str:
    head = prose(summary(class_text(cls).doc))
    if cls.__struct_config__.tag is not None:
        module = summary(load(cls.__module__).__doc__ or "")
        says_little = head.startswith("What a scenario may say about")
        head = f'`"kind": "{label}"`. {module if says_little else head}'
    return f"### {label}\n\n{head}\n\n{_keys(cls, names)}"


def _keys(cls: type[msgspec.Struct], names: _Names) -> str:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    text = class_text(cls)
    rows = [
        [
            code(field.encode_name),
            names.link(type_words(field.type)),
            _default(field),
            prose(text.fields.get(field.name, "")),
        ]
        for field in info.fields
    ]
    return table(["key", "takes", "default", "meaning"], rows)


def _default(field: inspect.Field) -> str:
    words = default_words(field)
    if len(words) <= LONGEST_DEFAULT:
        return words
    return f"{len(field.default)} of its own" if isinstance(field.default, tuple) else "every key at its default"


def _words(cls: type[enum.Enum], label: str) -> str:
    text = class_text(cls)
    rows = [[code(str(member.value)), prose(text.fields.get(member.name, ""))] for member in cls]
    filled = [row for row in rows if row[1]]
    body = table(["word", "meaning"], rows) if filled else ", ".join(row[0] for row in rows)
    return f"### {label}\n\n{prose(summary(text.doc))}\n\n{body}"


def _causes(allowed: tuple[enum.Enum, ...], cls: type[enum.Enum]) -> str:
    del cls
    listed = ", ".join(code(str(cause.value)) for cause in allowed)
    return f"### disconnect cause\n\nWhy a login can be refused: {listed}."


def _shipped() -> str:
    scenarios = load(f"{ROOM}.scenario")
    rows = []
    for name in scenarios.shipped_scenarios():
        scenario = scenarios.load_shipped(name)
        rows.append([code(name), scenario.description])
    return table(["name", "what it is"], rows)
