"""The page of tools says what the catalogue says."""

from __future__ import annotations

from docs.generator.tools import tools
from gridagent.tools import ResultCode, TurnMode
from gridagent.tools.catalogue import CATALOGUE, NOT_TOOLS


def test_the_page_names_every_tool_mode_and_code() -> None:
    """Nothing a model may call, no mode of a turn and no result is missing, nor what is left out. Spec: MND-13."""
    text = tools()
    for native in CATALOGUE:
        assert f"| `{native.tool.name}` | {native.tool.description}" in text
    for word in (*TurnMode, *ResultCode, *(kind.__struct_config__.tag for kind in NOT_TOOLS)):
        assert f"| `{word}` |" in text
    assert "`amount`, `description`? | money | once | balance | model | 2 |" in text
    assert "for good. Look at it with look_at_object first. After `look_at_object`. |" in text
