"""Claims about what each control does, in each state."""

from random import Random

import msgspec
import pytest
import trio

from gridagent.actions import Confirmed, InDoubt, PayAvatar, Position, Refused, Say, SettledBy, WalkTo
from gridagent.authority import Origin, Principal
from gridagent.config.policy import RolesSection
from gridagent.controls import (
    CONTROLS,
    AnswerApproval,
    Connect,
    Disconnect,
    ForceReconnect,
    ForgetAvatar,
    GiveGrant,
    Hold,
    Pause,
    Release,
    ReloadConfig,
    RequestAction,
    Resume,
    RevokeGrant,
    SayAsOperator,
    SettleEffect,
    ShutDown,
    StopTurn,
)
from gridagent.events import ChatHeard, DisconnectCause, Speaker, SpeakerKind
from gridagent.grid.puppet import ready_event
from gridagent.mind import Proposal, QuietMind
from gridagent.observations import AgentState, ApprovalClosed, ControlAnswered, DoubtSettled, HoldChanged, LinkState
from gridagent.policy import Instant, Policy
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelWork, Halt, OpenConnection, Perform
from gridagent.session.orders import ORDERS, Reloaded, carry_out
from gridagent.session.settings import OnBackendFailure, SessionSettings

OWNER = "00000000-0000-4000-8000-0000000000aa"
STATES = ("begun", "online", "backoff", "blocked", "disconnected", "paused", "stopping", "stopped", "failed")


class PayingMind(QuietMind):
    """Wants to pay its owner whenever somebody speaks; notes what it is told to forget."""

    def __init__(self):
        self.forgotten = []

    def hear(self, event, around, now):
        if not isinstance(event, ChatHeard):
            return ()
        return [
            Proposal(
                action=PayAvatar(to=OWNER, amount=5),
                principal=Principal(avatar_id=OWNER),
                origin=Origin.PUBLIC_CHAT,
                cause=event.utterance_id,
                target_provenance="authorised_words",
            )
        ]

    def forget(self, avatar_id, now):
        self.forgotten.append(avatar_id)
        return ()


class Bench:
    """A core in a named state, and what it told."""

    def __init__(self, gateway, state):
        self.seen = []
        self.mind = PayingMind()
        self.core = core = SessionCore(
            settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
            gateway=gateway,
            mind=self.mind,
            rng=Random(1),
            observe=self.seen.append,
        )
        core.at(Instant(wall=1e9, monotonic=100.0))
        core.begin()
        if state != "begun":
            core.on_event(1, ready_event())
        if state in {"backoff", "blocked"}:
            cause = DisconnectCause.CIRCUIT_LOST if state == "backoff" else DisconnectCause.BANNED
            core.on_connection_ended(1, cause=cause, logged_out=True)
        if state in {"disconnected", "paused", "stopped"}:
            order = {"disconnected": Disconnect(), "paused": Pause(), "stopped": ShutDown()}[state]
            assert carry_out(core, order).accepted
            core.on_connection_ended(1, cause=DisconnectCause.REQUESTED, logged_out=True)
        if state == "stopping":
            core.stop("test")
        if state == "failed":
            core.fail("test")
        core.take_effects()

    def order(self, control, **more):
        return carry_out(self.core, control, **more)

    def effects(self, kind):
        return [effect for effect in self.core.take_effects() if isinstance(effect, kind)]

    def bodies(self, kind):
        return [o.body for o in self.seen if isinstance(o.body, kind)]

    def hear(self, utterance_id="u1"):
        source = Speaker(kind=SpeakerKind.AVATAR, id=OWNER)
        self.core.on_event(1, ChatHeard(utterance_id=utterance_id, source=source, text="pay me"))


@pytest.fixture
def bench(stage):
    """Build a bench in a state; the policy section may be changed."""

    def build(state="online", **section):
        async def make():
            return stage(section=section)

        return Bench(trio.run(make).gateway, state)

    return build


SAMPLES = {
    SayAsOperator: SayAsOperator(text="hello"),
    RequestAction: RequestAction(action=Say(text="hello")),
    ForgetAvatar: ForgetAvatar(avatar_id=OWNER),
    AnswerApproval: AnswerApproval(approval_id="nope", allow=True),
    SettleEffect: SettleEffect(effect="nope", happened=True),
    GiveGrant: GiveGrant(
        principal=Principal(client="operator"), actions=(Say(text="hello"),), times=1, window_s=60, valid_s=60.0
    ),
    RevokeGrant: RevokeGrant(grant_id="nope"),
    ReloadConfig: ReloadConfig(config_json=b"{}"),
}


def test_the_table_is_total():
    """Spec: SUP-8 — every control has a row; reload needs the reloader, connect somebody who takes codes."""
    assert set(ORDERS) == set(CONTROLS) - {Connect, ReloadConfig}


def test_a_one_time_code_goes_to_the_next_login_and_nowhere_else(bench):
    """Handed over once, only where a connection begins; in no observation and no representation. Spec: SUP-8, CFG-3."""
    given = []
    b = bench("blocked")
    reply = b.order(Connect(code="246810"), give_code=lambda code: given.append(code.reveal()))
    assert (reply.accepted, given) == (True, ["246810"])
    assert b.effects(OpenConnection)
    assert "246810" not in repr((b.seen, Connect(code="246810"), reply))
    again = b.order(Connect(code="135791"), give_code=lambda code: given.append(code.reveal()))
    assert (again.code, given) == ("already_connected", ["246810"])


def test_a_grid_without_codes_says_so(bench):
    """Spec: SUP-8 — a code that nobody would take is refused, and nothing connects."""
    b = bench("blocked")
    reply = b.order(Connect(code="246810"))
    assert (reply.accepted, reply.code) == (False, "no_code_wanted")
    assert not b.effects(OpenConnection)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", CONTROLS, ids=lambda kind: kind.__name__)
def test_every_control_gets_one_reply_in_every_state(bench, kind, state):
    """Spec: SUP-8 — never an exception, always one bounded sentence when refused, always told."""
    b = bench(state)
    reply = b.order(SAMPLES.get(kind) or kind())
    assert reply.code
    assert reply.accepted or reply.message
    assert b.bodies(ControlAnswered)[-1].reply == reply
    if state in {"stopped", "failed"} or (state == "stopping" and kind not in {ShutDown, Hold}):
        assert (reply.accepted, reply.code) == (False, "stopping")


# What a link control does in each state: accepted?, the link afterwards, does a connection open now?
LINK_ORDERS = {
    (Connect, "begun"): (False, LinkState.CONNECTING, False),
    (Connect, "online"): (False, LinkState.ONLINE, False),
    (Connect, "backoff"): (True, LinkState.CONNECTING, True),
    (Connect, "blocked"): (True, LinkState.CONNECTING, True),
    (Connect, "disconnected"): (True, LinkState.CONNECTING, True),
    (Connect, "paused"): (False, LinkState.PAUSED, False),
    (Disconnect, "begun"): (True, LinkState.STOPPED, False),
    (Disconnect, "online"): (True, LinkState.STOPPED, False),
    (Disconnect, "backoff"): (True, LinkState.STOPPED, False),
    (Disconnect, "blocked"): (True, LinkState.STOPPED, False),
    (Disconnect, "disconnected"): (False, LinkState.STOPPED, False),
    (Disconnect, "paused"): (False, LinkState.PAUSED, False),
    (Pause, "begun"): (True, LinkState.PAUSED, False),
    (Pause, "online"): (True, LinkState.PAUSED, False),
    (Pause, "backoff"): (True, LinkState.PAUSED, False),
    (Pause, "blocked"): (True, LinkState.PAUSED, False),
    (Pause, "disconnected"): (True, LinkState.PAUSED, False),
    (Pause, "paused"): (False, LinkState.PAUSED, False),
    (Resume, "online"): (False, LinkState.ONLINE, False),
    (Resume, "paused"): (True, LinkState.CONNECTING, True),
    (ForceReconnect, "begun"): (True, LinkState.BACKOFF, False),
    (ForceReconnect, "online"): (True, LinkState.BACKOFF, False),
    (ForceReconnect, "backoff"): (True, LinkState.CONNECTING, True),
    (ForceReconnect, "blocked"): (True, LinkState.CONNECTING, True),
    (ForceReconnect, "disconnected"): (True, LinkState.CONNECTING, True),
    (ForceReconnect, "paused"): (False, LinkState.PAUSED, False),
    (ShutDown, "begun"): (True, LinkState.SHUTTING_DOWN, False),
    (ShutDown, "online"): (True, LinkState.SHUTTING_DOWN, False),
    (ShutDown, "backoff"): (True, LinkState.STOPPED, False),
    (ShutDown, "paused"): (True, LinkState.STOPPED, False),
}


@pytest.mark.parametrize(("case", "wanted"), LINK_ORDERS.items(), ids=str)
def test_link_controls_do_what_they_say(bench, case, wanted):
    """Spec: SUP-8 — connect, disconnect, pause, resume, reconnect and shut down, from each state."""
    kind, state = case
    b = bench(state)
    reply = b.order(kind())
    assert (reply.accepted, b.core.link.state, bool(b.effects(OpenConnection))) == wanted
    if reply.accepted and kind is not Connect and kind is not Resume:
        assert not b.core.link.connected or state in {"backoff", "blocked", "disconnected"}


def test_disconnect_stays_away_until_connect(bench):
    """An operator's disconnect is no failure and starts no back-off."""
    b = bench()
    b.order(Disconnect())
    b.core.on_connection_ended(1, cause=DisconnectCause.REQUESTED, logged_out=True)
    assert (b.core.agent, b.core.link.state, b.core.timer()) == (AgentState.RUNNING, LinkState.STOPPED, None)


def test_a_pause_before_it_was_ever_ready_resumes_to_starting(bench):
    """Spec: SUP-1 — only an avatar that has been in the world is running again at once."""
    b = bench("begun")
    b.order(Pause())
    b.order(Resume())
    assert b.core.agent is AgentState.STARTING
    b = bench("paused")
    b.order(Resume())
    assert b.core.agent is AgentState.RUNNING


def test_hold_stops_every_mutation_and_release_lets_go(bench):
    """Spec: POL-12 — held, nothing is authorised and what goes on by itself is halted."""
    b = bench()
    assert b.order(Hold()).accepted
    assert b.effects(Halt)
    assert b.order(SayAsOperator(text="x")).code == "held"
    assert b.order(Release()).accepted
    assert b.order(Release()).code == "not_held"
    assert b.order(SayAsOperator(text="x")).code == "authorized"
    assert [h.held for h in b.bodies(HoldChanged)] == [True, False]


def test_hold_works_while_stopping(bench):
    """The kill switch is never refused."""
    assert bench("stopping").order(Hold()).accepted


def test_operator_speech_goes_through_the_gateway(bench):
    """Spec: POL-1 — what an operator says is authorised, recorded and performed like anything else."""
    b = bench()
    assert b.order(SayAsOperator(text="hello")).code == "authorized"
    (perform,) = b.effects(Perform)
    assert perform.authorized.action == Say(text="hello")
    assert bench("disconnected").order(SayAsOperator(text="hello")).code == "not_ready"


def test_dry_run_speech_says_that_it_was_not_said(bench):
    """Spec: POL-11 — the operator is told that nothing happened."""
    b = bench(dry_run=True)
    assert "dry run" in b.order(SayAsOperator(text="hello")).message
    assert not b.effects(Perform)


def test_stop_turn_cancels_what_is_under_way(bench):
    """Spec: SUP-8 — every worker is cancelled and the body halted."""
    b = bench()
    b.order(RequestAction(action=WalkTo(position=Position(x=1, y=1))))
    b.core.take_effects()
    assert b.order(StopTurn()).message == "1 actions stopped"
    effects = b.core.take_effects()
    assert [type(e) for e in effects] == [CancelWork, Halt]
    assert effects[0].effect is None


def test_forget_reaches_the_mind(bench):
    """Spec: SUP-8 — forgetting is passed on."""
    b = bench()
    assert b.order(ForgetAvatar(avatar_id=OWNER)).accepted
    assert b.mind.forgotten == [OWNER]


@pytest.mark.parametrize("allow", [True, False])
def test_an_approval_is_answered_once(bench, allow):
    """Spec: POL-7 — allowed, it is performed; denied, it isn't; a second answer does nothing and says so."""
    b = bench()
    b.hear()
    (waiting,) = b.core.gateway.status().approvals
    assert b.effects(Perform)  # the question to the owner
    reply = b.order(AnswerApproval(approval_id=waiting.approval_id, allow=allow))
    assert reply.accepted
    assert bool(b.effects(Perform)) is allow
    assert [c.how for c in b.bodies(ApprovalClosed)] == ["allowed" if allow else "denied"]
    again = b.order(AnswerApproval(approval_id=waiting.approval_id, allow=True))
    assert (again.accepted, again.code) == (False, "already_answered")
    assert not b.effects(Perform)


def test_a_yes_that_meets_the_hold_says_so_and_keeps_waiting(bench):
    """Spec: POL-7, POL-12 — while held nothing is performed; the approval can be answered again after release."""
    b = bench()
    b.hear()
    (waiting,) = b.core.gateway.status().approvals
    b.order(Hold())
    b.core.take_effects()
    reply = b.order(AnswerApproval(approval_id=waiting.approval_id, allow=True))
    assert not reply.accepted
    assert not b.effects(Perform)
    b.order(Release())
    assert b.order(AnswerApproval(approval_id=waiting.approval_id, allow=True)).accepted
    assert b.effects(Perform)


def test_an_operators_action_may_wait_for_an_approval_too(bench):
    """Spec: POL-14 — a pattern that asks for approval is answered with the approval's id."""
    ask = {"ask": {"action": "say", "argument": "text", "contains": ["secret"], "then": "approve"}}
    reply = bench(patterns=ask).order(SayAsOperator(text="the secret"))
    assert reply.accepted
    assert reply.code in {"needs_approval", "authorized"}


def test_an_unknown_approval_is_refused(bench):
    """An id nobody gave out answers nothing."""
    assert bench().order(AnswerApproval(approval_id="nope", allow=True)).code == "unknown"


def test_a_grant_is_given_and_taken_back_by_the_operator(bench):
    """Spec: POL-8 — it counts from now, for as long as the operator says; taken back twice, the second says so."""
    b = bench(matrix={"operator_console": {"speak": "owner"}, "schedule": {"speak": "anyone"}})
    give = SAMPLES[GiveGrant]
    reply = b.order(msgspec.structs.replace(give, starts_in_s=10.0))
    assert reply.accepted
    (grant,) = b.core.gateway.status().grants
    assert reply.message == f"grant {grant.grant_id}"
    assert (grant.valid_from, grant.valid_until) == (b.core.now.wall + 10.0, b.core.now.wall + 70.0)
    assert b.order(RevokeGrant(grant_id=grant.grant_id)).accepted
    assert b.order(RevokeGrant(grant_id=grant.grant_id)).code == "ended"


def test_a_grant_that_may_not_be_says_why(bench):
    """Spec: POL-8 — the policy's rule, or what is wrong with the terms."""
    b = bench()
    pay = PayAvatar(to=OWNER, amount=1)
    denied = b.order(msgspec.structs.replace(SAMPLES[GiveGrant], actions=(pay,)))
    assert not denied.accepted
    assert "the policy does not permit it" in denied.message
    twice = b.order(msgspec.structs.replace(SAMPLES[GiveGrant], actions=(Say(text="a"), Say(text="a"))))
    assert not twice.accepted
    assert twice.message


@pytest.mark.parametrize("happened", [True, False])
def test_an_effect_in_doubt_is_settled_by_hand(bench, happened):
    """Spec: EFX-1 — the operator says how it ended; anything else is refused."""
    b = bench()
    b.order(RequestAction(action=PayAvatar(to=OWNER, amount=5)))
    (perform,) = b.effects(Perform)
    effect = perform.authorized.effect
    assert b.order(SettleEffect(effect=effect, happened=happened)).code == "not_in_doubt"
    b.core.gateway.redeem(perform.authorized.handle, generation=1, now=b.core.now)
    b.core.on_action_ended(1, effect, InDoubt(reason="no_evidence"))
    assert b.core.gateway.status().in_doubt == (effect,)
    assert b.order(SettleEffect(effect=effect, happened=happened, note="I saw it")).accepted
    assert b.core.gateway.status().in_doubt == ()
    (settled,) = b.bodies(DoubtSettled)
    assert (settled.effect, settled.action, settled.by) == (effect, "pay_avatar", SettledBy.OPERATOR)
    assert isinstance(settled.outcome, Confirmed if happened else Refused)


def test_reload_takes_what_may_change_and_names_what_may_not(bench):
    """Spec: SUP-8 — policy changes live and supersedes waiting approvals; the rest is refused by name."""
    b = bench()
    b.hear()
    control = ReloadConfig(config_json=b"{}")
    plan = Reloaded(policy=Policy(roles=RolesSection(owners=(OWNER,))), refused=("roles", "grid"))
    reply = b.order(control, reload=lambda raw: plan)
    assert (reply.accepted, reply.code, reply.message) == (True, "partly", "needs a restart: roles, grid")
    assert [c.how for c in b.bodies(ApprovalClosed)] == ["superseded"]
    assert b.order(control, reload=lambda raw: Reloaded()).code == "ok"
    assert b.order(control, reload=lambda raw: Reloaded(problem="no such key")).code == "config_invalid"
    other_people = Reloaded(policy=Policy(roles=RolesSection()))
    assert b.order(control, reload=lambda raw: other_people).code == "not_live"
    assert b.order(control).code == "not_reloadable"
