"""Judges a life over the wire by what the world wrote down: logins, logouts, words and money.

Shares no code with the session, the gateway or the ledger, and reads nothing that they say of themselves. May not
change the world. Each judgement returns its findings as sentences; none is a life in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from gridagent.grid.simulated.sessions import Session

__all__ = ("judge_logins", "judge_money", "judge_words")


def judge_logins(sessions: Sequence[Session]) -> list[str]:
    """Find logins of one avatar that ran beside each other, were left twice, or were left without a word.

    A session that the grid ended itself, before the farewell came, owes none; one still live at the end was not left.
    """
    found = []
    for before, after in pairwise(sessions):
        if before.ended_at is None or before.ended_at > after.began_at:
            found.append(f"login {after.number} began while login {before.number} was live")
    for each in sessions:
        if each.logouts > 1:
            found.append(f"login {each.number} was left {each.logouts} times")
        if each.ended_by == "logout" and not each.logouts:
            found.append(f"login {each.number} ended by a logout, and none was heard")
        if each.ended_at is None:
            found.append(f"login {each.number} was never left")
    return found


def judge_words(heard: Iterable[str], asked: Iterable[str]) -> list[str]:
    """Find words that were heard more often than anybody asked for them."""
    allowed = Counter(asked)
    return [
        f"{text!r} was heard {times} times, asked for {allowed[text]} times"
        for text, times in Counter(heard).items()
        if allowed[text] and times > allowed[text]
    ]


def judge_money(before: Sequence[int], after: Sequence[int], *, most: int) -> list[str]:
    """Find money that came from nowhere, and more of it spent by the first account than was asked for."""
    found = []
    if sum(before) != sum(after):
        found.append(f"there was L${sum(before)}, and there is L${sum(after)}")
    if before[0] - after[0] > most:
        found.append(f"L${before[0] - after[0]} were paid where L${most} were asked for")
    return found
