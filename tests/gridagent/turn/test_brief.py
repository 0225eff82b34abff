"""The words of a turn: what a brief and limits refuse, and what a result leaves for the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from gridagent.authority import Origin, Principal, Role, TextSource
from gridagent.config.policy import PolicySection
from gridagent.conversation.entries import Heard, Said, Used
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.errors import LimitExceeded
from gridagent.events import GridProfile
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.language import Usage
from gridagent.policy import Policy
from gridagent.presence.persona import Persona
from gridagent.tools import Access, Evidence, Registry, TurnMode
from gridagent.tools.descriptor import Port
from gridagent.turn import Brief, StopReason, TurnLimits, TurnResult
from gridagent.turn.prompts import Correction

WHO = AvatarId("00000000-0000-4000-8000-00000000000a")


def access() -> Access:
    """Return what a turn about public chat may use."""
    return Access(
        Registry(),
        mode=TurnMode.ADDRESSED,
        origin=Origin.PUBLIC_CHAT,
        role=Role.STRANGER,
        policy=Policy(msgspec.convert({}, PolicySection)),
        profile=GridProfile(grid="test"),
        ports=frozenset(Port),
    )


def brief(**changes: object) -> Brief:
    """Return a brief with some of it changed."""
    given: Mapping[str, object] = {
        "correlation": CorrelationId("c1"),
        "cause": "u1",
        "mode": TurnMode.ADDRESSED,
        "key": PersonKey(avatar=AvatarKey("ruth"), grid="test", peer=WHO, channel=Channel.PUBLIC),
        "principal": Principal(avatar_id=WHO),
        "origin": Origin.PUBLIC_CHAT,
        "role": Role.STRANGER,
        "persona": Persona(style="Kind."),
        "now_said": (Heard(who="Alice", avatar_id=WHO, source=TextSource.STRANGER, text="hi", at=1.0, tainted=True),),
        "access": access(),
        "wall": 1.0,
        **changes,
    }
    return Brief(**given)  # type: ignore[arg-type]


def result(**changes: object) -> TurnResult:
    """Return a result with some of it changed."""
    given: Mapping[str, object] = {
        "stop": StopReason.ANSWERED,
        "reply": "Hello.",
        "fallback": False,
        "settled": (),
        "evidence": (),
        "tainted": True,
        "persona": "digest",
        "model_turns": 1,
        "usage": Usage(),
        "cost_micros": None,
        "corrections": 0,
        "codes": (),
        **changes,
    }
    return TurnResult(**given)  # type: ignore[arg-type]


def test_a_turn_is_about_something() -> None:
    """A brief without anything said is refused, one with something is taken. Spec: MND-4."""
    assert brief().now_said[0].text == "hi"
    with pytest.raises(LimitExceeded, match="now_said"):
        brief(now_said=())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("model_turns_max", 0),
        ("model_turns_max", 33),
        ("tool_calls_max", 257),
        ("corrections_max", 5),
        ("deadline_s", 0.0),
        ("deadline_s", float("inf")),
        ("request_deadline_s", float("nan")),
        ("turns_max", 257),
        ("request_max_bytes", 4 * 1024 * 1024 + 1),
        ("reply_max_tokens", 0),
        ("spoken_max_bytes", 1),
    ],
)
def test_limits_cannot_be_over_their_ceilings(name: str, value: float) -> None:
    """Whoever builds limits in code gets the hard ceilings. Spec: BND-8, BND-11, BND-17."""
    with pytest.raises(LimitExceeded, match=name):
        TurnLimits(**{name: value})  # type: ignore[arg-type]


def test_what_is_said_is_kept_before_its_evidence() -> None:
    """The conversation comes first, then the evidence, each with its own taint. Spec: MEM-3, MND-8."""
    evidence = Evidence(tool="look_around", arguments=b"{}", data=b'{"a":1}', subjects=(WHO,), tainted=False)
    said, used = result(evidence=(evidence,)).entries(7.0)
    assert said == Said(text="Hello.", at=7.0, tainted=True, persona="digest")
    assert isinstance(used, Used)
    assert (used.evidence[0].data, used.evidence[0].subjects, used.tainted) == (b'{"a":1}', (WHO,), False)


def test_a_silent_turn_leaves_no_reply() -> None:
    """A turn that says nothing keeps no reply. Spec: MND-10."""
    assert result(reply="", stop=StopReason.SILENT).entries(1.0) == ()


def test_the_contract_page_names_every_end_and_every_gate() -> None:
    """Whoever reads the page finds each reason to stop and each correction. Spec: OPS-8."""
    text = (Path(__file__).parents[3] / "docs" / "reference" / "turn.md").read_text(encoding="utf-8")
    for each in (*StopReason, *Correction):
        assert f"`{each.value}`" in text
