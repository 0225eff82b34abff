"""The log of logins and logouts."""

from __future__ import annotations

from gridagent.events import DisconnectCause
from gridagent.grid.simulated import World
from gridagent.grid.simulated.sessions import SESSIONS_KEPT, SessionLog
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId

ADA = AvatarId("00000000-0000-4000-8000-000000000001")


def test_a_session_records_how_it_began_and_ended(world: World, ada: Witness) -> None:
    """Login, logout and their totals are there to be checked.

    Spec: SUP-9
    """
    ada.pass_time(5.0)
    ada.leave()
    (session,) = world.sessions.recent()
    assert (session.began_at, session.ended_at, session.ended_by, session.logouts) == (10.0, 15.0, "logout", 1)
    totals = world.sessions.totals(ada.avatar_id)
    assert (totals.logins, totals.logouts, totals.refused, totals.ended_by_grid) == (1, 1, 0, 0)
    assert world.sessions.not_logged_out_once() == ()


def test_a_missing_or_doubled_logout_is_found(world: World, ada: Witness, ben: Witness) -> None:
    """A client that never logs out, and one that does it twice, break the promise; a live one doesn't.

    Spec: SUP-9
    """
    world.kick(ada.avatar_id, world.now)
    assert world.sessions.not_logged_out_once() == (ada.session,)
    ada.leave()
    assert world.sessions.not_logged_out_once() == ()
    ada.leave()
    assert world.sessions.not_logged_out_once() == (ada.session,)
    assert ben.session.live
    assert world.sessions.totals(ada.avatar_id).ended_by_grid == 1


def test_a_late_logout_of_an_old_session_leaves_the_new_one_alone(world: World, ada: Witness) -> None:
    """A logout belongs to its own login.

    Spec: SUP-5, SUP-9
    """
    world.drop(ada.session, world.now)
    world.drop(ada.session, world.now)
    assert ada.ended_by is DisconnectCause.CIRCUIT_LOST
    again = Witness(world, ada.avatar_id)
    ada.leave()
    assert again.session.live
    world.logout(ada.avatar_id, world.now)
    world.logout(ada.avatar_id, world.now)
    assert [session.logouts for session in world.sessions.recent()] == [1, 1]


def test_the_log_keeps_the_newest_and_the_totals_keep_all() -> None:
    """A long run fills a bounded log.

    Spec: BND-1
    """
    log = SessionLog()
    for number in range(SESSIONS_KEPT + 10):
        log.close(log.open(ADA, float(number)), float(number), "logout")
    assert len(log.recent()) == SESSIONS_KEPT
    assert log.recent()[0].number == 11
    assert log.totals(ADA).logins == SESSIONS_KEPT + 10
