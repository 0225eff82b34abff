"""The approval table and its book."""

from __future__ import annotations

import itertools

import pytest

from gridagent.actions import PayAvatar
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal
from gridagent.errors import IllegalTransition, InternalError
from gridagent.limits import APPROVAL_RECORDS_MAX, APPROVALS_PER_PRINCIPAL_MAX
from gridagent.policy.approvals import (
    APPROVAL,
    NONCE_ATTEMPTS_MAX,
    Approval,
    ApprovalBook,
    ApprovalInput,
    ApprovalState,
    ApprovalView,
    nonce_hash,
)
from gridagent.policy.canonical import canonicalise
from gridagent.policy.decisions import Denied

U = "00000000-0000-4000-8000-00000000000e"

LEGAL = {
    ("pending", "allow"): "allowed",
    ("pending", "refuse"): "denied",
    ("pending", "expire"): "expired",
    ("pending", "cancel"): "cancelled",
    ("pending", "supersede"): "superseded",
    ("allowed", "claim"): "claimed",
    ("allowed", "refuse"): "denied",
    ("allowed", "expire"): "expired",
    ("allowed", "cancel"): "cancelled",
    ("allowed", "supersede"): "superseded",
}


@pytest.mark.parametrize(("state", "given"), list(itertools.product(ApprovalState, ApprovalInput)))
def test_every_state_and_input_of_an_approval(state, given) -> None:
    """Each pair leads where the requirement says, or nowhere: an approval counts once. Spec: POL-7."""
    target = LEGAL.get((state.value, given.value))
    if target is None:
        with pytest.raises(IllegalTransition):
            APPROVAL.step(state, given)
    else:
        assert APPROVAL.step(state, given).value == target


def approval(number, *, who="asker", effect=None) -> Approval:
    """Make an approval."""
    action = PayAvatar(to=U, amount=1)
    return Approval(
        approval_id=f"a{number}",
        nonce="nonce",
        nonce_hash=nonce_hash("nonce"),
        request=ActionRequest(
            action=action, principal=Principal(client=who), origin=Origin.GOAL, generation=1, correlation="c",
            cause=f"cause-{number}",
        ),
        canonical=canonicalise(action),
        effect=effect or f"e{number}",
        rule="approval.money",
        summary="pay",
        expires_at=10.0,
        opened_wall=1.7e9,
        expires_wall=1.7e9 + 10.0,
        policy_version="v",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (ApprovalInput.REFUSE, DenialCode.APPROVAL_DENIED),
        (ApprovalInput.EXPIRE, DenialCode.APPROVAL_EXPIRED),
        (ApprovalInput.CANCEL, DenialCode.APPROVAL_CANCELLED),
        (ApprovalInput.SUPERSEDE, None),
    ],
)
def test_asking_again_for_the_same_effect_tells_how_it_ended(given, told) -> None:
    """A no stays a no for that very effect; a change of policy lets it be asked anew. Spec: POL-7."""
    book = ApprovalBook()
    waiting = approval(1)
    assert book.asked_before("e1") is None
    book.park(waiting)
    assert book.asked_before("e1") is waiting
    book.move(waiting, given)
    again = book.asked_before("e1")
    assert (again.code if told else again) == told


def test_waiting_approvals_are_bounded_and_never_dropped() -> None:
    """The ceiling holds, the oldest ended one goes first, and what waits stays. Spec: BND-12."""
    book = ApprovalBook()
    parked = [approval(number, who=f"p{number}") for number in range(APPROVAL_RECORDS_MAX)]
    for one in parked:
        assert book.room_for(one.request.principal.key) is None
        book.park(one)
    assert book.room_for("another").code is DenialCode.APPROVALS_FULL
    book.move(parked[5], ApprovalInput.REFUSE)
    book.move(parked[6], ApprovalInput.REFUSE)
    assert book.room_for("another") is None
    book.park(approval("x"))
    assert book.find("a5") is None
    assert book.asked_before("e5") is None
    assert book.find("a6") is parked[6]
    assert len(book.waiting()) == APPROVAL_RECORDS_MAX - 1


def test_a_newer_request_for_an_effect_outlives_the_record_of_an_older_one() -> None:
    """Dropping the record of a superseded request forgets nothing of the one that waits now."""
    book = ApprovalBook()
    old = approval(0, effect="same")
    book.park(old)
    book.move(old, ApprovalInput.SUPERSEDE)
    new = approval(1, effect="same")
    book.park(new)
    for number in range(2, APPROVAL_RECORDS_MAX + 1):
        book.park(approval(number, who=f"p{number}"))
    assert book.find("a0") is None
    assert book.asked_before("same") is new


def test_one_principal_has_so_many_waiting_and_no_more() -> None:
    """One asker can't fill the desk; an end makes room for another. Spec: BND-12."""
    book = ApprovalBook()
    mine = [approval(number) for number in range(APPROVALS_PER_PRINCIPAL_MAX)]
    for one in mine:
        book.park(one)
    assert book.room_for("client:asker").code is DenialCode.APPROVALS_FULL
    assert book.room_for("client:other") is None
    for one in mine:
        book.move(one, ApprovalInput.EXPIRE)
        assert book.room_for("client:asker") is None
    assert book.first_to_expire() is None


def test_two_approvals_never_share_an_id() -> None:
    """A source of ids that repeats itself is a bug that is told, also for an ended one. Spec: POL-7."""
    book = ApprovalBook()
    first = approval(1)
    book.park(first)
    with pytest.raises(InternalError):
        book.park(approval(1, effect="other"))
    book.move(first, ApprovalInput.REFUSE)
    with pytest.raises(InternalError):
        book.park(approval(1, effect="other"))


@pytest.mark.parametrize("wrong", ["", "nonc", "NONCE", "nonce ", "nöncé", "\ud800"])
def test_only_the_very_nonce_proves(wrong) -> None:
    """Anything else is wrong, without an error. Spec: POL-7."""
    one = approval(1)
    assert not one.has_nonce(nonce_hash(wrong))
    assert one.has_nonce(nonce_hash("nonce"))


def test_too_many_wrong_nonces_lock_it() -> None:
    """Guessing ends after a few attempts."""
    one = approval(1)
    for _ in range(NONCE_ATTEMPTS_MAX):
        assert not one.nonce_locked
        one.wrong_nonces += 1
    assert one.nonce_locked


def test_recalling_makes_room_like_parking() -> None:
    """Ended approvals from before a restart count among the records, and the oldest goes first. Spec: BND-12."""
    book = ApprovalBook()
    for number in range(APPROVAL_RECORDS_MAX + 2):
        ended = approval(number)
        ended.state = ApprovalState.DENIED
        book.recall(ended)
    assert len(book.all()) == APPROVAL_RECORDS_MAX
    assert book.find("a1") is None
    assert book.asked_before("e1") is None
    assert book.asked_before("e2") == Denied(code=DenialCode.APPROVAL_DENIED, rule="approval")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (ApprovalInput.REFUSE, DenialCode.APPROVAL_DENIED),
        (ApprovalInput.EXPIRE, DenialCode.APPROVAL_EXPIRED),
        (ApprovalInput.CANCEL, DenialCode.APPROVAL_CANCELLED),
    ],
)
def test_who_asks_again_is_told_by_which_rule(given, code) -> None:
    """The code says what became of it, the rule is always the same. Spec: POL-3, POL-7."""
    book = ApprovalBook()
    one = approval(1)
    book.park(one)
    book.move(one, given)
    assert book.asked_before("e1") == Denied(code=code, rule="approval")


def test_a_view_says_whether_somebody_allowed_it() -> None:
    """Waiting or allowed, as the table has it. Spec: POL-7."""
    book = ApprovalBook()
    book.park(approval(1))
    assert [view.allowed for view in book.views()] == [False]
    book.move(book.waiting()[0], ApprovalInput.ALLOW)
    assert [view.allowed for view in book.views()] == [True]
    assert APPROVAL.name == "approval"
    assert approval(1).by == ""
    made = ApprovalView(approval_id="a", action="x", principal="p", summary="", rule="", cause="", expires_at=1.0)
    assert not made.allowed
