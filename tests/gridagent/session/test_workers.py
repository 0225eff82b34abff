"""Claims about workers that the actor's tests do not make."""

from gridagent.actions import Refused, Say
from gridagent.policy import Authorized, AuthorizedAction
from gridagent.runtime.generation import GenerationFence
from gridagent.session.effects import CancelWork, Perform
from gridagent.session.workers import Workers


def perform(generation, effect="e1"):
    """Build an authorised action that nobody minted: the workers never look at the handle."""
    return Perform(
        generation=generation,
        authorized=Authorized(
            handle=object.__new__(AuthorizedAction), effect=effect, action=Say(text="x"), deadline_s=1.0, rule="r",
            dry_run=False, correlation="c",
        ),
    )  # fmt: skip


def workers(limit=2):
    """Build workers that report into a list."""
    ends = []
    return (
        Workers(limit=limit, name="w", prepare=None, report=ends.append, log_error=lambda code, error: None),
        ends,
    )


class Elsewhere:
    """A connection of another generation, or one that has ended."""

    def __init__(self, generation, *, runs):
        self.generation = generation
        self.runs = runs

    def start(self, work, name):
        return self.runs


def test_work_of_another_generation_is_never_begun():
    """Spec: SUP-5 — no connection, another one, or one that has just ended: refused as stale, and no place is taken."""
    first = GenerationFence().open()
    second = GenerationFence(5).open()
    for connection in (None, Elsewhere(second, runs=True), Elsewhere(first, runs=False)):
        w, ends = workers()
        w.put(perform(first))
        end = w.start_next(connection)
        assert (end.effect, end.generation, end.outcome) == ("e1", 1, Refused(reason="stale_generation"))
        assert (len(w), ends, w.startable) == (0, [], False)


def test_only_those_that_had_not_begun_are_returned_when_cut_off():
    """A cut-off names the waiting ones it ended; one effect can be cut off among many."""
    generation = GenerationFence().open()
    w, _ = workers()
    for number in range(3):
        w.put(perform(generation, f"e{number}"))
    assert [end.effect for end in w.cut_off(CancelWork(effect="e1", reason="preempted"))] == ["e1"]
    ended = w.cut_off(CancelWork(effect=None, reason="stopped"))
    assert [(end.effect, end.outcome.reason) for end in ended] == [("e0", "stopped"), ("e2", "stopped")]


def test_a_redeemed_handle_of_nobody_at_work_is_no_matter():
    """Noting that an unknown effect was sent changes nothing."""
    w, _ = workers()
    w.note_sent("unknown")
    assert len(w) == 0
