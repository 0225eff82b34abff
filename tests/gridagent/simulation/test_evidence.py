"""Claims about what counts as having happened."""

from __future__ import annotations

from gridagent import actions as wanted
from gridagent.actions import Position
from gridagent.events import BalanceChanged, Delivered, SelfMoved

OWNER = "00000000-0000-4000-8000-000000000001"
PAY = wanted.PayAvatar(to=OWNER, amount=3)
KEY = "e" * 64
REFERENCE = KEY[:16]


def test_confirmed_means_that_it_happened(a_court) -> None:
    """Money that did not move, an item that did not come, a state nobody told of, nothing sent. Spec: EFX-1."""
    for action, changed in ((PAY, {"balance": 0}), (wanted.CreateLandmark(name="n"), {"items": 0})):
        court = a_court()
        court.do(action, **changed)
        court.settle("confirmed", str(type(action).__struct_config__.tag))
        assert court.rules == ["confirmed means happened"]
    court = a_court()
    court.do(PAY, balance=-3)
    court.account.on_told(BalanceChanged(balance=1, change=-3))
    court.settle("confirmed", "pay_avatar")
    assert court.rules == []
    court = a_court()
    court.connect()
    court.propose()
    court.allow()
    court.settle("confirmed")
    assert court.rules == ["confirmed means happened"]
    court = a_court()
    court.connect()
    court.propose()
    court.allow()
    court.account.on_redeemed(1, KEY)
    court.settle("confirmed")
    assert court.rules == ["confirmed means happened"]


def test_a_state_must_have_been_told_and_a_message_acknowledged(a_court) -> None:
    """A walk needs a position, an IM the world's word for it. Spec: EFX-1."""
    walk = wanted.WalkTo(position=Position(x=1.0, y=1.0))
    court = a_court()
    court.now = 500.0
    court.do(walk)
    court.settle("confirmed", "walk_to")
    assert court.rules == ["confirmed means happened"]
    court = a_court()
    court.now = 500.0
    court.do(walk)
    court.account.on_told(SelfMoved(region="Plaza", position=Position(x=1.0, y=1.0)))
    court.settle("confirmed", "walk_to")
    assert court.rules == []
    message = wanted.SendIm(to=OWNER, text="x")
    court = a_court()
    court.do(message)
    court.settle("confirmed", "send_im")
    assert court.rules == ["confirmed means happened"]
    court = a_court()
    court.do(message)
    court.account.on_told(Delivered(reference=REFERENCE))
    court.settle("confirmed", "send_im")
    assert court.rules == []
