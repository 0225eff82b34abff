"""A simulated operator: every control at any time and in every state, and a helping hand after the storm.

Owns what is sent when, and the numbering by which the oracle tells whether each control got its one reply.
Reaches the service through `SessionHandle` as any front does. Its chance comes from one stream. Used by
`gridagent.simulation.trial`, one an avatar.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

import trio

from gridagent.actions import Say, SendIm
from gridagent.authority import Principal
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
from gridagent.errors import ResourceBroken, ResourceClosed
from gridagent.ids import ApprovalId, AvatarId, GrantId
from gridagent.mind import Nearby
from gridagent.observations import AgentState, LinkState
from gridagent.service.api import SessionHandle
from gridagent.simulation.account import Account
from gridagent.simulation.views import BodyView
from gridagent.simulation.wild import wild_action

__all__ = ("APPROVALS_REMEMBERED", "Operator")

APPROVALS_REMEMBERED: Final = 64
_CAUGHT_UP: Final = 4
_FLAPPING: Final = 0.25
_FLAPS: Final = (Pause, Resume, Connect, Disconnect, ForceReconnect)
_COMES_BACK_ITSELF_S: Final = 61.0
"""Above every back-off: whoever stays away for longer was sent away, and only an operator shortens that."""


class _Nowhere:
    """Surroundings of somebody who sits at a console."""

    self_id = None
    position = None

    def __init__(self, near: Nearby) -> None:
        self.avatars = near.avatars
        self.objects = near.objects


class Operator:
    """Sends controls to one avatar.

    Args:
        handle: the avatar.
        account: the oracle's account of it.
        rng: the stream of its moods.
        near: what it believes to be near the avatar.
        policies: returns the JSON texts of policies to reload: a good one, or one that must be refused.
        known: avatars it may forget about, or write to.
        open_approvals: those it has heard of and not answered; it adds and takes.
    """

    def __init__(
        self,
        handle: SessionHandle,
        account: Account,
        rng: Random,
        *,
        near: Nearby,
        policies: Callable[[], bytes],
        known: Sequence[AvatarId],
        open_approvals: deque[str] | None = None,
    ) -> None:
        self.handle = handle
        self.replies = 0
        self._account = account
        self._rng = rng
        self._near = near
        self._policies = policies
        self._known = tuple(known)
        self._numbers = 0
        self._open: deque[str] = deque(maxlen=APPROVALS_REMEMBERED) if open_approvals is None else open_approvals
        self._answered: deque[str] = deque(maxlen=APPROVALS_REMEMBERED)
        self._doubtful: deque[str] = deque(maxlen=APPROVALS_REMEMBERED)
        self._away_s = 0.0

    # --- what it hears of -------------------------------------------------------------------------

    def on_observed(self, body: BodyView) -> None:
        """Remember approvals that somebody asked for, effects in doubt, and how long the avatar stays away."""
        if body.kind == "link_state":
            self._away_s = body.retry_in_s or 0.0
        elif body.kind == "approval_opened":
            self._open.append(body.approval_id)
        elif body.kind == "outcome" and body.outcome is not None and body.outcome.outcome == "in_doubt":
            self._doubtful.append(body.effect)

    # --- sending ----------------------------------------------------------------------------------

    async def send(self, control: Control) -> ControlReply | None:
        """Send one control and account for its reply; None when the avatar is gone."""
        self._numbers += 1
        number = self._numbers
        self._account.on_order(
            number,
            control_name(control),
            action=control.action if isinstance(control, RequestAction) else None,
            effect=control.effect if isinstance(control, SettleEffect) else "",
        )
        if isinstance(control, SayAsOperator):
            self._account.on_said_by_operator(control.text)
        if isinstance(control, AnswerApproval) and control.allow:
            self._account.on_allowed(control.approval_id)
        reply: ControlReply | None = None
        try:
            reply = await self.handle.control(control)
        except (ResourceClosed, ResourceBroken):
            await trio.lowlevel.checkpoint()
        self.replies += 1
        self._account.on_reply(number, None if reply is None else reply.code)
        return reply

    async def storm(self, every_s: float, nursery: trio.Nursery) -> None:
        """Do random things until cancelled; each control is waited for in a task of its own.

        Args:
            every_s: mean seconds between two deeds.
            nursery: where the tasks go.
        """
        rng = self._rng
        while True:
            await trio.sleep(rng.expovariate(1.0 / every_s))
            many = rng.choice((1, 1, 1, 2, 6))
            # Orders that follow each other faster than a connection can be cleaned up meet states of their own.
            flapping = many > 1 and rng.random() < _FLAPPING
            for _ in range(many):
                control = rng.choice(_FLAPS)() if flapping else self._any_control()
                if control is not None:
                    nursery.start_soon(self.send, control, name="simulation.order")

    async def catch_up(self) -> None:
        """Answer what waited through a restart, once the avatar is in the world again.

        Cancellation: safe; what was sent is accounted for.
        """
        waiting = list(self._open)[-_CAUGHT_UP:]
        if not waiting or await self.handle.wait_link(LinkState.ONLINE) is not LinkState.ONLINE:
            return
        for which in waiting:
            self._answered.append(which)
            await self.send(AnswerApproval(approval_id=ApprovalId(which), allow=self._rng.random() < 0.8))  # noqa: PLR2004 - mostly yes

    def _any_control(self) -> Control | None:
        rng = self._rng
        return rng.choices(_DEEDS, _WEIGHTS)[0](self, rng)

    def act(self, rng: Random) -> Control | None:
        """Ask for any action at all."""
        action = wild_action(rng, _Nowhere(self._near))
        return None if action is None else RequestAction(action=action)

    def answer(self, rng: Random) -> Control | None:
        """Answer an approval: the newest in time, an older one late, one that was answered again."""
        if self._open and rng.random() < 0.8:  # noqa: PLR2004 - mostly what waits
            which = self._open.pop() if rng.random() < 0.8 else self._open.popleft()  # noqa: PLR2004 - mostly the newest
            self._answered.append(which)
        elif self._answered:
            which = rng.choice(self._answered)
        else:
            which = "no-such-approval"
        return AnswerApproval(approval_id=ApprovalId(which), allow=rng.random() < 0.7)  # noqa: PLR2004 - mostly yes

    def settle(self, rng: Random) -> Control | None:
        """Say by hand how something in doubt ended."""
        effect = rng.choice(self._doubtful) if self._doubtful else "no-such-effect"
        return SettleEffect(effect=effect, happened=rng.random() < 0.5)  # noqa: PLR2004 - either

    def forget(self, rng: Random) -> Control | None:
        """Forget somebody."""
        return ForgetAvatar(avatar_id=rng.choice(self._known))

    def write(self, rng: Random) -> Control | None:
        """Send somebody an IM."""
        return RequestAction(action=SendIm(to=rng.choice(self._known), text=f"note {rng.randrange(1000)}"))

    def grant(self, rng: Random) -> Control | None:
        """Allow something to recur for a while."""
        return GiveGrant(
            principal=Principal(client="operator"),
            actions=(Say(text=f"the {rng.randrange(100)} o'clock"),),
            times=1 + rng.randrange(3),
            window_s=600,
            valid_s=60.0 + rng.random() * 3600.0,
        )

    def any_grant(self) -> GrantId:
        """Name a grant that may be used; one that never was, where there is none."""
        grants = self.handle.status().gateway.grants
        return grants[0].grant_id if grants else GrantId("no-such-grant")

    def reload(self, _: Random) -> Control | None:
        """Put another policy in force, or try one that must be refused."""
        return ReloadConfig(config_json=self._policies())

    # --- after the storm --------------------------------------------------------------------------

    async def bring_back(self, policy: bytes) -> None:
        """Undo what an operator can undo, so that the avatar may live again."""
        await self.send(ReloadConfig(config_json=policy))
        await self.send(StopTurn())
        if self.handle.status().gateway.held:
            await self.send(Release())
        status = self.handle.status()
        if status.agent is AgentState.PAUSED:
            await self.send(Resume())
        elif status.link in {LinkState.STOPPED, LinkState.AUTHENTICATION_BLOCKED} or (
            status.link is LinkState.BACKOFF and self._away_s > _COMES_BACK_ITSELF_S
        ):
            await self.send(Connect())

    async def reach(self, aim: AgentState | LinkState, disconnect: Callable[[], object]) -> None:
        """Bring the avatar into a state, as far as an operator and a broken line can.

        Args:
            aim: the state wanted.
            disconnect: breaks the avatar's connection.

        Cancellation: safe.
        """
        if aim is LinkState.PAUSED or aim is AgentState.PAUSED:
            await self.send(Pause())
        elif aim is LinkState.STOPPED:
            await self.send(Disconnect())
        elif aim in {LinkState.CONNECTING, LinkState.AUTHENTICATION_BLOCKED, LinkState.DEGRADED, AgentState.FAILED}:
            await self.send(Resume())
            await self.send(ForceReconnect())
        elif aim is LinkState.ONLINE:
            await self.send(Resume())
            await self.send(Connect())
        elif aim is LinkState.BACKOFF:
            disconnect()
        elif aim is AgentState.STOPPING or aim is LinkState.SHUTTING_DOWN:
            await self.send(ShutDown())
            return
        elif aim is AgentState.STOPPED:
            await self.handle.shut_down()
            return
        if isinstance(aim, LinkState):
            await self.handle.wait_link(aim)
        else:
            await self.handle.wait_agent(aim)


Deed = Callable[[Operator, Random], Control | None]

_TABLE: Final[tuple[tuple[Deed, int], ...]] = (
    (Operator.act, 20),
    (Operator.answer, 20),
    (Operator.write, 8),
    (Operator.settle, 4),
    (Operator.forget, 2),
    (Operator.reload, 2),
    (Operator.grant, 2),
    (lambda operator, _: RevokeGrant(grant_id=operator.any_grant()), 2),
    (lambda _, rng: SayAsOperator(text=f"operator speaks {rng.randrange(10**6)}"), 8),
    (lambda _, __: Hold(), 4),
    (lambda _, __: Release(), 12),
    (lambda _, __: Pause(), 1),
    (lambda _, __: Resume(), 5),
    (lambda _, __: Connect(), 4),
    (lambda _, __: Disconnect(), 1),
    (lambda _, __: ForceReconnect(), 3),
    (lambda _, __: StopTurn(), 3),
)
_DEEDS: Final = tuple(deed for deed, _ in _TABLE)
_WEIGHTS: Final = tuple(weight for _, weight in _TABLE)
