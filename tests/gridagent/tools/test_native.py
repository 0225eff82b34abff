"""Every tool of the catalogue becomes exactly its action or its question."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import ACTIONS, Capability, EffectClass, Resource
from gridagent.authority import Origin, Role
from gridagent.config.policy import PolicySection
from gridagent.events import GridProfile
from gridagent.language import LlmRequest, ToolCall, UserTurn
from gridagent.llm.offline.toolbox import Purpose, Toolbox
from gridagent.policy import Policy
from gridagent.tools import Access, Registry, ResultCode, TurnMode, ValidatedToolCall
from gridagent.tools.catalogue import CATALOGUE, FAMILIES, NOT_TOOLS
from gridagent.tools.descriptor import Delivery, Need, Port
from gridagent.tools.native import Native
from gridagent.tools.validated import RefusedCall, validate
from gridagent.tools.work import Act, Ask

OPEN = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)
EVERYTHING = Access(
    Registry(),
    mode=TurnMode.ADDRESSED,
    origin=Origin.PUBLIC_CHAT,
    role=Role.TRUSTED,
    policy=OPEN,
    profile=GridProfile(grid="test"),
    ports=frozenset(Port),
)
UUIDS = st.uuids().map(str)
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"))
BY_NAME = {native.tool.name: native for native in CATALOGUE}


def of_schema(schema: dict) -> st.SearchStrategy:
    """Draw what fits a schema of the catalogue."""
    if "anyOf" in schema:
        return st.one_of([of_schema(each) for each in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds: dict[str, Callable[[], st.SearchStrategy]] = {
        "null": st.none,
        "boolean": st.booleans,
        "string": lambda: (
            UUIDS
            if "pattern" in schema
            else TEXT.filter(lambda text: schema.get("minLength", 0) <= len(text) <= schema["maxLength"])
        ),
        "integer": lambda: st.integers(schema["minimum"], schema["maximum"]),
        "number": lambda: st.floats(
            schema["minimum"],
            schema.get("maximum", schema.get("exclusiveMaximum")),
            exclude_max="exclusiveMaximum" in schema,
        ),
        "array": lambda: st.lists(of_schema(schema["items"]), max_size=schema["maxItems"]),
        "object": lambda: st.fixed_dictionaries(
            {name: of_schema(schema["properties"][name]) for name in schema.get("required", [])},
            optional={
                name: of_schema(each)
                for name, each in schema["properties"].items()
                if name not in schema.get("required", [])
            },
        ),
    }
    return kinds[schema["type"]]()


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
@settings(max_examples=25)
@given(data=st.data())
def test_what_fits_the_schema_becomes_exactly_what_it_says(name: str, data: st.DataObject) -> None:
    """Arguments go through the pipeline and come out of the action, each with its value. Spec: MND-13, MND-17."""
    native = BY_NAME[name]
    arguments = data.draw(of_schema(json.loads(native.tool.schema)))
    call = validate(ToolCall(id="c", name=name, arguments=json.dumps(arguments)), EVERYTHING)
    if isinstance(call, RefusedCall):
        # The one thing a schema cannot tell is how many bytes a text takes.
        assert call.code is ResultCode.INVALID_ARGUMENTS
        assert any(isinstance(each, str) and len(each.encode()) > 1_000 for each in arguments.values())
        return
    assert isinstance(call, ValidatedToolCall)
    made = call.work.action if isinstance(call.work, Act) else call.work.query
    assert type(made) is native.kind
    written = msgspec.to_builtins(made)
    assert {key: written[key] for key in arguments if not isinstance(arguments[key], dict)} == {
        key: value for key, value in arguments.items() if not isinstance(value, dict)
    }
    for key, value in arguments.items():
        if isinstance(value, dict):
            assert written[key] == {**written[key], **value}
    assert isinstance(call.work, Act) == (native.kind in ACTIONS)


def test_every_action_is_a_tool_or_says_why_not() -> None:
    """The catalogue is total over the verbs, and no verb stands twice. Spec: MND-13."""
    acts = [native.kind for native in CATALOGUE if native.kind in ACTIONS]
    assert len(acts) == len(set(acts))
    assert set(acts) | set(NOT_TOOLS) == set(ACTIONS)
    assert set(acts) & set(NOT_TOOLS) == set()
    assert all(NOT_TOOLS.values())


def test_the_catalogue_has_every_look_and_leaves_room_for_foreign_tools() -> None:
    """Each thing to look at has its tool, names are unique, and the ceiling is not near. Spec: MND-13, BND-12."""
    names = [native.tool.name for native in CATALOGUE]
    assert len(names) == len(set(names)) <= 48
    looks = [native.tool.name for native in FAMILIES["look"]]
    assert looks == [
        *("look_around", "look_at_avatar", "look_at_object", "check_balance", "look_at_parcel", "find_region"),
        *("search_inventory", "read_conversation", "recall_memory", "remember", "query_memory"),
        *("list_goals", "get_time"),
    ]


@pytest.mark.parametrize("native", CATALOGUE, ids=lambda native: native.tool.name)
def test_each_descriptor_follows_from_what_it_does(native: Native) -> None:
    """Capability, effect, evidence, resource and time-out agree with the action's own spec. Spec: MND-13, EFX-1."""
    tool = native.tool
    assert tool.delivery in Delivery
    assert all(each["description"] for each in json.loads(tool.schema)["properties"].values())
    if native.kind not in ACTIONS:
        assert tool.port is native.kind.port
        assert tool.evidence is None
        assert tool.read_only == (tool.name != "remember")
        return
    spec = native.kind.spec
    assert (tool.name, tool.port) == (native.kind.__struct_config__.tag, None)
    assert (tool.capability, tool.effect, tool.evidence) == (spec.capability, spec.effect, spec.evidence)
    assert tool.occupies == (spec.capability.value if spec.resource is Resource.NONE else spec.resource.value,)
    assert spec.deadline_s < tool.timeout_s
    assert tool.idempotent == (spec.effect is EffectClass.REPEATABLE)
    assert not tool.parallel
    assert Need.WORLD in tool.needs
    assert (tool.delivery is Delivery.MODEL) == (spec.effect is EffectClass.ONCE)


def test_what_cannot_be_undone_may_be_called_a_few_times_only() -> None:
    """Each tool has its own limit of calls, the lower the more it costs. Spec: MND-5."""
    for native in CATALOGUE:
        if native.tool.effect is EffectClass.ONCE:
            assert native.tool.calls_max <= 4
    assert BY_NAME["pay_avatar"].tool.calls_max == 2
    assert BY_NAME["delete_object"].tool.prerequisites == ("look_at_object",)


def test_a_model_cannot_speak_on_a_command_channel() -> None:
    """What a tool leaves out keeps its default."""
    asked = ToolCall(id="c", name="say", arguments='{"text":"open","chat_channel":7}')
    assert validate(asked, EVERYTHING).code is ResultCode.INVALID_ARGUMENTS
    said = validate(ToolCall(id="c", name="say", arguments='{"text":"open"}'), EVERYTHING)
    assert said.work.action.chat_channel == 0


@pytest.mark.parametrize("purpose", Purpose)
def test_the_built_in_model_finds_its_tools(purpose: Purpose) -> None:
    """Each thing the offline model can do has a tool here, and the call it writes is a good one. Spec: MND-13."""
    who, here = "00000000-0000-4000-8000-00000000000a", {"x": 1.0, "y": 2.0, "z": 3.0}
    known = {"person": who, "thing": who, "position": here, "amount": 5, "text": "waves."}
    request = LlmRequest(turns=(UserTurn(text="x"),), tools=EVERYTHING.shown())
    asked = Toolbox(request).call(purpose, known)
    assert asked is not None
    assert isinstance(validate(asked, EVERYTHING), ValidatedToolCall)


def test_a_question_is_a_value_too() -> None:
    """Looking is asked for, and never done in this room. Spec: MND-18."""
    call = validate(ToolCall(id="c", name="look_around", arguments='{"limit":3}'), EVERYTHING)
    assert isinstance(call.work, Ask)
    assert (call.work.query.limit, call.work.query.radius_m) == (3, 64.0)
