"""Claims about the agent's and the link's state tables."""

import pytest

from gridagent.errors import IllegalTransition
from gridagent.observations import AgentState, LinkState
from gridagent.session.lifecycle import AGENT, LINK, AgentInput, LinkInput

A, AI, L, LI = AgentState, AgentInput, LinkState, LinkInput

# Written by hand from the requirement, not from the table: every pair that is not here must be illegal.
AGENT_EXPECTED = {
    A.STARTING: {AI.READY: A.RUNNING, AI.PAUSE: A.PAUSED, AI.STOP: A.STOPPING, AI.FAIL: A.FAILED},
    A.RUNNING: {AI.READY: A.RUNNING, AI.PAUSE: A.PAUSED, AI.STOP: A.STOPPING, AI.FAIL: A.FAILED},
    A.PAUSED: {AI.RESUME: A.RUNNING, AI.RESUME_UNREADY: A.STARTING, AI.STOP: A.STOPPING, AI.FAIL: A.FAILED},
    A.STOPPING: {AI.STOPPED: A.STOPPED, AI.FAIL: A.FAILED},
    A.STOPPED: {},
    A.FAILED: {},
}
UP = {LI.LOST: L.BACKOFF, LI.LOST_BLOCKED: L.AUTHENTICATION_BLOCKED, LI.LOST_FOR_GOOD: L.STOPPED, LI.PAUSE: L.PAUSED,
      LI.SHUT_DOWN: L.SHUTTING_DOWN}  # fmt: skip
DOWN = {LI.CONNECT: L.CONNECTING, LI.SHUT_DOWN: L.SHUTTING_DOWN}
LINK_EXPECTED = {
    L.STOPPED: DOWN | {LI.PAUSE: L.PAUSED},
    L.CONNECTING: UP | {LI.TRANSPORT_UP: L.DEGRADED},
    L.DEGRADED: UP | {LI.READY: L.ONLINE, LI.PART_SICK: L.DEGRADED},
    L.ONLINE: UP | {LI.READY: L.ONLINE, LI.PART_SICK: L.DEGRADED},
    L.BACKOFF: DOWN | {LI.PAUSE: L.PAUSED, LI.LOST_FOR_GOOD: L.STOPPED},
    L.AUTHENTICATION_BLOCKED: DOWN | {LI.PAUSE: L.PAUSED, LI.LOST_FOR_GOOD: L.STOPPED},
    L.PAUSED: DOWN | {LI.LOST_FOR_GOOD: L.STOPPED},
    L.SHUTTING_DOWN: {LI.CLEANED: L.STOPPED},
}


@pytest.mark.parametrize(("table", "expected"), [(AGENT, AGENT_EXPECTED), (LINK, LINK_EXPECTED)], ids=["agent", "link"])
def test_every_state_and_input_does_what_the_requirement_says(table, expected):
    """Spec: SUP-1, SUP-4 — every pair of both tables is the expected row, or illegal."""
    for state in table.states:
        for given in table.inputs:
            if given in expected[state]:
                assert table.step(state, given) is expected[state][given], (state, given)
            else:
                with pytest.raises(IllegalTransition):
                    table.step(state, given)


def test_the_states_are_named_as_the_requirement_names_them():
    """Spec: SUP-1, SUP-4 — operators see exactly these words."""
    assert [s.value for s in AGENT.states] == ["starting", "running", "paused", "stopping", "stopped", "failed"]
    assert {s.value for s in LINK.states} == {
        "stopped", "connecting", "degraded", "online", "backoff", "authentication-blocked", "paused", "shutting-down",
    }  # fmt: skip
    assert AGENT.terminal == {A.STOPPED, A.FAILED}
    assert not LINK.terminal
