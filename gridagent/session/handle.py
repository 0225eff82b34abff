"""How everybody else reaches a session: controls in, observations and status out.

Owns nothing of the session; closing the handle is one of the ways to stop it (Spec: SUP-2). Safe to
share between tasks.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import trio

from gridagent.actions import Action
from gridagent.controls import Control, ControlReply, ShutDown
from gridagent.errors import ResourceClosed
from gridagent.ids import AvatarKey, EffectKey
from gridagent.observations import AgentState, LinkState, Observation
from gridagent.runtime.broadcast import Subscription
from gridagent.session.actor import ControlMail, Session
from gridagent.session.status import SessionStatus
from gridagent.session.surroundings import Look

__all__ = ("SessionHandle",)


class SessionHandle:
    """One avatar, seen from outside."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def key(self) -> AvatarKey:
        """The operator's name of the avatar."""
        return self._session.settings.key

    async def control(self, control: Control) -> ControlReply:
        """Send one control and wait for its reply, and until what it led to survives a power cut.

        Raises:
            ResourceClosed: the avatar has stopped.

        Bounds: waits while the control queue is full (Spec: BND-2).
        Cancellation: while waiting for room: safe, nothing was sent. While waiting for the reply: the
        control is carried out all the same.
        """
        mail = ControlMail(control)
        await self._session.send_control(mail)
        reply = await mail.reply()
        await self._session.keep()  # nobody is told that an avatar is held, and finds it released after a crash
        return reply

    def observe(
        self, name: str = "observer", *, limit: int | None = None
    ) -> AbstractContextManager[Subscription[Observation]]:
        """Subscribe from the next observation on; a slow reader gets `Lagged` (Spec: BND-3).

        Args:
            name: the reader's name in statistics.
            limit: most observations that may wait, 1 to the configured ceiling; None for that ceiling.

        Raises:
            ResourceBusy: 64 subscribers are there already.
            ResourceClosed: the avatar has stopped.
        """
        most = self._session.settings.observables_max
        return self._session.broadcast.subscribe(most if limit is None else min(limit, most), name)

    def status(self) -> SessionStatus:
        """Return the avatar's status now; works in every state."""
        return self._session.status()

    @property
    def agent(self) -> AgentState:
        """What the agent is doing."""
        return self._session.core.agent

    @property
    def link(self) -> LinkState:
        """Where the connection to the grid stands; `status` has the rest."""
        return self._session.core.link.state

    @property
    def turned_at(self) -> float:
        """When the avatar's loop last got round, on the monotonic clock; minus infinity before its first time."""
        return self._session.turned_at

    @property
    def winding_up(self) -> bool:
        """Whether its loop turns no more, because the avatar has stopped or is about to."""
        return self._session.winding_up

    @property
    def stopped(self) -> bool:
        """Whether nothing of the avatar is left."""
        return self._session.stopped.is_set()

    @property
    def stop_timeout_s(self) -> float:
        """Longest that stopping may take."""
        return self._session.settings.shutdown_timeout_s

    def probe(self) -> None:
        """Have the avatar's loop turn once, also when nothing happens, so that `turned_at` proves something."""
        self._session.probe()

    def action_in_doubt(self, effect: EffectKey) -> Action | None:
        """Return the action of an effect that is in doubt; None for any other."""
        return self._session.core.gateway.action_in_doubt(effect)

    async def look(self) -> Look:
        """Return what the avatar sees; while it is not in the world, wait for that.

        Raises:
            ResourceBusy: too many look-ups wait already (Spec: BND-6).
            ResourceClosed: the avatar has stopped.

        Cancellation: safe.
        """
        return await self._session.look()

    async def wait_agent(self, *states: AgentState) -> AgentState:
        """Wait until the agent is in one of ``states``, if only for an instant, or over.

        Returns:
            The state that was reached; the last state when the session ended without reaching one.

        Cancellation: safe.
        """
        reached = await self._session.wait_state(*states)
        return reached if isinstance(reached, AgentState) else self._session.core.agent

    async def wait_link(self, *states: LinkState) -> LinkState:
        """Wait until the link is in one of ``states``, if only for an instant, or the agent is over.

        Returns:
            The state that was reached; the last state when the session ended without reaching one.

        Cancellation: safe.
        """
        reached = await self._session.wait_state(*states)
        return reached if isinstance(reached, LinkState) else self._session.core.link.state

    async def shut_down(self) -> None:
        """Stop the avatar in order and wait until nothing of it is left; may be called again.

        Cancellation: safe; the shutdown goes on, and a further call waits for it (Spec: SUP-3).
        """
        try:
            await self.control(ShutDown())
        except ResourceClosed:
            await trio.lowlevel.checkpoint()
        await self._session.stopped.wait()

    def close(self) -> None:
        """Stop the avatar in order without waiting; idempotent."""
        self._session.owner_gone()
