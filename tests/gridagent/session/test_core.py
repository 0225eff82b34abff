"""Claims about the session's decisions, walked without a task."""

from random import Random

import pytest
import trio

from gridagent.actions import (
    Confirmed,
    EvidenceKind,
    FollowAvatar,
    InDoubt,
    PayAvatar,
    Position,
    Refused,
    Say,
    StopMoving,
    WalkTo,
)
from gridagent.authority import DenialCode, Origin, Principal
from gridagent.controls import ForceReconnect, Pause
from gridagent.errors import IllegalTransition
from gridagent.events import (
    AvatarView,
    BalanceChanged,
    ChatHeard,
    DisconnectCause,
    PartDegraded,
    PartRecovered,
    Posture,
    PostureChanged,
    RegionEntered,
    SelfMoved,
    Speaker,
    SpeakerKind,
    TeleportFinished,
    TransportUp,
)
from gridagent.grid.puppet import PUPPET_ID, Puppet, ready_event
from gridagent.mind import Attention, Proposal, QuietMind
from gridagent.observations import (
    ActionDecided,
    ActionSettled,
    AgentState,
    ApprovalClosed,
    AttentionDecided,
    Diagnostic,
    EventSeen,
    GenerationClosed,
    LinkState,
    LinkStateChanged,
    Verdict,
    WorkFenced,
)
from gridagent.policy import Authorized, Denied, Instant
from gridagent.runtime.restart import RestartIntensity
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelWork, Finish, OpenConnection, Perform
from gridagent.session.orders import carry_out
from gridagent.session.reconnect import RECONNECT, ReconnectDelays, Retry
from gridagent.session.settings import OnBackendFailure, SessionSettings

C = DisconnectCause
OWNER = "00000000-0000-4000-8000-0000000000aa"


class Bench:
    """A core with its clock in the test's hand."""

    def __init__(self, gateway, mind=None, **settings):
        settings = {"key": "robin", "on_backend_failure": OnBackendFailure.RECONNECT, **settings}
        self.seen = []
        self.core = SessionCore(
            settings=SessionSettings(**settings),
            gateway=gateway,
            mind=mind or QuietMind(),
            rng=Random(1),
            observe=self.seen.append,
        )
        self.time = 100.0
        self.at(self.time)

    def at(self, time):
        self.time = time
        self.core.at(Instant(wall=1e9 + time, monotonic=time))

    def effects(self, kind):
        return [effect for effect in self.core.take_effects() if isinstance(effect, kind)]

    def bodies(self, kind):
        return [o.body for o in self.seen if isinstance(o.body, kind)]

    def come_online(self):
        self.core.begin() if not self.core.link.connected else None
        self.core.on_event(self.core.generation, ready_event())
        return self.core

    def lose(self, cause, *, logged_out=True):
        self.core.on_connection_ended(self.core.generation, cause=cause, logged_out=logged_out)


@pytest.fixture
def bench(stage):
    """Build a bench; the gateway comes from the stage, which needs a trio run for its ports."""

    def build(mind=None, section=None, **settings):
        async def make():
            return stage(section=section)

        return Bench(trio.run(make).gateway, mind, **settings)

    return build


class Talker(QuietMind):
    """A mind that answers every utterance with fixed thoughts."""

    def __init__(self, *thoughts):
        self.thoughts = thoughts
        self.learnt = []
        self.heard = 0

    def hear(self, event, around, now):
        if not isinstance(event, ChatHeard):
            return ()
        self.heard += 1
        return self.thoughts

    def learn(self, proposal, outcome, now):
        self.learnt.append((proposal, outcome))
        return ()

    def forget(self, avatar_id, now):
        raise AssertionError("nobody asked")


def said(text="hi"):
    """Build an utterance of a stranger."""
    source = Speaker(kind=SpeakerKind.AVATAR, id="00000000-0000-4000-8000-0000000000bb")
    return ChatHeard(utterance_id="u1", source=source, text=text)


def wish(action, who=OWNER, **more):
    """Build a proposal on the owner's words."""
    return Proposal(action=action, principal=Principal(avatar_id=who), origin=Origin.PUBLIC_CHAT, cause="u1", **more)


# --- connecting ---------------------------------------------------------------------------------


def test_it_connects_when_it_begins(bench):
    """Spec: SUP-5 — the first attempt is generation 1, and the link is connecting."""
    b = bench()
    b.core.begin()
    (opened,) = b.effects(OpenConnection)
    assert opened.generation.number == 1
    assert (b.core.agent, b.core.link.state) == (AgentState.STARTING, LinkState.CONNECTING)


def test_it_can_be_told_to_wait_for_connect(bench):
    """An avatar that does not connect at the start stays stopped until it is asked."""
    b = bench(connect_at_start=False)
    b.core.begin()
    assert b.core.take_effects() == []
    assert b.core.link.state is LinkState.STOPPED


def test_staggered_logins_wait_their_turn(bench):
    """Spec: SUP-11 — a start pause is a timer, not a task."""
    b = bench(start_after_s=5.0)
    b.core.begin()
    assert b.core.timer() == 105.0
    b.at(104.0)
    b.core.on_timer()
    assert not b.effects(OpenConnection)
    b.at(105.0)
    b.core.on_timer()
    assert b.effects(OpenConnection)


def test_ready_moves_starting_to_running_and_the_link_online(bench):
    """Spec: SUP-1, SUP-4 — through degraded, in this order, whether or not the transport was announced."""
    for announced in (True, False):
        b = bench()
        b.core.begin()
        if announced:
            b.core.on_event(1, TransportUp(avatar_id=PUPPET_ID, name="Robin"))
            assert b.core.link.state is LinkState.DEGRADED
        b.core.on_event(1, ready_event())
        assert (b.core.agent, b.core.link.state) == (AgentState.RUNNING, LinkState.ONLINE)
        assert [s.state for s in b.bodies(LinkStateChanged)] == [
            LinkState.CONNECTING, LinkState.DEGRADED, LinkState.ONLINE,
        ]  # fmt: skip
        assert b.core.where.self_id == PUPPET_ID
        assert (b.core.where.generation, b.core.where.profile) in {(0, None), (1, ready_event().profile)}


def test_a_sick_part_degrades_until_every_part_is_well(bench):
    """Spec: SUP-4 — degraded while any part is sick; parts are counted by name and bounded."""
    b = bench()
    core = b.come_online()
    core.on_event(1, PartDegraded(part="event_queue"))
    core.on_event(1, PartDegraded(part="world"))
    core.on_event(1, PartRecovered(part="world"))
    assert core.link.state is LinkState.DEGRADED
    core.on_event(1, PartRecovered(part="event_queue"))
    assert core.link.state is LinkState.ONLINE
    for number in range(40):
        core.on_event(1, PartDegraded(part=f"p{number}"))
    assert len(core.link.sick) == 16


def test_a_sick_part_before_ready_changes_nothing(bench):
    """While connecting there is nothing to degrade; recovering then is no reason to be online."""
    b = bench()
    b.core.begin()
    b.core.on_event(1, PartDegraded(part="world"))
    assert b.core.link.state is LinkState.CONNECTING
    b.core.on_event(1, TransportUp(avatar_id=PUPPET_ID, name="Robin"))
    b.core.on_event(1, TransportUp(avatar_id=PUPPET_ID, name="Robin"))
    b.core.on_event(1, PartRecovered(part="world"))
    assert b.core.link.state is LinkState.DEGRADED


def test_it_keeps_what_the_grid_says_of_itself(bench):
    """Region, position, posture and balance follow the events, and nothing survives the generation."""
    b = bench()
    core = b.come_online()
    there = Position(x=3, y=4)
    core.on_event(1, SelfMoved(region="Stage", position=there))
    assert core.where.position == there
    core.on_event(1, RegionEntered(region="Next", position=Position(x=1, y=1)))
    core.on_event(1, TeleportFinished(region="Far", position=there))
    core.on_event(1, BalanceChanged(balance=42))
    core.on_event(1, PostureChanged(posture=Posture.SITTING))
    assert (core.where.region, core.where.balance, core.where.posture) == ("Far", 42, Posture.SITTING)
    core.end_connection()
    assert (core.where.region, core.where.balance, core.where.self_id) == ("", None, None)


# --- losing it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", list(C))
def test_offline_a_lost_connection_is_the_end(bench, cause):
    """Spec: SUP-1 — offline, a backend failure ends in failed; an orderly end of the grid in stopped."""
    b = bench(on_backend_failure=OnBackendFailure.FAIL)
    b.come_online()
    b.lose(cause)
    wanted = AgentState.STOPPED if cause is C.GRID_CLOSED else AgentState.FAILED
    assert b.core.agent is wanted
    assert b.effects(Finish)
    assert b.core.last_error == cause.value


@pytest.mark.parametrize("cause", list(C))
@pytest.mark.parametrize("ready", [True, False])
def test_live_each_cause_is_answered_as_the_table_says(bench, cause, ready):
    """Spec: SUP-6 — never, a fixed wait, or a jittered one; always exactly one next step."""
    delays = ReconnectDelays(short_wait_s=2, long_wait_s=300, stay_away_s=3600, backoff_base_s=4, backoff_cap_s=8)
    b = bench(delays=delays)
    b.come_online() if ready else b.core.begin()
    b.lose(cause)
    assert b.core.agent is (AgentState.RUNNING if ready else AgentState.STARTING)
    retry = RECONNECT[cause]
    if retry is Retry.NEVER:
        assert b.core.link.state is LinkState.AUTHENTICATION_BLOCKED
        assert b.core.timer() is None
        assert b.bodies(Diagnostic)[-1].code == "authentication_blocked"
        return
    assert b.core.link.state is LinkState.BACKOFF
    change = b.bodies(LinkStateChanged)[-1]
    assert change.cause is cause
    fixed = delays.fixed(retry)
    assert change.retry_in_s == fixed if fixed is not None else 0 <= change.retry_in_s <= 4
    assert (b.bodies(Diagnostic) != []) is (retry is Retry.STAY_AWAY)
    b.core.take_effects()
    b.at(b.core.timer())
    b.core.on_timer()
    (opened,) = b.effects(OpenConnection)
    assert opened.generation.number == 2


def test_a_backend_that_keeps_breaking_is_given_up(bench):
    """Spec: SUP-7 — beyond the restart intensity the failure escalates to the agent."""
    b = bench(fault_intensity=RestartIntensity(max_restarts=2, window_s=1000))
    b.core.begin()
    for _ in range(2):
        b.lose(C.BACKEND_FAULT)
        assert b.core.agent is AgentState.STARTING
        b.at(b.core.timer())
        b.core.on_timer()
    b.lose(C.BACKEND_FAULT)
    assert (b.core.agent, b.core.link.state) == (AgentState.FAILED, LinkState.STOPPED)
    assert b.core.last_error == "restart_intensity"
    assert b.effects(Finish)


def test_back_off_grows_until_health_is_proved(bench):
    """Spec: SUP-6 — a connection that comes up and falls over keeps the back-off climbing."""
    delays = ReconnectDelays(backoff_base_s=1, backoff_cap_s=64, healthy_after_s=60)
    b = bench(delays=delays)
    for _ in range(5):
        b.come_online()
        b.lose(C.CIRCUIT_LOST)
        b.at(b.core.timer())
        b.core.on_timer()
    assert b.core.link.backoff.ceiling_s == 32
    b.come_online()
    b.at(b.time + 61)
    b.lose(C.CIRCUIT_LOST)
    assert b.core.link.backoff.ceiling_s == 2


# --- generations --------------------------------------------------------------------------------


def test_the_next_generation_waits_for_the_last_to_be_cleaned_up(bench):
    """Spec: BND-5 — wanted again at once, opened only after the fenced one is gone."""
    b = bench()
    core = b.come_online()
    core.take_effects()
    carry_out(core, ForceReconnect())
    assert not core.link.connected
    assert core.link.state is LinkState.BACKOFF
    assert not b.effects(OpenConnection)
    core.on_connection_ended(1, cause=C.REQUESTED, logged_out=True)
    (opened,) = b.effects(OpenConnection)
    assert opened.generation.number == 2
    assert core.link.state is LinkState.CONNECTING
    assert b.bodies(GenerationClosed) == [GenerationClosed(cause=C.REQUESTED, logged_out=True)]


def test_events_of_an_ended_generation_are_counted_and_nothing_else(bench):
    """Spec: SUP-5 — late events reach neither observers nor the mind nor the state; their number is told once."""
    talker = Talker(wish(Say(text="x")))
    b = bench(talker)
    core = b.come_online()
    core.end_connection()
    before = len(b.bodies(EventSeen))
    for _ in range(3):
        core.on_event(1, said())
    core.end_of_batch()
    core.end_of_batch()
    assert len(b.bodies(EventSeen)) == before
    assert talker.heard == 0
    assert b.bodies(WorkFenced) == [WorkFenced(what="event", of_generation=1, count=3)]


def test_a_fenced_result_settles_its_own_effect_and_nothing_else(bench):
    """Spec: SUP-5, EFX-2 — the ledger learns how it ended; observers, mind and state do not take it for news."""
    talker = Talker()
    b = bench(talker)
    core = b.come_online()
    core.ask_as_operator(PayAvatar(to=OWNER, amount=5))
    (perform,) = b.effects(Perform)
    effect = perform.authorized.effect
    core.gateway.redeem(perform.authorized.handle, generation=1, now=core.now)
    core.end_connection()
    core.on_action_ended(1, effect, InDoubt(reason="connection_lost"))
    assert core.gateway.status().in_doubt == (effect,)
    assert b.bodies(ActionSettled) == []
    assert talker.learnt == []
    assert b.bodies(WorkFenced) == [WorkFenced(what="result", of_generation=1)]
    assert core.inflight == {}


def test_an_end_reported_twice_counts_once(bench):
    """Whatever a worker says after its effect is settled is ignored."""
    b = bench(Talker(wish(Say(text="x"))))
    core = b.come_online()
    core.on_event(1, said())
    (perform,) = b.effects(Perform)
    for _ in range(2):
        core.on_action_ended(1, perform.authorized.effect, Confirmed(evidence=EvidenceKind.OWN_ECHO))
    assert len(b.bodies(ActionSettled)) == 1


# --- thinking and acting --------------------------------------------------------------------------


def test_thoughts_become_observations_and_requests(bench):
    """Spec: MND-18 — a mind's attention is told; its wishes are decided by the gateway, then performed."""
    talker = Talker(Attention(utterance_id="u1", answers=True, code="addressed"), wish(Say(text="hello")))
    b = bench(talker)
    core = b.come_online()
    core.on_event(1, said())
    assert b.bodies(AttentionDecided)[0].code == "addressed"
    (decided,) = b.bodies(ActionDecided)
    assert (decided.verdict, decided.origin, decided.principal) == (Verdict.AUTHORIZED, Origin.PUBLIC_CHAT, OWNER)
    (perform,) = b.effects(Perform)
    outcome = Confirmed(evidence=EvidenceKind.OWN_ECHO)
    core.on_action_ended(1, perform.authorized.effect, outcome)
    assert b.bodies(ActionSettled)[0].outcome == outcome
    assert talker.learnt == [(talker.thoughts[1], outcome)]


def test_the_same_utterance_id_on_another_connection_is_another_cause(bench):
    """Spec: EFX-2 — a grid counts its utterances anew; two honest requests are not taken for one."""
    b = bench(Talker(wish(Say(text="hello"))))
    core = b.come_online()
    core.on_event(1, said())
    core.on_event(1, said())
    assert [d.verdict for d in b.bodies(ActionDecided)] == [Verdict.AUTHORIZED, Verdict.DENIED]
    carry_out(core, ForceReconnect())
    core.on_connection_ended(1, cause=C.REQUESTED, logged_out=True)
    core.on_event(2, ready_event())
    core.on_event(2, said())
    assert b.bodies(ActionDecided)[-1].verdict is Verdict.AUTHORIZED


def test_nobody_thinks_while_the_agent_is_not_running(bench):
    """Before it is ready the avatar hears and wants nothing."""
    talker = Talker(wish(Say(text="hello")))
    b = bench(talker)
    b.core.begin()
    b.core.on_event(1, said())
    assert talker.heard == 0
    assert len(b.bodies(EventSeen)) == 1


def test_a_strangers_wish_is_denied_by_name_of_the_rule(bench):
    """Spec: POL-3 — a denial is an observation with a stable code and the rule that made it."""
    b = bench(Talker(wish(PayAvatar(to=OWNER, amount=5), who="00000000-0000-4000-8000-0000000000bb")))
    core = b.come_online()
    core.on_event(1, said())
    (decided,) = b.bodies(ActionDecided)
    assert (decided.verdict, decided.code) == (Verdict.DENIED, DenialCode.ROLE_TOO_LOW)
    assert decided.rule
    assert not b.effects(Perform)


def test_dry_run_decides_and_records_but_performs_nothing(bench):
    """Spec: POL-11 — the effect ends as refused(dry_run), and no backend hears of it."""
    b = bench(Talker(wish(Say(text="hello"))), section={"dry_run": True})
    core = b.come_online()
    core.on_event(1, said())
    assert not b.effects(Perform)
    (settled,) = b.bodies(ActionSettled)
    assert (settled.outcome, settled.dry_run) == (Refused(reason="dry_run"), True)


def test_one_body_does_one_thing(bench):
    """Spec: LIV-7 — a second walk is denied while one is under way; stopping takes the body over."""
    b = bench()
    core = b.come_online()
    first = core.ask_as_operator(WalkTo(position=Position(x=1, y=1)))
    assert isinstance(first, Authorized)
    second = core.ask_as_operator(WalkTo(position=Position(x=2, y=2)))
    assert isinstance(second, Denied)
    assert second.code is DenialCode.RESOURCE_BUSY
    assert isinstance(core.ask_as_operator(Say(text="I walk")), Authorized)
    assert isinstance(core.ask_as_operator(StopMoving()), Authorized)
    (cancel,) = b.effects(CancelWork)
    assert (cancel.effect, cancel.reason) == (first.effect, "preempted")


def test_an_approval_nobody_answers_expires_and_says_so(bench):
    """Spec: POL-7 — expiry is told, and the timer is set for it."""
    b = bench(
        Talker(wish(PayAvatar(to=OWNER, amount=5), target_provenance="authorised_words")),
        section={"approval_ttl_s": 30.0},
    )
    core = b.come_online()
    core.on_event(1, said())
    asked, question = b.bodies(ActionDecided)
    assert (asked.verdict, question.action, question.principal) == (
        Verdict.NEEDS_APPROVAL,
        "send_im",
        "client:approvals",
    )
    assert core.timer() is not None
    assert core.timer() <= 130.0
    b.at(130.0)
    core.on_timer()
    assert [c.how for c in b.bodies(ApprovalClosed)] == ["expired"]
    assert core.timer() is None


def test_a_walk_is_charged_by_its_way(bench):
    """Spec: POL-6 — metres are charged as far as can be told: straight to a place, or to the avatar followed."""
    ways = []
    b = bench()
    decide = b.core.gateway.decide

    class Noting:
        def __getattr__(self, name):
            return getattr(gateway, name)

        def decide(self, request, now, *, busy):
            ways.append(request.travel_m)
            return decide(request, now, busy=busy)

    gateway = b.core.gateway
    core = b.core
    core.gateway = Noting()
    core.ask_as_operator(WalkTo(position=Position(x=131, y=132, z=25)))
    b.come_online()
    core.ask_as_operator(WalkTo(position=Position(x=131, y=132, z=25)))
    puppet = Puppet()
    puppet.near = [AvatarView(avatar_id=OWNER, name="Olive", position=Position(x=128, y=138, z=25))]
    core.where.backend = puppet(generation=1, redeem=None)
    core.ask_as_operator(FollowAvatar(avatar_id=OWNER))
    core.ask_as_operator(FollowAvatar(avatar_id=PUPPET_ID))
    core.ask_as_operator(Say(text="x"))
    assert ways == [None, 5.0, 10.0, None, None]


# --- stopping -------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["begun", "online", "backoff", "blocked", "paused", "stopped"])
def test_it_stops_in_order_from_every_state(bench, where):
    """Spec: SUP-1, SUP-3 — the generation is fenced first, then cleaned up, then the agent is stopped."""
    b = bench(connect_at_start=where != "stopped")
    core = b.core
    core.begin()
    if where in {"online", "paused"}:
        core.on_event(1, ready_event())
    if where == "paused":
        carry_out(core, Pause())
        core.on_connection_ended(1, cause=C.REQUESTED, logged_out=True)
    if where in {"backoff", "blocked"}:
        b.lose(C.CIRCUIT_LOST if where == "backoff" else C.BANNED)
    core.take_effects()
    live = core.link.connected
    core.stop("test")
    core.stop("again")
    if live:
        assert (core.agent, core.link.state) == (AgentState.STOPPING, LinkState.SHUTTING_DOWN)
        assert not core.link.connected
        assert not b.effects(Finish)
        core.on_connection_ended(1, cause=C.REQUESTED, logged_out=False)
    assert (core.agent, core.link.state) == (AgentState.STOPPED, LinkState.STOPPED)
    assert len(b.effects(Finish)) == 1


def test_failing_from_every_live_state_ends_the_connection_first(bench):
    """A fault of our own never leaves a connection behind."""
    b = bench()
    core = b.come_online()
    core.take_effects()
    core.fail("internal_error")
    assert (core.agent, core.link.state, core.link.connected) == (AgentState.FAILED, LinkState.STOPPED, False)
    assert not b.effects(Finish)
    core.on_connection_ended(1, cause=C.BACKEND_FAULT, logged_out=True)
    assert b.effects(Finish)
    with pytest.raises(IllegalTransition):
        core.fail("again")


def test_failing_while_shutting_down_is_still_the_end(bench):
    """A fault during the orderly end turns it into a failure, not into a hang."""
    b = bench()
    core = b.come_online()
    core.stop("test")
    core.fail("internal_error")
    core.on_connection_ended(1, cause=C.REQUESTED, logged_out=True)
    assert core.agent is AgentState.FAILED
    assert b.effects(Finish)
