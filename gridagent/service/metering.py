"""What a service's observations and queues come to as numbers (Spec: OPS-2).

Owns the table from each observation to the metrics it moves, and the names and labels of those metrics. It watches
and holds no executor: nothing here can cause anything (Spec: MND-18). The service feeds it what its subscribers are
told; whoever serves metrics asks for `Meter.exposition`. Labels hold codes and the operator's own words, never text
from the grid, from people or from a model: a tool that a model made up counts as ``unknown``.

Invariant: every class of observation has a row, and the number of series is bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

import msgspec

from gridagent import observations as told
from gridagent.events import EventsShed, PartHealth, event_name
from gridagent.ids import AvatarKey, CorrelationId
from gridagent.observability.metrics import Registry, TextFormat
from gridagent.observations import AgentState, LinkState, Observation, observation_name
from gridagent.runtime.broadcast import Subscription
from gridagent.runtime.channels import ChannelStatistics, Lagged
from gridagent.session.handle import SessionHandle

__all__ = ("Meter", "meter_all", "meter_session", "read_queues")

_TURNS_OPEN_MAX: Final = 4_096
"""Turns whose beginning is remembered, over all avatars; one more is not timed."""
_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_UNKNOWN_TOOL: Final = "unknown_tool"
_UNKNOWN: Final = "unknown"
_MICROS: Final = 1e-6


class _Families:
    """Every family, by what it counts."""

    __slots__ = (
        "actions",
        "agent",
        "approvals",
        "approvals_open",
        "attention",
        "begun",
        "connections",
        "controls",
        "corrections",
        "cost",
        "decisions",
        "diagnostics",
        "disconnects",
        "doubts",
        "events",
        "fallbacks",
        "fenced",
        "generation",
        "goals",
        "health",
        "held",
        "lagged",
        "link",
        "observations",
        "queue_dropped",
        "queue_limit",
        "queue_peak",
        "queue_used",
        "registry",
        "replies",
        "reply_bytes",
        "requests",
        "safe_mode",
        "shed",
        "spans_dropped",
        "spans_exported",
        "tokens",
        "tools",
        "turn_seconds",
        "turns",
        "turns_ended",
        "turns_open",
        "unpriced",
    )

    def __init__(self) -> None:
        registry = self.registry = Registry("gridagent")
        counter, gauge = registry.counter, registry.gauge
        self.observations = counter("observations_total", "Observations by kind.", "avatar", "kind")
        self.lagged = counter("observations_lagged_total", "Observations that the meter itself missed.", "avatar")
        self.agent = gauge("agent_state", "1 for the state that the agent is in.", "avatar", "state")
        self.link = gauge("link_state", "1 for the state that the connection is in.", "avatar", "state")
        self.generation = gauge("generation", "Number of the newest connection attempt.", "avatar")
        self.connections = counter("connections_total", "Connection attempts.", "avatar")
        self.disconnects = counter("disconnects_total", "Ended connections by cause.", "avatar", "cause")
        self.events = counter("grid_events_total", "What the grid told, by event.", "avatar", "event")
        self.shed = counter("grid_events_shed_total", "Events that the grid connection dropped.", "avatar", "kind")
        self.attention = counter("attention_total", "Utterances by the reason to answer or not.", "avatar", "code")
        self.decisions = counter(
            "decisions_total", "Decisions of the gateway.", "avatar", "action", "origin", "verdict", "code"
        )
        self.actions = counter("actions_total", "Ended actions by outcome.", "avatar", "action", "outcome")
        self.doubts = counter("doubts_settled_total", "Doubts that ended.", "avatar", "action", "outcome", "by")
        self.approvals = counter("approvals_total", "Approvals by how they ended.", "avatar", "how")
        self.approvals_open = gauge("approvals_open", "Approvals that wait for a person.", "avatar")
        self.held = gauge("held", "1 while the kill switch is on.", "avatar")
        self.controls = counter("controls_total", "Controls by reply.", "avatar", "control", "accepted")
        self.fenced = counter("fenced_total", "Late results of earlier connections.", "avatar", "what")
        self.diagnostics = counter("diagnostics_total", "Diagnostics by code.", "avatar", "code")
        self.turns = counter("turns_total", "Begun turns by mode.", "avatar", "mode")
        self.turns_ended = counter("turns_ended_total", "Ended turns by reason.", "avatar", "stop")
        self.turns_open = gauge("turns_open", "Turns under way.", "avatar")
        self.turn_seconds = registry.histogram("turn_seconds", "How long turns took.", "avatar", bounds=_SECONDS)
        self.requests = counter("model_requests_total", "Requests to the model that got a reply.", "avatar")
        self.tokens = counter("model_tokens_total", "Tokens; cached ones are part of input.", "avatar", "type")
        self.cost = counter("model_cost_total", "What the model cost, in the price list's currency.", "avatar")
        self.unpriced = counter("turns_unpriced_total", "Turns whose cost nobody knows.", "avatar")
        self.corrections = counter("turn_corrections_total", "Times the model was asked again.", "avatar")
        self.fallbacks = counter("turn_fallbacks_total", "Turns in which a line of the persona was said.", "avatar")
        self.tools = counter("tool_calls_total", "Tool calls by result.", "avatar", "tool", "code")
        self.replies = counter("replies_total", "Replies that were to be spoken.", "avatar")
        self.reply_bytes = counter("reply_bytes_total", "Bytes of those replies.", "avatar")
        self.goals = counter("goal_changes_total", "Changes of goals by new state.", "avatar", "state")
        self.safe_mode = gauge("safe_mode", "1 while storage is out of order.", "avatar")
        self.queue_used = gauge("queue_used", "Items that wait in a queue.", "avatar", "queue")
        self.queue_limit = gauge("queue_limit", "Items that may wait in a queue.", "avatar", "queue")
        self.queue_peak = gauge("queue_peak", "Most items that ever waited in a queue.", "avatar", "queue")
        self.queue_dropped = gauge("queue_dropped", "Items a queue gave up so far.", "avatar", "queue")
        self.health = gauge("connection_health", "Figures of the connection.", "avatar", "part", "figure")
        self.spans_exported = counter("spans_exported_total", "Spans of traces that were handed over.")
        self.spans_dropped = counter("spans_dropped_total", "Spans of traces that were not.", "why")
        self.begun: OrderedDict[tuple[AvatarKey, CorrelationId], float] = OrderedDict()  # at most _TURNS_OPEN_MAX


class Meter:
    """The metrics of one service.

    Bounds: see `Registry`; 4,096 turns are timed at once.
    """

    __slots__ = ("_to",)

    def __init__(self) -> None:
        self._to = _Families()

    def take(self, observation: Observation) -> None:
        """Count one observation."""
        body = observation.body
        self._to.observations.add(observation.avatar, observation_name(body))
        _ROWS[type(body)](self._to, observation)

    def lagged(self, avatar: AvatarKey, count: int) -> None:
        """Count what the meter's own subscription missed (Spec: BND-3)."""
        self._to.lagged.add(avatar, by=count)

    def queues(self, avatar: AvatarKey, statistics: Iterable[ChannelStatistics]) -> None:
        """Take over where an avatar's queues stand now."""
        for queue in statistics:
            self._to.queue_used.set(avatar, queue.name, to=queue.used)
            self._to.queue_limit.set(avatar, queue.name, to=queue.limit)
            self._to.queue_peak.set(avatar, queue.name, to=queue.peak)
            self._to.queue_dropped.set(avatar, queue.name, to=queue.dropped)

    def health(self, avatar: AvatarKey, figures: Iterable[PartHealth]) -> None:
        """Take over how an avatar's connection is now."""
        for each in figures:
            self._to.health.set(avatar, each.part, each.figure, to=each.value)

    def spans(self, exported: int, dropped: Mapping[str, int]) -> None:
        """Take over how many spans of traces were handed over so far, and how many were not, by reason."""
        self._to.spans_exported.add(by=exported - self._to.spans_exported.value())
        for why, count in dropped.items():
            self._to.spans_dropped.add(why, by=count - self._to.spans_dropped.value(why))

    def exposition(self, form: TextFormat = TextFormat.PROMETHEUS) -> str:
        """Return everything as text."""
        return self._to.registry.exposition(form)


async def meter_session(meter: Meter, session: SessionHandle) -> None:
    """Feed a meter with everything a session says, until the session has stopped.

    Args:
        meter: takes it.
        session: is only watched.

    Raises:
        ResourceBusy: the session has all the subscribers it may have.

    Cancellation: safe.
    """
    with session.observe("metrics") as seen:
        await meter_all(meter, session.key, seen)


async def meter_all(meter: Meter, avatar: AvatarKey, seen: Subscription[Observation]) -> None:
    """Feed a meter with what a subscriber is told, until there is no more to come.

    Cancellation: safe; what is not read yet is read by whoever goes on.
    """
    async for observation in seen:
        if isinstance(observation, Lagged):
            meter.lagged(avatar, observation.missed)
        else:
            meter.take(observation)


def read_queues(meter: Meter, session: SessionHandle) -> None:
    """Take over where a session's queues stand and how its connection is, just before the metrics are shown."""
    status = session.status()
    meter.queues(session.key, status.queues)
    meter.health(session.key, status.vitals)


# --- rows: what each observation moves --------------------------------------------------------------


def _agent_state(to: _Families, seen: Observation, body: told.AgentStateChanged) -> None:
    to.agent.choose(seen.avatar, body.state.value, among=[state.value for state in AgentState])


def _link_state(to: _Families, seen: Observation, body: told.LinkStateChanged) -> None:
    to.link.choose(seen.avatar, body.state.value, among=[state.value for state in LinkState])


def _opened(to: _Families, seen: Observation, _: told.GenerationOpened) -> None:
    to.connections.add(seen.avatar)
    to.generation.set(seen.avatar, to=seen.generation)


def _closed(to: _Families, seen: Observation, body: told.GenerationClosed) -> None:
    to.disconnects.add(seen.avatar, body.cause.value)


def _event(to: _Families, seen: Observation, body: told.EventSeen) -> None:
    to.events.add(seen.avatar, event_name(body.event))
    if isinstance(body.event, EventsShed):
        to.shed.add(seen.avatar, body.event.kind, by=body.event.count)


def _attended(to: _Families, seen: Observation, body: told.AttentionDecided) -> None:
    to.attention.add(seen.avatar, body.code)


def _decided(to: _Families, seen: Observation, body: told.ActionDecided) -> None:
    code = "" if body.code is None else body.code.value
    to.decisions.add(seen.avatar, body.action, body.origin.value, body.verdict.value, code)


def _settled(to: _Families, seen: Observation, body: told.ActionSettled) -> None:
    to.actions.add(seen.avatar, body.action, "dry_run" if body.dry_run else _outcome(body))


def _doubt(to: _Families, seen: Observation, body: told.DoubtSettled) -> None:
    to.doubts.add(seen.avatar, body.action, _outcome(body), body.by.value)


def _approval_opened(to: _Families, seen: Observation, _: told.ApprovalOpened) -> None:
    to.approvals_open.add(seen.avatar)


def _approval_closed(to: _Families, seen: Observation, body: told.ApprovalClosed) -> None:
    to.approvals.add(seen.avatar, body.how)
    # one that was opened before the meter listened is not counted below nothing
    to.approvals_open.set(seen.avatar, to=max(0.0, to.approvals_open.value(seen.avatar) - 1.0))


def _hold(to: _Families, seen: Observation, body: told.HoldChanged) -> None:
    to.held.set(seen.avatar, to=body.held)


def _control(to: _Families, seen: Observation, body: told.ControlAnswered) -> None:
    to.controls.add(seen.avatar, body.control, "yes" if body.reply.accepted else "no")


def _fence(to: _Families, seen: Observation, body: told.WorkFenced) -> None:
    to.fenced.add(seen.avatar, body.what, by=body.count)


def _diagnosed(to: _Families, seen: Observation, body: told.Diagnostic) -> None:
    to.diagnostics.add(seen.avatar, body.code)


def _turn_started(to: _Families, seen: Observation, body: told.TurnStarted) -> None:
    to.turns.add(seen.avatar, body.mode)
    to.turns_open.add(seen.avatar)
    if len(to.begun) < _TURNS_OPEN_MAX:
        to.begun[seen.avatar, body.correlation] = seen.at


def _turn_ended(to: _Families, seen: Observation, body: told.TurnEnded) -> None:
    avatar = seen.avatar
    to.turns_ended.add(avatar, body.stop)
    to.turns_open.set(avatar, to=max(0.0, to.turns_open.value(avatar) - 1.0))
    begun = to.begun.pop((avatar, body.correlation), None)
    if begun is not None:
        to.turn_seconds.observe(avatar, amount=seen.at - begun)
    to.requests.add(avatar, by=body.model_turns)
    for kind, tokens in (
        ("input", body.input_tokens),
        ("cached", body.cached_tokens),
        ("output", body.output_tokens),
    ):
        to.tokens.add(avatar, kind, by=tokens)
    if body.cost_micros is None:
        to.unpriced.add(avatar)
    else:
        to.cost.add(avatar, by=body.cost_micros * _MICROS)
    to.corrections.add(avatar, by=body.corrections)
    to.fallbacks.add(avatar, by=body.fallback)


def _tool(to: _Families, seen: Observation, body: told.ToolEnded) -> None:
    # a name that a model made up is text from a model
    name = _UNKNOWN if body.code == _UNKNOWN_TOOL else body.tool
    to.tools.add(seen.avatar, name, body.code)


def _reply(to: _Families, seen: Observation, body: told.ReplyComposed) -> None:
    to.replies.add(seen.avatar)
    to.reply_bytes.add(seen.avatar, by=len(body.text.encode("utf-8", "replace")))


def _goal(to: _Families, seen: Observation, body: told.GoalChanged) -> None:
    to.goals.add(seen.avatar, body.state)


def _safe(to: _Families, seen: Observation, body: told.SafeModeChanged) -> None:
    to.safe_mode.set(seen.avatar, to=body.active)


def _outcome(body: told.ActionSettled | told.DoubtSettled) -> str:
    tag = type(body.outcome).__struct_config__.tag
    assert isinstance(tag, str)  # noqa: S101 - every outcome declares a text tag
    return tag


_Row: TypeAlias = Callable[[_Families, Observation], None]
_Body = TypeVar("_Body", bound=msgspec.Struct)


def _row(
    kind: type[_Body], count: Callable[[_Families, Observation, _Body], None]
) -> tuple[type[msgspec.Struct], _Row]:
    def take(to: _Families, seen: Observation) -> None:
        body = seen.body
        assert isinstance(body, kind)  # noqa: S101 - the table is keyed by it
        count(to, seen, body)

    return kind, take


_ROWS: Final[Mapping[type[msgspec.Struct], _Row]] = MappingProxyType(
    dict(
        (
            _row(told.AgentStateChanged, _agent_state),
            _row(told.LinkStateChanged, _link_state),
            _row(told.GenerationOpened, _opened),
            _row(told.GenerationClosed, _closed),
            _row(told.EventSeen, _event),
            _row(told.AttentionDecided, _attended),
            _row(told.ActionDecided, _decided),
            _row(told.ActionSettled, _settled),
            _row(told.DoubtSettled, _doubt),
            _row(told.ApprovalOpened, _approval_opened),
            _row(told.ApprovalClosed, _approval_closed),
            _row(told.HoldChanged, _hold),
            _row(told.ControlAnswered, _control),
            _row(told.WorkFenced, _fence),
            _row(told.Diagnostic, _diagnosed),
            _row(told.TurnStarted, _turn_started),
            _row(told.TurnEnded, _turn_ended),
            _row(told.ToolEnded, _tool),
            _row(told.ReplyComposed, _reply),
            _row(told.GoalChanged, _goal),
            _row(told.SafeModeChanged, _safe),
        )
    )
)
"""One row for each class of observation; a test holds it to the catalogue."""
