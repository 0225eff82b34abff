"""Effects move along their table, a key is reserved once, and what may have cost something never goes unsettled."""

from __future__ import annotations

import itertools

import pytest

from gridagent.ids import AvatarKey, EffectKey
from gridagent.policy.ledger import EFFECT, EffectInput, EffectState
from gridagent.storage import effects
from gridagent.storage.records import EffectRow


@pytest.fixture
def find(ledger):
    """One effect of robin's."""
    return lambda key="a": ledger.read(lambda connection: effects.find(connection, AvatarKey("robin"), EffectKey(key)))


def test_an_effect_is_read_back_as_it_was_written(keep, find, make) -> None:
    """Every field survives: canonical bytes, request, role, charge, times, outcome. Spec: EFX-2."""
    change = make.reserved()
    assert keep(change, make.sent(), make.settled()) == (True, True, True)
    assert find() == EffectRow(
        avatar=make.robin,
        run=1,
        effect=EffectKey("a"),
        state=EffectState.CONFIRMED,
        reserved=change,
        reserved_at=100.0,
        sent_at=101.0,
        settled_at=102.0,
        outcome=make.confirmed,
    )
    assert find("nobody") is None


def test_a_key_is_reserved_once(keep, make) -> None:
    """A re-run of one cause meets its own key and does not apply; the same change twice does. Spec: EFX-2."""
    assert keep(make.reserved()) == (True,)
    assert keep(make.reserved()) == (True,)
    assert keep(make.reserved(), run=2) == (False,)
    assert keep(make.reserved(at=999.0)) == (False,)
    assert keep(make.reserved(), avatar="wren") == (True,)


def test_a_re_run_leaves_effects_and_approvals_and_counts_its_charge(keep, snapshot, make) -> None:
    """Only the windows it brings are taken in: they may count too much and never too little. Spec: EFX-2, POL-6."""
    keep(make.opened("a"), make.reserved(approval="a"))
    before = snapshot()
    windows = make.held(make.window(99))
    assert keep(make.reserved(approval="a", budgets=windows), run=2) == (False,)
    after = snapshot()
    assert (after.open_effects, after.approvals, after.grants) == (before.open_effects, before.approvals, before.grants)
    assert after.budgets.rows == windows.rows != before.budgets.rows


def test_only_the_run_that_reserved_may_send(keep, make) -> None:
    """A later run cannot send what an earlier one reserved, nor may anybody send what ended. Spec: EFX-2, EFX-3."""
    keep(make.reserved())
    assert keep(make.sent(), run=2) == (False,)
    assert keep(make.sent()) == (True,)
    assert keep(make.sent()) == (True,)  # the same word again, after an unknown commit
    assert keep(make.sent(), run=2) == (False,)
    keep(make.settled())
    assert keep(make.sent()) == (False,)
    assert keep(make.sent("unknown"), make.settled("unknown")) == (False, False)


@pytest.mark.parametrize(("state", "given"), list(itertools.product(EffectState, list(EffectInput)[1:])))
def test_effects_settle_along_their_table_only(keep, find, make, state, given) -> None:
    """Each state × end is applied exactly when the table lists it. Spec: EFX-1, EFX-2."""
    way = {
        EffectState.RESERVED: (),
        EffectState.SENT: (make.sent(),),
        EffectState.CONFIRMED: (make.sent(), make.settled()),
        EffectState.REFUSED: (make.settled(outcome=make.refused),),
        EffectState.IN_DOUBT: (make.sent(), make.settled(outcome=make.in_doubt)),
    }[state]
    keep(make.reserved(), *way)
    end = {
        EffectInput.CONFIRM: make.confirmed,
        EffectInput.REFUSE: make.refused,
        EffectInput.DOUBT: make.in_doubt,
    }[given]
    allowed = EFFECT.allows(state, given)
    assert keep(make.settled(outcome=end, at=500.0), run=7) == (allowed,)
    assert find().state is (EFFECT.step(state, given) if allowed else state)


def test_open_effects_and_ends_come_back_apart(keep, snapshot, make) -> None:
    """What is open or in doubt comes whole, the oldest first; of what ended the key, by class. Spec: EFX-2."""
    keep(make.reserved("reserved"), make.reserved("sent"), make.sent("sent"))
    keep(make.reserved("doubt"), make.sent("doubt"), make.settled("doubt", make.in_doubt))
    keep(make.reserved("paid"), make.sent("paid"), make.settled("paid"))
    keep(make.reserved("said", once=False), make.sent("said"), make.settled("said"))
    keep(make.reserved("walked", once=False), make.sent("walked"), make.settled("walked", make.in_doubt))
    found = snapshot()
    assert [(each.effect, each.state.value) for each in found.open_effects] == [
        ("reserved", "reserved"),
        ("sent", "sent"),
        ("doubt", "in_doubt"),
    ]
    assert found.open_effects[0].request == make.request("reserved")
    assert (found.ended_once, found.ended_light) == (("paid",), ("said", "walked"))


def test_what_costs_nothing_leaves_no_words_behind(keep, find, make) -> None:
    """Of speech only the key stays once it ended; of a payment everything does. Spec: MEM-5."""
    keep(make.reserved("said", once=False), make.sent("said"))
    assert find("said").reserved is not None
    keep(make.settled("said"), make.reserved("paid"), make.sent("paid"), make.settled("paid"))
    assert find("said").reserved is None
    assert find("paid").reserved is not None


def test_doubts_are_listed_for_one_avatar_or_all(ledger, keep, make) -> None:
    """The oldest doubt comes first."""
    for key, avatar in (("b", "wren"), ("a", "robin"), ("c", "robin")):
        keep(make.reserved(key), make.sent(key), make.settled(key, make.in_doubt), avatar=avatar)
    keep(make.reserved("open"))
    everybody = ledger.read(lambda connection: effects.doubtful(connection, None))
    robins = ledger.read(lambda connection: effects.doubtful(connection, make.robin))
    assert [(row.avatar, row.effect) for row in everybody] == [("wren", "b"), ("robin", "a"), ("robin", "c")]
    assert [row.effect for row in robins] == ["a", "c"]


@pytest.fixture
def drop(ledger):
    """Let ended effects go; tell how many went and what is left."""

    def do(**how):
        connection = ledger.database.connection
        went = effects.drop_ended(connection, **{"before": 0.0, "light_before": 0.0, "keep": 100, "most": 100} | how)
        left = {key for (key,) in connection.execute("SELECT effect FROM effect")}
        return went, left

    return do


def test_the_oldest_ended_go_and_unsettled_never(keep, drop, make) -> None:
    """Age lets ended effects go, each class by its own; open and doubtful ones stay for ever. Spec: BND-16."""
    keep(make.reserved("open"), make.reserved("sent"), make.sent("sent"))
    keep(make.reserved("doubt"), make.sent("doubt"), make.settled("doubt", make.in_doubt))
    keep(make.reserved("paid"), make.sent("paid"), make.settled("paid", at=10.0))
    keep(make.reserved("said", once=False), make.sent("said"), make.settled("said", at=10.0))
    assert drop(light_before=11.0) == (1, {"open", "sent", "doubt", "paid"})
    assert drop(before=10.0)[0] == 0
    assert drop(before=11.0) == (1, {"open", "sent", "doubt"})
    assert drop(before=1e9, light_before=1e9, keep=0) == (0, {"open", "sent", "doubt"})


def test_beyond_the_rows_that_are_kept_what_costs_nothing_goes_first(keep, drop, make) -> None:
    """Chatter cannot push a payment out of the ledger. Spec: BND-16."""
    for number in range(3):
        paid, said = f"paid-{number}", f"said-{number}"
        keep(make.reserved(paid), make.sent(paid), make.settled(paid, at=float(number)))
        keep(make.reserved(said, once=False), make.sent(said), make.settled(said, at=100.0 + number))
    assert drop(keep=4) == (2, {"paid-0", "paid-1", "paid-2", "said-2"})
    assert drop(keep=2, most=1) == (1, {"paid-0", "paid-1", "paid-2"})
    assert drop(keep=2) == (1, {"paid-1", "paid-2"})
