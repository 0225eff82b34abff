"""The pages of words that cross the house: events, actions, controls, observations, denial codes."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import msgspec
from msgspec import inspect

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load, summary
from docs.generator.types import default_words, type_words

__all__ = ("actions", "controls", "denial_codes", "events", "observations")


def _struct(cls: type[msgspec.Struct]) -> str:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType)
    text = class_text(cls)
    head = f"### `{info.tag}`\n\n{prose(summary(text.doc))}"
    rows = [
        [code(field.encode_name), type_words(field.type), default_words(field), prose(text.fields.get(field.name, ""))]
        for field in info.fields
    ]
    return f"{head}\n\n{table(['field', 'takes', 'default', 'meaning'], rows)}" if rows else head


def _words(cls: type[enum.Enum]) -> str:
    text = class_text(cls)
    rows = [[code(str(member.value)), prose(text.fields.get(member.name, ""))] for member in cls]
    return f"### {cls.__name__}\n\n{prose(summary(text.doc))}\n\n{table(['word', 'meaning'], rows)}"


def _views(module: str, names: Iterable[str]) -> list[str]:
    parts = []
    for name in names:
        cls = getattr(load(module), name)
        if issubclass(cls, enum.Enum):
            parts.append(_words(cls))
        else:
            parts.append(_struct(cls).replace("### `None`", f"### {name}", 1))
    return parts


def events() -> str:
    """Write the page of what a grid can tell."""
    module = "gridagent.events"
    views = ("AvatarView", "ObjectView", "ParcelView", "ItemView", "GridProfile", "Speaker")
    words = ("DisconnectCause", "SpeakerKind", "Posture")
    intro = """Everything a grid can tell an avatar crosses the port as one of these, bounded and untrusted. The tag is
the value of the field `event`."""
    return page(
        "Events",
        intro,
        ["## Events", *map(_struct, load(module).EVENTS), "## What they carry", *_views(module, (*views, *words))],
    )


def actions() -> str:
    """Write the page of what an avatar can be asked to do."""
    module = load("gridagent.actions")
    rows = []
    for cls in module.ACTIONS:
        spec = cls.spec
        tag = cls.__struct_config__.tag
        rows.append(
            [
                f"[{code(tag)}](#{tag})",
                spec.capability.value,
                spec.effect.value,
                spec.evidence.value,
                spec.resource.value + (", takes it over" if spec.preempts else ""),
                f"{spec.deadline_s:g} s",
            ]
        )
    intro = """Every action with what follows from it: the capability it needs, what sending it twice would do, the
evidence that confirms it ("sent" never does), the resource it occupies and how long evidence is waited for. The tag is
the value of the field `action`."""
    words = ("Capability", "EffectClass", "EvidenceKind", "Resource", "Volume", "Position")
    return page(
        "Actions",
        intro,
        [
            table(["action", "capability", "effect", "evidence", "resource", "deadline"], rows),
            "## Arguments",
            *map(_struct, module.ACTIONS),
            "## Words",
            *_views("gridagent.actions", words),
        ],
    )


def controls() -> str:
    """Write the page of what an operator can say."""
    intro = """What an operator, a front or a signal can tell a session. The tag is the value of the field `control`."""
    return page("Controls", intro, map(_struct, load("gridagent.controls").CONTROLS))


def observations() -> str:
    """Write the page of what a session says about itself."""
    intro = (
        """What a session tells whoever watches; watching causes nothing. The tag is the value of the field `kind`."""
    )
    module = "gridagent.observations"
    return page(
        "Observations",
        intro,
        [
            *map(_struct, load(module).OBSERVATIONS),
            "## Words",
            *_views(module, ("AgentState", "LinkState", "Verdict")),
        ],
    )


def denial_codes() -> str:
    """Write the page of why the policy says no, and of the doors and roles it tells apart."""
    intro = """A refusal of the policy is a value with one of these codes; they are stable. Doors and roles are what a
decision looks at."""
    return page("Denial codes", intro, _views("gridagent.authority", ("DenialCode", "Origin", "Role", "Provenance")))
