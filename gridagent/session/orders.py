"""What each control does to a session, as one table (Spec: SUP-8).

Owns the dispatch control → handler and the sentence each refusal says; every handler is synchronous and
returns exactly one reply. What must be performed goes out as effects of the core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from gridagent.actions import Confirmed, Refused, Say, SettledBy, action_name
from gridagent.authority import Origin, Principal
from gridagent.config.secrets import SecretStr
from gridagent.controls import (
    AnswerApproval,
    Connect,
    Control,
    ControlReply,
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
    control_name,
)
from gridagent.errors import OperatorError
from gridagent.events import DisconnectCause
from gridagent.ids import EffectKey
from gridagent.observations import AgentState, ApprovalClosed, ControlAnswered, DoubtSettled, HoldChanged, LinkState
from gridagent.policy import Authorized, Decision, Denied, NeedsApproval, Policy
from gridagent.policy.decisions import GrantAnswer, GrantCode
from gridagent.policy.grants import GrantTerms
from gridagent.session.core import SessionCore
from gridagent.session.effects import CancelWork, Halt
from gridagent.session.lifecycle import AGENT, AgentInput, LinkInput

__all__ = ("ORDERS", "GiveCode", "Reloaded", "Reloader", "carry_out")

_OPERATOR: Final = Principal(client="operator")


class Reloaded(msgspec.Struct, frozen=True, kw_only=True):
    """What a new configuration changes while the session lives."""

    policy: Policy | None = None
    refused: tuple[str, ...] = ()
    """Keys that differ and cannot change live, by name."""
    problem: str = ""
    """Why the new configuration cannot be used at all; empty when it can."""


Reloader: TypeAlias = Callable[[bytes], Reloaded]
"""Reads a new configuration for this avatar; the composition root supplies it."""


GiveCode: TypeAlias = Callable[[SecretStr], None]
"""Takes an operator's one-time code for the next login of this avatar; the composition root supplies it."""


def carry_out(
    core: SessionCore, control: Control, reload: Reloader | None = None, give_code: GiveCode | None = None
) -> ControlReply:
    """Carry out one control, report it, and return its reply."""
    if core.over or (core.agent is AgentState.STOPPING and not isinstance(control, ShutDown | Hold)):
        reply = core.reply(accepted=False, code="stopping", message="the avatar is stopping; start it again first")
    elif isinstance(control, ReloadConfig):
        reply = _reload(core, control, reload)
    elif isinstance(control, Connect):
        reply = _connect(core, control, give_code)
    else:
        reply = ORDERS[type(control)](core, control)
    core.publish(ControlAnswered(control=control_name(control), reply=reply))
    return reply


def _ok(core: SessionCore, message: str = "") -> ControlReply:
    return core.reply(accepted=True, code="ok", message=message)


def _no(core: SessionCore, code: str, message: str) -> ControlReply:
    return core.reply(accepted=False, code=code, message=message)


def _connect(core: SessionCore, control: Connect, give_code: GiveCode | None) -> ControlReply:
    if core.agent is AgentState.PAUSED:
        return _no(core, "paused", "the avatar is paused; resume it instead")
    if core.link.connected:
        return _no(core, "already_connected", "the avatar is connected or connecting already")
    if control.code is not None:
        if give_code is None:
            return _no(core, "no_code_wanted", "this grid asks for no one-time code; connect without one")
        give_code(SecretStr(control.code))
    core.link.want()
    return _ok(core)


def _disconnect(core: SessionCore, _: Disconnect) -> ControlReply:
    if core.agent is AgentState.PAUSED or core.link.state is LinkState.STOPPED:
        return _no(core, "not_connected", "the avatar is not connected; connect or resume it first")
    core.link.step(LinkInput.LOST_FOR_GOOD, cause=DisconnectCause.REQUESTED)
    core.end_connection()
    return _ok(core, "logging out; connect brings the avatar back")


def _pause(core: SessionCore, _: Pause) -> ControlReply:
    if not AGENT.allows(core.agent, AgentInput.PAUSE):
        return _no(core, "already_paused", "the avatar is paused already")
    core.step_agent(AgentInput.PAUSE)
    if core.link.allows(LinkInput.PAUSE):  # not where a resume still waits for the last connection's end
        core.link.step(LinkInput.PAUSE, cause=DisconnectCause.REQUESTED)
    core.end_connection()
    return _ok(core, "logged out until resume")


def _resume(core: SessionCore, _: Resume) -> ControlReply:
    if core.agent is not AgentState.PAUSED:
        return _no(core, "not_paused", "the avatar is not paused")
    core.resume()
    return _ok(core)


def _force_reconnect(core: SessionCore, _: ForceReconnect) -> ControlReply:
    if core.agent is AgentState.PAUSED:
        return _no(core, "paused", "the avatar is paused; resume it instead")
    if core.link.connected:
        core.link.step(LinkInput.LOST, cause=DisconnectCause.REQUESTED, retry_in_s=0.0)
        core.end_connection()
    core.link.want()
    return _ok(core)


def _hold(core: SessionCore, _: Hold) -> ControlReply:
    core.host.stop_turn()
    core.gateway.hold(core.now)
    core.add_effect(Halt())
    core.publish(HoldChanged(held=True))
    return _ok(core, "the avatar hears and causes nothing; what was already sent cannot be called back")


def _release(core: SessionCore, _: Release) -> ControlReply:
    if not core.gateway.held:
        return _no(core, "not_held", "the avatar is not held")
    core.gateway.release(core.now)
    core.publish(HoldChanged(held=False))
    core.approvers.ask_again()
    return _ok(core)


def _shut_down(core: SessionCore, _: ShutDown) -> ControlReply:
    core.stop("requested")
    return _ok(core, "logging out and stopping")


def _say(core: SessionCore, control: SayAsOperator) -> ControlReply:
    return _decided(core, core.ask_as_operator(Say(text=control.text)))


def _act(core: SessionCore, control: RequestAction) -> ControlReply:
    return _decided(core, core.ask_as_operator(control.action))


def _decided(core: SessionCore, decision: Decision) -> ControlReply:
    match decision:
        case Authorized(dry_run=True):
            return _ok(core, "dry run: decided and recorded, not done")
        case Authorized():
            return core.reply(accepted=True, code="authorized", message=f"effect {decision.effect}")
        case NeedsApproval():
            return core.reply(accepted=True, code="needs_approval", message=f"approval {decision.approval_id} waits")
        case Denied(code=code, rule=rule):
            return _no(core, code.value, f"denied by the rule {rule}; see the policy reference for how to allow it")


def _stop_turn(core: SessionCore, _: StopTurn) -> ControlReply:
    core.host.stop_turn()
    stopped = len(core.inflight)
    for work in tuple(core.inflight.values()):
        core.gateway.cancel_cause(work.cause, core.now)
    core.add_effect(CancelWork(effect=None, reason="stopped"))
    core.add_effect(Halt())
    return _ok(core, f"{stopped} actions stopped")


def _forget(core: SessionCore, control: ForgetAvatar) -> ControlReply:
    if not core.host.forget(control.avatar_id):
        return _no(
            core, "mind_failed", "not all that is kept of the avatar may be gone; the log says why: forget it again"
        )
    return _ok(core)


def _answer_approval(core: SessionCore, control: AnswerApproval) -> ControlReply:
    answer = core.gateway.answer(
        control.approval_id,
        allow=control.allow,
        by=_OPERATOR,
        via=Origin.OPERATOR_CONSOLE,
        nonce=None,
        now=core.now,
    )
    if not answer.accepted:
        return _no(core, answer.code, f"approval {control.approval_id} cannot be answered: {answer.code}")
    core.publish(ApprovalClosed(approval_id=control.approval_id, how=answer.code))
    if not control.allow or answer.decision is None or answer.request is None:
        return _ok(core, answer.code)
    core.dispose(answer.decision, answer.request, None)
    return _decided(core, answer.decision)


def _settle(core: SessionCore, control: SettleEffect) -> ControlReply:
    doubtful = core.gateway.action_in_doubt(EffectKey(control.effect))
    if doubtful is None:
        return _no(core, "not_in_doubt", f"no effect {control.effect} is in doubt; status lists those that are")
    outcome = (
        Confirmed(evidence=doubtful.spec.evidence, detail=f"settled by hand: {control.note}"[:256])
        if control.happened
        else Refused(reason="settled_by_hand")
    )
    core.gateway.settle_doubt(EffectKey(control.effect), outcome, core.now, by=SettledBy.OPERATOR)
    core.publish(
        DoubtSettled(action=action_name(doubtful), effect=control.effect, outcome=outcome, by=SettledBy.OPERATOR)
    )
    return _ok(core)


def _give_grant(core: SessionCore, control: GiveGrant) -> ControlReply:
    begins = core.now.wall + control.starts_in_s
    terms = GrantTerms(
        principal=control.principal,
        actions=control.actions,
        times=control.times,
        window_s=control.window_s,
        valid_from=begins,
        valid_until=begins + control.valid_s,
    )
    answer = core.gateway.grants.give(terms, by=_OPERATOR, via=Origin.OPERATOR_CONSOLE, now=core.now)
    if answer.code is GrantCode.GIVEN:
        return _ok(core, f"grant {answer.grant_id}")
    return _no(core, answer.code.value, _why_no_grant(answer))


def _why_no_grant(answer: GrantAnswer) -> str:
    if answer.denied is not None:
        return f"the policy does not permit it ({answer.denied.code.value}, rule {answer.denied.rule})"
    return answer.problem or "there are as many usable grants as there may be; revoke one first"


def _revoke_grant(core: SessionCore, control: RevokeGrant) -> ControlReply:
    answer = core.gateway.grants.revoke(control.grant_id, by=_OPERATOR, via=Origin.OPERATOR_CONSOLE, now=core.now)
    if answer.code is GrantCode.REVOKED:
        return _ok(core, "it admits nothing any more; what it led to already goes on")
    return _no(core, answer.code.value, f"grant {control.grant_id} cannot be taken back: {answer.code.value}")


def _reload(core: SessionCore, control: ReloadConfig, reload: Reloader | None) -> ControlReply:
    if reload is None:
        return _no(core, "not_reloadable", "this service was not started from a configuration file")
    plan = reload(control.config_json)
    if plan.problem:
        return _no(core, "config_invalid", plan.problem)
    if plan.policy is not None:
        try:
            superseded = core.gateway.replace_policy(plan.policy, core.now)
        except OperatorError as error:
            return _no(core, "not_live", str(error))
        for approval_id in superseded:
            core.publish(ApprovalClosed(approval_id=approval_id, how="superseded"))
    if plan.refused:
        return core.reply(accepted=True, code="partly", message=f"needs a restart: {', '.join(plan.refused)}")
    return _ok(core)


ORDERS: Final[dict[type[Control], Callable[..., ControlReply]]] = {
    Disconnect: _disconnect,
    Pause: _pause,
    Resume: _resume,
    Hold: _hold,
    Release: _release,
    ForceReconnect: _force_reconnect,
    ShutDown: _shut_down,
    SayAsOperator: _say,
    RequestAction: _act,
    StopTurn: _stop_turn,
    ForgetAvatar: _forget,
    AnswerApproval: _answer_approval,
    SettleEffect: _settle,
    GiveGrant: _give_grant,
    RevokeGrant: _revoke_grant,
}
"""One row a control; `Connect` and `ReloadConfig` need more and have branches of their own. A test holds it total."""
