"""A descriptor is held to itself, and knows what it conflicts with."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.actions import Capability, EffectClass
from gridagent.errors import InternalError, LimitExceeded
from gridagent.tools.descriptor import UNKNOWN_RESOURCE, Tool, is_tool_name


def tool(**changes: object) -> Tool:
    """Make a reading tool, changed as a test wants it."""
    plain: dict = {
        "name": "peek",
        "description": "Peek.",
        "schema": b"{}",
        "capability": Capability.OBSERVE,
        "reads": ("world",),
        "occupies": (),
        "idempotent": True,
    }
    return Tool(**{**plain, **changes})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Peek"}, "canonical"),
        ({"name": ""}, "canonical"),
        ({"name": "peek\n"}, "canonical"),
        ({"name": "__class__"}, "canonical"),
        ({"name": "pay_аvatar"}, "canonical"),
        ({"timeout_s": 0.0}, "time-out"),
        ({"timeout_s": float("nan")}, "time-out"),
        ({"timeout_s": float("inf")}, "time-out"),
        ({"timeout_s": 601.0}, "time-out"),
        ({"calls_max": 0}, "limit of calls"),
        ({"calls_max": 257}, "limit of calls"),
        ({"failures_max": 0}, "limit of failures"),
        ({"failures_max": 4}, "limit of failures"),
        ({"effect": EffectClass.ONCE}, "twice is not as once"),
        ({"effect": EffectClass.EPHEMERAL}, "twice is not as once"),
        ({"server": "shop"}, "never idempotent"),
        ({"prerequisites": ("peek",)}, "before itself"),
    ],
)
def test_a_descriptor_that_contradicts_itself_cannot_be_made(changes: dict, said: str) -> None:
    """Names, limits and claims are checked when a descriptor is made. Spec: MND-13, MND-17."""
    with pytest.raises(InternalError, match=said):
        tool(**changes)


def test_a_descriptor_is_bounded_and_never_changes() -> None:
    """Texts have ceilings, and nothing can be set afterwards. Spec: POL-9."""
    with pytest.raises(LimitExceeded):
        tool(description="x" * 5_000)
    with pytest.raises(AttributeError):
        tool().calls_max = 9  # type: ignore[misc]
    assert msgspec.json.decode(msgspec.json.encode(tool()), type=Tool) == tool()


def test_names_are_lower_case_ascii() -> None:
    """No two names look alike. Fault: 25."""
    assert is_tool_name("pay_avatar2")
    for name in ("pay-avatar", "PAY", "2pay", "_pay", "pay avatar", "pay_avatar\n", "p" * 65, "рay"):
        assert not is_tool_name(name)


def test_only_a_repeatable_reader_without_prerequisites_may_run_beside_others() -> None:
    """Each condition is needed. Spec: MND-6."""
    assert tool().parallel
    assert not tool(idempotent=False).parallel
    assert not tool(prerequisites=("poke",)).parallel
    assert not tool(effect=EffectClass.REPEATABLE).parallel
    assert tool().read_only
    assert not tool(effect=EffectClass.ONCE, idempotent=False).read_only


def test_two_tools_conflict_unless_both_say_what_they_touch_and_neither_occupies_it() -> None:
    """Readers share; an occupied resource is nobody else's; unknown ones conflict with all. Spec: MND-6."""
    reader, other = tool(), tool(name="gaze", reads=("memory",))
    holder = tool(name="hold", reads=(), occupies=("world",))
    silent = tool(name="hush", reads=(), occupies=())
    unknown = tool(name="what", reads=("world",), occupies=(UNKNOWN_RESOURCE,))
    assert not reader.conflicts_with(reader)
    assert not reader.conflicts_with(other)
    assert reader.conflicts_with(holder)
    assert holder.conflicts_with(reader)
    assert holder.conflicts_with(holder)
    assert not holder.conflicts_with(other)
    for strange in (silent, unknown, tool(name="hm", reads=(UNKNOWN_RESOURCE,))):
        for each in (reader, other, holder, silent, unknown):
            assert strange.conflicts_with(each)
            assert each.conflicts_with(strange)
    assert Tool(name="new", description="", schema=b"{}", capability=Capability.OBSERVE).conflicts_with(reader)


def test_a_model_is_shown_name_description_and_schema() -> None:
    """What else a descriptor says is ours."""
    shown = tool().shown()
    assert (shown.name, shown.description, shown.schema) == ("peek", "Peek.", b"{}")
