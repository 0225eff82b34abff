"""Claims about a service's metrics (Spec: OPS-2, MND-18)."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import get_args

import pytest
import trio

from gridagent import observations as told
from gridagent.actions import Confirmed, EvidenceKind, InDoubt, Refused, SettledBy
from gridagent.authority import DenialCode, Origin
from gridagent.controls import ControlReply, SayAsOperator
from gridagent.events import DisconnectCause, EventsShed, PartHealth, TypingSeen
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.observations import OBSERVATIONS, AgentState, LinkState, Observation, Verdict
from gridagent.policy import Policy
from gridagent.runtime.channels import ChannelStatistics
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, metering, open_service
from gridagent.service.metering import Meter, meter_session, read_queues
from gridagent.session import OnBackendFailure, SessionSettings

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "observability.md"
WHO = "00000000-0000-4000-8000-00000000000a"
DONE = Confirmed(evidence=EvidenceKind.OWN_ECHO)
CANARY = "canary words of somebody"


def _fed(*bodies: told.ObservationBody, at: float = 10.0) -> Meter:
    meter = Meter()
    for number, body in enumerate(bodies):
        meter.take(Observation(seq=number + 1, avatar="robin", generation=3, at=at + number, body=body))
    return meter


def _lines(meter: Meter, name: str) -> list[str]:
    """Return the samples of one family, without prefix and avatar."""
    found = [line for line in meter.exposition().splitlines() if line.startswith(f"gridagent_{name}")]
    return [
        line.removeprefix("gridagent_").replace('avatar="robin",', "").replace('{avatar="robin"}', "") for line in found
    ]


def _reply(*, accepted: bool) -> ControlReply:
    return ControlReply(accepted=accepted, code="" if accepted else "no")


ROWS: list[tuple[told.ObservationBody, str]] = [
    (told.AgentStateChanged(state=AgentState.RUNNING, was=AgentState.STARTING), 'agent_state{state="running"} 1'),
    (told.AgentStateChanged(state=AgentState.RUNNING, was=AgentState.STARTING), 'agent_state{state="stopped"} 0'),
    (told.LinkStateChanged(state=LinkState.ONLINE, was=LinkState.CONNECTING), 'link_state{state="online"} 1'),
    (told.GenerationOpened(), "connections_total 1"),
    (told.GenerationOpened(), "generation 3"),
    (
        told.GenerationClosed(cause=DisconnectCause.KICKED, logged_out=True),
        'disconnects_total{cause="kicked"} 1',
    ),
    (told.EventSeen(event=TypingSeen(avatar_id=WHO, typing=True)), 'grid_events_total{event="typing_seen"} 1'),
    (told.EventSeen(event=EventsShed(kind="object", count=7)), 'grid_events_shed_total{kind="object"} 7'),
    (
        told.AttentionDecided(utterance_id="u", answers=False, code="quiet:not_addressed"),
        'attention_total{code="quiet:not_addressed"} 1',
    ),
    (
        told.ActionDecided(
            action="pay_avatar",
            summary=CANARY,
            origin=Origin.PUBLIC_CHAT,
            principal=WHO,
            verdict=Verdict.DENIED,
            code=DenialCode.ROLE_TOO_LOW,
            correlation="c",
        ),
        'decisions_total{action="pay_avatar",origin="public_chat",verdict="denied",code="role_too_low"} 1',
    ),
    (
        told.ActionDecided(
            action="say",
            summary=CANARY,
            origin=Origin.DIRECT_IM,
            principal=WHO,
            verdict=Verdict.AUTHORIZED,
            correlation="c",
        ),
        'decisions_total{action="say",origin="direct_im",verdict="authorized",code=""} 1',
    ),
    (
        told.ActionSettled(action="say", effect="e", outcome=DONE, correlation="c"),
        'actions_total{action="say",outcome="confirmed"} 1',
    ),
    (
        told.ActionSettled(action="say", effect="e", outcome=Refused(reason="x"), correlation="c", dry_run=True),
        'actions_total{action="say",outcome="dry_run"} 1',
    ),
    (
        told.ActionSettled(action="say", effect="e", outcome=InDoubt(reason="x"), correlation="c"),
        'actions_total{action="say",outcome="in_doubt"} 1',
    ),
    (
        told.DoubtSettled(action="pay_avatar", effect="e", outcome=DONE, by=SettledBy.OPERATOR),
        'doubts_settled_total{action="pay_avatar",outcome="confirmed",by="operator"} 1',
    ),
    (
        told.ApprovalOpened(approval_id="a", action="say", summary=CANARY, principal=WHO, expires_in_s=1.0),
        "approvals_open 1",
    ),
    (told.ApprovalClosed(approval_id="a", how="allowed"), 'approvals_total{how="allowed"} 1'),
    (told.HoldChanged(held=True), "held 1"),
    (
        told.ControlAnswered(control="hold", reply=_reply(accepted=False)),
        'controls_total{control="hold",accepted="no"} 1',
    ),
    (told.WorkFenced(what="action", of_generation=1, count=4), 'fenced_total{what="action"} 4'),
    (told.Diagnostic(code="slow", fields=(("text", CANARY),)), 'diagnostics_total{code="slow"} 1'),
    (told.TurnStarted(correlation="c", mode="addressed"), 'turns_total{mode="addressed"} 1'),
    (told.TurnStarted(correlation="c", mode="addressed"), "turns_open 1"),
    (told.TurnEnded(correlation="c", stop="answered"), 'turns_ended_total{stop="answered"} 1'),
    (told.TurnEnded(correlation="c", stop="answered"), "turns_unpriced_total 1"),
    (told.TurnEnded(correlation="c", stop="x", cost_micros=2_500_000), "model_cost_total 2.5"),
    (told.TurnEnded(correlation="c", stop="x", model_turns=3), "model_requests_total 3"),
    (
        told.TurnEnded(correlation="c", stop="x", input_tokens=70, cached_tokens=20),
        'model_tokens_total{type="input"} 70',
    ),
    (
        told.TurnEnded(correlation="c", stop="x", input_tokens=70, cached_tokens=20),
        'model_tokens_total{type="cached"} 20',
    ),
    (told.TurnEnded(correlation="c", stop="x", output_tokens=9), 'model_tokens_total{type="output"} 9'),
    (told.TurnEnded(correlation="c", stop="x", corrections=2), "turn_corrections_total 2"),
    (told.TurnEnded(correlation="c", stop="x", fallback=True), "turn_fallbacks_total 1"),
    (
        told.ToolEnded(correlation="c", tool="look_around", ok=True, code="done"),
        'tool_calls_total{tool="look_around",code="done"} 1',
    ),
    (
        told.ToolEnded(correlation="c", tool=CANARY, ok=False, code="unknown_tool"),
        'tool_calls_total{tool="unknown",code="unknown_tool"} 1',
    ),
    (told.ReplyComposed(correlation="c", text=f"{CANARY} é"), "replies_total 1"),
    (told.ReplyComposed(correlation="c", text="é" * 5), "reply_bytes_total 10"),
    (told.GoalChanged(goal=CANARY, state="done"), 'goal_changes_total{state="done"} 1'),
    (told.SafeModeChanged(active=True), "safe_mode 1"),
]


@pytest.mark.parametrize(("body", "line"), ROWS)
def test_each_observation_moves_its_metric(body, line):
    """Spec: OPS-2 — and is counted by its kind; no text of anybody's stands in a label."""
    meter = _fed(body)
    assert line in _lines(meter, line.split("{")[0].split(" ")[0])
    assert len(_lines(meter, "observations_total")) == 1
    assert CANARY not in meter.exposition()


def test_every_class_of_observation_has_a_row():
    """Spec: OPS-2 — the table is total, and so is the one of this test."""
    assert set(metering._ROWS) == set(OBSERVATIONS) == set(get_args(told.ObservationBody))
    assert {type(body) for body, _ in ROWS} == set(OBSERVATIONS)


def test_the_contract_page_lists_every_metric():
    """Spec: OPS-8 — with its kind and labels, and none that is not there."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `gridagent_")]
    families = Meter()._to.registry._families.values()
    wanted = {(f"`{each.name}`", each.kind, ", ".join(f"`{label}`" for label in each.labels)) for each in families}
    shown = {tuple(cell.strip() for cell in row.split("|")[1:4]) for row in rows}
    assert wanted | {("`gridagent_metrics_series_dropped_total`", "counter", "`family`")} == shown


def test_spans_are_taken_over_as_they_stand():
    """Spec: OPS-2 — the counters show the totals that the exporter keeps."""
    meter = Meter()
    meter.spans(3, {"queue_full": 0, "unsent": 2})
    meter.spans(5, {"queue_full": 1, "unsent": 2})
    assert _lines(meter, "spans_exported") == ["spans_exported_total 5"]
    assert _lines(meter, "spans_dropped") == [
        'spans_dropped_total{why="queue_full"} 1',
        'spans_dropped_total{why="unsent"} 2',
    ]


def test_turns_are_timed_from_begin_to_end():
    """A turn whose beginning was not seen is counted, and not timed."""
    meter = _fed(
        told.TurnStarted(correlation="a", mode="addressed"),
        told.TurnStarted(correlation="b", mode="ambient"),
        told.TurnEnded(correlation="a", stop="answered"),
        told.TurnEnded(correlation="c", stop="answered"),
    )
    assert 'turn_seconds_bucket{le="1.0"} 0' in _lines(meter, "turn_seconds")
    assert 'turn_seconds_bucket{le="2.5"} 1' in _lines(meter, "turn_seconds")
    assert "turn_seconds_count 1" in _lines(meter, "turn_seconds")
    assert _lines(meter, "turns_open") == ["turns_open 0"]


def test_turns_that_never_end_are_remembered_within_a_bound():
    """Their number is known from the gauge all the same."""
    meter = _fed(*(told.TurnStarted(correlation=f"c{number}", mode="addressed") for number in range(5_000)))
    assert len(meter._to.begun) == 4_096
    assert _lines(meter, "turns_open") == ["turns_open 5000"]


def test_what_was_opened_before_the_meter_listened_is_not_below_nothing():
    """A gauge of open things never shows less than none."""
    meter = _fed(
        told.ApprovalClosed(approval_id="a", how="expired"),
        told.TurnEnded(correlation="c", stop="answered"),
    )
    assert _lines(meter, "approvals_open") == ["approvals_open 0"]
    assert _lines(meter, "turns_open") == ["turns_open 0"]


def test_queues_and_health_are_taken_over_as_they_stand():
    """Spec: OPS-2, LIV-12 — depth, peak, what was given up, packet loss."""
    meter = Meter()
    queue = ChannelStatistics(name="grid_events", used=3, limit=8, peak=5, sent=9, received=4, dropped=2, refused=0)
    meter.queues("robin", [queue])
    meter.health("robin", [PartHealth(part="circuit", figure="loss_ratio", value=0.25)])
    assert _lines(meter, "queue_used") == ['queue_used{queue="grid_events"} 3']
    assert _lines(meter, "queue_limit") == ['queue_limit{queue="grid_events"} 8']
    assert _lines(meter, "queue_peak") == ['queue_peak{queue="grid_events"} 5']
    assert _lines(meter, "queue_dropped") == ['queue_dropped{queue="grid_events"} 2']
    assert _lines(meter, "connection_health") == ['connection_health{part="circuit",figure="loss_ratio"} 0.25']


async def test_a_meter_follows_a_session_to_its_end(autojump_clock):
    """Spec: OPS-2, BND-3 — states, connections and controls are counted, and the watch ends with the session."""
    meter = Meter()
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(),
        mind=QuietMind(),
        backend=Puppet(),
    )
    async with trio.open_nursery() as nursery, open_service([spec], ports=simulated_ports(0)) as service:
        session = service.avatar("robin")
        nursery.start_soon(meter_session, meter, session)
        await session.wait_agent(AgentState.RUNNING)
        await session.control(SayAsOperator(text="hello"))
        read_queues(meter, session)
    assert 'agent_state{state="stopped"} 1' in _lines(meter, "agent_state")
    assert _lines(meter, "connections_total") == ["connections_total 1"]
    assert any("accepted" in line for line in _lines(meter, "controls_total"))
    assert _lines(meter, "queue_limit")


async def test_what_a_meter_missed_is_counted(autojump_clock):
    """Spec: BND-3 — a slow meter says how much it did not see."""
    meter = Meter()
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT, observables_max=2),
        policy=Policy(),
        mind=QuietMind(),
        backend=Puppet(),
    )
    async with trio.open_nursery() as nursery, open_service([spec], ports=simulated_ports(0)) as service:
        session = service.avatar("robin")
        nursery.start_soon(meter_session, meter, session)
        await trio.testing.wait_all_tasks_blocked()
        for number in range(50):
            session._session.broadcast.publish(
                Observation(seq=number, avatar="robin", generation=1, at=0.0, body=told.HoldChanged(held=False))
            )
    missed = _lines(meter, "observations_lagged_total")
    assert missed
    assert int(missed[0].split(" ")[1]) >= 40


def test_a_meter_holds_no_executor():
    """Spec: MND-18 — it imports neither gateway nor backend, and calls nothing of a session but to watch."""
    tree = ast.parse(inspect.getsource(metering))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in modules if name and name.startswith(("gridagent.policy", "gridagent.grid"))]
    used = {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "session"
    }
    assert used == {"observe", "status", "key"}


async def test_how_a_connection_is_comes_with_the_queues(autojump_clock) -> None:
    """What the backend measures is read just before the numbers are shown. Spec: LIV-12, OPS-2."""
    puppet, meter = Puppet(), Meter()
    puppet.vitals = (PartHealth(part="circuit", figure="ping_s", value=0.125),)
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(),
        mind=QuietMind(),
        backend=puppet,
    )
    async with open_service([spec], ports=simulated_ports(0)) as service:
        handle = service.avatar("robin")
        read_queues(meter, handle)
        await handle.wait_link(LinkState.ONLINE)
        read_queues(meter, handle)
    assert _lines(meter, "connection_health") == ['connection_health{part="circuit",figure="ping_s"} 0.125']
