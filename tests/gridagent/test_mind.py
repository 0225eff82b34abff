"""Claims about the mind's port."""

from gridagent.actions import Refused, StandUp
from gridagent.authority import Origin, Principal
from gridagent.events import AlertShown
from gridagent.mind import Proposal, QuietMind


def test_a_quiet_mind_wants_nothing_and_keeps_nothing():
    """Spec: MND-10 — silence on purpose: it hears, and leads to no thought at all."""
    mind = QuietMind()
    wish = Proposal(action=StandUp(), principal=Principal(client="x"), origin=Origin.GOAL, cause="c")
    mind.learn(wish, Refused(reason="x"))
    mind.forget("00000000-0000-4000-8000-000000000001")
    assert mind.hear(AlertShown(text="hello"), None) == ()
    assert not vars(mind)


def test_a_proposal_is_untainted_only_if_it_says_so_and_its_target_is_the_models():
    """Spec: POL-5 — the defaults are the cautious ones for a target, and plain for taint."""
    wish = Proposal(action=StandUp(), principal=Principal(client="x"), origin=Origin.GOAL, cause="c")
    assert (wish.tainted, wish.target_provenance.value, wish.ordinal) == (False, "model", 0)
