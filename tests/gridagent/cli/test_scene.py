"""What the live view knows."""

from __future__ import annotations

import msgspec

from gridagent import events as seen
from gridagent.actions import Position
from gridagent.cli.scene import LINES_KEPT, NEAR_MAX, Scene, plain_line, summary
from gridagent.cli.wording import Tone
from gridagent.config.policy import BudgetScope, Meter
from gridagent.events import AvatarView, DisconnectCause
from gridagent.observations import AgentState, EventSeen, GenerationClosed, HoldChanged, LinkState, Observation
from gridagent.policy import GatewayStatus
from gridagent.policy.budgets import BudgetGauge
from gridagent.runtime.channels import ChannelStatistics, Lagged
from gridagent.service.api import SessionStatus

HOSTILE = "\x1b[2J\rPlaza"


def status(**changes: object) -> SessionStatus:
    """A status."""
    gauge = BudgetGauge(meter=Meter.IMS, per=BudgetScope.GLOBAL, window_s=60, used=3, limit=10)
    unused = msgspec.structs.replace(gauge, used=0)
    gateway = GatewayStatus(
        policy="p",
        generation=1,
        held=True,
        dry_run=True,
        budgets=(gauge, unused),
        principals=1,
        approvals=(),
        open_effects=0,
        in_doubt=(),
        decisions={},
    )
    queue = ChannelStatistics(
        name="robin.inbox.controls", used=1, limit=64, peak=1, sent=1, received=0, dropped=0, refused=0
    )
    plain = SessionStatus(
        key="robin",
        agent=AgentState.RUNNING,
        link=LinkState.ONLINE,
        generation=2,
        avatar_id=None,
        name="Robin",
        region=HOSTILE,
        position=Position(x=1, y=2, z=3),
        balance=500,
        near=1,
        workers=0,
        fenced=0,
        last_error="circuit_lost",
        queues=(queue,),
        gateway=gateway,
    )
    return msgspec.structs.replace(plain, **changes)


def told(body: object, at: float = 101.5) -> Observation:
    """An observation of robin's."""
    return Observation(seq=1, avatar="robin", generation=1, at=at, body=body)


def person(number: int, distance: float) -> EventSeen:
    """Somebody comes near."""
    view = AvatarView(
        avatar_id=f"5eed0000-0000-4000-8000-{number:012d}",
        name=f"P{number}",
        position=Position(x=0, y=0),
        distance_m=distance,
    )
    return EventSeen(event=seen.AvatarSeen(avatar=view))


def scene() -> Scene:
    """A scene that began at second 100."""
    return Scene(["robin"], roles={}, began=100.0)


def test_lines_carry_the_time_since_the_view_began() -> None:
    """An observation becomes a line with its time; one without words becomes none."""
    view = scene()
    stamped = view.note(told(HoldChanged(held=True)), "robin")
    assert stamped is not None
    assert plain_line(stamped, several=False).startswith("    1.5  state    HELD")
    assert "robin: HELD" in plain_line(stamped, several=True)
    assert view.note(told(person(1, 2.0)), "robin") is None


def test_what_was_missed_is_said() -> None:
    """A view that lags says how much it does not show. Spec: BND-3."""
    stamped = scene().note(Lagged(7), "robin")
    assert stamped is not None
    assert "7 observations" in stamped.line.text


def test_a_line_of_the_views_own_has_a_time_too() -> None:
    """Answers to typed lines stand among the others."""
    view = scene()
    assert view.add(Tone.STATE, "hello", at=103.0).at == 3.0
    assert view.add(Tone.STATE, "again", at=None).at == 3.0


def test_who_is_near_is_kept_nearest_first_and_forgotten_with_the_connection() -> None:
    """People come, move, go; an ended connection knows nobody."""
    view = scene()
    for number, distance in ((1, 9.0), (2, 3.0), (1, 1.0)):
        view.note(told(person(number, distance)), "robin")
    assert view.near("robin") == ["  1 m P1", "  3 m P2"]
    view.note(told(EventSeen(event=seen.AvatarLeft(avatar_id="5eed0000-0000-4000-8000-000000000001"))), "robin")
    assert view.near("robin") == ["  3 m P2"]
    view.note(told(GenerationClosed(cause=DisconnectCause.KICKED, logged_out=True)), "robin")
    assert view.near("robin") == []
    assert view.near("nobody") == []


def test_a_crowd_and_a_long_day_stay_bounded() -> None:
    """Neither people nor lines pile up. Spec: BND-3."""
    view = scene()
    for number in range(NEAR_MAX + 50):
        view.note(told(person(number, 1.0)), "robin")
    for _ in range(LINES_KEPT + 50):
        view.note(told(HoldChanged(held=False)), "robin")
    assert len(view.near("robin")) == NEAR_MAX
    assert len(view.lines) == LINES_KEPT


def test_gauges_show_every_queue_and_the_budgets_in_use() -> None:
    """Unused budgets are left out."""
    assert scene().gauges(status()) == [("inbox.controls", 1, 64), ("ims/60s global", 3, 10)]


def test_a_status_is_one_harmless_line() -> None:
    """State, place, money, and what is out of the ordinary. Spec: OPS-7."""
    line = summary(status())
    assert line == (
        "robin: running, online · connection 2 · \\x1b[2J\\rPlaza (1, 2, 3) · 1 near · L$500 · HELD · dry run · "
        "last error circuit_lost"
    )
    plain = status(position=None, balance=None, last_error="", region="")
    plain = msgspec.structs.replace(plain, gateway=msgspec.structs.replace(plain.gateway, held=False, dry_run=False))
    assert summary(plain) == "robin: running, online · connection 2 · nowhere · 1 near"
