"""The line a person reads before allowing something."""

from __future__ import annotations

from gridagent.actions import PayAvatar, Position, RezObject, Say, TeleportTo
from gridagent.policy.summary import summarise_for_approval

U = "00000000-0000-4000-8000-00000000000e"


def test_it_shows_every_argument() -> None:
    """Action and arguments stand in it, nested ones too. Spec: POL-7."""
    line = summarise_for_approval(PayAvatar(to=U, amount=500, description="for the hat"))
    assert line == f"pay_avatar amount=500 description='for the hat' to='{U}'"
    line = summarise_for_approval(RezObject(position=Position(x=1.0, y=2.0, z=3.0)))
    assert line == "rez_object item_id=None name='Object' position=(1.0 2.0 3.0)"


def test_nothing_in_it_can_change_how_it_reads() -> None:
    """Quotes, line breaks, text direction and invisible characters are written out. Fault: 14, 17."""
    line = summarise_for_approval(PayAvatar(to=U, amount=500, description="x' amount=5\n\u202eyap\u200b\x00\u0301"))
    assert line.isprintable()
    assert "amount=500" in line
    assert "\\n\\u202eyap\\u200b\\x00" in line
    assert "\"x' amount=5" in line


def test_a_long_text_is_cut_and_hides_no_other_argument() -> None:
    """The longest argument comes last, so the others are always there."""
    line = summarise_for_approval(Say(text="a" * 1_000))
    assert len(line) == 256
    assert line.startswith("say volume='say' chat_channel=0 text='aaa")
    assert line.endswith("…")
    assert "TeleportTo" not in summarise_for_approval(TeleportTo(region="R", position=Position(x=1.0, y=1.0)))
