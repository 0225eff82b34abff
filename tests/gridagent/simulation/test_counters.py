"""Claims about what is counted, and from what."""

from __future__ import annotations

import pytest

from gridagent.observations import AgentState, LinkState
from gridagent.simulation.counters import NAMES, Sometimes
from gridagent.simulation.views import AuditView, BodyView, EventView, OutcomeView


def row(kind: str, code: str, **more: object) -> AuditView:
    """Write an audit row."""
    return AuditView(seq=1, at=0.0, kind=kind, code=code, **more)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (row("decision", "authorized"), "action_authorized"),
        (row("decision", "budget_spent"), "budget_denied"),
        (row("decision", "role_too_low"), "matrix_denied"),
        (row("decision", "held"), "held_denied"),
        (row("decision", "origin_may_not", origin="object_text"), "object_text_denied"),
        (row("redeem_refused", "expired"), "handle_expired"),
        (row("redeem_refused", "replayed"), "replay_refused"),
        (row("redeem_refused", "unknown"), "forged_refused"),
        (row("redeem_refused", "stale_generation"), "stale_handle_refused"),
        (row("approval", "expired"), "approval_expired"),
        (row("approval", "allowed", origin="operator_console"), "approval_allowed"),
        (row("approval", "allowed", origin="direct_im"), "approval_allowed_by_im"),
        (row("approval", "wrong_nonce", origin="direct_im"), "approval_wrong_nonce"),
        (row("settlement", "in_doubt"), "action_in_doubt"),
        (row("settlement", "confirmed", settled_by="reconciliation"), "doubt_that_had_happened"),
        (row("settlement", "refused", settled_by="reconciliation"), "doubt_that_had_not_happened"),
        (row("settlement", "confirmed", settled_by="operator"), "action_confirmed"),
        (row("policy", "replaced"), "policy_reloaded"),
    ],
)
def test_audit_rows_are_counted_by_kind_and_code(given: AuditView, name: str) -> None:
    """Each row counts once under its name. Spec: SIM-3."""
    counts = Sometimes()
    counts.row(given)
    assert counts.snapshot()[name] == 1


def test_rows_without_a_counter_change_nothing() -> None:
    """A decision that no counter names, and a hold, are not counted."""
    counts = Sometimes()
    counts.row(row("decision", "not_ready"))
    counts.row(row("hold", "held"))
    assert sum(counts.snapshot().values()) == 0


@pytest.mark.parametrize(
    ("body", "name", "times"),
    [
        (BodyView(kind="fenced", what="event", count=7), "stale_generation_fenced", 7),
        (BodyView(kind="fenced", what="result"), "late_result_fenced", 1),
        (BodyView(kind="event", event=EventView(event="events_shed", kind="im_received", count=3)), "flood_shed", 3),
        (BodyView(kind="generation_closed", cause="kicked"), "kicked", 1),
        (BodyView(kind="generation_closed", cause="region_restart"), "region_restart", 1),
        (BodyView(kind="outcome", outcome=OutcomeView(outcome="refused")), "action_refused", 1),
    ],
)
def test_observations_are_counted(body: BodyView, name: str, times: int) -> None:
    """Each observation counts under its name, as often as it says. Spec: SIM-3."""
    counts = Sometimes()
    counts.body(body)
    assert counts.snapshot()[name] == times
    assert sum(counts.snapshot().values()) == times


def test_observations_without_a_counter_change_nothing() -> None:
    """Other events, outcomes, causes and fences are not counted."""
    counts = Sometimes()
    for body in (
        BodyView(kind="event", event=EventView(event="chat_heard")),
        BodyView(kind="event", event=EventView(event="events_shed", kind="avatar_seen", count=3)),
        BodyView(kind="outcome", outcome=OutcomeView(outcome="confirmed")),
        BodyView(kind="generation_closed", cause="requested"),
        BodyView(kind="fenced", what="turn"),
        BodyView(kind="hold"),
    ):
        counts.body(body)
    assert sum(counts.snapshot().values()) == 0


def test_there_is_a_counter_for_a_shutdown_in_every_state() -> None:
    """No state of agent or link is forgotten. Spec: SUP-1, SUP-4."""
    counts = Sometimes()
    for agent in AgentState:
        counts.shut_down_in(agent.value, LinkState.ONLINE.value)
    for link in LinkState:
        counts.shut_down_in(AgentState.RUNNING.value, link.value)
    assert {name for name in NAMES if name.startswith("shutdown_in_")} == {
        *(f"shutdown_in_agent_{each.value}" for each in AgentState),
        *(f"shutdown_in_link_{each.value}" for each in LinkState),
    }
    assert not [name for name in counts.never() if name.startswith("shutdown")]


def test_counts_add_up_over_seeds_and_name_what_never_happened() -> None:
    """Faults come from the grid's own counts, other runs from their snapshots."""
    counts, other = Sometimes(), Sometimes()
    counts.faults({"stall": 2, "overflow": 9})
    other.saw("queue_full", 3)
    counts.add(other.snapshot())
    assert (counts.snapshot()["stall"], counts.snapshot()["queue_full"]) == (2, 3)
    assert set(counts.never()) == set(NAMES) - {"stall", "queue_full"}
    with pytest.raises(KeyError):
        counts.saw("no such thing")
