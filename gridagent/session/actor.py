"""The session actor: one task that owns one avatar, and performs what the core decides.

Owns the inbox, the connection, the workers and the observers of one avatar; holds wiring only (a
decision belongs in `gridagent.session.core`). The service runs it; `SessionHandle` is how others reach
it. Its invariants: at most one connection and ``workers_max`` workers beside the coordinator (Spec:
BND-4); the coordinator is the only task that touches the core; when `run` returns or raises, nothing of
the session is left (Spec: SUP-3).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias

import msgspec
import trio

from gridagent.actions import EffectClass, Refused
from gridagent.controls import Control, ControlReply
from gridagent.errors import ResourceBusy, ResourceClosed
from gridagent.grid.base import BackendFactory, RedeemedAction
from gridagent.ids import Generation
from gridagent.limits import DRAIN_BATCH_MAX
from gridagent.mind import Mind
from gridagent.observations import AgentState, AgentStateChanged, LinkState, LinkStateChanged, Observation
from gridagent.policy import AuthorizedAction, Gateway, Instant
from gridagent.policy.decisions import Ended
from gridagent.runtime.broadcast import Broadcast
from gridagent.runtime.channels import Sender
from gridagent.runtime.inbox import Inbox
from gridagent.runtime.ports import Ports
from gridagent.session.connection import Connection, ConnectionEnd, FromGrid, GenerationSink, LogError
from gridagent.session.core import SessionCore
from gridagent.session.effects import (
    CancelErrand,
    CancelWork,
    Effect,
    Finish,
    Halt,
    OpenConnection,
    Perform,
    ReportFault,
    RunErrand,
)
from gridagent.session.errands import ErrandEnd, Errands
from gridagent.session.faculties import Faculties, NoFaculties
from gridagent.session.keeping import Keeper, NoKeeper
from gridagent.session.orders import GiveCode, Reloader, carry_out
from gridagent.session.settings import SessionSettings
from gridagent.session.status import SessionStatus
from gridagent.session.surroundings import Look
from gridagent.session.workers import ActionEnd, Workers

__all__ = ("ControlMail", "OwnerGone", "Session")


class OwnerGone(msgspec.Struct, frozen=True):
    """Whoever owned the session closed its end (Spec: SUP-2)."""


class ControlMail:
    """A control on its way, and the place where its sender waits for the reply."""

    __slots__ = ("_answered", "_reply", "control")

    def __init__(self, control: Control) -> None:
        self.control = control
        self._answered = trio.Event()
        self._reply: ControlReply | None = None

    def answer(self, reply: ControlReply) -> None:
        """Give the one reply; a second is ignored."""
        if self._reply is None:
            self._reply = reply
            self._answered.set()

    async def reply(self) -> ControlReply:
        """Wait for the reply.

        Cancellation: safe; the control is carried out all the same.
        """
        await self._answered.wait()
        assert self._reply is not None  # noqa: S101 - set before the signal
        return self._reply


def _among(state: AgentState | LinkState, states: tuple[AgentState | LinkState, ...]) -> bool:
    """Tell whether ``state`` is one of ``states`` itself: an agent's ``stopped`` equals a link's as text."""
    return any(state is wanted for wanted in states)


class _StateWaiter:
    """One task that waits for a state."""

    __slots__ = ("_states", "reached", "signal")

    def __init__(self, states: tuple[AgentState | LinkState, ...]) -> None:
        self._states = states
        self.reached: AgentState | LinkState | None = None
        self.signal = trio.Event()

    def tell(self, state: AgentState | LinkState) -> None:
        """Wake the task if this is the first of its states."""
        if self.reached is None and _among(state, self._states):
            self.reached = state
            self.signal.set()


class StorageNews(msgspec.Struct, frozen=True):
    """Safe mode began or ended; the newest word stands in the session."""


class Probe(msgspec.Struct, frozen=True):
    """Asks for nothing but that the coordinator turns once."""


Mail: TypeAlias = ControlMail | ActionEnd | ErrandEnd | ConnectionEnd | OwnerGone | StorageNews | Probe | FromGrid

_OVER: Final = ControlReply(accepted=False, code="stopped", message="the avatar has stopped; start it again first")


class Session:
    """One avatar's session.

    Args:
        settings: bounds and habits.
        gateway: decides on actions; this session's own.
        mind: proposes actions.
        faculties: answer the mind's errands; None can answer nothing.
        backend: makes one backend a generation.
        ports: clock and randomness.
        reload: reads a new configuration; None when there is no file.
        give_code: takes a one-time code for the next login; None where the grid knows none.
        keeper: makes durable what must be, before it is sent; None keeps nothing.
        recovered: what a restart ended, to be told first.
        log_error: takes a stable code and the error; the redacted log (Spec: SUP-10).
    """

    def __init__(
        self,
        *,
        settings: SessionSettings,
        gateway: Gateway,
        mind: Mind,
        backend: BackendFactory,
        ports: Ports,
        log_error: LogError,
        faculties: Faculties | None = None,
        reload: Reloader | None = None,
        give_code: GiveCode | None = None,
        keeper: Keeper | None = None,
        recovered: Sequence[Ended] = (),
    ) -> None:
        self.settings = settings
        self.stopped = trio.Event()
        self.turned_at = -math.inf
        """When the coordinator last got round, on the monotonic clock: proof that it does."""
        self.broadcast: Broadcast[Observation] = Broadcast(name=f"{settings.key}.observations")
        self._ports = ports
        self._backend = backend
        self._reload = reload
        self._give_code = give_code
        self._keeper = NoKeeper() if keeper is None else keeper
        self._recovered = recovered
        self._log_error = log_error
        self._out: list[Observation] = []  # emptied after every batch
        self.core = SessionCore(
            settings=settings,
            gateway=gateway,
            mind=mind,
            rng=ports.randomness.stream("session.backoff"),
            observe=self._observe,
        )
        self._inbox: Inbox[Mail] = Inbox(f"{settings.key}.inbox")
        # One place more than there can be results: a worker's, an errand's and a connection's end never wait.
        self._controls: Sender[Mail] = self._inbox.open_lane("controls", settings.controls_max)
        self._results: Sender[Mail] = self._inbox.open_lane("results", settings.workers_max + settings.errands_max + 5)
        self._events: Sender[Mail] = self._inbox.open_lane("grid_events", settings.grid_events_max)
        self._connection: Connection | None = None
        self._workers = Workers(
            limit=settings.workers_max,
            name=f"{settings.key}.worker",
            prepare=self._make_durable,
            report=self._results.send_nowait,
            log_error=log_error,
        )
        self._errands = Errands(
            limit=settings.errands_max,
            name=f"{settings.key}.errand",
            faculties=NoFaculties() if faculties is None else faculties,
            report=self._results.send_nowait,
            log_error=log_error,
        )
        self._finished = False
        self._owner_left = False
        self._offline_work = 0
        self._batch: deque[Mail] = deque(maxlen=DRAIN_BATCH_MAX)
        """What was read and not handled yet; left over only when handling broke."""
        self._handling: Mail | None = None
        self._storage: str | None = None
        self._storage_told = False
        self._probed = False
        self._waiters: list[_StateWaiter] = []  # one a waiting task

    # --- the coordinator --------------------------------------------------------------------------

    async def run(self) -> None:
        """Live until the agent is over.

        Cancellation: takes the same way out as an orderly stop: the generation is fenced, its logout is
        attempted within its time-out, every effect is settled; then it propagates (Spec: SUP-2).
        """
        code = "stopped"
        try:
            async with trio.open_nursery(strict_exception_groups=True) as nursery:
                self.core.at(self._instant())
                self.core.tell_recovered(self._recovered)
                self.core.begin()
                self._perform(nursery)
                while not self._finished:
                    await self._turn(nursery)
        except BaseException as error:
            code = "cancelled" if _only_cancelled(error) else "internal_error"
            raise
        finally:
            self._wind_up(code)

    async def _turn(self, nursery: trio.Nursery) -> None:
        """Wait for one batch or for the core's timer, and handle it."""
        due = self.core.timer()
        if self.core.wants:  # the mind broke when it was asked for its time
            self._perform(nursery)
            return
        batch: list[Mail] = []
        if due is None:
            batch = await self._inbox.receive_batch()
        else:
            with trio.move_on_at(due):
                batch = await self._inbox.receive_batch()
        now = self._instant()
        self.core.at(now)
        if due is not None and now.monotonic >= due:
            self.core.on_timer()
        self._batch.extend(batch)
        self._handle_batch()
        self.core.end_of_batch()
        self._perform(nursery)
        self.turned_at = self._ports.clock.monotonic()

    def _handle_batch(self) -> None:
        while self._batch:
            self._handling = self._batch.popleft()
            self._handle(self._handling)
        self._handling = None

    def _handle(self, mail: Mail) -> None:
        core = self.core
        match mail:
            case FromGrid():
                core.on_event(mail.generation, mail.event)
            case ControlMail():
                mail.answer(carry_out(core, mail.control, self._reload, self._give_code))
            case ActionEnd():
                self._workers.end_was_read()
                self._ended(mail)
            case ErrandEnd():
                self._errands.end_was_read()
                self._came_back(mail)
            case ConnectionEnd():
                self._connection = None
                core.on_connection_ended(mail.generation, cause=mail.cause, logged_out=mail.logged_out)
            case OwnerGone():
                core.stop("owner_gone")
            case StorageNews():
                self._storage_told = False
                core.on_storage(self._storage)
            case Probe():
                self._probed = False

    def _perform(self, nursery: trio.Nursery) -> None:
        """Perform what the core wants, and start as many as wait and have a place."""
        while (effects := self.core.take_effects()) or self._workers.startable or self._errands.startable:
            for effect in effects:
                self._perform_one(effect, nursery)
            while self._workers.startable:
                never_begun = self._workers.start_next(self._connection)
                if never_begun is not None:
                    self._ended(never_begun)
            while self._errands.startable:
                self._came_back(self._errands.start_next(self._connection))
        self._flush()

    def _perform_one(self, effect: Effect, nursery: trio.Nursery) -> None:
        match effect:
            case OpenConnection():
                self._open(effect, nursery)
            case Perform():
                self._workers.put(effect)
            case CancelWork():
                for end in self._workers.cut_off(effect):
                    self._ended(end)
            case RunErrand():
                self._came_back(self._errands.put(effect))
            case CancelErrand(number=number):
                self._errands.give_up(number)
            case Halt():
                self._halt()
            case ReportFault(code=code, error=error):
                self._log_error(code, error)
            case Finish():
                self._finished = True

    def _halt(self) -> None:
        if self._connection is not None and self.core.link.connected:
            self._connection.backend.halt()

    def _ended(self, end: ActionEnd) -> None:
        self.core.on_action_ended(end.generation, end.effect, end.outcome)

    def _came_back(self, end: ErrandEnd | None) -> None:
        if end is not None:
            self.core.host.returned(end.generation, end.number, end.answer)

    def _flush(self) -> None:
        if self._out:
            self.broadcast.publish_many(self._out)
            self._out.clear()

    def _instant(self) -> Instant:
        clock = self._ports.clock
        return Instant(wall=clock.wall(), monotonic=clock.monotonic())

    def _wind_up(self, code: str) -> None:
        """Leave nothing open: settle what was in flight, answer who waits, end the observers."""
        core = self.core
        core.at(self._instant())
        if code == "internal_error" and not core.over:
            core.fail(code)
        core.stop(code)
        self._controls.close()
        self._events.close()
        self._results.close()
        if isinstance(self._handling, ControlMail):
            self._handling.answer(_OVER)  # it broke the session; whoever sent it still gets its reply
        self._last_words(self._batch)
        self._batch.clear()
        try:
            while batch := self._inbox.drain_nowait():
                self._last_words(batch)
        except trio.EndOfChannel:
            pass
        for effect in core.take_effects():
            if isinstance(effect, Perform):
                self._workers.put(effect)
            elif isinstance(effect, ReportFault):
                self._log_error(effect.code, effect.error)
        for end in self._workers.cut_off(CancelWork(effect=None, reason=code)):
            self._ended(end)
        core.end_of_batch()
        self._flush()
        self._inbox.close()
        self.broadcast.close()
        self.stopped.set()
        for waiter in self._waiters:
            waiter.signal.set()

    def _last_words(self, mails: Iterable[Mail]) -> None:
        for mail in mails:
            if isinstance(mail, ControlMail):
                mail.answer(_OVER)
            else:
                self._handle(mail)

    # --- the connection ---------------------------------------------------------------------------

    def _open(self, effect: OpenConnection, nursery: trio.Nursery) -> None:
        number = Generation(effect.generation.number)
        backend = self._backend(generation=number, redeem=partial(self._redeem, number))
        connection = Connection(
            generation=effect.generation,
            backend=backend,
            sink=GenerationSink(effect.generation, self._events),
            logout_timeout_s=self.settings.logout_timeout_s,
            log_error=self._log_error,
            ready=self._keeper.durable if self._keeper.keeps else None,
        )
        self._connection = connection
        self.core.where.backend = backend
        nursery.start_soon(connection.run, self._results.send_nowait, name=f"{self.settings.key}.backend")

    async def _make_durable(self, work: Perform) -> Refused | None:
        """Have the intent of what costs something survive before it is sent (Spec: EFX-2).

        Raises:
            AuthorityRefused: the handle is dead; nothing is sent.
        """
        if not self._keeper.keeps or work.authorized.action.spec.effect is not EffectClass.ONCE:
            return None
        now = self._instant()
        number = Generation(work.generation.number)
        self.core.gateway.intend(work.authorized.handle, generation=number, now=now)
        return await self._keeper.sending(work.authorized.effect, now.wall)

    def _redeem(self, generation: Generation, handle: AuthorizedAction) -> RedeemedAction:
        record = self.core.gateway.redeem(handle, generation=generation, now=self._instant())
        self._workers.note_sent(record.effect)
        return self.core.approvers.reveal(record)

    # --- what a handle needs ------------------------------------------------------------------------

    async def send_control(self, mail: ControlMail) -> None:
        """Put a control; waits while the queue is full (Spec: BND-2).

        Cancellation: safe; the control is then not put.

        Raises:
            ResourceClosed: the session is over.
        """
        await self._controls.send(mail)

    async def keep(self) -> None:
        """Wait until all that was decided so far survives a power cut; in safe mode nobody can promise that.

        Cancellation: safe.
        """
        await self._keeper.durable()

    def owner_gone(self) -> None:
        """Stop in order, without waiting for room among the controls."""
        if not self._owner_left and not self.stopped.is_set():
            self._owner_left = True
            self._results.send_nowait(OwnerGone())

    @property
    def winding_up(self) -> bool:
        """Whether the coordinator turns no more, because the agent is over or about to be."""
        return self._finished or self.stopped.is_set()

    def probe(self) -> None:
        """Have the coordinator turn once, also when nothing happens: `turned_at` tells that it did; never blocks."""
        if not self._probed and not self.winding_up:
            self._probed = True
            self._results.send_nowait(Probe())

    async def wait_state(self, *states: AgentState | LinkState) -> AgentState | LinkState | None:
        """Wait until the agent or the link is in one of ``states``; also when it is there only for an instant.

        Returns:
            The state that was reached, or None when the session is over without reaching it.

        Cancellation: safe.
        """
        for state in (self.core.agent, self.core.link.state):
            if _among(state, states):
                await trio.lowlevel.checkpoint()
                return state
        if self.stopped.is_set():
            await trio.lowlevel.checkpoint()
            return None
        waiter = _StateWaiter(states)
        self._waiters.append(waiter)
        try:
            await waiter.signal.wait()
        finally:
            self._waiters.remove(waiter)
        return waiter.reached

    async def look(self) -> Look:
        """Return what the avatar sees; while it is not in the world, wait for that, if there is room to wait.

        Cancellation: safe.

        Raises:
            ResourceBusy: ``offline_work_max`` look-ups wait already (Spec: BND-6).
            ResourceClosed: the session is over.
        """
        await trio.lowlevel.checkpoint()
        while (seen := self.core.where.look()) is None:
            if self.stopped.is_set():
                raise ResourceClosed(self.settings.key, "the avatar has stopped")
            if self._offline_work >= self.settings.offline_work_max:
                raise ResourceBusy(self.settings.key, f"not_ready, and {self._offline_work} look-ups wait already")
            self._offline_work += 1
            try:
                await self.wait_state(LinkState.ONLINE)
            finally:
                self._offline_work -= 1
        return seen

    def _observe(self, observation: Observation) -> None:
        self._out.append(observation)
        body = observation.body
        if isinstance(body, AgentStateChanged | LinkStateChanged):
            for waiter in self._waiters:
                waiter.tell(body.state)

    def storage_changed(self, fault: str | None) -> None:
        """Take note that safe mode began (with the fault's code) or ended (None); never blocks (Spec: EFX-4)."""
        self._storage = fault
        if not self._storage_told and not self.stopped.is_set():
            self._storage_told = True
            self._results.send_nowait(StorageNews())

    def status(self) -> SessionStatus:
        """Return what can be said of the avatar now."""
        core = self.core
        retry_at = core.link.retry_at
        return SessionStatus(
            key=self.settings.key,
            agent=core.agent,
            link=core.link.state,
            generation=core.generation,
            avatar_id=core.where.self_id,
            name=core.where.name,
            region=core.where.region,
            position=core.where.position,
            balance=core.where.balance,
            near=len(core.where.avatars()),
            workers=len(self._workers),
            fenced=core.link.fence.statistics().fenced,
            last_error=core.last_error,
            sick=tuple(sorted(core.link.sick)),
            retry_in_s=None if retry_at is None else max(0.0, retry_at - self._ports.clock.monotonic()),
            profile=core.where.profile,
            vitals=() if core.where.backend is None else tuple(core.where.backend.vitals()),
            queues=(*self._inbox.statistics(), *self.broadcast.statistics().subscribers),
            gateway=core.gateway.status(),
        )


def _only_cancelled(error: BaseException) -> bool:
    """Tell whether nothing but cancellation ended the session."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(trio.Cancelled)[1] is None
    return isinstance(error, trio.Cancelled)
