"""What the world wrote down of a life under each fault of the wire, and whether the judge of it would see a breach."""

from __future__ import annotations

from typing import Final

import pytest
import trio

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar, Position, Say, TeleportTo
from gridagent.controls import ForceReconnect, RequestAction
from gridagent.events import ChatHeard, DisconnectCause
from gridagent.grid.simulated.sessions import Session
from gridagent.observations import ActionSettled, LinkState
from live_grid.handover.session import GridSession
from live_grid.requests.arriving import log_out
from live_grid.simulator import OPENSIM, SECOND_LIFE, WireFaults
from live_grid.simulator.faults import WireFaultKind
from tests.live_grid.whole.life import ADA, CLEO, OLIVE, Life, a_life
from tests.live_grid.whole.oracle import judge_logins, judge_money, judge_words

RECOVERY_S: Final = 120.0
PRICE: Final = 7
SPOT: Final = Position(x=60.0, y=60.0, z=22.0)
FAULTS: Final[dict[WireFaultKind, WireFaults]] = {
    WireFaultKind.DATAGRAM_LOST: WireFaults(datagram_lost=0.4),
    WireFaultKind.DATAGRAM_DOUBLED: WireFaults(datagram_doubled=0.8),
    WireFaultKind.DATAGRAM_REORDERED: WireFaults(datagram_reordered=0.8),
    WireFaultKind.DATAGRAM_DELAYED: WireFaults(delay_s=(0.3, 1.5)),
    WireFaultKind.HTTP_502: WireFaults(http_502=0.6),
    WireFaultKind.HTTP_404: WireFaults(http_404=0.6),
    WireFaultKind.HTTP_HTML: WireFaults(http_html=0.6),
    WireFaultKind.HTTP_LATE: WireFaults(http_late=1.0),
    WireFaultKind.HTTP_MISSING: WireFaults(http_missing=0.6),
    WireFaultKind.LOGIN_REFUSED: WireFaults(login_refused=1.0, login_causes=(DisconnectCause.ALREADY_LOGGED_IN,)),
    WireFaultKind.LOGOUT_REPLY_MISSING: WireFaults(logout_reply_missing=1.0),
    WireFaultKind.TELEPORT_FINISH_MISSING: WireFaults(teleport_finish_missing=1.0),
    WireFaultKind.EVENT_REPEATED: WireFaults(event_repeated=1.0),
    WireFaultKind.SIGHT_LOST: WireFaults(sight_lost=1.0),
    WireFaultKind.QUEUE_MUTE: WireFaults(queue_mute=1.0),
    WireFaultKind.DEAD_STREAM: WireFaults(dead_stream=1.0),
}
"""Every knob, turned alone."""


def test_no_fault_is_left_out() -> None:
    """A new knob without a row fails here. Spec: SIM-4."""
    assert set(FAULTS) == set(WireFaultKind)


async def be_busy(life: Life) -> tuple[list[str], int]:
    """Speak, pay, travel and reconnect under the fault; return what was to be said and the most that may be paid."""
    asked: list[str] = []
    most = 0
    for number in range(4):
        words = f"Round {number}."
        wanted = (
            Say(text=words),
            PayAvatar(to=CLEO, amount=PRICE),
            TeleportTo(region=("Annex", "Plaza")[number % 2], position=SPOT),
        )
        for action in wanted:
            with trio.move_on_after(5.0):
                await life.handle.control(RequestAction(action=action))
            if isinstance(action, Say):
                asked.append(words)
            most += PRICE * isinstance(action, PayAvatar)
            await trio.sleep(4.0)
        if number == 1:
            await life.handle.control(ForceReconnect())
    return asked, most


async def answered(life: Life, olive_heard) -> bool:
    """Let the owner go to the avatar and greet it until it answers."""
    while True:
        body = life.world.avatar(ADA).body
        if body is not None:
            life.world.perform(OLIVE, TeleportTo(region=body.region.name, position=body.position), life.grid.now())
            await trio.sleep(1.0)
            before = len(olive_heard())
            life.world.perform(OLIVE, Say(text="Hello Ada!"), life.grid.now())
            await trio.sleep(9.0)
            if len(olive_heard()) > before:
                return True
        await trio.sleep(1.0)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", FAULTS, ids=str)
async def test_after_each_fault_it_is_back_and_answers_its_owner(tmp_path, autojump_clock, kind) -> None:
    """In world and answering within two minutes; no login left twice, nothing said or paid twice.

    Spec: SIM-4, SUP-5, SUP-9, BND-5, EFX-1.
    """
    profile = SECOND_LIFE if list(FAULTS).index(kind) % 2 else OPENSIM
    async with a_life(tmp_path, profile=profile) as life:
        await life.online()
        olive, cleo = life.witness(OLIVE), life.witness(CLEO)
        purses = [life.world.balance(each) for each in (ADA, CLEO, OLIVE)]
        life.server.set_faults(FAULTS[kind])
        asked, most = await be_busy(life)
        if kind is WireFaultKind.DEAD_STREAM:  # only to who fell silent it goes on being sent
            life.server.set_faults(WireFaults(datagram_lost=1.0, dead_stream=1.0))
            await trio.sleep(150.0)
        assert life.server.statistics().faults[kind.value] > 0
        life.server.set_faults(WireFaults())
        with trio.fail_after(RECOVERY_S):
            assert await answered(life, lambda: [each for each in olive.saw(ChatHeard) if each.source.id == ADA])
        assert life.handle.status().link is LinkState.ONLINE
        world = life.world
        for witness in (olive, cleo):
            heard = [each.text for each in witness.saw(ChatHeard) if each.source.id == ADA]
            assert judge_words(heard, asked) == []
    after = [world.balance(each) for each in (ADA, CLEO, OLIVE)]
    assert judge_money(purses, after, most=most) == []
    assert after[1] - purses[1] >= PRICE * sum(
        isinstance(each.outcome, Confirmed) and each.outcome.evidence is EvidenceKind.BALANCE
        for each in life.bodies(ActionSettled)
    )
    assert judge_logins([each for each in world.sessions.recent() if each.avatar_id == ADA]) == []


def a_login(number: int, began: float, ended: float | None, by: str = "logout", logouts: int = 1) -> Session:
    """What the world writes down of a login."""
    return Session(number=number, avatar_id=ADA, began_at=began, ended_at=ended, ended_by=by, logouts=logouts)


@pytest.mark.parametrize(
    ("sessions", "finding"),
    [
        ([a_login(1, 0.0, 5.0, logouts=2)], "left 2 times"),
        ([a_login(1, 0.0, 5.0), a_login(2, 4.0, 9.0)], "began while login 1 was live"),
        ([a_login(1, 0.0, None, by="", logouts=0)], "never left"),
        ([a_login(1, 0.0, 5.0, logouts=0)], "none was heard"),
    ],
)
def test_the_oracle_sees_a_login_out_of_order(sessions, finding) -> None:
    """It finds what it is there to find, and nothing in a life in order. Spec: SUP-9, BND-5."""
    assert any(finding in each for each in judge_logins(sessions))
    assert judge_logins([a_login(1, 0.0, 5.0), a_login(2, 5.0, 9.0, by="kicked", logouts=0)]) == []


def test_the_oracle_sees_what_was_done_twice() -> None:
    """Words heard twice and money paid twice are found. Spec: EFX-1."""
    assert judge_words(["a", "a", "free"], ["a"]) == ["'a' was heard 2 times, asked for 1 times"]
    assert judge_words(["a", "free", "free"], ["a", "b"]) == []
    assert judge_money([100, 0], [86, 14], most=7) == ["L$14 were paid where L$7 were asked for"]
    assert judge_money([100, 0], [93, 14], most=7) == ["there was L$100, and there is L$107"]
    assert judge_money([100, 0], [93, 7], most=7) == []


async def test_the_oracle_sees_a_client_that_says_farewell_twice(tmp_path, autojump_clock, monkeypatch) -> None:
    """A client made to log out in two messages is found out over the wire. Spec: SUP-9."""

    def twice(session: GridSession, now: float) -> None:
        proper(session, now)
        session.travel.latest.send(log_out(session.me))

    proper = GridSession.log_out
    monkeypatch.setattr(GridSession, "log_out", twice)
    async with a_life(tmp_path) as life:
        await life.online()
        world = life.world
    [finding] = judge_logins([each for each in world.sessions.recent() if each.avatar_id == ADA])
    assert "was left 2 times" in finding
