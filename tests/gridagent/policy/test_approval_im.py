"""What an IM that asks looks like, and what counts as an answer to it."""

from __future__ import annotations

import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import PayAvatar
from gridagent.authority import Origin, Principal
from gridagent.limits import CHAT_MAX_BYTES
from gridagent.policy import Authorized
from gridagent.policy.approval_im import ALPHABET, ImAnswer, approval_text, mask_nonces, nonce_from, parse_answer
from gridagent.policy.approvals import NONCE_ATTEMPTS_MAX
from gridagent.policy.changes import ApprovalTried
from gridagent.policy.decisions import AnswerCode
from gridagent.policy.summary import summarise_for_approval

NONCE = "4F7K-9QXM-2TBD"
U = "00000000-0000-4000-8000-00000000000e"
ASKS = {"approvals": {"money": "required"}, "approvers": "trusted"}


@pytest.mark.parametrize(
    ("text", "allow"),
    [
        (f"allow {NONCE}", True),
        (f"deny {NONCE}", False),
        (f"Allow {NONCE}", True),
        (f"DENY   {NONCE}", False),
        (f"  allow\t{NONCE}\r\n", True),
    ],
)
def test_an_answer_is_an_answer(text, allow) -> None:
    """The verb in any case, the exact nonce, white space round them. Spec: POL-7."""
    assert parse_answer(text) == ImAnswer(allow=allow, nonce=NONCE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "allow",
        NONCE,
        f"allow{NONCE}",
        f"allow {NONCE[:-1]}",
        f"allow {NONCE}X",
        f"allow {NONCE} please",
        f"please allow {NONCE}",
        f"allow {NONCE}\nallow {NONCE}",
        f"allow\n{NONCE}",
        f"allow {NONCE.lower()}",
        f"allow {NONCE.replace('-', '')}",
        f"allow {NONCE.replace('-', ' ')}",
        f"allow  {NONCE.replace('4', 'O')}",
        f"allow {NONCE.replace('K', chr(0x212A))}",
        f"a\u200bllow {NONCE}",
        f"allow\u00a0{NONCE}",
        f"allow {NONCE}\u202e",
        f"allow {NONCE}\x00",
        f"‘allow {NONCE}’",
        f"dény {NONCE}",
        f"allow {NONCE}" + " " * 64,
        f"> allow {NONCE}",
        f"you said: allow {NONCE}",
    ],
)
def test_whatever_else_is_no_answer(text) -> None:
    """No part of a text, no look-alike, no nearly right nonce is an answer. Spec: POL-7."""
    assert parse_answer(text) is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_parser(text) -> None:
    """Any text is an answer in the one form, or none. Spec: POL-7."""
    answer = parse_answer(text)
    assert answer is None or re.fullmatch(r"(?i:allow|deny)\s+" + answer.nonce, text.strip(" \t\r\n"))


@given(st.text(min_size=1, max_size=64))
def test_every_nonce_can_be_answered_with(token) -> None:
    """A nonce has sixty bits in three groups, is what its token says, and passes the parser. Spec: POL-7."""
    nonce = nonce_from(token) if not any("\ud800" <= each <= "\udfff" for each in token) else NONCE
    assert re.fullmatch(rf"([{ALPHABET}]{{4}}-){{2}}[{ALPHABET}]{{4}}", nonce)
    assert parse_answer(f"allow {nonce}") == ImAnswer(allow=True, nonce=nonce)


def test_a_nonce_is_drawn_from_all_of_its_token() -> None:
    """Tokens that differ in one letter give nonces that share nothing but chance; all letters are used. Spec: POL-7."""
    nonces = [nonce_from(f"token-{number}") for number in range(2_000)]
    assert len(set(nonces)) == len(nonces)
    for place in (0, 5, 13):
        assert {nonce[place] for nonce in nonces} == set(ALPHABET)
    number = int.from_bytes(sha256(b"token-7").digest()[:8], "big")
    assert nonces[7].replace("-", "")[0] == ALPHABET[number % 32]


def test_the_text_says_what_to_reply_before_it_shows_what_was_asked() -> None:
    """Instructions first, then who asked and the exact arguments, quoted. Spec: POL-7."""
    text = approval_text(summary="pay_avatar amount=10", principal=U, nonce=NONCE, expires_in_s=299.9)
    lines = text.split("\n")
    assert lines[1:3] == [f"allow {NONCE}", f"deny {NONCE}"]
    assert "within 299 seconds" in lines[0]
    assert lines[3].startswith(f"Asked for by {U}")
    assert lines[4] == "pay_avatar amount=10"
    assert "within 0 seconds" in approval_text(summary="", principal="", nonce=NONCE, expires_in_s=-5.0)


@pytest.mark.parametrize("words", ["\nallow 0000-0000-0000", "ü" * 256, "\u202e" * 256, "x" * 256])
def test_words_of_the_request_cannot_pass_for_instructions(words) -> None:
    """They stand in one line at the end, and the whole fits an IM. Spec: POL-7. Fault: 15."""
    summary = summarise_for_approval(PayAvatar(to=U, amount=1, description=words))
    text = approval_text(summary=summary, principal="client:" + "p" * 64, nonce=NONCE, expires_in_s=86_400.0)
    assert len(text.encode()) <= CHAT_MAX_BYTES
    assert [line for line in text.split("\n") if line.startswith("allow")] == [f"allow {NONCE}"]
    assert text.count("\n") == 4
    # Sent back whole, as a quoting viewer does, it is no answer.
    assert parse_answer(text) is None


def waits(bench, **over):
    """Open a bench with one payment that waits, asked for by a stranger."""
    world = bench(**ASKS, **over)
    waiting = world.pay(10, who="00000000-0000-4000-8000-00000000000d", origin=Origin.DIRECT_IM, cause="turn-1")
    return world, waiting.approval_id, world.gateway.nonce_of(waiting.approval_id)


def im(world, nonce, who, *, allow=True):
    """Answer over IM."""
    return world.gateway.answer_im(ImAnswer(allow=allow, nonce=nonce), by=Principal(avatar_id=who), now=world.now)


def test_the_nonce_alone_says_what_is_answered(bench, people) -> None:
    """An owner's yes by IM authorises exactly the request whose nonce it holds. Spec: POL-7."""
    world, approval_id, nonce = waits(bench)
    other = world.pay(20, who=people["stranger"]).approval_id
    answer = im(world, nonce, people["owner"])
    assert (answer.code, answer.approval_id) == (AnswerCode.ALLOWED, approval_id)
    assert isinstance(answer.decision, Authorized)
    assert world.redeem(answer.decision).action.amount == 10
    assert [view.approval_id for view in world.gateway.status().approvals] == [other]
    again = im(world, nonce, people["owner"])
    assert (again.code, again.approval_id, again.accepted) == (AnswerCode.ALREADY_ANSWERED, approval_id, False)


def test_a_no_by_im_is_a_no(bench, people) -> None:
    """Denied over IM is denied."""
    world, approval_id, nonce = waits(bench)
    answer = im(world, nonce, people["trusted"], allow=False)
    assert (answer.code, answer.approval_id, answer.accepted) == (AnswerCode.DENIED, approval_id, True)


def test_a_strangers_im_counts_for_nothing_and_tries_nothing(bench, people) -> None:
    """Not even with the right nonce, and nobody is locked out by it. Spec: POL-7."""
    world, approval_id, nonce = waits(bench)
    for guess in (nonce, NONCE):
        for who in (people["stranger"], U):
            answer = im(world, guess, who)
            assert (answer.code, answer.approval_id) == (AnswerCode.WRONG_PERSON, "")
    assert not [change for change in world.changes if isinstance(change, ApprovalTried)]
    assert world.rows[-1].code == "wrong_person"
    assert im(world, nonce, people["owner"]).approval_id == approval_id


def test_a_trusted_avatar_does_not_answer_itself_by_im(bench, people) -> None:
    """Their own request is theirs to ask, not to allow. Spec: POL-7."""
    world = bench(**ASKS)
    own = world.pay(10, who=people["trusted"]).approval_id
    nonce = world.gateway.nonce_of(own)
    assert im(world, nonce, people["trusted"]).code is AnswerCode.WRONG_PERSON
    assert im(world, nonce, people["other_trusted"]).code is AnswerCode.ALLOWED


def test_guesses_lock_every_approval_they_were_tried_at_and_no_later_one(bench, people) -> None:
    """After five nonces that are nobody's only the operator can answer what waited. Spec: POL-7."""
    world, first, nonce = waits(bench)
    own = world.pay(20, who=people["trusted"]).approval_id
    codes = [im(world, NONCE, people["trusted"]).code for _ in range(NONCE_ATTEMPTS_MAX)]
    assert set(codes) == {AnswerCode.WRONG_NONCE}
    assert im(world, nonce, people["owner"]).code is AnswerCode.NONCE_LOCKED
    assert world.gateway._desk._book.find(own).wrong_nonces == 0  # the guesser may not answer it, so tried nothing
    later = world.pay(30, who=people["stranger"]).approval_id
    assert im(world, world.gateway.nonce_of(later), people["owner"]).code is AnswerCode.ALLOWED
    tried = [change for change in world.changes if isinstance(change, ApprovalTried)]
    assert [(change.approval_id, change.wrong_nonces) for change in tried] == [(first, each) for each in range(1, 6)]
    assert im(world, NONCE, people["trusted"]).code is AnswerCode.WRONG_NONCE
    assert world.gateway._desk._book.find(first).wrong_nonces == NONCE_ATTEMPTS_MAX


def test_a_nonce_of_what_has_run_out_says_so(bench, people) -> None:
    """Too late over IM is told as too late, and no guess counts against what has run out. Spec: POL-7."""
    world, approval_id, nonce = waits(bench, approval_ttl_s=30.0)
    world.pass_time(30)
    assert im(world, NONCE, people["owner"]).code is AnswerCode.WRONG_NONCE
    answer = im(world, nonce, people["owner"])
    assert (answer.code, answer.approval_id) == (AnswerCode.EXPIRED, approval_id)
    assert not [change for change in world.changes if isinstance(change, ApprovalTried)]


def test_an_answer_is_as_long_as_it_may_be_and_no_longer() -> None:
    """White space may fill the line up to its bound; letters that look alike are in no nonce. Spec: POL-7."""
    assert parse_answer(f"allow {NONCE}".ljust(64)) == ImAnswer(allow=True, nonce=NONCE)
    assert parse_answer(f"allow {NONCE}".ljust(65)) is None
    assert sorted(ALPHABET) == sorted(set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") - set("ILOU"))


def test_a_long_request_is_cut_and_shows_it() -> None:
    """The whole IM is filled to its last byte, and ends with the mark of a cut. Spec: POL-7."""
    text = approval_text(summary="x" * 2_000, principal=U, nonce=NONCE, expires_in_s=60.0)
    assert len(text.encode()) == CHAT_MAX_BYTES
    assert text.endswith("x…")


def test_only_nonces_that_count_are_masked_in_a_text() -> None:
    """Words and numbers that look like one stay; so many are asked about and no more. Spec: POL-7."""
    nonce = nonce_from("token")
    asked = []

    def is_nonce(each: str) -> bool:
        asked.append(each)
        return each == nonce

    def mask(text: str) -> str:
        return mask_nonces(text, is_nonce=is_nonce, mask="****")

    assert mask(f"it is {nonce}, not 0123-4567-89AB") == "it is ****, not 0123-4567-89AB"
    assert asked == [nonce, "0123-4567-89AB"]
    assert mask(nonce.lower().replace("-", "")) == "****"
    assert mask(nonce.replace("-", "\u2011")) == "****"
    assert mask(f"x{nonce}") == f"x{nonce}"
    assert mask("them that have") == "them that have"
    asked.clear()
    many = " / ".join(["0123-4567-89AB"] * 40)
    assert mask(f"{many} / {nonce}") == f"{many} / {nonce}"
    assert len(asked) == 16
