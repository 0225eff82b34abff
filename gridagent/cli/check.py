"""``gridagent check-config``: everything a start would check, without a start (Spec: CFG-5).

Owns the printing of problems and notes; opens no socket and starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import msgspec

from gridagent.cli.compose import prepare
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.safe_text import plain_json, shown
from gridagent.config.check import check_config
from gridagent.errors import ConfigError

__all__ = ("check_command",)


def check_command(file: Path, environ: Mapping[str, str], *, out: TextIO, json: bool) -> ExitCode:
    """Check a configuration file and what it names; list every problem.

    Raises:
        ConfigError: it has problems, and the output is for people.
        OperatorError: it names a scenario that does not exist.
    """
    try:
        config, notes = check_config(file, environ)
        prepared = prepare(config)
    except ConfigError as error:
        if not json:
            raise
        problems = [
            {"path": each.path, "what": each.what, "found": each.shape, "mend": each.mend} for each in error.problems
        ]
        _print(out, {"ok": False, "source": error.source, "problems": problems})
        return ExitCode.CONFIGURATION
    story = None if prepared.scenario is None else prepared.scenario.name
    if json:
        _print(out, {"ok": True, "avatars": prepared.keys, "scenario": story, "notes": notes})
        return ExitCode.OK
    avatars = ", ".join(prepared.keys)
    what = "a live grid" if story is None else f"scenario {story}"
    out.write(f"{shown(str(file))} can be used: avatars {avatars}, {what}\n")
    out.writelines(f"  {shown(note)}\n" for note in notes)
    return ExitCode.OK


def _print(out: TextIO, value: object) -> None:
    out.write(plain_json(msgspec.json.encode(value)) + "\n")
