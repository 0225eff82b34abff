"""Claims about a service's traces (Spec: OPS-2, MND-14, MND-18)."""

from __future__ import annotations

import ast
import inspect

import pytest

from gridagent import observations as told
from gridagent.actions import Confirmed, EvidenceKind, InDoubt
from gridagent.authority import DenialCode, Origin
from gridagent.observability.spans import RecordedSpans
from gridagent.observations import OBSERVATIONS, AgentState, Observation, Verdict
from gridagent.service import tracing
from gridagent.service.tracing import Tracing

WHO = "00000000-0000-4000-8000-00000000000a"
CANARY = "canary words of somebody"
DONE = Confirmed(evidence=EvidenceKind.OWN_ECHO)
OFFSET = 1_000.0


class Traced:
    """An observer with its recorder."""

    def __init__(self, **keys):
        self.sink = RecordedSpans(keep=20_000)
        self.tracing = Tracing(self.sink, wall_minus_monotonic=OFFSET, **keys)
        self.at = 0.0

    def tell(self, *bodies, avatar="robin"):
        for body in bodies:
            self.at += 1.0
            self.tracing.take(Observation(seq=1, avatar=avatar, generation=2, at=self.at, body=body))

    def spans(self):
        return [
            (span.name, span.parent, span.begun - OFFSET, span.ended and span.ended - OFFSET, span.error)
            for span in self.sink
        ]


def decided(verdict=Verdict.AUTHORIZED, code=None, action="say", correlation="c"):
    """Return a decision of the gateway."""
    return told.ActionDecided(
        action=action,
        summary=CANARY,
        origin=Origin.PUBLIC_CHAT,
        principal=WHO,
        verdict=verdict,
        code=code,
        correlation=correlation,
    )


def settled(outcome=DONE, action="say", correlation="c", *, dry_run=False):
    """Return the end of an action."""
    return told.ActionSettled(action=action, effect="e1", outcome=outcome, correlation=correlation, dry_run=dry_run)


def test_a_turn_is_a_span_with_its_tools_and_actions_below_it():
    """Spec: OPS-2, MND-14 — named as OpenTelemetry does, with the correlation id of the audit row."""
    traced = Traced()
    traced.tell(
        told.TurnStarted(correlation="c", mode="addressed"),
        told.ToolEnded(correlation="c", tool="look_around", ok=True, code="done"),
        told.ToolEnded(correlation="c", tool=CANARY, ok=False, code="unknown_tool"),
        decided(),
        told.ReplyComposed(correlation="c", text=CANARY),
        settled(),
        told.TurnEnded(
            correlation="c", stop="answered", input_tokens=70, cached_tokens=20, output_tokens=9, cost_micros=5
        ),
    )
    assert traced.spans() == [
        ("invoke_agent robin", None, 1.0, 7.0, ""),
        ("execute_tool look_around", 1, 2.0, 2.0, ""),
        ("execute_tool unknown", 1, 3.0, 3.0, "unknown_tool"),
        ("action say", 1, 4.0, 6.0, ""),
        ("reply", 1, 5.0, 5.0, ""),
    ]
    turn, tool, *_ = traced.sink
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert turn.attributes["gen_ai.agent.name"] == "robin"
    assert turn.attributes["gen_ai.usage.input_tokens"] == 70
    assert turn.attributes["gen_ai.usage.output_tokens"] == 9
    assert turn.attributes["gridagent.turn.cost_micros"] == 5
    assert tool.attributes["gen_ai.tool.name"] == "look_around"
    assert {span.attributes["gridagent.correlation"] for span in traced.sink} == {"c"}
    assert traced.tracing.open_spans == 0


def test_no_words_leave_unless_they_are_asked_for():
    """Spec: OPS-2 — content is off by default; summaries and made-up names never go."""
    bodies = (
        told.TurnStarted(correlation="c", mode="addressed"),
        told.ToolEnded(correlation="c", tool=CANARY, ok=False, code="unknown_tool"),
        decided(),
        told.ReplyComposed(correlation="c", text=CANARY),
    )
    plain, open_hearted = Traced(), Traced(content=True)
    plain.tell(*bodies)
    open_hearted.tell(*bodies)
    assert CANARY not in str(list(plain.sink))
    assert str(list(open_hearted.sink)).count(CANARY) == 1
    assert list(open_hearted.sink)[-1].attributes["gen_ai.output.messages"] == CANARY


def test_what_is_secret_is_masked_before_it_is_cut():
    """Spec: CFG-3 — half of a secret would be found by nobody."""
    traced = Traced(content=True, clean=lambda text: text.replace(CANARY, "***"))
    traced.tell(told.TurnStarted(correlation="c", mode="addressed"))
    traced.tell(told.ReplyComposed(correlation="c", text="x" * 1_015 + CANARY))
    assert list(traced.sink)[-1].attributes["gen_ai.output.messages"] == "x" * 1_015 + "***"


@pytest.mark.parametrize(
    ("stop", "error"),
    [
        ("answered", ""),
        ("silent", ""),
        ("cancelled", ""),
        ("superseded", ""),
        ("deadline", "deadline"),
        ("spent", "spent"),
    ],
)
def test_a_turn_that_failed_says_so(stop, error):
    """Being superseded or silent is no failure; a deadline is."""
    traced = Traced()
    traced.tell(told.TurnStarted(correlation="c", mode="ambient"), told.TurnEnded(correlation="c", stop=stop))
    assert traced.spans() == [("invoke_agent robin", None, 1.0, 2.0, error)]


def test_actions_end_in_the_order_they_were_allowed():
    """Two of a kind and cause are told apart; each outcome that is no success is an error."""
    traced = Traced()
    traced.tell(decided(), decided(), settled(), settled(InDoubt(reason="x")), settled())
    assert traced.spans() == [("action say", None, 1.0, 3.0, ""), ("action say", None, 2.0, 4.0, "in_doubt")]
    first, second = traced.sink
    assert first.attributes["gridagent.outcome"] == "confirmed"
    assert second.attributes["gridagent.effect"] == "e1"


def test_what_was_not_allowed_or_only_played_is_marked():
    """A denial is a point with its code; a question to a person is none; a dry run is not an error."""
    traced = Traced()
    traced.tell(
        decided(Verdict.DENIED, DenialCode.ROLE_TOO_LOW),
        decided(Verdict.NEEDS_APPROVAL),
        decided(),
        settled(InDoubt(reason="x"), dry_run=True),
    )
    assert [(begun, ended, error) for _, _, begun, ended, error in traced.spans()] == [
        (1.0, 1.0, "role_too_low"),
        (2.0, 2.0, ""),
        (3.0, 4.0, ""),
    ]


def test_a_reply_that_is_spoken_after_its_turn_is_below_it(monkeypatch):
    """Speech is paced, so its actions come when the turn is over; of very many turns the oldest are forgotten."""
    monkeypatch.setattr(tracing, "_TURNS_MAX", 1)
    traced = Traced()
    over = (told.TurnStarted(correlation="c", mode="addressed"), told.TurnEnded(correlation="c", stop="answered"))
    traced.tell(*over, decided(), settled())
    assert traced.spans()[1] == ("action say", 1, 3.0, 4.0, "")
    traced.tell(told.TurnStarted(correlation="d", mode="addressed"), told.TurnEnded(correlation="d", stop="answered"))
    traced.tell(decided())
    assert traced.spans()[-1][:2] == ("action say", None)


def test_what_is_open_ends_with_its_agent():
    """Spec: SUP-2 — of that avatar, and of no other; a mere pause ends nothing."""
    traced = Traced()
    for avatar in ("robin", "wren"):
        traced.tell(told.TurnStarted(correlation="c", mode="addressed"), decided(), avatar=avatar)
    traced.tell(told.AgentStateChanged(state=AgentState.PAUSED, was=AgentState.RUNNING))
    assert traced.tracing.open_spans == 4
    traced.tell(told.AgentStateChanged(state=AgentState.FAILED, was=AgentState.RUNNING))
    assert traced.tracing.open_spans == 2
    assert [error for *_, error in traced.spans()] == ["agent_over", "agent_over", "", ""]


def test_what_never_ends_is_ended_as_the_oldest_of_many(monkeypatch):
    """Bounded whatever observers miss: turns, causes, and actions of one cause."""
    monkeypatch.setattr(tracing, "_TURNS_MAX", 2)
    monkeypatch.setattr(tracing, "_ACTIONS_MAX", 2)
    traced = Traced()
    traced.tell(*(told.TurnStarted(correlation=f"c{number}", mode="addressed") for number in range(3)))
    traced.tell(*(decided(correlation=f"d{number}") for number in range(3)))
    assert [error for *_, error in traced.spans()] == ["never_ended", "", "", "never_ended", "", ""]
    traced = Traced()
    traced.tell(*(decided() for _ in range(70)))
    assert traced.tracing.open_spans == 64
    assert [error for *_, error in traced.spans()].count("never_ended") == 6


def test_a_turn_that_begins_again_ends_the_one_before():
    """A correlation id is one turn's."""
    traced = Traced()
    traced.tell(*(told.TurnStarted(correlation="c", mode="addressed") for _ in range(2)))
    traced.tell(told.TurnEnded(correlation="never begun", stop="answered"))
    assert [error for *_, error in traced.spans()] == ["superseded", ""]


def test_observations_that_are_no_span_change_nothing():
    """The rows are some of the catalogue; the rest are metrics and log lines."""
    traced = Traced()
    traced.tell(told.HoldChanged(held=True), told.GenerationOpened())
    assert not list(traced.sink)
    assert set(tracing._ROWS) < set(OBSERVATIONS)


def test_an_observer_of_traces_holds_no_executor():
    """Spec: MND-18 — it imports neither gateway, grid, session nor model."""
    tree = ast.parse(inspect.getsource(tracing))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {
        "__future__",
        "collections",
        "collections.abc",
        "types",
        "typing",
        "gridagent",
        "gridagent.ids",
        "gridagent.observability.spans",
        "gridagent.observations",
    }
