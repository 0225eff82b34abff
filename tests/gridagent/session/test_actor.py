"""Claims about the session actor, over a puppet backend."""

from contextlib import suppress

import pytest
import trio
import trio.lowlevel
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Confirmed, InDoubt, PayAvatar, Position, Refused, Say, StopMoving, WalkTo
from gridagent.controls import (
    Connect,
    ControlReply,
    Disconnect,
    ForceReconnect,
    ForgetAvatar,
    Hold,
    Pause,
    RequestAction,
    Resume,
    SayAsOperator,
    StopTurn,
)
from gridagent.errors import BackendError, ResourceClosed
from gridagent.events import AlertShown, DisconnectCause
from gridagent.mind import QuietMind
from gridagent.observations import (
    ActionSettled,
    AgentState,
    ControlAnswered,
    EventSeen,
    GenerationClosed,
    LinkState,
    WorkFenced,
)
from gridagent.runtime.cancel_points import CancelPoint, cancel_at_every_checkpoint
from gridagent.runtime.deterministic import ScheduleTrace, schedule_seed
from gridagent.session import OnBackendFailure
from gridagent.session.actor import ControlMail
from gridagent.session.hosting import MindHost

PAY = PayAvatar(to="00000000-0000-4000-8000-0000000000aa", amount=5)
WALK = WalkTo(position=Position(x=1, y=1))


async def forever(action):
    """Never get evidence."""
    await trio.sleep_forever()


async def test_it_comes_up_speaks_and_stops(stage, autojump_clock):
    """Spec: SUP-1, SUP-9 — starting, running, stopped; one logout; speech is confirmed by evidence."""
    s = stage()
    async with s.running():
        assert await s.handle.wait_agent(AgentState.RUNNING) is AgentState.RUNNING
        reply = await s.handle.control(SayAsOperator(text="hello"))
        assert reply.code == "authorized"
        await trio.testing.wait_all_tasks_blocked()
        assert s.puppet.now.applied[0] == Say(text="hello")
        await s.handle.shut_down()
    assert s.handle.status().agent is AgentState.STOPPED
    assert s.puppet.now.logouts == 1
    (settled,) = s.bodies(ActionSettled)
    assert isinstance(settled.outcome, Confirmed)
    assert [o.seq for o in s.seen] == list(range(1, len(s.seen) + 1))
    assert not s.errors


async def test_after_the_end_controls_are_refused_and_status_still_answers(stage, autojump_clock):
    """Spec: BND-2 — the control queue is closed after stop; status works in every state."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.shut_down()
        await s.handle.shut_down()
        with pytest.raises(ResourceClosed):
            await s.handle.control(Hold())
    status = s.handle.status()
    assert (status.agent, status.link, status.generation) == (AgentState.STOPPED, LinkState.STOPPED, 1)
    with pytest.raises(ResourceClosed):
        s.handle.observe()


async def test_closing_the_handle_is_the_same_end(stage, autojump_clock):
    """Spec: SUP-2 — closing stops in order, and closing twice is closing once."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        s.handle.close()
        s.handle.close()
        await s.session.stopped.wait()
    assert s.puppet.now.logouts == 1
    assert s.core.agent is AgentState.STOPPED


async def test_a_backend_failure_offline_is_a_failed_agent(stage, autojump_clock):
    """Spec: SUP-1, SUP-10 — observers see the code; the grid's text goes to the log only."""
    s = stage(on_backend_failure=OnBackendFailure.FAIL)
    s.puppet.detail = "secret words of the grid"
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        s.puppet.now.end(DisconnectCause.CIRCUIT_LOST)
        assert await s.handle.wait_agent(AgentState.FAILED) is AgentState.FAILED
        await s.session.stopped.wait()
    assert s.handle.status().last_error == "circuit_lost"
    assert "secret words" not in repr(s.seen)
    assert [error.detail for code, error in s.errors if code == "backend_ended"] == ["secret words of the grid"]
    assert s.puppet.now.logouts == 1


async def test_a_crash_of_the_backend_is_a_fault_of_its_generation(stage, autojump_clock):
    """Spec: SUP-7 — whatever a backend raises ends its generation, and the next one starts."""
    s = stage()
    async with s.running():
        for error in (OSError("wire"), BackendError("no such cause")):
            await s.handle.wait_link(LinkState.ONLINE)
            s.puppet.now.crash(error)
            await s.handle.wait_link(LinkState.BACKOFF)
        await s.handle.wait_link(LinkState.ONLINE)
    causes = [closed.cause for closed in s.bodies(GenerationClosed)]
    assert causes[:2] == [DisconnectCause.BACKEND_FAULT] * 2
    assert [code for code, _ in s.errors] == ["backend_fault", "backend_ended"]


async def test_an_end_of_its_own_will_is_no_error_in_the_log(stage, autojump_clock):
    """Spec: SUP-6 — a backend that ends to go back to its region connects again, and nobody is alarmed."""
    s = stage()
    async with s.running():
        await s.handle.wait_link(LinkState.ONLINE)
        s.puppet.now.end(DisconnectCause.REQUESTED)
        await s.handle.wait_link(LinkState.BACKOFF)
        await s.handle.wait_link(LinkState.ONLINE)
    assert [closed.cause for closed in s.bodies(GenerationClosed)][:1] == [DisconnectCause.REQUESTED]
    assert s.errors == []


async def test_reconnecting_logs_out_once_a_generation(stage, autojump_clock):
    """Spec: SUP-5, SUP-9 — each connection has its own number and exactly one logout."""
    s = stage()
    async with s.running():
        for number in range(1, 5):
            await s.handle.wait_link(LinkState.ONLINE)
            assert s.core.generation == number
            assert (await s.handle.control(ForceReconnect())).accepted
            await s.handle.wait_link(LinkState.CONNECTING)
        await s.handle.wait_link(LinkState.ONLINE)
    assert [backend.logouts for backend in s.puppet.backends] == [1] * 5
    assert [closed.logged_out for closed in s.bodies(GenerationClosed)] == [True] * 5


async def test_a_login_that_never_happened_is_not_logged_out(stage, autojump_clock):
    """Spec: SUP-9 — exactly one logout a logged-in generation, none for a refused login."""
    s = stage()
    s.puppet.refuse_login = DisconnectCause.BAD_CREDENTIALS
    async with s.running():
        assert await s.handle.wait_link(LinkState.AUTHENTICATION_BLOCKED) is LinkState.AUTHENTICATION_BLOCKED
        await trio.sleep(80_000)
        assert len(s.puppet.backends) == 1
        s.puppet.refuse_login = None
        assert (await s.handle.control(Connect())).accepted
        await s.handle.wait_link(LinkState.ONLINE)
    assert [backend.logouts for backend in s.puppet.backends] == [0, 1]


async def test_a_logout_that_hangs_is_bounded(stage, autojump_clock):
    """Spec: SUP-9, SUP-3 — leaving takes at most the logout time-out, and says so in the log."""
    s = stage(logout_timeout_s=2.0)
    s.puppet.logout_takes_s = 1e6
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        began = trio.current_time()
        await s.handle.shut_down()
        assert trio.current_time() - began == pytest.approx(2.0)
    assert [code for code, _ in s.errors] == ["logout_timed_out"]


async def test_a_logout_that_fails_changes_nothing(stage, autojump_clock):
    """Whatever the grid answers to a goodbye, the avatar leaves."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)

        async def broken():
            raise OSError("gone")

        s.puppet.now.logout = broken
        await s.handle.shut_down()
    assert [code for code, _ in s.errors] == ["logout_failed"]
    assert s.core.agent is AgentState.STOPPED


async def test_pause_leaves_the_world_until_resume(stage, autojump_clock):
    """Spec: SUP-8 — paused, the generation is over and logged out; resumed, the next one begins."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(Pause())
        await trio.sleep(1000)
        assert len(s.puppet.backends) == 1
        assert s.handle.status().link is LinkState.PAUSED
        assert s.handle.status().near == 0
        await s.handle.control(Resume())
        await s.handle.wait_link(LinkState.ONLINE)
        assert s.core.generation == 2
        await s.handle.control(Disconnect())
        await trio.sleep(1000)
        assert s.handle.status().link is LinkState.STOPPED
    assert [backend.logouts for backend in s.puppet.backends] == [1, 1]


async def test_a_result_that_comes_after_its_generation_is_fenced(stage, autojump_clock):
    """Spec: SUP-5, EFX-2 — an action cut off by a reconnect is in doubt in the ledger and told to nobody else."""
    s = stage()
    s.puppet.applier = forever
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(RequestAction(action=PAY))
        await trio.testing.wait_all_tasks_blocked()
        assert s.handle.status().workers == 1
        await s.handle.control(ForceReconnect())
        await trio.sleep(10)
        assert s.gateway.status().in_doubt
        assert s.bodies(ActionSettled) == []
        assert [f.what for f in s.bodies(WorkFenced)] == ["result"]
        assert s.handle.status().fenced == 1


async def test_an_authorisation_that_was_never_sent_is_refused_not_in_doubt(stage, autojump_clock):
    """Fault: 28 — cancelled between authorise and send, the token is dead and nothing is in doubt."""
    s = stage(workers_max=1)
    s.puppet.applier = forever
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(SayAsOperator(text="first"))
        await s.handle.control(SayAsOperator(text="second"))
        await trio.testing.wait_all_tasks_blocked()
        assert len(s.puppet.now.applied) == 1
        await s.handle.control(ForceReconnect())
        await trio.sleep(10)
    settled = [row.code for row in s.audit if row.kind == "settlement"]
    assert sorted(settled) == ["in_doubt", "refused"]


async def test_workers_are_bounded_and_the_rest_waits_in_order(stage, autojump_clock):
    """Spec: BND-4 — at most workers_max actions at once; further ones wait and none is lost."""
    running = 0
    most = 0

    async def slow(action):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await trio.sleep(1)
        running -= 1
        return Confirmed(evidence=action.spec.evidence)

    s = stage(workers_max=2)
    s.puppet.applier = slow
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        for number in range(7):
            await s.handle.control(SayAsOperator(text=f"{number}"))
        await trio.sleep(20)
        assert [action.text for action in s.puppet.now.applied] == [str(n) for n in range(7)]
    assert most == 2
    assert len(s.bodies(ActionSettled)) == 7


async def test_a_walk_is_preempted_by_stop(stage, autojump_clock):
    """Spec: LIV-7 — the walk ends as refused(preempted), and the stop is performed."""

    async def walk_forever(action):
        if isinstance(action, WalkTo):
            await trio.sleep_forever()
        return Confirmed(evidence=action.spec.evidence)

    s = stage()
    s.puppet.applier = walk_forever
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(RequestAction(action=WALK))
        await trio.testing.wait_all_tasks_blocked()
        await s.handle.control(RequestAction(action=StopMoving()))
        await trio.sleep(1)
    outcomes = {settled.action: settled.outcome for settled in s.bodies(ActionSettled)}
    assert outcomes["walk_to"] == Refused(reason="preempted")
    assert isinstance(outcomes["stop_moving"], Confirmed)


async def test_stop_turn_ends_what_runs_and_what_waits(stage, autojump_clock):
    """Spec: SUP-8 — what was sent is in doubt, what was not is refused, and the body is halted."""
    s = stage(workers_max=1)
    s.puppet.applier = forever
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(SayAsOperator(text="sent"))
        await trio.testing.wait_all_tasks_blocked()
        await s.handle.control(SayAsOperator(text="waits"))
        await trio.testing.wait_all_tasks_blocked()
        await s.handle.control(StopTurn())
        await trio.sleep(1)
        assert s.puppet.now.halts == 1
    outcomes = [settled.outcome for settled in s.bodies(ActionSettled)]
    assert sorted(outcomes, key=str) == [InDoubt(reason="stopped"), Refused(reason="stopped")]


async def test_hold_halts_the_body(stage, autojump_clock):
    """Spec: POL-12 — the kill switch reaches the backend at once, and works without a connection too."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(Hold())
        assert s.puppet.now.halts == 1
        await s.handle.control(Disconnect())
        assert (await s.handle.control(Hold())).accepted


async def test_a_backend_that_breaks_while_acting_leaves_doubt_not_a_crash(stage, autojump_clock):
    """Spec: EFX-1 — after the handle was redeemed a fault means in doubt; before, refused."""

    async def broken(action):
        raise OSError("wire fell out")

    s = stage()
    s.puppet.applier = broken
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.handle.control(SayAsOperator(text="hello"))
        await trio.sleep(1)
        backend = s.puppet.now

        async def broken_before(authorized):
            raise OSError("wire fell out")

        backend.apply = broken_before
        await s.handle.control(SayAsOperator(text="again"))
        await trio.sleep(1)
    assert [settled.outcome for settled in s.bodies(ActionSettled)] == [
        InDoubt(reason="backend_fault"),
        Refused(reason="backend_fault"),
    ]
    assert [code for code, _ in s.errors] == ["apply_failed", "apply_failed"]


async def test_a_backend_that_redeems_twice_is_refused(stage, autojump_clock):
    """Fault: 27 — the second use of a handle is an error at the backend, and the effect is settled once."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        backend = s.puppet.now
        once = backend.apply

        async def twice(authorized):
            await once(authorized)
            return await once(authorized)

        backend.apply = twice
        await s.handle.control(SayAsOperator(text="hello"))
        await trio.sleep(1)
    assert len(backend.applied) == 1
    assert [settled.outcome for settled in s.bodies(ActionSettled)] == [Refused(reason="replayed")]


async def test_the_grid_waits_when_the_session_is_full(stage, autojump_clock):
    """Spec: BND-1 — with a queue of four, every one of a thousand events arrives, in order."""
    s = stage(grid_events_max=4)
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        await s.puppet.now.push(*(AlertShown(text=str(n)) for n in range(1000)))
        await trio.testing.wait_all_tasks_blocked()
        queue = next(q for q in s.handle.status().queues if "grid_events" in q.name)
        assert queue.peak <= 4
    texts = [seen.event.text for seen in s.bodies(EventSeen) if isinstance(seen.event, AlertShown)]
    assert texts == [str(n) for n in range(1000)]


async def test_controls_come_before_events(stage, autojump_clock):
    """Spec: BND-2 — a control overtakes every event that waits."""
    s = stage(grid_events_max=64)
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        for n in range(50):
            s.puppet.now.sink._lane.send_nowait(s.puppet.now.sink._admit(AlertShown(text=str(n))))
        await s.handle.control(Hold())
        await trio.testing.wait_all_tasks_blocked()
    kinds = [type(o.body) for o in s.seen]
    alerts = [i for i, o in enumerate(s.seen) if isinstance(o.body, EventSeen) and isinstance(o.body.event, AlertShown)]
    assert kinds.index(ControlAnswered) < alerts[0]


async def test_cancelling_from_outside_is_the_same_end(stage, autojump_clock):
    """Spec: SUP-2, SUP-9 — cancelled, it fences, logs out once, settles every effect, and then lets go."""
    s = stage()
    s.puppet.applier = forever
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.session.run)
            await s.handle.wait_agent(AgentState.RUNNING)
            await s.handle.control(RequestAction(action=PAY))
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
    assert s.session.stopped.is_set()
    assert s.core.agent is AgentState.STOPPED
    assert s.puppet.now.logouts == 1
    assert not s.puppet.now.running
    assert len(s.gateway.status().in_doubt) == 1
    assert s.core.inflight == {}


def raising(error):
    """Return what raises, whatever it is given."""

    def broken(*_):
        raise error

    return broken


async def test_a_fault_of_our_own_is_a_failed_agent_and_still_logs_out(stage, autojump_clock):
    """Spec: SUP-1 — a session that breaks its word ends the agent as failed, never as a hang or a detached task."""
    s = stage()
    s.core.on_event = raising(RuntimeError("a bug"))
    with pytest.raises(ExceptionGroup) as caught:
        await s.session.run()
    assert caught.group_contains(RuntimeError, match="a bug")
    assert s.core.agent is AgentState.FAILED
    assert s.puppet.now.logouts == 1
    assert s.session.stopped.is_set()


async def test_a_control_whose_sender_went_away_is_still_carried_out(stage, autojump_clock):
    """Cancelling the wait for a reply does not take the control back."""
    s = stage()
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.handle.control, Pause())
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert s.core.agent is AgentState.PAUSED


async def test_what_waits_when_it_is_cancelled_is_settled_and_answered(stage, autojump_clock):
    """Spec: SUP-2 — a control, an event and an authorised action that nobody came to are not left open."""
    s = stage(workers_max=1)
    s.puppet.applier = forever
    replies = []

    async def ask():
        replies.append(await s.handle.control(Hold()))

    async with trio.open_nursery() as outer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.session.run)
            await s.handle.wait_agent(AgentState.RUNNING)
            for text in ("works", "waits"):
                await s.handle.control(SayAsOperator(text=text))
            await trio.testing.wait_all_tasks_blocked()
            outer.start_soon(ask)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
            late = ControlMail(Hold())
            s.session._controls.send_nowait(late)
        late.answer(ControlReply(accepted=True, code="second"))
    assert (await late.reply()).code == "stopped"
    assert sorted(row.code for row in s.audit if row.kind == "settlement") == ["in_doubt", "refused"]
    assert s.core.agent is AgentState.STOPPED


async def test_a_fault_while_something_is_wanted_performs_nothing_more(stage, autojump_clock):
    """Spec: SUP-1 — an action authorised in the very batch that broke is refused, not begun."""
    s = stage()
    with pytest.raises(ExceptionGroup):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.session.run)
            await s.handle.wait_agent(AgentState.RUNNING)
            await trio.testing.wait_all_tasks_blocked()
            s.core.on_event = raising(ValueError("a bug"))
            s.session._controls.send_nowait(ControlMail(SayAsOperator(text="never said")))
            s.puppet.now.sink._lane.send_nowait(s.puppet.now.sink._admit(AlertShown(text="x")))
    assert len(s.puppet.now.applied) == 0
    assert [row.code for row in s.audit if row.kind == "settlement"] == ["refused"]
    assert s.core.agent is AgentState.FAILED


@pytest.mark.parametrize("broken", ["event", "control"])
async def test_whoever_shares_a_batch_with_a_fault_is_answered(stage, autojump_clock, monkeypatch, broken):
    """Spec: SUP-8, SUP-1 — every control gets one reply, also when another item of its batch, or itself, breaks."""
    s = stage()
    mails = [ControlMail(Hold()) for _ in range(3)]
    with pytest.raises(ExceptionGroup):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.session.run)
            await s.handle.wait_agent(AgentState.RUNNING)
            await trio.testing.wait_all_tasks_blocked()
            s.core.on_event = raising(ValueError("a bug"))
            monkeypatch.setattr(MindHost, "forget", raising(ValueError("a bug")))
            if broken == "control":
                mails[1] = ControlMail(ForgetAvatar(avatar_id="00000000-0000-4000-8000-0000000000aa"))
            else:
                s.puppet.now.sink._lane.send_nowait(s.puppet.now.sink._admit(AlertShown(text="x")))
            for mail in mails:
                s.session._controls.send_nowait(mail)
    with trio.fail_after(1):
        codes = [(await mail.reply()).code for mail in mails]
    assert codes == (["ok", "stopped", "stopped"] if broken == "control" else ["ok"] * 3)
    assert s.core.agent is AgentState.FAILED


async def test_controls_that_wait_at_the_end_are_answered(stage, autojump_clock):
    """Spec: BND-2 — nobody who sent a control waits for ever: the rest is answered with stopped."""
    s = stage()
    replies = []

    async def ask():
        try:
            replies.append((await s.handle.control(Hold())).code)
        except ResourceClosed:
            replies.append("closed")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(s.session.run)
        await s.handle.wait_agent(AgentState.RUNNING)
        for _ in range(20):
            nursery.start_soon(ask)
        s.handle.close()
    assert len(replies) == 20
    assert set(replies) <= {"ok", "stopped", "stopping", "closed"}


def test_a_shutdown_cancelled_anywhere_can_be_called_again(stage):
    """Spec: SUP-3 — cancelled at each of its checkpoints in turn, it still ends, leaves no task, logs out once."""

    async def scenario(point: CancelPoint):
        s = stage()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(s.session.run)
            await s.handle.wait_agent(AgentState.RUNNING)
            await point.guard(s.handle.shut_down)
            with trio.fail_after(60):
                await s.handle.shut_down()
        assert s.core.agent is AgentState.STOPPED
        assert s.puppet.now.logouts == 1
        assert not s.puppet.now.running

    assert cancel_at_every_checkpoint(scenario) >= 3


async def _steer(s, state):
    """Bring a running stage into a state, then close it."""
    with suppress(ResourceClosed):
        if state not in {"begun", "blocked"}:
            await s.handle.wait_link(LinkState.ONLINE)
        if state == "acting":
            await s.handle.control(RequestAction(action=PAY))
        elif state == "backoff":
            s.puppet.now.end(DisconnectCause.CIRCUIT_LOST)
        elif state in {"paused", "disconnected"}:
            await s.handle.control(Pause() if state == "paused" else Disconnect())
        await trio.sleep(0.5)
        s.handle.close()


@pytest.mark.parametrize("state", ["begun", "online", "acting", "backoff", "blocked", "paused", "disconnected"])
def test_a_run_cancelled_anywhere_leaves_nothing(stage, state):
    """Spec: SUP-2, SUP-3 — from every state, at every checkpoint: no task left, one logout a logged-in generation."""

    async def scenario(point: CancelPoint):
        s = stage()
        s.puppet.become_ready = state != "begun"
        s.puppet.applier = forever
        if state == "blocked":
            s.puppet.refuse_login = DisconnectCause.BANNED

        async def life():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_steer, s, state)
                await s.session.run()
                nursery.cancel_scope.cancel()

        await point.guard(life)
        begun = bool(s.puppet.backends)
        assert s.session.stopped.is_set() is begun
        assert s.core.over is begun
        for backend in s.puppet.backends:
            assert not backend.running
            assert backend.logouts == int(backend.logged_in)
        assert s.core.inflight == {}
        assert all(row.code != "sent" for row in s.audit)

    assert cancel_at_every_checkpoint(scenario) >= 2


OPERATIONS = st.lists(
    st.sampled_from(["event", "say", "reconnect", "lose", "pause", "resume", "connect", "wait", "hold", "kick"]),
    max_size=14,
)


class GenerationOracle:
    """Judges from outside: nothing of a generation is seen after the next one opened."""

    def __init__(self, stage_):
        self.stage = stage_
        self.highest = 0

    def judge(self):
        for observation in self.stage.seen:
            body = observation.body
            assert observation.generation >= self.highest
            self.highest = observation.generation
            if isinstance(body, EventSeen) and isinstance(body.event, AlertShown):
                assert body.event.text == str(observation.generation), "an old generation's event was observed"
        decided = {row.effect: row.generation for row in self.stage.audit if row.code == "authorized"}
        for backend in self.stage.puppet.backends:
            assert backend.logouts == int(backend.logged_in)
            for effect in backend.effects:
                assert decided[effect] == backend.generation, "an old generation's action was applied"


SCHEDULES: set[str] = set()


@given(operations=OPERATIONS, seed=st.integers(0, 2**32))
def test_nothing_of_an_old_generation_is_observed_or_applied(stage, operations, seed):
    """Spec: SUP-5 — over operation lists and schedules: each example seeds trio's scheduler with its own draw."""
    trace = ScheduleTrace()

    async def main():
        s = stage(seed=seed)

        async def slow(action):
            await trio.sleep(0.3)
            return Confirmed(evidence=action.spec.evidence)

        s.puppet.applier = slow

        async def push_late():
            """Keep talking for every backend, also for those that are over."""
            while True:
                for backend in tuple(s.puppet.backends):
                    if backend.running:
                        with suppress(ResourceClosed):
                            await backend.push(AlertShown(text=str(backend.generation)))
                await trio.sleep(0.05)

        async with s.running(), trio.open_nursery() as nursery:
            nursery.start_soon(push_late)
            for operation in operations:
                await perform(s, operation)
            nursery.cancel_scope.cancel()
        GenerationOracle(s).judge()
        assert s.core.agent is AgentState.STOPPED
        assert s.core.inflight == {}

    with schedule_seed(seed):
        trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[trace])
    SCHEDULES.add(trace.digest)


async def perform(s, operation):
    """Do one operation to a running stage."""
    simple = {"reconnect": ForceReconnect(), "pause": Pause(), "resume": Resume(), "connect": Connect(), "hold": Hold()}
    if operation in simple:
        await s.handle.control(simple[operation])
    elif operation == "say":
        await s.handle.control(SayAsOperator(text=str(s.core.generation)))
    elif operation == "wait":
        await trio.sleep(0.7)
    elif operation == "event":
        await trio.sleep(0.01)
    elif s.puppet.backends:
        s.puppet.now.end(DisconnectCause.CIRCUIT_LOST if operation == "lose" else DisconnectCause.ALREADY_LOGGED_IN)


def test_many_schedules_were_explored():
    """The property above means something only if the examples ran in many orders (it runs before this one)."""
    assert len(SCHEDULES) >= 20


async def test_a_mind_that_breaks_is_heard_of_in_the_log_and_the_session_goes_on(stage, autojump_clock):
    """Spec: SUP-7 — the whole error goes to the log at once, also where the mind breaks when asked for its time."""

    class Fragile(QuietMind):
        broken = frozenset()

        def hear(self, event, around, now):
            if "hear" in self.broken and isinstance(event, AlertShown):
                raise LookupError("a bug")
            return ()

        def due(self):
            if "due" in self.broken:
                self.broken = frozenset()
                raise LookupError("another")

    mind = Fragile()
    s = stage(mind=mind)
    async with s.running():
        await s.handle.wait_agent(AgentState.RUNNING)
        mind.broken = {"hear", "due"}
        await s.puppet.now.sink.send(AlertShown(text="x"))
        await trio.testing.wait_all_tasks_blocked()
        assert [(code, error.args) for code, error in s.errors] == [
            ("mind_failed", ("a bug",)),
            ("mind_failed", ("another",)),
        ]
        assert (await s.handle.control(SayAsOperator(text="still here"))).accepted
    assert s.core.agent is AgentState.STOPPED


async def test_what_broke_in_the_last_batch_is_in_the_log_too(stage, autojump_clock):
    """Spec: SUP-7, SUP-10 — a mind that breaks while its session ends is reported before the end."""

    class Fragile(QuietMind):
        def fence(self, now):
            raise LookupError("a bug")

    s = stage(mind=Fragile())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(s.session.run)
        await s.handle.wait_agent(AgentState.RUNNING)
        nursery.cancel_scope.cancel()
    assert [code for code, _ in s.errors] == ["mind_failed"]
    assert s.core.agent is AgentState.STOPPED
