"""Effects move along their table, a key is reserved once, and what is unsettled never goes."""

from __future__ import annotations

import itertools

import pytest

from gridagent.ids import EffectKey
from gridagent.policy.ledger import EFFECT, EffectInput, EffectState
from gridagent.storage import effects
from gridagent.storage.effects import CRASHED, NOT_SENT


def _apply(ledger, *records):
    return ledger.write([records])[0]


def _find(ledger, key="a"):
    return ledger.read(lambda connection: effects.find(connection, EffectKey(key)))


def test_an_effect_is_read_back_as_it_was_written(ledger, make) -> None:
    """Every field survives: canonical bytes, request, role, charge, times, outcome. Spec: EFX-2."""
    reservation = make.reserved()
    assert _apply(ledger, reservation, make.sent(), make.settled()) == (True, True, True)
    row = _find(ledger)
    assert row.reserved == reservation
    assert (row.state, row.sent_at, row.settled_at, row.outcome) == (
        EffectState.CONFIRMED,
        101.0,
        102.0,
        make.confirmed,
    )
    assert row.effect == "a"
    assert _find(ledger, "nobody") is None


def test_a_key_is_reserved_once(ledger, make) -> None:
    """A re-run of one cause meets its own key and does not apply; the same record written twice does. Spec: EFX-2."""
    assert _apply(ledger, make.reserved()) == (True,)
    assert _apply(ledger, make.reserved()) == (True,)
    assert _apply(ledger, make.reserved(run=2)) == (False,)
    assert _apply(ledger, make.reserved(at=999.0)) == (False,)


def test_only_the_run_that_reserved_may_send(ledger, make) -> None:
    """A later run cannot send what an earlier one reserved, nor may anybody send twice. Spec: EFX-2, EFX-3."""
    _apply(ledger, make.reserved())
    assert _apply(ledger, make.sent(run=2)) == (False,)
    assert _apply(ledger, make.sent()) == (True,)
    assert _apply(ledger, make.sent()) == (True,)  # the same note again, after an unknown commit
    _apply(ledger, make.settled())
    assert _apply(ledger, make.sent()) == (False,)
    assert _apply(ledger, make.sent("unknown")) == (False,)


@pytest.mark.parametrize(("state", "given"), list(itertools.product(EffectState, list(EffectInput)[1:])))
def test_effects_settle_along_their_table_only(ledger, make, state, given) -> None:
    """Each state × end is applied exactly when the table lists it. Spec: EFX-1, EFX-2."""
    way = {
        EffectState.RESERVED: (),
        EffectState.SENT: (make.sent(),),
        EffectState.CONFIRMED: (make.sent(), make.settled()),
        EffectState.REFUSED: (make.settled(outcome=make.refused),),
        EffectState.IN_DOUBT: (make.sent(), make.settled(outcome=make.in_doubt)),
    }[state]
    _apply(ledger, make.reserved(), *way)
    end = {
        EffectInput.CONFIRM: make.confirmed,
        EffectInput.REFUSE: make.refused,
        EffectInput.DOUBT: make.in_doubt,
    }[given]
    allowed = EFFECT.allows(state, given)
    assert _apply(ledger, make.settled(outcome=end, at=500.0)) == (allowed,)
    assert _find(ledger).state is (EFFECT.step(state, given) if allowed else state)


def test_a_turned_away_re_run_does_not_end_what_it_repeats(ledger, make) -> None:
    """The later run's own settlement does not touch the earlier run's doubt; late evidence does. Spec: EFX-3."""
    _apply(ledger, make.reserved(), make.sent(), make.settled(outcome=make.in_doubt))
    _apply(ledger, make.reserved(run=2))
    assert _apply(ledger, make.settled(outcome=make.refused, run=2)) == (False,)
    assert _find(ledger).state is EffectState.IN_DOUBT
    assert _apply(ledger, make.settled(outcome=make.confirmed, run=None)) == (True,)
    assert _find(ledger).state is EffectState.CONFIRMED


def test_late_evidence_counts_for_doubts_only(ledger, make) -> None:
    """Nobody but its own run settles what is still open. Spec: EFX-2."""
    _apply(ledger, make.reserved(), make.sent())
    assert _apply(ledger, make.settled(run=None)) == (False,)


def test_what_a_crash_left_open_is_closed_by_what_is_known(ledger, make) -> None:
    """Sent comes into doubt, reserved is refused as not sent, other avatars are left alone. Spec: EFX-2. Fault: 38."""
    _apply(ledger, make.reserved("sent"), make.sent("sent"), make.reserved("only-reserved"))
    _apply(ledger, make.reserved("hers", avatar="wren"), make.sent("hers"))
    recovered = ledger.open_avatar(make.robin, 900.0)
    (not_sent,) = recovered.not_sent
    (doubt,) = recovered.in_doubt
    assert (not_sent.effect, not_sent.state, not_sent.outcome) == ("only-reserved", EffectState.REFUSED, NOT_SENT)
    assert _find(ledger, "only-reserved") == not_sent
    assert (doubt.effect, doubt.outcome, doubt.settled_at) == ("sent", CRASHED, 900.0)
    assert recovered.settled == ("only-reserved",)
    assert _find(ledger, "hers").state is EffectState.SENT


def test_doubts_are_listed_for_one_avatar_or_all(ledger, make) -> None:
    """The oldest doubt comes first."""
    for key, avatar, at in (("b", "wren", 5.0), ("a", "robin", 9.0), ("c", "robin", 3.0)):
        _apply(ledger, make.reserved(key, avatar=avatar), make.sent(key))
        _apply(ledger, make.settled(key, make.in_doubt, at=at))
    everybody = ledger.read(lambda connection: effects.doubtful(connection, None))
    robins = ledger.read(lambda connection: effects.doubtful(connection, make.robin))
    assert [row.effect for row in everybody] == ["c", "b", "a"]
    assert [row.effect for row in robins] == ["c", "a"]


def _drop(ledger, **how):
    connection = ledger.database.connection
    went = effects.drop_settled(connection, **{"before": 0.0, "light_before": 0.0, "keep": 100, "most": 100} | how)
    left = {key for (key,) in connection.execute("SELECT effect FROM effect")}
    return went, left


def test_the_oldest_settled_go_and_unsettled_never(ledger, make) -> None:
    """Age lets ended effects go, each class by its own; open and doubtful ones stay for ever. Spec: BND-16."""
    _apply(ledger, make.reserved("open"), make.reserved("sent"), make.sent("sent"))
    _apply(ledger, make.reserved("doubt"), make.sent("doubt"), make.settled("doubt", make.in_doubt))
    _apply(ledger, make.reserved("paid"), make.sent("paid"), make.settled("paid", at=10.0))
    _apply(ledger, make.reserved("said", once=False), make.sent("said"), make.settled("said", at=10.0))
    assert _drop(ledger, light_before=11.0) == (1, {"open", "sent", "doubt", "paid"})
    assert _drop(ledger, before=10.0)[0] == 0
    assert _drop(ledger, before=11.0) == (1, {"open", "sent", "doubt"})
    assert _drop(ledger, before=1e9, light_before=1e9, keep=0) == (0, {"open", "sent", "doubt"})


def test_beyond_the_rows_that_are_kept_what_costs_nothing_goes_first(ledger, make) -> None:
    """Chatter cannot push a payment out of the ledger. Spec: BND-16."""
    for number in range(3):
        _apply(ledger, make.reserved(f"paid-{number}"), make.sent(f"paid-{number}"))
        _apply(ledger, make.settled(f"paid-{number}", at=float(number)))
        _apply(ledger, make.reserved(f"said-{number}", once=False), make.sent(f"said-{number}"))
        _apply(ledger, make.settled(f"said-{number}", at=100.0 + number))
    assert _drop(ledger, keep=4) == (2, {"paid-0", "paid-1", "paid-2", "said-2"})
    assert _drop(ledger, keep=2, most=1) == (1, {"paid-0", "paid-1", "paid-2"})
    assert _drop(ledger, keep=2) == (1, {"paid-1", "paid-2"})
