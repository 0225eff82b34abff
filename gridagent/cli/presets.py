"""``gridagent policy``: a shipped preset on one screen, as one writes it into a configuration (Spec: OPS-9).

Owns the printing: what a preset says fits on 24 lines of 100 columns, and all of it can stand in a configuration file,
since what is no JSON is a comment. The presets are `gridagent.policy.presets`.
"""

from __future__ import annotations

import json as plain
import textwrap
from collections.abc import Iterator
from typing import Final, TextIO

import msgspec

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.policy import Preset
from gridagent.policy.policy import preset_section
from gridagent.policy.presets import BASE, PRESETS, SUMMARIES

__all__ = ("show_presets",)

_BASE: Final = "base"
_BASE_SUMMARY: Final = "What every preset stands on; a cell that stands nowhere is deny, a meter zero."
_WIDTH: Final = 100
_GLUED: Final = ":\u00a0"
"""A colon and a blank at which no line is broken."""


def show_presets(preset: str | None, *, verb: str, out: TextIO, json: bool) -> ExitCode:
    """Print one preset, or the names of all.

    Raises:
        UsageProblem: there is no such preset.
    """
    names = [each.value for each in Preset]
    if verb == "list":
        if json:
            out.write(plain_json(msgspec.json.encode(names)) + "\n")
        else:
            out.writelines(f"{name:<12}{SUMMARIES[Preset(name)]}\n" for name in names)
            out.write(f"{_BASE:<12}{_BASE_SUMMARY}\n")
        return ExitCode.OK
    if preset is None or (preset not in names and preset != _BASE):
        what = "PRESET is missing" if preset is None else f"there is no preset {shown(preset, 40)!r}"
        raise UsageProblem(f"policy show: {what}; choose one of {', '.join([*names, _BASE])}")
    if json:
        whole = plain.loads(BASE) if preset == _BASE else preset_section(Preset(preset))
        out.write(plain_json(msgspec.json.encode(whole)) + "\n")
    elif preset == _BASE:
        out.writelines(f"{line}\n" for line in (f"// {_BASE}: {_BASE_SUMMARY}", *_rows(BASE)))
    else:
        out.write(f"// {preset}: {SUMMARIES[Preset(preset)]}\n")
        out.writelines(f"{line}\n" for line in _rows(PRESETS[Preset(preset)]))
        out.write(f'// extend it: "policy": {{"preset": "{preset}", and your cells}}; under it: policy show {_BASE}\n')
    return ExitCode.OK


def _rows(text: str) -> Iterator[str]:
    """Lay a preset's JSON out in few lines: a section on one if it fits, else each member of it on its own."""
    sections: dict[str, dict[str, object]] = plain.loads(text)
    lead = "{"
    for number, (name, section) in enumerate(sections.items(), start=1):
        end = "," if number < len(sections) else "}"
        whole = f"{lead}{plain.dumps(name)}: {plain.dumps(section)}{end}"
        if len(whole) <= _WIDTH:
            yield whole
        else:
            yield f"{lead}{plain.dumps(name)}: {{"
            members = [f"{plain.dumps(key)}: {_value(value)}" for key, value in section.items()]
            for member in (*(f"{each}," for each in members[:-1]), f"{members[-1]}}}{end}"):
                yield from _wrapped(member)
        lead = " "
    if not sections:
        yield "{}"


def _value(value: object) -> str:
    """Write a value, what a list has in it without blanks: one budget stays in one piece."""
    if isinstance(value, list):
        return f"[{', '.join(plain.dumps(each, separators=(',', ':')) for each in value)}]"
    return plain.dumps(value)


def _wrapped(member: str) -> list[str]:
    """Break a line where one thing ends, never between a name and what it is."""
    lines = textwrap.wrap(
        member.replace(": ", _GLUED),
        _WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_GLUED, ": ") for line in lines]
