"""Claims about how a session feeds its mind and carries its thoughts out."""

from random import Random

import pytest
import trio

from gridagent.actions import Confirmed, PayAvatar, Refused, Say
from gridagent.authority import Origin, Principal
from gridagent.controls import ForgetAvatar, Hold, Pause, StopTurn
from gridagent.events import AlertShown, ChatHeard, Speaker, SpeakerKind
from gridagent.grid.puppet import ready_event
from gridagent.mind import Attention, Errand, ErrandFailed, GiveUp, Proposal, QuietMind
from gridagent.observations import AttentionDecided, Diagnostic, LinkState, TurnStarted, WorkFenced
from gridagent.policy import Denied, Instant
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelErrand, Perform, RunErrand
from gridagent.session.hosting import ERRANDS_MAX, THOUGHTS_MAX
from gridagent.session.orders import carry_out
from gridagent.session.settings import OnBackendFailure, SessionSettings

OWNER = "00000000-0000-4000-8000-0000000000aa"


class Noting(QuietMind):
    """Notes what it is told, and answers each kind of input with the thoughts set for it."""

    def __init__(self, **thoughts):
        self.thoughts = thoughts
        self.log = []
        self.when = None

    def _note(self, kind, *what):
        self.log.append((kind, *what))
        thoughts = self.thoughts.get(kind, ())
        return thoughts.pop(0) if isinstance(thoughts, list) and thoughts else thoughts

    def hear(self, event, around, now):
        return self._note("hear", now.monotonic) if isinstance(event, ChatHeard) else ()

    def decided(self, proposal, ruling, now):
        return self._note("decided", type(proposal.action).__name__, ruling.refused)

    def learn(self, proposal, outcome, now):
        return self._note("learn", type(proposal.action).__name__, outcome)

    def returned(self, errand_id, answer, now):
        return self._note("returned", errand_id, answer)

    def due(self):
        return self.when

    def on_time(self, now):
        return self._note("on_time", now.monotonic)

    def fence(self, now):
        return self._note("fence")

    def stop_turn(self, now):
        return self._note("stop_turn")

    def forget(self, avatar_id, now):
        return self._note("forget", avatar_id)

    def kinds(self):
        return [each[0] for each in self.log]


def wish(action, ordinal=0):
    """Build a wish of the owner's, heard in public."""
    return Proposal(
        action=action, principal=Principal(avatar_id=OWNER), origin=Origin.PUBLIC_CHAT, cause="u1", ordinal=ordinal
    )


def errand(name="e1"):
    """Build an errand."""
    return Errand(errand_id=name, what="?", timeout_s=5.0)


class Bench:
    """A core in the world."""

    def __init__(self, gateway, mind):
        self.mind, self.seen = mind, []
        self.core = SessionCore(
            settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
            gateway=gateway,
            mind=mind,
            rng=Random(1),
            observe=self.seen.append,
        )
        self.at(100.0)
        self.core.begin()
        self.core.on_event(1, ready_event())
        self.core.take_effects()

    def at(self, time):
        self.core.at(Instant(wall=1e9 + time, monotonic=time))

    def hear(self, text="hi"):
        source = Speaker(kind=SpeakerKind.AVATAR, id=OWNER)
        self.core.on_event(1, ChatHeard(utterance_id="u1", source=source, text=text))

    def effects(self, kind):
        return [effect for effect in self.core.take_effects() if isinstance(effect, kind)]

    def bodies(self, kind):
        return [o.body for o in self.seen if isinstance(o.body, kind)]


@pytest.fixture
def bench(stage):
    """Build a bench; the gateway comes from the stage, which needs a trio run for its ports."""

    def build(section=None, **thoughts):
        async def make():
            return stage(section=section)

        return Bench(trio.run(make).gateway, Noting(**thoughts))

    return build


def test_thoughts_are_carried_out_in_order_and_their_consequences_behind_them(bench):
    """Spec: MND-14 — what a ruling leads to waits for the thoughts that were there first."""
    first, second = TurnStarted(correlation="c", mode="addressed"), Diagnostic(code="x")
    b = bench(
        hear=(Attention(utterance_id="u1", answers=True, code="addressed"), first, wish(Say(text="a")), second),
        decided=[(Diagnostic(code="after"),)],
    )
    b.hear()
    kinds = [type(o.body).__name__ for o in b.seen][-5:]
    assert kinds == ["AttentionDecided", "TurnStarted", "ActionDecided", "Diagnostic", "Diagnostic"]
    assert [each.code for each in b.bodies(Diagnostic)] == ["x", "after"]
    assert b.bodies(AttentionDecided)[0].code == "addressed"


def test_each_proposal_gets_one_ruling_and_what_was_let_through_one_end(bench):
    """Spec: MND-7, MND-18 — a denial is told as a value; a yes is told before its end, and holds no handle."""
    b = bench(hear=(wish(Say(text="a")), wish(PayAvatar(to=OWNER, amount=5000), 1)))
    b.hear()
    assert b.mind.kinds() == ["hear", "decided", "decided"]
    assert b.mind.log[1] == ("decided", "Say", None)
    assert isinstance(b.mind.log[2][2], Denied)
    (perform,) = b.effects(Perform)
    done = Confirmed(evidence=perform.authorized.action.spec.evidence)
    b.core.on_action_ended(1, perform.authorized.effect, done)
    b.core.on_action_ended(1, perform.authorized.effect, done)
    assert b.mind.log[3:] == [("learn", "Say", done)]


def test_a_dry_run_ends_what_it_let_through(bench):
    """Spec: POL-11 — the mind is told that nothing was done, so that it waits for no evidence."""
    b = bench(section={"dry_run": True}, hear=(wish(Say(text="a")),))
    b.hear()
    assert b.mind.log[1:] == [("decided", "Say", None), ("learn", "Say", Refused(reason="dry_run"))]


def test_an_errand_comes_back_once(bench):
    """Spec: BND-4 — its answer is given once; a second, or one of an unknown number, reaches nobody."""
    b = bench(hear=(errand(),))
    b.hear()
    (run,) = b.effects(RunErrand)
    assert (run.errand.errand_id, run.generation.number) == ("e1", 1)
    for _ in range(2):
        b.core.host.returned(1, run.number, "found")
    b.core.host.returned(1, 77, "found")
    assert b.mind.log[1:] == [("returned", "e1", "found")]


def test_an_errand_that_was_given_up_comes_back_never(bench):
    """Spec: MND-11 — the shell is told to cancel it, and what still comes is dropped; the name is free again."""
    b = bench(hear=[(errand(), GiveUp("e1"), GiveUp("e1")), (errand(),)])
    b.hear()
    run, cancel = b.core.take_effects()
    assert cancel == CancelErrand(number=run.number)
    b.hear()
    (again,) = b.effects(RunErrand)
    b.core.host.returned(1, run.number, "late")
    b.core.host.returned(1, again.number, "found")
    assert b.mind.log[2:] == [("returned", "e1", "found")]


def test_an_errand_of_an_ended_generation_is_fenced(bench):
    """Spec: SUP-5 — the mind is told once that all is over; the late answer is counted and reaches no mind."""
    b = bench(hear=(errand(),))
    b.hear()
    (run,) = b.effects(RunErrand)
    carry_out(b.core, Pause())
    b.core.host.returned(1, run.number, "late")
    assert b.mind.kinds() == ["hear", "fence"]
    assert [each.what for each in b.bodies(WorkFenced)] == ["errand"]
    assert b.core.link.state is LinkState.PAUSED


def test_no_errand_goes_out_twice_under_one_name_nor_without_a_connection(bench):
    """An errand that cannot be sent comes back at once, so that nobody waits for it."""
    b = bench(hear=(errand(), errand()), fence=(errand("e2"),))
    b.hear()
    assert len(b.effects(RunErrand)) == 1
    assert b.mind.log[1:] == [("returned", "e1", ErrandFailed(code="busy"))]
    carry_out(b.core, Pause())
    assert b.mind.log[-1] == ("returned", "e2", ErrandFailed(code="refused"))
    assert b.effects(RunErrand) == []


def test_a_mind_has_only_so_many_errands(bench):
    """Spec: BND-4 — one more than the bound comes back as busy."""
    b = bench(hear=tuple(errand(f"e{number}") for number in range(ERRANDS_MAX + 1)))
    b.hear()
    assert len(b.effects(RunErrand)) == ERRANDS_MAX
    assert b.mind.log[1:] == [("returned", f"e{ERRANDS_MAX}", ErrandFailed(code="busy"))]


def test_a_mind_that_never_ends_is_cut_off(bench):
    """However a mind answers, one input leads to a bounded number of thoughts, and the operator is told."""
    b = bench(hear=(wish(Say(text="a")),), decided=(wish(Say(text="a")), Diagnostic(code="x")))
    b.hear()
    assert len(b.bodies(Diagnostic)) <= THOUGHTS_MAX
    assert b.bodies(Diagnostic)[-1].code == "x"
    assert "mind_overran" in {each.code for each in b.bodies(Diagnostic)}
    b.mind.thoughts = {}
    b.hear()
    assert b.mind.kinds()[-1] == "hear"


def test_what_is_due_is_part_of_the_sessions_timer(bench):
    """Spec: PRS-3 — the mind is called when it asked to be, and not before."""
    b = bench(on_time=(Diagnostic(code="due"),))
    b.mind.when = 103.0
    assert b.core.timer() == 103.0
    b.core.on_timer()
    assert b.mind.log == []
    b.at(103.0)
    b.core.on_timer()
    assert b.mind.log == [("on_time", 103.0)]
    assert b.bodies(Diagnostic)[-1].code == "due"


@pytest.mark.parametrize(
    ("control", "told"),
    [
        (StopTurn(), ["stop_turn"]),
        (Hold(), ["stop_turn"]),
        (Pause(), ["fence"]),
        (ForgetAvatar(avatar_id=OWNER), ["forget"]),
    ],
)
def test_each_control_that_ends_thinking_reaches_the_mind(bench, control, told):
    """Spec: SUP-8 — stop-turn, hold, pause and forget are told before anything else of them happens."""
    b = bench()
    assert carry_out(b.core, control).accepted
    assert b.mind.kinds() == told
    assert b.core.where.held is isinstance(control, Hold)


async def test_a_session_answers_errands_and_cancels_them_with_the_connection(stage, autojump_clock):
    """Spec: BND-4, SUP-3 — through the shell: an answer comes back to the mind; at the end no errand is left."""
    gone = []

    class Slow:
        async def perform(self, what, backend):
            try:
                await trio.sleep(what)
            finally:
                gone.append(what)
            return backend

    class Asking(Noting):
        def hear(self, event, around, now):
            if isinstance(event, AlertShown):
                return tuple(Errand(errand_id=f"e{what}", what=what, timeout_s=90) for what in (1, 2, 3600))
            return ()

    mind = Asking()
    s = stage(mind=mind, errands_max=2)
    s.session._errands._faculties = Slow()
    async with s.running():
        await s.handle.wait_link(LinkState.ONLINE)
        await s.puppet.now.push(AlertShown(text="go"))
        await trio.sleep(10)
        assert [(each[1], each[2]) for each in mind.log] == [("e1", s.puppet.now), ("e2", s.puppet.now)]
    assert sorted(gone) == [1, 2, 3600]
    assert mind.kinds() == ["returned", "returned", "fence"]
