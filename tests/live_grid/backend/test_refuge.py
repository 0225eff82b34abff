"""Where an avatar goes whose region went down, and when it goes back."""

from __future__ import annotations

import pytest

from gridagent.actions import Position
from gridagent.events import DisconnectCause
from live_grid.backend.refuge import RETURNS_MAX, Refuge, place_text

RESTART, REQUESTED = DisconnectCause.REGION_RESTART, DisconnectCause.REQUESTED
SPOT = Position(x=12.7, y=30.0, z=22.5)
INN, BARN = "Inn/1/2/3", "Barn/4/5/6"


def fled(*fallbacks: str) -> Refuge:
    """Somebody whose region just went down."""
    refuge = Refuge("home", fallbacks, return_after_s=100.0)
    refuge.arrived("Plaza", 0.0)
    refuge.ended(RESTART, "Plaza", SPOT)
    return refuge


def test_it_flees_to_a_fallback_and_goes_back_later() -> None:
    """To the place where it was, once; then everything is as usual. Spec: SUP-6; Fault: 6."""
    refuge = fled(INN, BARN)
    assert refuge.start() == INN
    refuge.arrived("Inn", 50.0)
    assert [refuge.due("Inn", now) for now in (149.0, 150.0)] == [False, True]
    refuge.go_back()
    refuge.ended(REQUESTED, "Inn", SPOT)
    assert (refuge.start(), refuge.due("Inn", 500.0)) == ("Plaza/12/30/22", False)
    refuge.arrived("Plaza", 160.0)
    assert (refuge.start(), refuge.due("Plaza", 9_999.0)) == ("home", False)


@pytest.mark.parametrize("cause", [RESTART, DisconnectCause.MAINTENANCE, DisconnectCause.LOGIN_FAILED])
def test_a_fallback_that_lets_nobody_in_is_followed_by_the_next(cause: DisconnectCause) -> None:
    """After the last one the login begins where it is configured to, and the grid decides. Spec: SUP-6."""
    refuge = fled(INN, BARN)
    refuge.ended(cause, "", None)
    assert refuge.start() == BARN
    for _ in range(3):
        refuge.ended(cause, "", None)
        assert refuge.start() == "home"


def test_a_refuge_that_restarts_itself_is_left_for_the_next() -> None:
    """The place to go back to stays the first one. Spec: SUP-6."""
    refuge = fled(INN, BARN)
    refuge.arrived("Inn", 10.0)
    refuge.ended(RESTART, "Inn", SPOT)
    assert refuge.start() == BARN
    refuge.arrived("Barn", 20.0)
    assert refuge.due("Barn", 120.0)
    refuge.go_back()
    assert refuge.start() == "Plaza/12/30/22"


def test_another_end_in_the_refuge_leads_back_into_it() -> None:
    """A lost circuit is no reason to go elsewhere; a login that never got in for another reason neither."""
    refuge = fled(INN, BARN)
    refuge.arrived("Inn", 10.0)
    refuge.ended(DisconnectCause.CIRCUIT_LOST, "Inn", SPOT)
    assert (refuge.start(), refuge.due("Inn", 999.0)) == (INN, False)
    refuge.ended(DisconnectCause.ALREADY_LOGGED_IN, "", None)
    assert refuge.start() == INN


def test_a_region_that_stays_down_is_asked_for_a_few_times() -> None:
    """Each time from the refuge; in the end the avatar lives where it is. Spec: SUP-6."""
    refuge = fled(INN)
    now = 0.0
    for _ in range(RETURNS_MAX):
        refuge.arrived("Inn", now)
        now += 100.0
        assert refuge.due("Inn", now)
        refuge.go_back()
        refuge.ended(REQUESTED, "Inn", SPOT)
        assert refuge.start() == "Plaza/12/30/22"
        refuge.ended(DisconnectCause.MAINTENANCE, "", None)
        assert refuge.start() == INN
    refuge.arrived("Inn", now)
    assert (refuge.due("Inn", now + 1_000.0), refuge.start()) == (False, "home")


def test_who_moved_on_is_not_taken_back() -> None:
    """Somebody sent it elsewhere in the meantime; that counts. Spec: SUP-6."""
    refuge = fled(INN)
    refuge.arrived("Inn", 0.0)
    assert not refuge.due("Market", 100.0)
    assert not refuge.due("Inn", 200.0)
    assert refuge.start() == "home"


@pytest.mark.parametrize(
    ("cause", "region"),
    [(DisconnectCause.CIRCUIT_LOST, "Plaza"), (DisconnectCause.KICKED, "Plaza"), (RESTART, "")],
    ids=["lost", "kicked", "never in"],
)
def test_nobody_flees_from_anything_else(cause: DisconnectCause, region: str) -> None:
    """The usual start, whatever the fallbacks are. Spec: SUP-6."""
    refuge = Refuge("last", (INN,))
    refuge.ended(cause, region, SPOT if region else None)
    assert refuge.start() == "last"


def test_a_place_that_cannot_be_written_is_the_usual_one() -> None:
    """A region's name comes from the grid."""
    assert place_text("Plaza", Position(x=-3.0, y=9.9, z=21.0)) == "Plaza/0/9/21"
    assert place_text("Salt & Pepper", SPOT) == ""
    refuge = Refuge("home", return_after_s=1.0)
    refuge.ended(RESTART, "Salt & Pepper", SPOT)
    assert refuge.start() == "home"
    refuge.arrived("Elsewhere", 0.0)
    assert refuge.due("Elsewhere", 1.0)
    refuge.go_back()
    assert refuge.start() == "home"
