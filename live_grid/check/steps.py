"""The table of steps, in the order in which they are performed.

Owns the order: each step finds what those before it left, and what may end the connection comes last. What a step does
stands in the module of its family (Spec: LIV-1, LIV-5, LIV-6, LIV-7, LIV-8).
"""

from __future__ import annotations

from typing import Final

from live_grid.check import arriving, ending, living, meeting, travelling
from live_grid.check.course import Step

__all__ = ("STEPS",)

STEPS: Final[tuple[Step, ...]] = (
    Step(name="grid_info", run=arriving.grid_info, in_world=False, says="the grid says where to log in"),
    Step(name="wrong_password", run=arriving.wrong_password, in_world=False, says="a wrong password is refused"),
    Step(name="login", run=arriving.log_in, in_world=False, always=True, says="we log in and are in the world"),
    Step(name="look", run=living.look, says="region, parcel, people and things become known"),
    Step(name="speak", run=living.speak, says="our own words come back"),
    Step(name="turn", run=living.turn, says="we face where we want"),
    Step(name="walk", run=living.walk, says="we walk some metres and are there"),
    Step(name="build", run=living.build, says="a box of ours appears where we put it"),
    Step(name="sit", run=living.sit, says="we sit on it and stand up again"),
    Step(name="touch", run=living.touch, says="we touch it"),
    Step(name="delete", run=living.delete, says="we delete it and it is gone"),
    Step(name="sit_on_ground", run=living.sit_on_ground, says="we sit on the ground and stand up again"),
    Step(name="companion", run=meeting.bring, says="the companion logs in, and each sees the other"),
    Step(name="hear", run=meeting.hear, of_two=True, says="we hear the companion, and they us"),
    Step(name="im", run=meeting.im, of_two=True, says="instant messages go both ways"),
    Step(name="friendship", run=meeting.befriend, of_two=True, says="a friendship is offered, accepted and ended"),
    Step(name="offer_inventory", run=meeting.offer, of_two=True, says="we give a landmark, and it is accepted"),
    Step(name="accept_inventory", run=meeting.accept, of_two=True, says="we are given it back, and accept"),
    *(
        step
        for number in (1, 2, 3)
        for step in (
            Step(name=f"teleport_there_{number}", run=travelling.there, says="we teleport to the other region"),
            Step(name=f"teleport_back_{number}", run=travelling.back, says="and back, and can speak there"),
        )
    ),
    Step(
        name="invitation", run=travelling.follow_invitation, of_two=True, says="the companion invites us, and we come"
    ),
    Step(name="impossible_teleport", run=travelling.nowhere, says="a teleport to no place fails and leaves us here"),
    Step(name="logout", run=arriving.log_out, says="we log out, and the grid lets us in again at once"),
    Step(name="login_at_place", run=arriving.log_in_at_place, says="we log in at a place of our choice"),
    Step(name="cross_on_foot", run=travelling.cross, says="we walk over the border and can speak there"),
    Step(name="login_after_kill", run=ending.kill_and_return, says="we vanish without a word, and get in again"),
    Step(name="kicked", run=ending.kicked, by_hand=True, says="we are thrown out, know why, and get in again"),
    Step(name="region_restart", run=ending.region_restart, by_hand=True, says="the region restarts, and we come back"),
    Step(
        name="server_restart",
        run=ending.server_restart,
        by_hand=True,
        says="the server is killed and started; we come back",
    ),
    Step(name="last_logout", run=arriving.leave, says="we log out"),
)
