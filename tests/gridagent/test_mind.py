"""Claims about the mind's port."""

import pytest

from gridagent.actions import Refused, StandUp
from gridagent.authority import Origin, Principal
from gridagent.events import AlertShown
from gridagent.mind import ErrandFailed, Moment, Proposal, QuietMind, Ruling
from gridagent.policy import Denied

NOW = Moment(1e9, 5.0)
WISH = Proposal(action=StandUp(), principal=Principal(client="x"), origin=Origin.GOAL, cause="c")
SOMEBODY = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    "given",
    [
        lambda mind: mind.hear(AlertShown(text="hello"), None, NOW),
        lambda mind: mind.decided(WISH, Ruling(refused=None), NOW),
        lambda mind: mind.learn(WISH, Refused(reason="x"), NOW),
        lambda mind: mind.returned("e1", ErrandFailed(code="timeout"), NOW),
        lambda mind: mind.on_time(NOW),
        lambda mind: mind.fence(NOW),
        lambda mind: mind.stop_turn(NOW),
        lambda mind: mind.forget(SOMEBODY, NOW),
    ],
)
def test_a_quiet_mind_wants_nothing_and_keeps_nothing(given):
    """Spec: MND-10 — silence on purpose: whatever it is told, it leads to no thought at all, and nothing is due."""
    mind = QuietMind()
    assert given(mind) == ()
    assert mind.due() is None
    assert not hasattr(mind, "__dict__")


def test_a_ruling_holds_nothing_to_act_by():
    """Spec: MND-18 — what a mind is told of a decision has why not in it, and never a handle."""
    assert Ruling.__struct_fields__ == ("refused",)
    assert not any("handle" in each for each in Denied.__struct_fields__)


def test_a_proposal_is_untainted_only_if_it_says_so_and_its_target_is_the_models():
    """Spec: POL-5 — the defaults are the cautious ones for a target, and plain for taint."""
    assert (WISH.tainted, WISH.target_provenance.value, WISH.ordinal) == (False, "model", 0)
