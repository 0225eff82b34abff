"""Who and what a simulated run consists of: the world, the avatars, the inspector, and where facts go.

Owns what stays the same over all lives of the service, and the way of every fact to the oracle: audit rows,
errors, what the world performed, told and let in. Judges nothing. Made by `gridagent.simulation.trial`, used
by `gridagent.simulation.life`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

import msgspec
import trio

from gridagent.actions import Action, Position, SendIm, action_name
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused, BackendError
from gridagent.events import AvatarView, GridEvent, ImReceived, ObjectView
from gridagent.grid.simulated.avatars import Account as GridAccount
from gridagent.grid.simulated.avatars import Place
from gridagent.grid.simulated.inhabitants.casting import Spot
from gridagent.grid.simulated.inhabitants.owner import OwnerParams
from gridagent.grid.simulated.scenario_format import Scenario, derived_id
from gridagent.grid.simulated.sessions import Session
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import Label
from gridagent.mind import Proposal
from gridagent.policy import AuditRecord, Policy
from gridagent.runtime.ports import Ports
from gridagent.session import Reloaded
from gridagent.simulation.account import Account
from gridagent.simulation.approvers import Approvers
from gridagent.simulation.bounds import PolicyDraft, draw_policy
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.hostile import HostileError
from gridagent.simulation.machine import Moment
from gridagent.simulation.operator import APPROVALS_REMEMBERED
from gridagent.simulation.oracle import Oracle
from gridagent.simulation.rulebook import Rulebook
from gridagent.simulation.views import decode_row
from gridagent.simulation.wild import RECENT
from gridagent.simulation.world import Changed, WatchedWorld

__all__ = ("OTHER_ROLES", "Agent", "Near", "Stage", "let_pass")

OTHER_ROLES: Final = b"other roles"
"""Stands for a configuration that names other avatars, which no reload may take over."""
_SIBLING_CHANCE: Final = 0.25
_TRUSTED_MAX: Final = 2


def let_pass(moment: Moment) -> None:
    """Crash at no moment."""


_encode: Final = msgspec.json.Encoder().encode


class Agent:
    """One avatar of the run: what stays over all lives, and the account and policy of the present one."""

    def __init__(self, stage: Stage, key: AvatarKey, avatar_id: AvatarId, name: str) -> None:
        self.key = key
        self.avatar_id = avatar_id
        self.name = name
        self.generation = 0
        """Newest generation of the lives that are over."""
        self.orders = stage.stream(f"{key}.operator")
        self.wishes = stage.stream(f"{key}.mind")
        self.tricks = stage.stream(f"{key}.backend")
        self.reading = stage.stream(f"{key}.reader")
        self.history = stage.oracle.new_history(key)
        self.account = Account(self.history, key)
        self.policy = draw_policy(stage.draw)
        self.offered: dict[bytes, PolicyDraft] = {}  # emptied by each reload
        """What its operator may have reloaded."""
        self.open_approvals: deque[str] = deque(maxlen=APPROVALS_REMEMBERED)
        """Approvals that its operator has heard of and not answered; also of earlier lives."""
        self.recent_wishes: deque[Proposal] = deque(maxlen=RECENT)
        """What its mind wanted last; also in earlier lives."""

    def begin_life(self, stage: Stage, *, remembers: bool) -> None:
        """Open the account of a new life; of an avatar that remembers nothing also a new history."""
        if not remembers:
            self.history = stage.oracle.new_history(self.key, generation=self.generation)
        self.account = Account(self.history, self.key)


class Near:
    """What is near an avatar, read from the world itself; implements `gridagent.mind.Nearby`."""

    __slots__ = ("_avatar_id", "_world")

    def __init__(self, world: WatchedWorld, avatar_id: AvatarId) -> None:
        self._world = world
        self._avatar_id = avatar_id

    @property
    def self_id(self) -> AvatarId | None:
        """The avatar."""
        return self._avatar_id

    @property
    def position(self) -> Position | None:
        """Where it is; None while it is away."""
        return self._world.position(self._avatar_id)

    def avatars(self) -> Sequence[AvatarView]:
        """Who is near."""
        return self._world.avatars_near(self._avatar_id)

    def objects(self) -> Sequence[ObjectView]:
        """What is near."""
        return self._world.objects_near(self._avatar_id)


class Stage:
    """The set of one run; implements `gridagent.simulation.world.WorldWatcher`.

    Args:
        scenario: the world's scenario.
        world: built from it.
        ports: clock, ids and random streams of the run.
        oracle: judges.
        sometimes: counts.
    """

    def __init__(
        self, scenario: Scenario, world: WatchedWorld, ports: Ports, oracle: Oracle, sometimes: Sometimes
    ) -> None:
        self.world = world
        self.ports = ports
        self.oracle = oracle
        self.sometimes = sometimes
        self.draw = self.stream("bounds")
        self.inspector = AvatarId(derived_id(scenario.name, "simulation", "inspector"))
        """Somebody whom the avatars know as an owner, and who asks whether they are well."""
        self.on_moment: Callable[[Moment], None] = let_pass
        """Told of moments at which a crash would be interesting."""
        self.down = False
        """The machine of the service is down: what its remains say means nothing, and they can do nothing."""
        self.heard: dict[str, float] = {}
        """When the inspector last got an IM, by sender."""
        self.roles = self._roles(scenario)
        self.agents: tuple[Agent, ...] = self._agents(scenario)
        self._by_id = {agent.avatar_id: agent for agent in self.agents}
        self._by_key = {agent.key: agent for agent in self.agents}
        self._logins: list[Session] = []  # emptied by `judge_logins`
        others = [scenario.avatar_id(spec) for spec in scenario.avatars if spec.character is not None]
        self.approvers = Approvers(world, self.stream("approvers"), others)
        world.watch(frozenset(self._by_id), self)

    def stream(self, name: str) -> Random:
        """Return one of the run's own random streams."""
        return self.ports.randomness.stream(f"simulation.{name}")

    # --- people -------------------------------------------------------------------------------------

    def _roles(self, scenario: Scenario) -> RolesSection:
        owners = [scenario.avatar_id(spec) for spec in scenario.avatars if isinstance(spec.character, OwnerParams)]
        others = [scenario.avatar_id(spec) for spec in scenario.avatars if spec.character is not None]
        trusted = [each for each in others if each not in owners][:_TRUSTED_MAX]
        return RolesSection(owners=(*owners, self.inspector), trusted=tuple(trusted))

    def _agents(self, scenario: Scenario) -> tuple[Agent, ...]:
        world, waiting = self.world, scenario.agents()
        agents = [
            Agent(self, AvatarKey(f"agent-{number}"), scenario.avatar_id(spec), spec.name)
            for number, spec in enumerate(waiting)
        ]
        if waiting and self.draw.random() < _SIBLING_CHANCE:
            start = waiting[0].start
            sibling = AvatarId(derived_id(scenario.name, "simulation", "sibling"))
            home = Place(region=start.region, position=_point(start))
            world.add_avatar(GridAccount(name="Sibling Resident", avatar_id=sibling, home=home, balance=200))
            agents.append(Agent(self, AvatarKey("sibling"), sibling, "Sibling Resident"))
        world.add_avatar(GridAccount(name="Ivy Inspector", avatar_id=self.inspector))
        for agent in agents:
            world.give(agent.avatar_id, name="Rose", kind="object")
        return tuple(agents)

    # --- policies -----------------------------------------------------------------------------------

    def policy_of(self, agent: Agent, written: bytes) -> Policy:
        """Compile a policy for an avatar, and let the oracle read the same text.

        Raises:
            msgspec.MsgspecError: the text is no policy.
        """
        policy = Policy(msgspec.json.decode(written, type=PolicySection), self.roles)
        agent.account.knows_policy(policy.version, Rulebook(written, _encode(self.roles)))
        return policy

    def reload(self, agent: Agent, data: bytes) -> Reloaded:
        """Read a new configuration for one avatar; see `gridagent.session.orders.Reloader`."""
        if data == OTHER_ROLES:
            return Reloaded(policy=Policy(None, RolesSection()))
        try:
            reloaded = Reloaded(policy=self.policy_of(agent, data), refused=("queues.controls",))
        except msgspec.MsgspecError as error:
            return Reloaded(problem=str(error))
        agent.policy = agent.offered.get(data, agent.policy)  # what is on the disk is read again at the next start
        agent.offered.clear()
        return reloaded

    # --- facts --------------------------------------------------------------------------------------

    def on_row(self, key: AvatarKey, record: AuditRecord) -> None:
        """Pass an audit row on, as JSON text."""
        if self.down:
            return
        raw = _encode(record)
        row = decode_row(raw)
        self.sometimes.row(row)
        account = self._by_key[key].account
        account.on_row(row)
        account.questions.on_text(raw, "an audit row")
        if row.kind == "decision" and row.code == "needs_approval":
            self.on_moment(Moment.ASKED)
        elif row.kind == "approval" and row.code == "allowed":
            self.on_moment(Moment.ANSWERED)
        elif row.kind == "hold" and row.code == "held":
            self.on_moment(Moment.HELD)

    def on_error(self, code: str, error: BaseException) -> None:
        """Take note of an error that went to the log."""
        if self.down:
            return
        if code == "backend_fault":
            self.sometimes.saw("backend_fault")
        on_purpose = isinstance(error, HostileError | BackendError | AuthorityRefused | TimeoutError)
        if code == "session_ended" or not on_purpose:
            self.oracle.breach("service", "no error but those made on purpose", f"{code}: {error!r}")

    def on_performed(self, avatar_id: AvatarId, action: Action, reference: Label, changed: Changed) -> None:
        """See `WorldWatcher.on_performed`."""
        if self.down:
            self.oracle.breach(self._by_id[avatar_id].key, "the dead do nothing", action_name(action))
        self.sometimes.saw("action_performed")
        if changed.balance < 0:
            self.sometimes.saw("money_paid")
        account = self._by_id[avatar_id].account
        account.on_performed(action, reference, balance=changed.balance, items=changed.items)
        if isinstance(action, SendIm):
            self.approvers.on_message(avatar_id, action)
        if changed.balance < 0:
            self.on_moment(Moment.PAID)

    def on_told(self, avatar_id: AvatarId, event: GridEvent) -> None:
        """See `WorldWatcher.on_told`."""
        self._by_id[avatar_id].account.on_told(event)

    def on_login(self, session: Session) -> None:
        """See `WorldWatcher.on_login`."""
        self.oracle.note(self._by_id[session.avatar_id].key, "login", str(session.number))
        self._logins.append(session)

    def on_inspector_event(self, event: GridEvent) -> None:
        """Take note of who answers the inspector; questions and what was written long ago are no answers."""
        if isinstance(event, ImReceived) and not event.offline and event.text.startswith("Hello"):
            self.heard[event.source.id] = trio.current_time()

    def judge_logins(self, *, crashed: bool = False) -> None:
        """Hold every login since the last time to exactly one logout; whoever was cut off may owe one (Spec: SUP-9)."""
        for session in self._logins:
            if session.logouts != 1 and not (crashed and session.logouts == 0):
                self._by_id[session.avatar_id].account.breach(
                    "one logout a login", f"login {session.number} at {session.began_at:.3f} s: {session.logouts}"
                )
        self._logins.clear()


def _point(spot: Spot) -> Position:
    return Position(x=spot.x, y=spot.y, z=spot.z)
