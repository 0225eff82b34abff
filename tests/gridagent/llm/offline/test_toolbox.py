"""Tools are found by what they do and filled in by their schema."""

from __future__ import annotations

import json

import pytest

from gridagent.language import LlmRequest, ToolDescriptor, UserTurn
from gridagent.llm.offline.toolbox import Purpose, Toolbox


def box_of(
    name: str, *properties: str, required: tuple[str, ...] | None = None, schema: bytes | None = None
) -> Toolbox:
    """A box with one tool."""
    wanted = properties if required is None else required
    text = json.dumps({"properties": {each: {} for each in properties}, "required": list(wanted)}).encode()
    tool = ToolDescriptor(name=name, description="", schema=text if schema is None else schema)
    return Toolbox(LlmRequest(turns=(UserTurn(text="x"),), tools=(tool,)))


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("surroundings", Purpose.LOOK),
        ("walk_to", Purpose.WALK),
        ("follow_avatar", Purpose.FOLLOW),
        ("pay", Purpose.PAY),
    ],
)
def test_tools_are_found_by_any_of_their_names(name: str, purpose: Purpose) -> None:
    """The catalogue may call them one way or another. Spec: MND-13."""
    box = box_of(name)
    assert box.name_for(purpose) == name
    assert box.was_called(purpose, ("x", name))
    assert not box.was_called(purpose, ("x",))


@pytest.mark.parametrize(
    ("properties", "required", "arguments"),
    [
        (("avatar_id",), None, {"avatar_id": "p"}),
        (("to", "amount"), None, {"to": "p", "amount": 5}),
        (("position",), None, {"position": {"x": 1}}),
        (("x", "y"), None, {"x": 1.0, "y": 2.0}),
        (("avatar_id", "reason"), ("avatar_id",), {"avatar_id": "p"}),
        ((), None, {}),
        (("reason",), None, None),
        (("object_id",), None, None),
    ],
)
def test_arguments_are_what_the_schema_asks_for(properties, required, arguments) -> None:
    """Known meanings are filled in; a tool that requires another is left alone. Spec: MND-5."""
    known = {"person": "p", "amount": 5, "position": {"x": 1}, "x": 1.0, "y": 2.0}
    call = box_of("pay", *properties, required=required).call(Purpose.PAY, known)
    assert (None if call is None else json.loads(call.arguments)) == arguments


@pytest.mark.parametrize("schema", [b"", b"[]", b'{"required": 7}', b"[" * 60_000])
def test_a_schema_that_is_none_is_left_alone(schema: bytes) -> None:
    """What cannot be read cannot be filled in."""
    assert box_of("pay", schema=schema).call(Purpose.PAY) is None


def test_what_is_not_offered_is_not_called() -> None:
    """A tool that the turn hides is not named. Spec: MND-16."""
    assert box_of("pay").call(Purpose.WALK) is None
