"""The picture on a terminal."""

from __future__ import annotations

import re

import msgspec
import pytest
from rich.cells import cell_len

from gridagent import events as seen
from gridagent.actions import Position
from gridagent.cli.scene import Scene
from gridagent.cli.screen import draw, repaint
from gridagent.config.policy import BudgetScope, Meter
from gridagent.events import AvatarView, Speaker, SpeakerKind
from gridagent.observations import AgentState, EventSeen, LinkState, Observation
from gridagent.policy import GatewayStatus
from gridagent.policy.approvals import ApprovalView
from gridagent.policy.budgets import BudgetGauge
from gridagent.runtime.channels import ChannelStatistics
from gridagent.service.api import SessionStatus

OLIVE = "5eed0000-0000-4000-8000-000000000001"
EVIL = "\x1b[2J\x1b]52;c;eA==\a\rOwner\u202e\n\x9b31m"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def queue(used: int, limit: int) -> ChannelStatistics:
    """A queue with something in it."""
    return ChannelStatistics(
        name="robin.q", used=used, limit=limit, peak=used, sent=used, received=0, dropped=0, refused=0
    )


def status(key: str = "robin") -> SessionStatus:
    """A status with an approval that waits and a budget half spent."""
    approval = ApprovalView(
        approval_id="a1b2", action="pay", principal="p", summary="s", rule="r", cause="c", expires_at=1.0
    )
    budgets = tuple(
        BudgetGauge(meter=Meter.IMS, per=BudgetScope.GLOBAL, window_s=60, used=used, limit=10) for used in (1, 6, 10)
    )
    gateway = GatewayStatus(
        policy="p",
        generation=1,
        held=False,
        dry_run=False,
        budgets=(*budgets, msgspec.structs.replace(budgets[0], limit=0)),
        principals=1,
        approvals=(approval,),
        open_effects=0,
        in_doubt=(),
        decisions={},
    )
    return SessionStatus(
        key=key,
        agent=AgentState.RUNNING,
        link=LinkState.ONLINE,
        generation=2,
        avatar_id=None,
        name=EVIL,
        region=EVIL,
        position=None,
        balance=5,
        near=1,
        workers=0,
        fenced=0,
        last_error="",
        queues=(queue(0, 64), queue(64, 64)),
        gateway=gateway,
    )


def scene(*keys: str) -> Scene:
    """A scene in which somebody hostile talks a lot."""
    view = Scene(keys or ("robin",), roles={OLIVE: "owner"}, began=0.0)
    source = Speaker(kind=SpeakerKind.AVATAR, id=OLIVE, name=EVIL)
    near = AvatarView(avatar_id=OLIVE, name=EVIL, position=Position(x=0, y=0), distance_m=3.0)
    for number in range(60):
        text = f"{number} 今日は {EVIL} " + "wide " * 60
        for event in (
            seen.ChatHeard(utterance_id="u", source=source, text=text[:300]),
            seen.AvatarSeen(avatar=near),
        ):
            body = EventSeen(event=event)
            view.note(Observation(seq=1, avatar="robin", generation=1, at=float(number), body=body), "robin")
    view.statuses = tuple(status(key) for key in view.avatars)
    return view


@pytest.mark.parametrize(("width", "height"), [(80, 24), (132, 50), (40, 12), (10, 3), (200, 15)])
def test_the_picture_fits_the_terminal_exactly(width, height) -> None:
    """As many lines as there are, less the prompt's two, none too wide; tiny terminals get the smallest picture."""
    lines = draw(scene(), title="gridagent", left_s=20.0, width=width, height=height)
    assert len(lines) == max(height, 12) - 2
    assert max(cell_len(COLOUR.sub("", line)) for line in lines) <= max(width, 40)


def test_hostile_text_cannot_leave_its_place() -> None:
    """Apart from colours of our own there is nothing but printable characters. Spec: OPS-7. Fault: 14, 17."""
    lines = draw(scene(), title="gridagent", left_s=None, width=100, height=40)
    text = COLOUR.sub("", "".join(lines))
    assert all(char.isprintable() for char in text)
    assert "\\x1b[2J" in text


def test_the_picture_shows_what_an_operator_looks_for() -> None:
    """Who is near, what was said, what waits for an answer, gauges, how to speak and when it ends. Spec: OPS-1."""
    text = COLOUR.sub("", "\n".join(draw(scene(), title="gridagent 1", left_s=20.0, width=120, height=40)))
    for words in (
        "gridagent 1",
        "robin: running, online",
        "near robin (1)",
        "  3 m \\x1b",
        "[owner]",
        "allow a1b2",
        "queues and budgets",
        "██████ q 64/64",
        "say TEXT",
        "quit",
        "stops in 20 s",
    ):
        assert words in text, words


def test_the_newest_lines_are_shown() -> None:
    """The story scrolls."""
    text = "\n".join(draw(scene(), title="t", left_s=None, width=100, height=20))
    assert " 59" in text
    assert " 1 今日" not in text


def test_several_avatars_are_told_apart() -> None:
    """Each line says whose it is, and each avatar has its state line."""
    text = COLOUR.sub("", "\n".join(draw(scene("robin", "wren"), title="t", left_s=None, width=120, height=30)))
    assert "wren: running" in text
    assert " robin: " in text


def test_without_colour_there_is_none() -> None:
    """NO_COLOR is respected; bold and dim are no colours."""
    text = "".join(draw(scene(), title="t", left_s=None, width=100, height=20, colour=False))
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", text)


def test_painting_leaves_the_line_being_typed_alone() -> None:
    """The cursor goes back where it was; only after a typed line the prompt is written anew."""
    painted = repaint(["one", "two"], prompt=False)
    assert painted.startswith("\x1b7")
    assert painted.endswith("\x1b8")
    assert "\x1b[3;1H" not in painted
    assert repaint(["one", "two"], prompt=True).endswith("\x1b[3;1H\x1b[J> ")
