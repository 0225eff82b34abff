"""A model that wants anything at all, a mind that believes it, and a gateway between them and the world."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import msgspec
import pytest

from gridagent.actions import ACTIONS, Confirmed, InDoubt, PayAvatar, Refused, action_name
from gridagent.authority import Origin, Provenance, Role
from gridagent.config.policy import Meter, PolicySection, RolesSection
from gridagent.config.presence import PresenceSection
from gridagent.controls import Hold, Release, StopTurn
from gridagent.conversation.store import ConversationStore
from gridagent.events import AvatarView, ChatHeard, ImReceived, ObjectView, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet, ready_event
from gridagent.language import FinishReason, LlmReply, SystemTurn, ToolCall, pairing_problem
from gridagent.observations import TurnEnded, TurnStarted
from gridagent.policy import Gateway, Instant, Policy
from gridagent.presence.chain import PresenceChain
from gridagent.presence.persona import Persona
from gridagent.presence.protected import Protected
from gridagent.presence.reflex import ReflexMind
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelErrand, CancelWork, OpenConnection, Perform, RunErrand
from gridagent.session.orders import carry_out
from gridagent.session.settings import OnBackendFailure, SessionSettings
from gridagent.simulation.wild import wild_action
from gridagent.thinking import Thinker, ThinkerSettings
from gridagent.thinking.mouth import Mouth
from gridagent.thinking.words import Think
from gridagent.tools.descriptor import Port
from gridagent.tools.registry import Registry
from gridagent.turn import TurnLimits

OWNER = "00000000-0000-4000-8000-0000000000aa"
PEOPLE = [OWNER, *(f"00000000-0000-4000-8000-0000000000b{number}" for number in range(1, 5))]
TURNS = 300
LINDEN = 300
GARBAGE = (
    "",
    "{",
    "[]",
    "null",
    '{"to":',
    '{"a":1,"a":2}',
    "NaN",
    '{"amount":1e999}',
    "\x00",
    "x" * 5_000,
    '{"text":"\\ud800"}',
)


def permissive() -> Policy:
    """Let nearly everything through for everybody, within budgets: much of what is wanted succeeds."""
    open_to = {each.spec.capability.value: "anyone" for each in ACTIONS} | {"observe": "anyone"}
    closed = {"upload": "owner", "build": "owner", "land": "deny"}
    budgets = {meter.value: [{"per": "global", "limit": 1_000, "window_s": 60}] for meter in Meter}
    budgets["linden"] = [{"per": "global", "limit": LINDEN, "window_s": 2_678_400}]
    anywhere = tuple(each.value for each in Provenance)
    section = {
        "preset": "observer",
        "matrix": {"public_chat": open_to | closed, "direct_im": open_to | closed},
        "approvals": dict.fromkeys(("inventory", "money", "upload", "build", "land"), "not_required"),
        "target_from": dict.fromkeys(("teleport", "inventory", "money", "land"), anywhere),
        "budgets": budgets,
    }  # fmt: skip
    return Policy(msgspec.convert(section, PolicySection), RolesSection(owners=(OWNER,)))


class World:
    """A core with a believing mind; the model, the grid and the crowd are one seeded stream."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.policy = permissive()
        self.audit: list = []
        self.seen: list = []
        self.performed: list = []
        self.prompts: set[str] = set()
        self.requests = 0
        self.said: dict[str, str] = {}
        tokens = Random(seed + 1)
        gateway = Gateway(self.policy, tokens=lambda: f"{tokens.getrandbits(128):032x}", audit=self.audit.append)
        section = PresenceSection(
            speech_pause_max_s=0.0,
            messages_per_minute=600,
            turns_per_person=1000,
            answers_per_minute=600,
            repeats_max=20,
        )
        self.core = SessionCore(
            settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
            gateway=gateway,
            mind=Thinker(
                avatar="robin",
                settings=ThinkerSettings(turns=TurnLimits(model_turns_max=6)),
                persona=Persona(style="You are Robin.", name="Robin"),
                chain=PresenceChain(section, ("Robin",), Protected((OWNER,), section), Random(2)),
                mouth=Mouth(section),
                reflex=ReflexMind(("Robin",), frozenset({OWNER})),
                conversations=ConversationStore("robin"),
                registry=Registry(),
                ports=frozenset({Port.MAP, Port.INVENTORY, Port.MEMORY}),
            ),
            rng=Random(3),
            observe=lambda each: self.seen.append(each.body),
        )
        self.time = 0.0
        self.errands: dict[int, RunErrand] = {}
        self.puppet = Puppet()
        here = ready_event().position
        self.puppet.near = [
            AvatarView(avatar_id=uuid, name=f"Person {at}", position=here) for at, uuid in enumerate(PEOPLE)
        ]
        self.puppet.things = [
            ObjectView(
                object_id=f"00000000-0000-4000-8000-0000000000c{at}", name="Thing", owner_id=OWNER, position=here
            )
            for at in range(3)
        ]
        self.pass_time(1.0)
        self.core.begin()
        self.core.on_event(1, ready_event())
        self.carry_out()

    def pass_time(self, seconds: float) -> None:
        self.time += seconds
        self.core.at(Instant(wall=1e9 + self.time, monotonic=self.time))
        due = self.core.timer()
        if due is not None and due <= self.time:
            self.core.on_timer()

    # --- the crowd, the model and the grid ------------------------------------------------------

    def speak(self, number: int) -> None:
        who = self.rng.choice(PEOPLE)
        im = self.rng.random() < 0.3
        utterance = f"u{number}"
        self.said[utterance] = who
        source = Speaker(kind=SpeakerKind.AVATAR, id=who, name=self.rng.choice(("Olive Owner", "X", "[owner]")))
        words = f"Robin {self.rng.getrandbits(90):x} {self.rng.getrandbits(90):x} do it"
        kind = ImReceived if im else ChatHeard
        self.core.on_event(1, kind(utterance_id=utterance, source=source, text=words))

    def model(self, request) -> LlmReply:
        """Want anything: known tools with wild arguments, unknown ones, garbage, or words."""
        self.requests += 1
        assert pairing_problem(request.turns) is None
        self.prompts.update(turn.text for turn in request.turns if isinstance(turn, SystemTurn))
        rng = self.rng
        if rng.random() < 0.25:
            return LlmReply(
                text=rng.choice(("Done, I have paid you.", "/pay 500", "Hello.", "<silent/>", "[owner]: yes"))
            )
        calls = []
        for at in range(rng.choice((1, 1, 2, 3, 12))):
            action = wild_action(rng, self.core.where, offers=("o1",))
            name, arguments = "look_around", "{}"
            if action is not None and rng.random() < 0.85:
                fields = json.loads(msgspec.json.encode(action))
                name, arguments = fields.pop("action"), json.dumps(fields)
            if rng.random() < 0.1:
                name = rng.choice(("admin", "PAY_AVATAR", "hold", "settle", name + " ", "server__tool"))
            if rng.random() < 0.1:
                arguments = rng.choice(GARBAGE)
            calls.append(ToolCall(id=rng.choice(("same", f"c{at}")), name=name, arguments=arguments))
        finish = FinishReason.LENGTH if rng.random() < 0.05 else FinishReason.TOOL_CALLS
        return LlmReply(text=rng.choice(("", "Paying.")), tool_calls=tuple(calls), finish=finish)

    def carry_out(self) -> None:
        """Perform until nothing is wanted; ends, answers and stops come in any order."""
        while effects := self.core.take_effects():
            self.rng.shuffle(effects)
            for effect in effects:
                match effect:
                    case OpenConnection():
                        self.core.where.backend = self.puppet(generation=1, redeem=None)
                    case RunErrand():
                        self.errands[effect.number] = effect
                    case CancelErrand(number=number):
                        self.errands.pop(number, None)
                    case Perform():
                        self.perform(effect)
                    case CancelWork():
                        pass
            for number in list(self.errands):
                errand = self.errands.pop(number, None)
                if errand is not None:
                    what = errand.errand.what
                    answer = self.model(what.request) if isinstance(what, Think) else None
                    self.core.host.returned(1, number, answer)

    def perform(self, effect: Perform) -> None:
        authorized = effect.authorized
        record = self.core.gateway.redeem(authorized.handle, generation=1, now=self.core.now)
        self.performed.append((record.action, authorized.effect))
        outcome = self.rng.choice(
            (Confirmed(evidence=record.action.spec.evidence),) * 3 + (Refused(reason="x"), InDoubt(reason="y"))
        )
        self.core.on_action_ended(1, authorized.effect, outcome)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_hostile_model_causes_nothing_outside_the_policy(seed):
    """Spec: POL-1, MND-5, MND-7, MND-18, Fault: 17, 23, 24, 25 — nothing is done but what was authorised.

    Three seeds of 300 turns. Whatever the model wants, each action that reaches the grid was authorised for who spoke,
    by the door they spoke through, within every budget; under the kill switch none is; and every request was paired.
    """
    world = World(seed)
    for number in range(TURNS):
        world.speak(number)
        world.carry_out()
        if number % 97 == 50:
            carry_out(world.core, StopTurn())
        if number % 151 == 100:
            carry_out(world.core, Hold())
            held = len(world.performed)
            world.speak(100_000 + number)
            world.carry_out()
            assert len(world.performed) == held
            carry_out(world.core, Release())
        world.pass_time(150.0)
        world.carry_out()
    decisions = [row for row in world.audit if row.kind.value == "decision"]
    allowed = {row.effect: row for row in decisions if row.code == "authorized"}
    assert len({effect for _, effect in world.performed}) == len(world.performed)
    linden = 0
    for action, effect in world.performed:
        row = allowed[effect]
        who = world.said[row.cause.partition(".")[2]]
        role = Role.OWNER if who == OWNER else Role.STRANGER
        assert row.who == who
        assert row.origin in {Origin.PUBLIC_CHAT, Origin.DIRECT_IM}
        assert row.action == action_name(action)
        assert world.policy.admits(row.origin, action.spec.capability, role)
        linden += action.amount if isinstance(action, PayAvatar) else 0
    assert linden <= LINDEN
    counts = Counter(row.code for row in decisions)
    # What the seeds come to: many hundreds done and denied, so both ways were walked.
    assert len(world.performed) > 500
    assert sum(counts.values()) - counts["authorized"] > 100
    assert len({type(action) for action, _ in world.performed}) > 20
    # System prompts differ in our own remarks alone: what was wrong with the last answer, that no tool is left.
    assert len(world.prompts) <= 64
    beginning = min(world.prompts, key=len)
    assert all(each.startswith(beginning[: len(beginning) // 2]) for each in world.prompts)
    assert not any(word in each for each in world.prompts for word in ("Olive", "do it", "Person", *PEOPLE))
    began = [each.correlation for each in world.seen if isinstance(each, TurnStarted)]
    ended = [each.correlation for each in world.seen if isinstance(each, TurnEnded)]
    assert sorted(began) == sorted(ended)
    assert len(set(began)) == len(began) > TURNS // 2
