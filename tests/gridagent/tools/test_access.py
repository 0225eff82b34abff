"""A turn sees the tools of its mode, its door and its grid, and may call no other."""

from __future__ import annotations

import json
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Capability
from gridagent.authority import Origin, Role
from gridagent.config.policy import PolicySection
from gridagent.events import GridProfile
from gridagent.policy import Policy
from gridagent.policy.pins import DescriptorPins
from gridagent.tools.access import MODES, SILENT_MODES, Access, TurnMode
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Port
from gridagent.tools.registry import ForeignTerms, Offer, Registered, Registry

GRID = GridProfile(grid="test")
OPEN = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)
NAMES = [each.tool.name for each in Registry().tools()]


def access(registry: Registry | None = None, **changes: object) -> Access:
    """Open a turn that may use everything, changed as a test wants it."""
    open_turn: dict = {
        "mode": TurnMode.ADDRESSED,
        "origin": Origin.PUBLIC_CHAT,
        "role": Role.TRUSTED,
        "policy": OPEN,
        "profile": GRID,
        "ports": frozenset(Port),
    }
    return Access(registry or Registry(), **{**open_turn, **changes})


def names(turn: Access, withdrawn: frozenset[str] = frozenset()) -> set[str]:
    """Name what a turn may call."""
    return {tool.name for tool in turn.tools(withdrawn)}


@pytest.mark.parametrize("mode", TurnMode)
def test_a_mode_fixes_what_a_turn_sees(mode: TurnMode) -> None:
    """Each mode has its capabilities; what it hides is refused by name. Spec: MND-16."""
    turn = access(mode=mode)
    for each in Registry().tools():
        if each.tool.capability in MODES[mode]:
            assert isinstance(turn.find(each.tool.name), Registered)
        else:
            assert turn.find(each.tool.name) is ResultCode.HIDDEN_TOOL
    assert {shown.name for shown in turn.shown()} == names(turn)
    assert turn.mode is mode


def test_moderation_is_silent_and_ambient_spends_nothing() -> None:
    """A judge does not speak, and whoever overhears does not pay, go or build. Spec: MND-16."""
    assert TurnMode.MODERATION in SILENT_MODES
    assert {"say", "emote", "send_im"} & names(access(mode=TurnMode.MODERATION)) == set()
    overheard = names(access(mode=TurnMode.AMBIENT))
    assert {"say", "look_around"} <= overheard
    assert {"pay_avatar", "walk_to", "teleport_to", "rez_object", "give_item", "send_im"} & overheard == set()


@pytest.mark.parametrize(
    ("profile", "gone"),
    [
        (GridProfile(grid="g", has_money=False), {"check_balance", "pay_avatar", "pay_object"}),
        (
            GridProfile(grid="g", has_inventory=False),
            {"search_inventory", "give_item", "answer_inventory_offer", "create_notecard", "create_landmark"},
        ),
        (GridProfile(grid="g", has_build=False), {"rez_object", "edit_object", "delete_object"}),
    ],
)
def test_the_list_shrinks_to_what_the_grid_can_do(profile: GridProfile, gone: set[str]) -> None:
    """No tool is offered that the connected grid cannot serve. Spec: MND-13, LIV-11."""
    assert names(access()) - names(access(profile=profile)) == gone


def test_out_of_the_world_only_what_is_kept_here_is_there() -> None:
    """Memory, goals, the conversation and the clock need no grid. Spec: MND-13."""
    assert names(access(profile=None)) == {
        *("read_conversation", "recall_memory", "remember", "query_memory"),
        *("list_goals", "get_time"),
    }


@pytest.mark.parametrize("port", Port)
def test_a_question_nobody_can_answer_is_hidden(port: Port) -> None:
    """A tool is there when its provider is, and what waits for it goes with it. Spec: MND-13."""
    less = access(ports=frozenset(Port) - {port})
    gone = names(access()) - names(less)
    asking = {each.tool.name for each in Registry().tools() if each.tool.port is port}
    waiting = {each.tool.name for each in Registry().tools() if asking & set(each.tool.prerequisites)}
    assert gone == asking | waiting
    assert all(less.find(name) is ResultCode.HIDDEN_TOOL for name in gone)


@pytest.mark.parametrize("role", Role)
def test_what_the_avatar_has_is_nothing_for_strangers(role: Role) -> None:
    """Whoever may be told is authorised, whatever the policy lets strangers look at. Spec: POL-4."""
    private = {each.tool.name for each in Registry().tools() if each.tool.private}
    assert private == {"check_balance"}
    told = role in {Role.TRUSTED, Role.FRONT, Role.OWNER, Role.OPERATOR}
    assert private & names(access(role=role)) == (private if told else set())
    assert isinstance(access(role=role).find("check_balance"), Registered) is told


def test_the_policy_cuts_the_list_down() -> None:
    """What a door never lets through isn't offered there. Spec: POL-4, MND-13."""
    strict = Policy()
    for role in Role:
        seen = access(policy=strict, role=role).tools()
        assert {tool.capability for tool in seen} <= {
            each for each in Capability if strict.admits(Origin.PUBLIC_CHAT, each, role)
        }
    assert access(policy=strict, origin=Origin.OBJECT_TEXT, role=Role.OWNER).tools() == ()


def test_a_withdrawn_tool_leaves_the_list_and_is_still_known() -> None:
    """What failed too often isn't shown any more. Spec: MND-5."""
    turn = access()
    assert names(turn) - names(turn, frozenset({"say"})) == {"say"}


@pytest.mark.parametrize(
    "name",
    [
        *("nothing", "__class__", "__init__", "Say", "SAY", "sаy", "say ", " say", "say\n", "say\x00", "ｓay"),
        *("say()", "functions.say", "look-around", "lookaround", "pay_avatar\u200b", "", "*"),
    ],
)
def test_unknown_names_and_look_alikes_match_no_tool(name: str) -> None:
    """Only the exact canonical name is a tool's. Fault: 25."""
    assert access().find(name) is ResultCode.UNKNOWN_TOOL


@given(st.sampled_from(NAMES), st.data())
def test_no_variant_of_a_name_is_taken_for_it(name: str, data: st.DataObject) -> None:
    """Case, width, accents and hidden characters make another name. Spec: MND-17. Fault: 25."""
    at = data.draw(st.integers(0, len(name) - 1))
    twist = data.draw(
        st.sampled_from(
            [
                name[:at] + name[at].upper() + name[at + 1 :],
                name[:at] + "\u200b" + name[at:],
                name[:at] + unicodedata.normalize("NFC", name[at] + "\u0301") + name[at + 1 :],
                name[:at] + chr(ord(name[at]) + 0xFEE0) + name[at + 1 :],
                name[:at] + name[at] * 2 + name[at + 1 :],
            ]
        )
    )
    assert twist == name or access(REGISTRY).find(twist) is ResultCode.UNKNOWN_TOOL


REGISTRY = Registry()


def test_a_foreign_tool_that_changes_during_a_turn_is_denied_from_then_on() -> None:
    """It is asked before each call whether it is still what was agreed to. Spec: POL-9."""
    shown = {"name": "get"}
    pins = DescriptorPins()
    pins.pin(("sky", "get"), shown)
    registry = Registry(pins=pins)
    terms = ForeignTerms(capability=Capability.OBSERVE)
    assert registry.offer("sky", json.dumps(shown).encode(), terms) is Offer.TAKEN
    turn = access(registry)
    assert isinstance(turn.find("sky__get"), Registered)
    assert registry.offer("sky", json.dumps({**shown, "description": "x"}).encode(), terms) is Offer.CHANGED
    assert turn.find("sky__get") is ResultCode.TOOL_CHANGED
    assert "sky__get" not in names(turn)
    assert "sky__get" not in names(access(registry))
