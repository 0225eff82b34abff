"""``gridagent policy``: a shipped preset on one screen, as one writes it into a configuration (Spec: OPS-9).

Owns the printing; the presets are `gridagent.policy.presets`.
"""

from __future__ import annotations

from typing import Final, TextIO

import msgspec

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.policy import Preset
from gridagent.policy.policy import preset_section
from gridagent.policy.presets import BASE, PRESETS

__all__ = ("show_presets",)

_BASE: Final = "base"


def show_presets(preset: str | None, *, verb: str, out: TextIO, json: bool) -> ExitCode:
    """Print one preset, or the names of all.

    Raises:
        UsageProblem: there is no such preset.
    """
    names = [each.value for each in Preset]
    if verb == "list":
        out.writelines(f"{name}\n" for name in ([plain_json(msgspec.json.encode(names))] if json else [*names, _BASE]))
        return ExitCode.OK
    if preset is None or (preset not in names and preset != _BASE):
        what = "PRESET is missing" if preset is None else f"there is no preset {shown(preset, 40)!r}"
        raise UsageProblem(f"policy show: {what}; choose one of {', '.join([*names, _BASE])}")
    if preset == _BASE:
        out.write(BASE.strip() + "\n")
    elif json:
        out.write(plain_json(msgspec.json.encode(preset_section(Preset(preset)))) + "\n")
    else:
        out.write(f"{PRESETS[Preset(preset)].strip()}\n")
        out.write(f"over what every preset stands on: gridagent policy show {_BASE}\n")
    return ExitCode.OK
