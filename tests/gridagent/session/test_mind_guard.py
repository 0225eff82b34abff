"""A mind that raises ends its turns, not the session; too often, and its avatar is given up."""

from random import Random

import pytest
import trio

from gridagent.actions import Refused, Say
from gridagent.authority import Origin, Principal
from gridagent.controls import ForgetAvatar, SayAsOperator, StopTurn
from gridagent.events import ChatHeard, Speaker, SpeakerKind
from gridagent.grid.puppet import ready_event
from gridagent.mind import Errand, Moment, Proposal, QuietMind
from gridagent.observations import AgentState, AgentStateChanged, Diagnostic
from gridagent.policy import Instant
from gridagent.runtime.restart import RestartIntensity
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelErrand, ReportFault, RunErrand
from gridagent.session.mind_guard import MindGuard
from gridagent.session.orders import carry_out
from gridagent.session.settings import OnBackendFailure, SessionSettings

OWNER = "00000000-0000-4000-8000-0000000000aa"
CALLS = ("hear", "decided", "learn", "returned", "due", "on_time", "fence", "stop_turn", "forget")


class Fragile(QuietMind):
    """Raises where a test wants it, and sends out one errand and proposes one thing when it hears something."""

    def __init__(self):
        self.breaks = set()
        self.fenced = 0
        self.when = None

    def _may_break(self, call):
        if call in self.breaks:
            raise LookupError(f"a bug in {call}")

    def hear(self, event, around, now):
        if not isinstance(event, ChatHeard):
            return ()
        self._may_break("hear")
        said = Proposal(
            action=Say(text="hm"),
            principal=Principal(avatar_id=OWNER),
            origin=Origin.PUBLIC_CHAT,
            cause=event.utterance_id,
            ordinal=0,
        )
        return Errand(errand_id=event.utterance_id, what="think", timeout_s=5.0), said

    def decided(self, proposal, ruling, now):
        self._may_break("decided")
        return ()

    def learn(self, proposal, outcome, now):
        self._may_break("learn")
        return ()

    def returned(self, errand_id, answer, now):
        self._may_break("returned")
        return ()

    def due(self):
        self._may_break("due")
        return self.when

    def on_time(self, now):
        self._may_break("on_time")
        self.when = None
        return ()

    def fence(self, now):
        self.fenced += 1
        self._may_break("fence")
        return ()

    def stop_turn(self, now):
        self._may_break("stop_turn")
        return ()

    def forget(self, avatar_id, now):
        self._may_break("forget")
        return ()


class Living:
    """A session in the world with a fragile mind, moved by hand."""

    def __init__(self, gateway, **settings):
        self.mind = Fragile()
        self.seen = []
        self.core = SessionCore(
            settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT, **settings),
            gateway=gateway,
            mind=self.mind,
            rng=Random(0),
            observe=lambda observation: self.seen.append(observation.body),
        )
        self.now = 0.0
        self.pass_time(0.0)
        self.core.begin()
        self.core.on_event(1, ready_event())
        self.core.take_effects()

    def pass_time(self, seconds):
        self.now += seconds
        self.core.at(Instant(wall=1_000.0 + self.now, monotonic=self.now))

    def say(self, number):
        self.core.on_event(
            1,
            ChatHeard(utterance_id=f"u{number}", source=Speaker(kind=SpeakerKind.AVATAR, id=OWNER), text="hello"),
        )

    def provoke(self, call, number=1):
        """Call the mind so."""
        self.mind.breaks = {call}
        match call:
            case "hear" | "decided":
                self.say(number)
            case "learn":
                self.mind.breaks = set()
                self.say(number)
                self.mind.breaks = {call}
                for effect, work in list(self.core.inflight.items()):
                    assert work.proposal is not None
                    self.core.on_action_ended(1, effect, Refused(reason="no"))
            case "returned":
                self.mind.breaks = set()
                self.say(number)
                sent = [each for each in self.core.take_effects() if isinstance(each, RunErrand)]
                self.mind.breaks = {call}
                self.core.host.returned(1, sent[-1].number, "thought")
            case "due":
                self.core.timer()
            case "on_time":
                self.mind.when = self.now
                self.core.on_timer()
            case "fence":
                self.core.end_connection()
            case "stop_turn":
                self.reply = carry_out(self.core, StopTurn())
            case "forget":
                self.reply = carry_out(self.core, ForgetAvatar(avatar_id=OWNER))
        self.mind.breaks = set()

    def faults(self):
        return [each for each in self.core.take_effects() if isinstance(each, ReportFault)]

    def failures(self):
        return [each for each in self.seen if isinstance(each, Diagnostic) and each.code == "mind_failed"]


@pytest.fixture
def living(stage):
    """Make one; the gateway comes from the stage, which needs a trio run for its ports."""

    def build(**settings):
        async def make():
            return stage()

        return Living(trio.run(make).gateway, **settings)

    return build


@pytest.mark.parametrize("call", CALLS)
def test_whatever_call_breaks_the_session_lives_and_says_so(living, call):
    """Spec: SUP-7, SUP-10 — the error is in the log whole, watchers get its kind, and the next message is heard."""
    avatar = living()
    avatar.provoke(call)
    faults = avatar.faults()
    assert [(each.code, each.error.args) for each in faults] == [("mind_failed", (f"a bug in {call}",))]
    assert [each.fields for each in avatar.failures()] == [(("error", "LookupError"),)]
    assert avatar.core.last_error == "mind_failed"
    assert avatar.core.agent is AgentState.RUNNING
    assert avatar.mind.fenced >= 1
    if call == "fence":
        return
    avatar.say(2)
    assert [each.errand.errand_id for each in avatar.core.take_effects() if isinstance(each, RunErrand)] == ["u2"]


def test_what_was_under_way_is_given_up(living):
    """Spec: SUP-7 — errands that are out are cancelled, and what they bring all the same reaches nobody."""
    avatar = living()
    avatar.say(1)
    (sent,) = [each for each in avatar.core.take_effects() if isinstance(each, RunErrand)]
    avatar.provoke("hear", 2)
    assert [each.number for each in avatar.core.take_effects() if isinstance(each, CancelErrand)] == [sent.number]
    avatar.mind.breaks = {"returned"}
    avatar.core.host.returned(1, sent.number, "thought")
    assert len(avatar.failures()) == 1


def test_a_mind_that_breaks_too_often_gives_its_avatar_up(living):
    """Spec: SUP-7 — within the window the failure escalates; spread out, it never does."""
    patient = living(fault_intensity=RestartIntensity(max_restarts=2, window_s=60.0))
    for number in range(6):
        patient.provoke("hear", number)
        patient.pass_time(31.0)
    assert patient.core.agent is AgentState.RUNNING
    avatar = living(fault_intensity=RestartIntensity(max_restarts=2, window_s=60.0))
    for number in range(3):
        assert avatar.core.agent is AgentState.RUNNING
        avatar.provoke("hear", number)
    assert avatar.core.agent is AgentState.FAILED
    assert [each.code for each in avatar.seen if isinstance(each, AgentStateChanged)][-1] == "mind_failed"
    assert len(avatar.faults()) == 3


@pytest.mark.parametrize("call", ["hear", "due"])
def test_a_mind_that_cannot_even_stop_is_given_up_once(living, call):
    """Spec: SUP-7 — breaking while it drops its turns counts, and the end is reached without a loop."""
    avatar = living(fault_intensity=RestartIntensity(max_restarts=1, window_s=60.0))
    avatar.mind.breaks = {call, "fence"}
    avatar.say(1)
    avatar.core.timer()
    assert avatar.core.agent is AgentState.FAILED
    assert 2 <= len(avatar.failures()) <= 4


def test_forgetting_is_not_claimed_where_it_broke(living):
    """Spec: MEM-5, SUP-8 — whoever asked learns that something may be left."""
    avatar = living()
    avatar.provoke("forget")
    assert (avatar.reply.accepted, avatar.reply.code) == (False, "mind_failed")
    assert carry_out(avatar.core, ForgetAvatar(avatar_id=OWNER)).accepted
    assert carry_out(avatar.core, SayAsOperator(text="still here")).accepted


def test_the_guard_counts_and_gives_nothing_through():
    """Spec: SUP-7 — what is raised comes out as a report, and an avatar that is over is not given up twice."""
    mind, reports, given_up = Fragile(), [], []
    guard = MindGuard(
        mind,
        RestartIntensity(max_restarts=1, window_s=10.0),
        report=reports.append,
        escalate=lambda: given_up.append(len(reports)),
    )
    now = Moment(0.0, 0.0)
    assert guard.think(lambda: (), now) == ()
    assert guard.due(now) is None
    assert guard.think(lambda: 5, now) is None  # no thoughts at all
    mind.breaks = {"due", "fence"}
    assert guard.due(now) is None
    assert guard.end_turns(now) == ()
    assert guard.broke == len(reports) == 3
    assert given_up == [2, 3]
    mind.breaks = set()
    assert guard.end_turns(now) == ()
