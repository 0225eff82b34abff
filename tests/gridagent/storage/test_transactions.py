"""A batch is one transaction, every change has its row, and the database comes to what the fold of changes says."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gridagent.policy import changes as policy_changes
from gridagent.policy.approvals import ApprovalInput
from gridagent.policy.grants import GrantState
from gridagent.policy.history import History
from gridagent.policy.ledger import EffectState
from gridagent.policy.revival import CRASHED, NOT_SENT
from gridagent.storage.base import StorageFailed, StorageFault
from gridagent.storage.database import Holder, open_database
from gridagent.storage.settings import DAY_S, StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.transactions import APPLY, Ledger


def test_every_change_can_be_kept() -> None:
    """The table is total, so a new kind of change cannot be forgotten. Spec: POL-6, POL-7, EFX-2."""
    assert set(APPLY) == set(get_args(policy_changes.Change))


def test_a_batch_is_all_or_nothing(disk, ledger, snapshot, make) -> None:
    """A disk that fails in the middle leaves everything as it was, and afterwards it can be written. Fault: 39."""
    ledger.write([[make.kept(make.generation(1))]])
    before = snapshot()
    batch = [[make.kept(make.reserved(f"effect-{number}")) for number in range(40)], [make.audited(1)]]
    for failure, fault in (("full", StorageFault.DISK_FULL), ("sync_error", StorageFault.IO_ERROR)):
        disk.fail(failure)
        with pytest.raises(StorageFailed) as failed:
            ledger.write(batch)
        assert failed.value.fault is fault
        disk.heal()
        assert snapshot() == before
    assert ledger.write(batch) == [(True,) * 40, (True,)]
    assert len(snapshot().open_effects) == 40


def test_numbers_of_changes_go_on_after_a_restart(disk, ledger, snapshot, make) -> None:
    """What comes later is known to be later, so the order survives."""
    ledger.write([[make.kept(make.reserved("z")), make.kept(make.reserved("a"))]])
    again = Ledger(ledger.database, StorageSettings(audit_segment_rows=16))
    again.write([[make.kept(make.reserved("m"))]])
    assert [each.effect for each in snapshot().open_effects] == ["z", "a", "m"]


def test_an_intent_is_asked_once_in_a_transaction(ledger, make) -> None:
    """The gateway tells of it and the session asks: both learn the same, until the effect has ended. Spec: EFX-2."""
    effect = map(make.kept, (make.reserved(), make.sent(), make.sent(at=102.0), make.settled(), make.sent()))
    assert ledger.write([list(effect)]) == [(True, True, True, True, False)]
    foreign = [make.kept(make.sent("b")), make.kept(make.reserved("b")), make.kept(make.sent("b"))]
    assert ledger.write([foreign[:1]]) == [(False,)]
    assert ledger.write([foreign[1:]]) == [(True, True)]
    (found,) = ledger.database.connection.execute("SELECT sent_at FROM effect WHERE effect = 'a'")
    assert found == (101.0,)


def test_a_row_alone_leaves_the_numbers_of_changes_alone(ledger, make) -> None:
    """And a change alone the numbers of rows. Spec: POL-10."""
    ledger.write([[make.kept(make.generation(1)), make.audited(1)]])
    ledger.write([[make.audited(2)]])
    ledger.write([[make.kept(make.generation(2))]])
    (found,) = ledger.database.connection.execute("SELECT changes, audit_seq FROM avatar")
    assert found == (2, 2)


def test_tending_lets_everything_old_go_in_slices(ledger, keep, snapshot, make) -> None:
    """One call for all tables; what is unsettled or waits is left. Spec: BND-16, POL-10."""
    keep(make.reserved("paid"), make.sent("paid"), make.settled("paid", at=0.0), make.reserved("open"))
    keep(make.opened("old"), make.moved(ApprovalInput.REFUSE, key="old", at=0.0), make.opened("waits"))
    keep(make.given("old"), make.ended("old", at=0.0), make.given("usable"))
    keep(make.reserved("b", budgets=make.held(make.window(1, key="x", window_s=1), clock_us=1)))
    keep(make.reserved("c", budgets=make.held(clock_us=10**12)))
    ledger.write([[make.audited(seq, at=0.0) for seq in range(1, 34)]])
    now = 500 * DAY_S
    assert ledger.tend(now) == 1 + 1 + 1 + 2 + 16
    assert ledger.tend(now) == 16
    assert ledger.tend(now) == 0
    left = snapshot()
    assert [each.effect for each in left.open_effects] == ["open", "b", "c"]
    assert [each.opened.approval_id for each in left.approvals] == ["waits"]
    assert [each.grant.grant_id for each in left.grants] == ["usable"]


def test_reading_on_a_broken_connection_says_so(ledger, snapshot) -> None:
    """A question to a database that was given up fails like anything else."""
    ledger.database.abandon()
    with pytest.raises(StorageFailed) as failed:
        snapshot()
    assert failed.value.fault is StorageFault.UNUSABLE


# --- one history, two accounts of it ----------------------------------------------------------------

_KEYS = st.sampled_from(("a", "b", "c"))
_INPUTS = st.sampled_from(tuple(ApprovalInput))
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), _KEYS, st.booleans(), st.integers(1, 9), st.sampled_from((None, "a", "b"))),
        st.tuples(st.just("send"), _KEYS),
        st.tuples(st.just("settle"), _KEYS, st.sampled_from(("confirmed", "refused", "in_doubt"))),
        st.tuples(st.just("open"), _KEYS),
        st.tuples(st.just("move"), _KEYS, st.lists(_INPUTS, min_size=1, max_size=2)),
        st.tuples(st.just("try"), _KEYS, st.integers(1, 5)),
        st.tuples(st.just("give"), _KEYS),
        st.tuples(st.just("end"), _KEYS),
        st.tuples(st.just("replace"), st.integers(1, 9)),
        st.tuples(st.just("generation"), st.integers(1, 9)),
        st.tuples(st.just("hold"), st.booleans()),
        st.tuples(st.just("restart")),
    ),
    max_size=40,
)


def _reserve(make, clock, key, once, amount, other):
    rows = (make.window(amount, clock_us=clock), make.window(amount, clock_us=clock, key=key))
    use = None if other is None else make.used(amount, key=other)
    budgets = make.held(*rows, clock_us=clock)
    return make.reserved(key, once=once, at=float(clock), budgets=budgets, approval=other, grant=use)


_MAKERS = {
    "reserve": _reserve,
    "send": lambda make, _, key: make.sent(key),
    "settle": lambda make, _, key, how: make.settled(key, getattr(make, how)),
    "open": lambda make, _, key: make.opened(key),
    "move": lambda make, _, key, steps: make.moved(*steps, key=key),
    "try": lambda make, _, key, times: make.tried(times, key=key),
    "give": lambda make, _, key: make.given(key),
    "end": lambda make, _, key: make.ended(key, state=GrantState.REVOKED),
    "replace": lambda make, clock, amount: make.replaced(make.held(make.window(amount), clock_us=clock)),
    "generation": lambda make, _, number: make.generation(number),
    "hold": lambda make, _, held: make.hold(held),
}


def _revive(ledger, history, make, run):
    """Settle what a run left open, as a gateway does that goes on from it."""
    for each in history.snapshot().open_effects:
        if each.state is not EffectState.IN_DOUBT:
            change = make.settled(each.effect, CRASHED if each.state is EffectState.SENT else NOT_SENT)
            history.apply(change)
            ledger.write([[make.kept(change, run=run)]])


@settings(max_examples=150)
@given(steps=_STEPS, twice=st.booleans())
@example(steps=[("reserve", "a", False, 1, None), ("reserve", "a", False, 1, None)], twice=False)
@example(steps=[("reserve", "a", False, 1, None), ("reserve", "a", False, 1, None), ("restart",)], twice=False)
def test_the_database_comes_to_what_the_fold_says(make, steps, twice) -> None:
    """Any sequence of changes and restarts, each change once or twice, leaves what folding them without SQL leaves.

    Spec: EFX-2, POL-6, POL-7, POL-8.
    """
    disk = SimulatedDisk(Random(0), name="fold")
    holder = Holder(pid=1, since="now")
    database = open_database("/fold.db", files=disk, holder=holder, new_ledger="l")
    ledger, history = Ledger(database, StorageSettings()), History()
    run = ledger.open_avatar(make.robin).run
    for number, (kind, *arguments) in enumerate(steps, 1):
        if kind == "restart":
            ledger = Ledger(database, StorageSettings())
            found = ledger.open_avatar(make.robin)
            assert found.snapshot == history.snapshot()
            run = found.run
            _revive(ledger, history, make, run)
            continue
        change = _MAKERS[kind](make, number * 1_000, *arguments)
        history.apply(change)
        records = [make.kept(change, run=run)] * (1 + twice)
        ledger.write([records])
    assert ledger.open_avatar(make.robin).snapshot == history.snapshot()
    database.abandon()
    disk.close()
