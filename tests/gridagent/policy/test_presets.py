"""The shipped policies are written as an operator writes them, and fit on one screen."""

from __future__ import annotations

import msgspec
import pytest

from docs.generator.sources import class_text
from gridagent.actions import (
    ACTIONS,
    AnswerPermission,
    Capability,
    GiveItem,
    PayAvatar,
    Position,
    RezObject,
    Say,
    SendIm,
    TeleportTo,
    UploadAsset,
    WalkTo,
)
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, Preset, RolesSection
from gridagent.config.policy_check import policy_problems
from gridagent.policy import Authorized, Gateway, Instant, NeedsApproval, Policy
from gridagent.policy.presets import BASE, PRESETS, SUMMARIES

U = "00000000-0000-4000-8000-00000000000e"
OWNER = "00000000-0000-4000-8000-00000000000a"
STRANGER = "00000000-0000-4000-8000-00000000000d"
HERE = Position(x=1.0, y=2.0)
NOW = Instant(wall=1.7e9, monotonic=5.0)


@pytest.mark.parametrize("text", [BASE, *PRESETS.values()], ids=["base", *PRESETS])
def test_each_fits_a_screen_and_has_no_problem(text) -> None:
    """A preset is at most fifty short lines of JSON, without a problem and without a duplicate key. Spec: OPS-9."""
    lines = text.strip().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 125
    assert policy_problems(msgspec.json.decode(text, type=PolicySection)) == ()
    keys = [line.partition(":")[0].strip() for line in lines if line.startswith('    "') and line.endswith("[")]
    assert len(keys) == len(set(keys))


def test_every_preset_has_a_text() -> None:
    """No preset can be named that is not there."""
    assert set(PRESETS) == set(Preset)


def test_every_preset_has_a_sentence() -> None:
    """The same that stands under its word, so that page and command say one thing. Spec: OPS-9."""
    assert {each: class_text(Preset).fields[each.name] for each in Preset} == SUMMARIES


def gateway(preset) -> Gateway:
    """Open a gateway under a preset."""
    names = iter(range(1_000))
    opened = Gateway(
        Policy(PolicySection(preset=preset), RolesSection(owners=(OWNER,))),
        tokens=lambda: f"t{next(names)}",
        audit=lambda _: None,
    )
    opened.open_generation(1)
    return opened


def outcome(preset, action, who, origin, *, tainted=False, words=Provenance.AUTHORISED_WORDS) -> str:
    """Ask once and tell the answer in a word."""
    request = ActionRequest(
        action=action, principal=Principal(avatar_id=who), origin=origin, generation=1, correlation="c",
        cause="cause", tainted=tainted, target_provenance=words, travel_m=3.0,
    )  # fmt: skip
    decision = gateway(preset).decide(request, NOW)
    if isinstance(decision, Authorized):
        return "yes"
    return "ask" if isinstance(decision, NeedsApproval) else decision.code.value


CHAT, IM, GOAL = Origin.PUBLIC_CHAT, Origin.DIRECT_IM, Origin.GOAL
STORY = [
    # preset, action, who, origin, tainted, answer
    ("observer", Say(text="hi"), OWNER, CHAT, False, "origin_may_not"),
    ("greeter", Say(text="hi"), STRANGER, CHAT, True, "yes"),
    ("greeter", SendIm(to=STRANGER, text="hi"), STRANGER, IM, True, "yes"),
    ("greeter", WalkTo(position=HERE), OWNER, CHAT, False, "origin_may_not"),
    ("greeter", PayAvatar(to=U, amount=1), OWNER, IM, False, "origin_may_not"),
    ("guide", WalkTo(position=HERE), STRANGER, CHAT, True, "yes"),
    ("guide", TeleportTo(region="Plaza", position=HERE), OWNER, IM, False, "yes"),
    ("guide", TeleportTo(region="Plaza", position=HERE), OWNER, IM, True, "tainted"),
    ("guide", TeleportTo(region="Plaza", position=HERE), STRANGER, IM, False, "role_too_low"),
    ("guide", PayAvatar(to=U, amount=1), OWNER, IM, False, "origin_may_not"),
    ("shopkeeper", GiveItem(item_id=U, to=STRANGER), STRANGER, CHAT, True, "ask"),
    ("shopkeeper", PayAvatar(to=U, amount=250), OWNER, IM, False, "ask"),
    ("shopkeeper", PayAvatar(to=U, amount=251), OWNER, IM, False, "pattern_denied"),
    ("shopkeeper", PayAvatar(to=U, amount=1), OWNER, IM, True, "tainted"),
    ("shopkeeper", PayAvatar(to=U, amount=1), STRANGER, IM, False, "role_too_low"),
    ("shopkeeper", PayAvatar(to=U, amount=1), OWNER, CHAT, False, "origin_may_not"),
    ("builder", RezObject(position=HERE), OWNER, IM, False, "ask"),
    ("builder", RezObject(position=HERE), OWNER, IM, True, "tainted"),
    ("builder", UploadAsset(name="n", kind="k", sha256="0" * 64), OWNER, IM, False, "ask"),
    ("builder", UploadAsset(name="n", kind="k", sha256="0" * 64, price=10), OWNER, IM, False, "budget_spent"),
    ("builder", RezObject(position=HERE), STRANGER, IM, False, "role_too_low"),
    ("builder", Say(text="hi"), STRANGER, CHAT, True, "role_too_low"),
]


@pytest.mark.parametrize(("preset", "action", "who", "origin", "tainted", "answer"), STORY)
def test_what_each_preset_lets_people_do(preset, action, who, origin, tainted, answer) -> None:
    """The presets do what their names say, and no more. Spec: OPS-9, POL-4, POL-5, POL-14."""
    assert outcome(preset, action, who, origin, tainted=tainted) == answer


@pytest.mark.parametrize("preset", list(Preset))
def test_a_payee_the_model_chose_is_never_paid(preset) -> None:
    """In no preset does a payee that nobody with authority named get as far as an approval. Spec: POL-5."""
    for who, origin in ((OWNER, IM), (OWNER, GOAL), (STRANGER, CHAT)):
        answer = outcome(preset, PayAvatar(to=U, amount=1), who, origin, words=Provenance.MODEL)
        assert answer not in {"yes", "ask"}


@pytest.mark.parametrize("preset", list(Preset))
def test_no_script_is_given_leave_to_take_money(preset) -> None:
    """Granting a script anything but animation is denied wherever permissions can be granted at all. Spec: POL-14."""
    for origin in (CHAT, IM, GOAL, Origin.OPERATOR_CONSOLE):
        granted = AnswerPermission(offer_id="o", grant=("animate", "debit"))
        assert outcome(preset, granted, OWNER, origin) in {"pattern_denied", "origin_may_not", "role_too_low"}


def test_every_capability_but_observe_has_an_action() -> None:
    """No column of the matrix is about nothing."""
    assert {action.spec.capability for action in ACTIONS} == set(Capability) - {Capability.OBSERVE}


def test_denied_is_a_code_of_the_list() -> None:
    """The words of the story above are denial codes."""
    codes = {code.value for code in DenialCode}
    assert {answer for *_, answer in STORY} <= codes | {"yes", "ask"}
