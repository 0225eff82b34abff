"""What stands behind a claim: the tool, whom it was done to, and the amount."""

from __future__ import annotations

import pytest

from gridagent.tools.evidence import Evidence
from gridagent.turn.backing import is_backed
from gridagent.turn.claims import Claim, claims_in
from gridagent.turn.clauses import sentences_of
from gridagent.turn.deeds import Deed

ALICE = "1a2b3c4d-0000-4000-8000-00000000000a"
BOB = "2b2b3c4d-0000-4000-8000-00000000000b"
PEOPLE = {"alice": ALICE, "bob": BOB}


def claim(text: str) -> Claim:
    """Return the one claim of a text."""
    (found,) = claims_in(sentences_of(text))
    return found


def proof(tool: str, to: str = ALICE, arguments: str = '{{"amount":500,"to":"{to}"}}') -> Evidence:
    """Return evidence of a call."""
    return Evidence(tool=tool, arguments=arguments.format(to=to).encode(), data=b"", subjects=(to,), tainted=False)


PAID = proof("pay_avatar")


@pytest.mark.parametrize(
    ("text", "backed"),
    [
        ("I paid you 500.", True),
        ("I paid you L$500.", True),
        ("I paid you L$501.", False),
        ("I paid you.", True),
        ("I paid Alice.", True),
        ("I paid Bob.", False),
        ("I paid Carol.", True),
        ("I followed you.", False),
        ("The payment was sent.", True),
        ("I gave you a landmark.", False),
        ("I've muted Bob.", False),
    ],
)
def test_evidence_concerns_the_target_and_the_amount(text: str, backed: bool) -> None:  # noqa: FBT001 - a column
    """A payment stands behind talk of exactly that payment. Spec: MND-9."""
    assert is_backed(claim(text), [PAID], speaker=ALICE, people=PEOPLE) is backed


def test_any_handing_over_backs_what_is_only_called_it() -> None:
    """Where nothing says what was handed over, one of its kinds is enough. Spec: MND-9."""
    assert is_backed(claim("I sent it to you."), [proof("give_item")], speaker=ALICE)
    assert not is_backed(claim("I sent it to you."), [proof("follow_avatar")], speaker=ALICE)


def test_who_listens_has_to_be_who_got_it() -> None:
    """What somebody else was paid is no payment to you; where nobody knows who listens, it may be. Spec: MND-9."""
    said = claim("I paid you L$500.")
    assert not is_backed(said, [PAID], speaker=BOB)
    assert is_backed(said, [PAID])
    assert not is_backed(said, [])


def test_paying_through_an_object_says_how_much() -> None:
    """A payment without a receiver is held to its amount. Spec: MND-9."""
    bought = proof("pay_object", arguments='{{"amount":20,"object_id":"{to}"}}')
    assert is_backed(claim("I paid the vendor L$20."), [bought], speaker=BOB)
    assert not is_backed(claim("I paid the vendor L$30."), [bought], speaker=BOB)
    assert not is_backed(claim("I paid the vendor L$20."), [proof("pay_object", arguments="{{")], speaker=BOB)


def test_what_was_done_earlier_counts_until_just_now_is_said() -> None:
    """Findings of earlier turns back what is told without ``just``. Spec: MND-8, MND-9."""
    assert is_backed(claim("I paid you L$500."), [], earlier=[PAID], speaker=ALICE)
    assert not is_backed(claim("I just paid you L$500."), [], earlier=[PAID], speaker=ALICE)
    assert not is_backed(claim("I'm paying you now."), [], earlier=[PAID], speaker=ALICE)


def test_our_own_words_back_what_leaves_no_evidence() -> None:
    """A message of earlier may be told of again; a payment has evidence of its own. Spec: MND-9."""
    assert is_backed(claim("I've notified the owner."), [], said=frozenset({Deed.MESSAGE}))
    assert not is_backed(claim("I've notified the owner."), [], said=frozenset({Deed.FOLLOW}))
    assert not is_backed(claim("I paid you."), [], said=frozenset({Deed.PAY}))
    assert not is_backed(claim("I just messaged Bob."), [], said=frozenset({Deed.MESSAGE}))


def test_another_time_excuses_only_what_concerns_nobody_here() -> None:
    """Long ago is no excuse for what you are said to have got. Spec: MND-9."""
    assert is_backed(claim("I moved closer to the sea years ago."), [])
    assert is_backed(claim("I paid Bob yesterday."), [])
    assert not is_backed(claim("I paid you yesterday."), [])


def test_a_foreign_tool_may_have_done_anything() -> None:
    """Nobody knows what a foreign tool does, so its success stands behind any claim. Spec: MND-9, MND-17."""
    assert is_backed(claim("I paid you."), [], foreign=True)
