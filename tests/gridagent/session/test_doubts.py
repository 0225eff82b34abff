"""Claims about finding out, late, what became of an effect in doubt."""

from random import Random

import msgspec
import pytest
import trio

from gridagent.actions import (
    AnswerDialog,
    Confirmed,
    DeleteObject,
    Emote,
    InDoubt,
    PayAvatar,
    PlayAnimation,
    Position,
    Refused,
    Say,
    SettledBy,
    SitOn,
    StandUp,
    StopAnimation,
    WalkTo,
)
from gridagent.authority import ActionRequest, Origin, Principal
from gridagent.cli.embedding import open_simulation
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.controls import ForceReconnect, RequestAction, SettleEffect
from gridagent.events import (
    ActionRefused,
    AnimationChanged,
    BalanceChanged,
    ChatHeard,
    DisconnectCause,
    ObjectView,
    OfferClosed,
    Posture,
    PostureChanged,
    SelfMoved,
    Speaker,
    SpeakerKind,
)
from gridagent.grid.base import REFERENCE_CHARS, Traces
from gridagent.grid.puppet import PUPPET_ID, Puppet, ready_event
from gridagent.grid.simulated.faults import Faults
from gridagent.mind import QuietMind
from gridagent.observations import AgentState, Diagnostic, DoubtSettled, LinkState
from gridagent.policy import Instant, Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.core import SessionCore
from gridagent.session.doubts import DEEDS_MAX, LIGHT_MAX
from gridagent.session.effects import Perform
from gridagent.session.orders import carry_out
from gridagent.storage import MemoryStore

OWNER = "00000000-0000-4000-8000-0000000000aa"
SEAT = "00000000-0000-4000-8000-0000000000cc"
THERE = Position(x=10.0, y=10.0)
PAY = PayAvatar(to=OWNER, amount=5)
UNKNOWN = InDoubt(reason="no_evidence")
OPERATOR = Principal(client="operator")


class Bench:
    """A core in the world, over a puppet's backend, with its clock in the test's hand."""

    def __init__(self, gateway, **settings):
        settings = {"key": "robin", "on_backend_failure": OnBackendFailure.RECONNECT, **settings}
        self.seen = []
        self.core = SessionCore(
            settings=SessionSettings(**settings),
            gateway=gateway,
            mind=QuietMind(),
            rng=Random(1),
            observe=self.seen.append,
        )
        self.puppet = Puppet()
        self.time = 100.0
        self.at(self.time)
        self.core.begin()
        self.arrive()

    def at(self, time):
        self.time = time
        self.core.at(Instant(wall=1e9 + time, monotonic=time))

    def arrive(self):
        """Be in the world, on a new connection."""
        generation = self.core.generation
        self.core.where.backend = self.puppet(generation=generation, redeem=self.core.gateway.redeem)
        self.core.on_event(generation, ready_event())

    def come_back(self):
        """Lose the connection and be in the world again."""
        self.core.on_connection_ended(self.core.generation, cause=DisconnectCause.CIRCUIT_LOST, logged_out=True)
        self.core.link.want()
        self.arrive()

    def send(self, action):
        """Have the operator's action sent; return its effect."""
        self.core.ask_as_operator(action)
        (work,) = [each for each in self.core.take_effects() if isinstance(each, Perform)]
        self.core.gateway.redeem(work.authorized.handle, generation=self.core.generation, now=self.core.now)
        return work.authorized.effect

    def doubt(self, action):
        """Have it sent and get no evidence."""
        effect = self.send(action)
        self.core.on_action_ended(self.core.generation, effect, UNKNOWN)
        return effect

    def hear(self, event):
        self.core.on_event(self.core.generation, event)

    def wait(self, seconds):
        """Let time pass, as far as the core's own timer."""
        until = self.time + seconds
        due = self.core.timer()
        if due is not None and due <= until:
            self.at(due)
            self.core.on_timer()
        self.at(until)

    def bodies(self, kind):
        return [each.body for each in self.seen if isinstance(each.body, kind)]

    @property
    def found(self):
        """What was found out: action, outcome, proof."""
        return [(each.action, type(each.outcome).__name__, each.proof) for each in self.bodies(DoubtSettled)]

    @property
    def untold(self):
        """What a person was told."""
        return [dict(each.fields) for each in self.bodies(Diagnostic) if each.code == "effect_stays_in_doubt"]


@pytest.fixture
def bench(stage):
    """Build a bench; the gateway comes from the stage, which needs a trio run for its ports."""

    def build(**settings):
        async def make():
            return stage(
                section={
                    "matrix": {
                        "operator_console": dict.fromkeys(
                            ("speak", "move", "interact", "money", "build", "animate"), "owner"
                        )
                    },
                    "budgets": {
                        meter: [{"per": "global", "limit": 100_000, "window_s": 60}]
                        for meter in (
                            *(f"calls.{each}" for each in ("speak", "move", "interact", "money", "build", "animate")),
                            "withdrawals", "speech_bytes", "metres", "linden",
                        )
                    },
                }
            )  # fmt: skip

        return Bench(trio.run(make).gateway, **settings)

    return build


def paid(effect, change=-5, to=OWNER):
    """Return what the grid says of a payment."""
    reference = effect[:REFERENCE_CHARS]
    return BalanceChanged(balance=95, change=change, counterpart_id=to, reference=reference)


def echo(text, reference=""):
    """Return our own words as they come back."""
    source = Speaker(kind=SpeakerKind.SELF, id=PUPPET_ID)
    return ChatHeard(utterance_id="u9", source=source, text=text, reference=reference)


def at(position):
    """Return a report of where we stand."""
    return SelfMoved(region="Stage", position=position)


def test_evidence_that_comes_late_settles_a_payment_once(bench):
    """Recorded with who and what; a second time, and after it, nothing. Spec: EFX-1, EFX-2."""
    b = bench()
    effect = b.doubt(PAY)
    assert b.core.gateway.status().in_doubt == (effect,)
    b.hear(BalanceChanged(balance=95, change=-5, counterpart_id=OWNER))
    b.hear(paid(effect, change=5))
    b.hear(paid("0" * 64))
    assert b.found == []
    b.hear(paid(effect))
    b.hear(paid(effect))
    assert b.found == [("pay_avatar", "Confirmed", "nonce")]
    assert b.bodies(DoubtSettled)[0].by is SettledBy.RECONCILIATION
    assert b.core.gateway.status().in_doubt == ()
    assert {gauge.meter.value: gauge.used for gauge in b.core.gateway.status().budgets}["linden"] == 5


def test_a_late_refusal_settles_it_too_and_gives_nothing_back(bench):
    """What may have been spent stays spent. Spec: EFX-2, POL-6."""
    b = bench()
    effect = b.doubt(PAY)
    b.hear(ActionRefused(reference=effect[:REFERENCE_CHARS], reason="money_service_down"))
    assert b.found == [("pay_avatar", "Refused", "refusal")]
    assert b.bodies(DoubtSettled)[0].outcome == Refused(reason="money_service_down")
    assert {gauge.meter.value: gauge.used for gauge in b.core.gateway.status().budgets}["linden"] == 5


def test_what_the_grid_remembers_is_looked_up_at_once_and_on_coming_back(bench):
    """As soon as it is in doubt, and after a reconnection. Spec: EFX-2, EFX-5."""
    b = bench()
    effect = b.send(PAY)
    b.puppet.left[effect[:REFERENCE_CHARS]] = Traces(told=(paid(effect),))
    b.core.on_action_ended(b.core.generation, effect, UNKNOWN)
    assert b.found == [("pay_avatar", "Confirmed", "history")]
    b = bench()
    effect = b.doubt(PAY)
    b.puppet.left[effect[:REFERENCE_CHARS]] = Traces(told=(paid(effect),))
    assert b.found == []
    b.come_back()
    assert b.found == [("pay_avatar", "Confirmed", "history")]
    assert b.core.doubts.due is None


def test_that_it_did_not_happen_is_said_only_when_nothing_can_be_on_its_way(bench):
    """A whole history without it, long enough after coming back; never on its own connection. Spec: EFX-2."""
    b = bench(doubts_settle_s=30.0)
    b.puppet.money_since = 0.0
    b.doubt(PAY)
    assert b.core.doubts.due is None
    b.wait(1_000)
    assert b.found == []
    b.come_back()
    began = b.time
    assert b.core.doubts.due == began + 30.0
    b.wait(29)
    assert b.found == []
    b.wait(1)
    assert b.found == [("pay_avatar", "Refused", "not_in_history")]
    assert b.bodies(DoubtSettled)[0].outcome == Refused(reason="not_happened")
    assert b.untold == []


def test_what_stays_in_doubt_is_told_once_with_why_and_where_to_look(bench):
    """After each look, but not again and again. Spec: EFX-2."""
    b = bench()
    effect = b.doubt(PAY)
    for _ in range(3):
        b.come_back()
        b.wait(60)
    (told,) = b.untold
    assert told["effect"] == effect
    assert told["action"].startswith("pay_avatar")
    assert "the balance alone does not tell" in told["why"]
    assert "transaction history" in told["look_at"]
    assert b.core.gateway.status().in_doubt == (effect,)


def test_a_thing_that_is_still_there_was_not_deleted(bench):
    """Seen after coming back and waiting; not seen says nothing. Spec: EFX-2."""
    b = bench()
    thing = ObjectView(object_id=SEAT, name="Box", owner_id=PUPPET_ID, position=THERE)
    gone = b.doubt(DeleteObject(object_id=OWNER))
    b.doubt(DeleteObject(object_id=SEAT))
    b.puppet.things = (thing,)
    b.come_back()
    assert b.found == []
    b.wait(60)
    assert b.found == [("delete_object", "Refused", "still_there")]
    assert b.core.gateway.status().in_doubt == (gone,)


def test_a_connection_that_breaks_again_looks_again(bench):
    """The wait begins anew. Spec: EFX-2, SUP-5."""
    b = bench()
    b.puppet.money_since = 0.0
    b.doubt(PAY)
    b.come_back()
    b.wait(59)
    b.come_back()
    b.wait(59)
    assert b.found == []
    b.wait(1)
    assert len(b.found) == 1


def test_what_a_person_settled_is_not_settled_again(bench):
    """By hand first, then evidence. Spec: EFX-1."""
    b = bench()
    effect = b.doubt(PAY)
    b.core.gateway.settle_doubt(effect, Refused(reason="settled_by_hand"), b.core.now, by=SettledBy.OPERATOR)
    b.hear(paid(effect))
    assert b.found == []
    assert b.core.gateway.status().in_doubt == ()


# --- without a nonce ----------------------------------------------------------------------------------


def test_what_only_we_do_is_believed_on_its_own_connection(bench):
    """The first piece of evidence settles one; a stranger's words none; after a reconnection nothing. Spec: EFX-2."""
    b = bench()
    b.doubt(Say(text="hello"))
    b.doubt(SitOn(object_id=SEAT))
    b.hear(ChatHeard(utterance_id="u1", source=Speaker(kind=SpeakerKind.AVATAR, id=OWNER), text="hello"))
    assert b.found == []
    b.hear(echo("hello"))
    b.hear(PostureChanged(posture=Posture.SITTING, object_id=SEAT))
    assert b.found == [("say", "Confirmed", "own_deed"), ("sit_on", "Confirmed", "own_deed")]
    b = bench()
    b.doubt(Say(text="hello"))
    b.come_back()
    b.hear(echo("hello"))
    assert b.found == []
    assert b.core.doubts._cases == {}


@pytest.mark.parametrize("first_ended", [True, False])
def test_words_that_were_said_twice_prove_neither(bench, first_ended):
    """The echo may be of the other, or be told twice; one with the nonce is its own. Spec: EFX-2."""
    b = bench()
    first = b.send(Say(text="hello"))
    if first_ended:
        b.core.on_action_ended(b.core.generation, first, Confirmed(evidence=Say.spec.evidence))
    second = b.doubt(Say(text="hello"))
    b.hear(echo("hello"))
    assert b.found == []
    b.hear(echo("hello", second[:REFERENCE_CHARS]))
    assert b.found == [("say", "Confirmed", "nonce")]


def test_a_walk_is_not_believed_once_something_else_has_moved_the_body(bench):
    """Where the body is may be the other's doing; a walk asked for again may be told of twice. Spec: EFX-2."""
    b = bench()
    b.doubt(WalkTo(position=THERE))
    b.hear(at(THERE))
    assert b.found == [("walk_to", "Confirmed", "own_deed")]
    b.doubt(WalkTo(position=THERE))
    b.hear(at(THERE))
    assert len(b.found) == 1, "it may be the first one's place, told late"
    b = bench()
    b.doubt(WalkTo(position=THERE))
    stand = b.send(StandUp())
    b.hear(at(THERE))
    assert b.found == []
    b.core.on_action_ended(b.core.generation, stand, UNKNOWN)
    b.hear(PostureChanged(posture=Posture.STANDING))
    assert b.found == []


@pytest.mark.parametrize(
    ("one", "other", "event"),
    [
        (
            StopAnimation(animation_id=SEAT),
            PlayAnimation(animation_id=SEAT),
            AnimationChanged(animation_id=SEAT, playing=False),
        ),
        (
            AnswerDialog(offer_id="o", button="Red"),
            AnswerDialog(offer_id="o", button="Blue"),
            OfferClosed(offer_id="o", accepted=True),
        ),
        (Emote(text="waves"), Say(text="/me waves"), echo("/me waves")),
    ],
)
def test_two_that_lead_to_the_same_prove_neither(bench, one, other, event):
    """Each alone is believed; both together are not. Spec: EFX-2."""
    b = bench()
    b.doubt(one)
    b.hear(event)
    assert len(b.found) == 1
    b = bench()
    b.doubt(one)
    b.doubt(other)
    b.hear(event)
    assert b.found == []


def test_a_state_that_was_asked_for_is_believed_whoever_brought_it_about(bench):
    """To stand is all that was asked for. Spec: EFX-2."""
    b = bench()
    b.doubt(StandUp())
    b.hear(PostureChanged(posture=Posture.STANDING))
    assert b.found == [("stand_up", "Confirmed", "state")]


# --- bounds and lateness ------------------------------------------------------------------------------


def test_what_costs_nothing_is_forgotten_first(bench):
    """So many that cost nothing are followed, and no payment goes for them. Spec: BND-16."""
    b = bench()
    effect = b.doubt(PAY)
    for number in range(LIGHT_MAX + 5):
        b.doubt(Say(text=f"word {number}"))
    assert len(b.core.doubts._by_reference) == LIGHT_MAX + 1
    b.hear(echo("word 0"))
    assert b.found == []
    b.hear(echo("word 5"))
    b.hear(paid(effect))
    assert [each[0] for each in b.found] == ["say", "pay_avatar"]
    for number in range(DEEDS_MAX + 5):
        sent = b.send(Say(text=f"more {number}"))
        b.core.on_action_ended(b.core.generation, sent, Confirmed(evidence=Say.spec.evidence))
    assert len(b.core.doubts._deeds) == DEEDS_MAX


def test_a_result_of_an_ended_connection_is_looked_for_on_the_next(bench):
    """Late by a generation: fenced, in doubt, and found out all the same. Spec: SUP-5, EFX-2."""
    b = bench()
    effect = b.send(PAY)
    generation = b.core.generation
    carry_out(b.core, ForceReconnect())
    b.core.on_action_ended(generation, effect, UNKNOWN)
    assert b.core.gateway.status().in_doubt == (effect,)
    b.puppet.left[effect[:REFERENCE_CHARS]] = Traces(told=(paid(effect),))
    b.core.on_connection_ended(generation, cause=DisconnectCause.REQUESTED, logged_out=True)
    b.arrive()
    assert b.found == [("pay_avatar", "Confirmed", "history")]


def test_late_events_of_an_ended_connection_settle_nothing(bench):
    """They are fenced like any other. Spec: SUP-5."""
    b = bench()
    effect = b.doubt(PAY)
    old = b.core.generation
    b.come_back()
    b.core.on_event(old, paid(effect))
    assert b.found == []


def test_a_decision_that_sends_nothing_opens_no_case(bench):
    """Denied, and a dry run. Spec: EFX-2."""
    b = bench()
    request = ActionRequest(
        action=PAY, principal=OPERATOR, origin=Origin.OPERATOR_CONSOLE, generation=99, correlation="c", cause="c"
    )
    b.core.dispose(b.core.gateway.decide(request, b.core.now), request, None)
    b.core.doubts.ended("0" * 64, UNKNOWN)
    assert b.core.doubts._cases == {}


# --- a whole service ------------------------------------------------------------------------------------


def avatar(puppet, **settings):
    """Build an avatar whose operator may pay."""
    section = {
        "preset": "observer",
        "budgets": {each: [{"per": "global", "limit": 100, "window_s": 86400}] for each in ("calls.money", "linden")},
    }
    return AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT, **settings),
        policy=Policy(msgspec.convert(section, PolicySection), RolesSection(owners=(OWNER,))),
        mind=QuietMind(),
        backend=puppet,
    )


@pytest.mark.parametrize(
    ("left", "since", "ends"),
    [("paid", None, "Confirmed"), ("nothing", 0.0, "Refused"), ("nothing", None, None), ("nothing", 1e12, None)],
)
async def test_a_crash_in_the_middle_of_a_payment_is_found_out_after_the_restart(autojump_clock, left, since, ends):
    """It happened, it didn't, it can't be known: settled durably, once, and nothing is sent. Spec: EFX-2, EFX-5."""
    ports = simulated_ports(0)
    store = MemoryStore(ports.clock)
    first, second = Puppet(), Puppet()

    async def forever(action):
        await trio.sleep_forever()

    first.applier = forever
    async with open_service([avatar(first)], ports=ports, store=store) as doomed:
        await doomed.avatar().wait_agent(AgentState.RUNNING)
        await doomed.avatar().control(RequestAction(action=PAY))
        await trio.testing.wait_all_tasks_blocked()
        (effect,) = first.now.effects
        # The power goes here: opening the avatar again is what a restart sees.
        if left == "paid":
            second.left[effect[:REFERENCE_CHARS]] = Traces(told=(paid(effect),))
        second.money_since = since
        async with open_service([avatar(second)], ports=ports, store=store) as service:
            robin = service.avatar()
            with robin.observe() as seen:
                await robin.wait_agent(AgentState.RUNNING)
                await trio.sleep(61)
                bodies = [each.body for each in seen.drain_nowait()]
            found = [each for each in bodies if isinstance(each, DoubtSettled)]
            told = [each for each in bodies if isinstance(each, Diagnostic) and each.code == "effect_stays_in_doubt"]
            assert [type(each.outcome).__name__ for each in found] == ([] if ends is None else [ends])
            assert len(told) == (1 if ends is None else 0)
            assert robin.status().gateway.in_doubt == ((effect,) if ends is None else ())
            settle = SettleEffect(effect=effect, happened=True, note="the grid's own log")
            assert (await robin.control(settle)).accepted is (ends is None)
            assert len(second.now.applied) == 0
        third = Puppet()
        third.left = second.left
        async with open_service([avatar(third)], ports=ports, store=store) as service:
            robin = service.avatar()
            await robin.wait_agent(AgentState.RUNNING)
            assert robin.status().gateway.in_doubt == ()
            spent = {gauge.meter.value: gauge.used for gauge in robin.status().gateway.budgets}
            assert spent["linden"] == 5


async def test_in_the_simulated_grid_a_payment_whose_evidence_is_lost_is_found_out(autojump_clock):
    """The connection breaks in the middle; the bank's own book tells it after the reconnection. Spec: EFX-2, SIM-1."""
    config = {
        "avatars": {"robin": {"first_name": "Robin"}},
        "roles": {"owners": [OWNER]},
        "session": {"on_backend_failure": "reconnect"},
        "policy": {
            "preset": "observer",
            "budgets": {
                each: [{"per": "global", "limit": 100, "window_s": 86400}] for each in ("calls.money", "linden")
            },
        },
    }
    faults = Faults(evidence_lost=1.0)
    async with open_simulation(config, scenario="plaza", ports=simulated_ports(0), faults=faults) as running:
        robin = running.service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        payee = next(each for each in running.grid.world.avatars() if each != robin.status().avatar_id)
        before = running.grid.world.balance(payee)
        with robin.observe() as seen:
            await robin.control(RequestAction(action=PayAvatar(to=payee, amount=1)))
            await trio.sleep(0.1)
            await robin.control(ForceReconnect())
            await robin.wait_link(LinkState.ONLINE)
            await trio.sleep(1)
            found = [each.body for each in seen.drain_nowait() if isinstance(each.body, DoubtSettled)]
        assert [(each.action, each.proof) for each in found] == [("pay_avatar", "history")]
        assert isinstance(found[0].outcome, Confirmed)
        assert running.grid.world.balance(payee) == before + 1
