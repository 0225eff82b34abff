"""The page of tools: the catalogue, what each turn sees of it, and what can become of a call."""

from __future__ import annotations

import json

from docs.generator.markdown import code, page, prose, table
from docs.generator.sources import class_text, load
from gridagent.tools.descriptor import Tool

__all__ = ("tools",)

INTRO = """What a model may call. A tool is data: calling one asks for something, and nothing happens before the policy
gateway has said yes. The list of a turn shrinks to its mode, its door, what the connected grid can do and what can
answer; a tool that isn't listed is refused. Schemas are closed: an argument that isn't named here is refused too."""


def _arguments(schema: bytes) -> str:
    given = json.loads(schema)
    wanted = given.get("required", ())
    return ", ".join(code(name) + ("" if name in wanted else "?") for name in given["properties"])


def _row(tool: Tool) -> list[str]:
    effect = "reads" if tool.effect is None else tool.effect.value
    proof = tool.port.value if tool.port else tool.evidence.value if tool.evidence else ""
    told = " Not offered to strangers." if tool.private else ""
    after = f" After {', '.join(map(code, tool.prerequisites))}." if tool.prerequisites else ""
    return [
        code(tool.name),
        tool.description + after + told,
        _arguments(tool.schema),
        tool.capability.value,
        effect,
        proof,
        tool.delivery.value,
        f"{tool.calls_max}",
        f"{tool.timeout_s:g} s",
    ]


def _families() -> list[str]:
    headers = ["tool", "told to the model", "arguments", "capability", "effect", "answered or proved by", "result for"]
    return [
        f"### {family}\n\n{table([*headers, 'calls a turn', 'time-out'], [_row(native.tool) for native in natives])}"
        for family, natives in load("gridagent.tools.catalogue").FAMILIES.items()
    ]


def _modes() -> str:
    access = load("gridagent.tools.access")
    says = class_text(access.TurnMode).fields
    everything = set(load("gridagent.actions").Capability)
    rows = [
        [
            code(mode.value),
            prose(says[mode.name]) + (" Silent." if mode in access.SILENT_MODES else ""),
            "all" if seen == everything else ", ".join(sorted(each.value for each in seen)),
        ]
        for mode, seen in access.MODES.items()
    ]
    return table(["mode", "why the turn is held", "capabilities its tools may need"], rows)


def _codes() -> str:
    codes = load("gridagent.tools.codes")
    says = class_text(codes.ResultCode).fields
    rows = [[code(each.value), codes.wording(each)[0].value, prose(says[each.name])] for each in codes.ResultCode]
    return table(["code", "status", "meaning"], rows)


def tools() -> str:
    """Write the page."""
    left_out = [
        [code(str(kind.__struct_config__.tag)), why]
        for kind, why in load("gridagent.tools.catalogue").NOT_TOOLS.items()
    ]
    return page(
        "Tools",
        INTRO,
        [
            "## Catalogue\n\nAn argument with a question mark may be left out.",
            *_families(),
            "## Actions that are no tools\n\n" + table(["action", "why"], left_out),
            "## Modes\n\n" + _modes(),
            "## Results\n\nEvery call has exactly one result. Only `done` may be claimed.\n\n" + _codes(),
        ],
    )
