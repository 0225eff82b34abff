"""What a service's observations come to as traces, with OpenTelemetry's names for generative AI (Spec: OPS-2, MND-14).

Owns the mapping: a turn is one ``invoke_agent`` span, each tool call and each action a span below it, and an action
that no turn led to a span of its own. Each carries the correlation id that its audit row has. It watches and holds no
executor (Spec: MND-18). What is said is left out unless ``content`` is asked for: only codes, numbers and names of
tools and actions go out. Observations tell when a tool call ended, so its span is a point in time.

Invariant: every span that was begun is ended: with its turn or action, when the agent stops, or as the oldest of many.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

import msgspec

from gridagent import observations as told
from gridagent.ids import AvatarKey, CorrelationId
from gridagent.observability.spans import Attributes, SpanSink
from gridagent.observations import AgentState, Observation, Verdict

__all__ = ("Tracing",)

_TURNS_MAX: Final = 4_096
_ACTIONS_MAX: Final = 4_096
_SAME_ACTION_MAX: Final = 64
_SOUND_STOPS: Final = frozenset({"answered", "silent", "superseded", "cancelled"})
"""Ends of a turn that are no failure."""
_CONTENT_MAX: Final = 1_024
_OVER: Final = frozenset({AgentState.STOPPED, AgentState.FAILED})

_TurnKey: TypeAlias = tuple[AvatarKey, CorrelationId]
_ActionKey: TypeAlias = tuple[AvatarKey, CorrelationId, str]


class Tracing:
    """Turns observations into spans.

    Args:
        sink: takes them.
        wall_minus_monotonic: seconds to add to an observation's time to get Unix time.
        content: also send what the avatar says; off by default, since traces leave the machine.
        clean: masks known secrets in it, before it is cut.

    Bounds: 4,096 turns and as many kinds of action open at once, 64 actions of one kind and cause; the oldest is ended.
    """

    __slots__ = ("_actions", "_clean", "_content", "_offset", "_over", "_sink", "_turns")

    def __init__(
        self, sink: SpanSink, *, wall_minus_monotonic: float, content: bool = False, clean: Callable[[str], str] = str
    ) -> None:
        self._sink = sink
        self._offset = wall_minus_monotonic
        self._content = content
        self._clean = clean
        self._turns: OrderedDict[_TurnKey, int] = OrderedDict()  # at most _TURNS_MAX
        self._over: OrderedDict[_TurnKey, int] = OrderedDict()  # at most _TURNS_MAX; their replies are still spoken
        self._actions: OrderedDict[_ActionKey, deque[int]] = OrderedDict()  # at most _ACTIONS_MAX

    def take(self, observation: Observation) -> None:
        """Begin and end the spans that one observation tells of; most tell of none."""
        row = _ROWS.get(type(observation.body))
        if row is not None:
            row(self, observation)

    @property
    def open_spans(self) -> int:
        """How many spans are open."""
        return len(self._turns) + sum(map(len, self._actions.values()))

    # --- rows -------------------------------------------------------------------------------------

    def turn_started(self, seen: Observation, body: told.TurnStarted) -> None:
        """Open the span of a turn."""
        key = (seen.avatar, body.correlation)
        self._end_turn(key, seen, error="superseded")
        attributes = self._common(seen, body.correlation) | {
            "gen_ai.operation.name": "invoke_agent",
            "gridagent.turn.mode": body.mode,
        }
        self._turns[key] = self._begin(f"invoke_agent {seen.avatar}", seen, attributes)
        if len(self._turns) > _TURNS_MAX:
            self._end_turn(next(iter(self._turns)), seen, error="never_ended")

    def turn_ended(self, seen: Observation, body: told.TurnEnded) -> None:
        """Close it, with what its requests took."""
        attributes: dict[str, str | int | float | bool] = {
            "gen_ai.usage.input_tokens": body.input_tokens,
            "gen_ai.usage.cache_read.input_tokens": body.cached_tokens,
            "gen_ai.usage.output_tokens": body.output_tokens,
            "gridagent.turn.stop": body.stop,
            "gridagent.turn.model_requests": body.model_turns,
            "gridagent.turn.corrections": body.corrections,
            "gridagent.turn.fallback": body.fallback,
        }
        if body.cost_micros is not None:
            attributes["gridagent.turn.cost_micros"] = body.cost_micros
        error = "" if body.stop in _SOUND_STOPS else body.stop
        self._end_turn((seen.avatar, body.correlation), seen, error=error, attributes=attributes)

    def tool_ended(self, seen: Observation, body: told.ToolEnded) -> None:
        """Mark a tool call below its turn."""
        name = "unknown" if body.code == "unknown_tool" else body.tool  # a name that a model made up is its words
        attributes = self._common(seen, body.correlation) | {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
        }
        span = self._begin(f"execute_tool {name}", seen, attributes, below=body.correlation)
        self._end(span, seen, error="" if body.ok else body.code)

    def reply_composed(self, seen: Observation, body: told.ReplyComposed) -> None:
        """Mark what is going to be said; its words only where they are asked for."""
        attributes = self._common(seen, body.correlation) | {"gridagent.reply.bytes": len(body.text.encode())}
        if self._content:
            attributes |= {"gen_ai.output.messages": self._clean(body.text)[:_CONTENT_MAX]}
        self._end(self._begin("reply", seen, attributes, below=body.correlation), seen)

    def decided(self, seen: Observation, body: told.ActionDecided) -> None:
        """Open the span of an authorised action; mark one that was not."""
        attributes = self._common(seen, body.correlation) | {
            "gridagent.action": body.action,
            "gridagent.origin": body.origin.value,
            "gridagent.verdict": body.verdict.value,
        }
        span = self._begin(f"action {body.action}", seen, attributes, below=body.correlation)
        if body.verdict is not Verdict.AUTHORIZED:
            code = "" if body.code is None else body.code.value
            self._end(span, seen, error=code)
            return
        waiting = self._actions.setdefault(
            (seen.avatar, body.correlation, body.action), deque(maxlen=_SAME_ACTION_MAX + 1)
        )
        waiting.append(span)
        if len(waiting) > _SAME_ACTION_MAX:
            self._end(waiting.popleft(), seen, error="never_ended")
        if len(self._actions) > _ACTIONS_MAX:
            self._end_actions(next(iter(self._actions)), seen, error="never_ended")

    def settled(self, seen: Observation, body: told.ActionSettled) -> None:
        """Close the oldest open span of this action and cause."""
        key = (seen.avatar, body.correlation, body.action)
        waiting = self._actions.get(key)
        if waiting is None:
            return  # authorised before anybody watched
        tag = str(type(body.outcome).__struct_config__.tag)
        attributes = {"gridagent.effect": body.effect, "gridagent.outcome": "dry_run" if body.dry_run else tag}
        sound = body.dry_run or tag == "confirmed"
        self._end(waiting.popleft(), seen, error="" if sound else tag, attributes=attributes)
        if not waiting:
            del self._actions[key]

    def agent_changed(self, seen: Observation, body: told.AgentStateChanged) -> None:
        """End what is open of an agent that is over."""
        if body.state not in _OVER:
            return
        for turn in [key for key in self._turns if key[0] == seen.avatar]:
            self._end_turn(turn, seen, error="agent_over")
        for action in [key for key in self._actions if key[0] == seen.avatar]:
            self._end_actions(action, seen, error="agent_over")

    # --- inside -----------------------------------------------------------------------------------

    def _common(self, seen: Observation, correlation: CorrelationId) -> dict[str, str | int | float | bool]:
        return {
            "gen_ai.agent.name": seen.avatar,
            "gridagent.correlation": correlation,
            "gridagent.generation": seen.generation,
        }

    def _begin(
        self, name: str, seen: Observation, attributes: Attributes, *, below: CorrelationId | None = None
    ) -> int:
        key = (seen.avatar, below or CorrelationId(""))
        parent = self._turns.get(key, self._over.get(key))
        return self._sink.begin(name, parent=parent, at=seen.at + self._offset, attributes=attributes)

    def _end(self, span: int, seen: Observation, *, error: str = "", attributes: Attributes | None = None) -> None:
        self._sink.end(span, at=seen.at + self._offset, error=error, attributes=attributes)

    def _end_turn(self, key: _TurnKey, seen: Observation, *, error: str, attributes: Attributes | None = None) -> None:
        span = self._turns.pop(key, None)
        if span is None:
            return
        self._end(span, seen, error=error, attributes=attributes)
        self._over[key] = span
        if len(self._over) > _TURNS_MAX:
            self._over.popitem(last=False)

    def _end_actions(self, key: _ActionKey, seen: Observation, *, error: str) -> None:
        for span in self._actions.pop(key):
            self._end(span, seen, error=error)


_Row: TypeAlias = Callable[[Tracing, Observation], None]
_Body = TypeVar("_Body", bound=msgspec.Struct)


def _row(kind: type[_Body], trace: Callable[[Tracing, Observation, _Body], None]) -> tuple[type[msgspec.Struct], _Row]:
    def take(tracing: Tracing, seen: Observation) -> None:
        body = seen.body
        assert isinstance(body, kind)  # noqa: S101 - the table is keyed by it
        trace(tracing, seen, body)

    return kind, take


_ROWS: Final[Mapping[type[msgspec.Struct], _Row]] = MappingProxyType(
    dict(
        (
            _row(told.TurnStarted, Tracing.turn_started),
            _row(told.TurnEnded, Tracing.turn_ended),
            _row(told.ToolEnded, Tracing.tool_ended),
            _row(told.ReplyComposed, Tracing.reply_composed),
            _row(told.ActionDecided, Tracing.decided),
            _row(told.ActionSettled, Tracing.settled),
            _row(told.AgentStateChanged, Tracing.agent_changed),
        )
    )
)
"""The observations that traces are made of; the others are metrics and log lines only."""
