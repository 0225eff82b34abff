"""The hand-written contract names everything the code can answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from gridagent.actions import Capability
from gridagent.authority import DenialCode, Origin
from gridagent.config.policy import BudgetScope, Meter, PolicySection, Preset, RolesSection
from gridagent.policy import Policy, RedeemRefusal
from gridagent.policy.decisions import AnswerCode
from gridagent.policy.policy import preset_section

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
WORDS = [
    *DenialCode,
    *RedeemRefusal,
    *(code for code in AnswerCode if code not in {AnswerCode.ALLOWED, AnswerCode.DENIED}),
    *(meter for meter in Meter if not meter.value.startswith("calls.")),
    *BudgetScope,
    *Origin,
    *Preset,
]


@pytest.mark.parametrize("word", WORDS)
def test_the_contract_names_it(word) -> None:
    """Every code, meter, scope, door and preset stands in the contract as code. Spec: OPS-8."""
    assert re.search(rf"`{re.escape(word.value)}`", PAGE)


def test_its_example_is_a_sound_policy() -> None:
    """What the contract tells to write compiles. Spec: OPS-8, CFG-1."""
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    written = json.loads(example)
    policy = Policy(msgspec.convert(written["policy"], PolicySection), msgspec.convert(written["roles"], RolesSection))
    assert policy.section.preset is Preset.GUIDE


COLUMNS = ("speak", "direct_message", "animate", "move", "teleport", "interact", "social", "inventory", "money")


def test_its_matrix_is_the_matrix_of_the_presets() -> None:
    """Each row of the table of presets says what the preset says. Spec: OPS-8, OPS-9, POL-4."""
    preset, seen = "", 0
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 12 or not cells[1].startswith("`"):
            continue
        preset = cells[0].strip("`") or preset
        written = preset_section(Preset(preset)).matrix.get(Origin(cells[1].strip("`")), {})
        told = dict(zip(COLUMNS, cells[2:11], strict=True))
        for name, cell in told.items():
            meant = written.get(Capability(name))
            assert (meant.value if meant else "–") == cell, (preset, cells[1], name)
        last = {written.get(Capability(name)) for name in ("upload", "build", "land")}
        assert {meant.value if meant else "–" for meant in last} == {cells[11]}
        seen += 1
    assert seen == 8
