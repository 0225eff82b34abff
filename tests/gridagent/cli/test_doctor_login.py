"""One login and one logout, by a backend that a test moves."""

from __future__ import annotations

import pytest
import trio

from gridagent.cli.doctor_checks import InWorld
from gridagent.cli.doctor_login import try_login
from gridagent.errors import InternalError
from gridagent.events import DisconnectCause
from gridagent.grid.base import EventSink, Redeem
from gridagent.grid.puppet import Puppet, PuppetBackend, ready_event
from gridagent.ids import Generation


async def test_who_gets_there_is_logged_out_again(autojump_clock) -> None:
    """Once, and the backend runs no more. Spec: LIV-1."""
    puppet = Puppet()
    assert await try_login(puppet, timeout_s=60, logout_s=5) == InWorld("Stage")
    assert len(puppet.backends) == 1
    assert (puppet.now.logouts, puppet.now.running) == (1, False)


@pytest.mark.parametrize("cause", [DisconnectCause.BAD_CREDENTIALS, DisconnectCause.MFA_REQUIRED])
async def test_who_does_not_is_told_why(cause, autojump_clock) -> None:
    """By a cause of ours, and never by the grid's own text. Spec: SUP-10."""
    puppet = Puppet()
    puppet.refuse_login, puppet.detail = cause, "canary"
    assert await try_login(puppet, timeout_s=60, logout_s=5) is cause
    assert puppet.now.logouts == 1


async def test_a_connection_that_ends_first_is_a_cause_too(autojump_clock) -> None:
    """In order, and before the avatar was in the world. Spec: LIV-1."""
    puppet = Puppet()
    puppet.become_ready = False
    async with trio.open_nursery() as tasks:

        async def end() -> None:
            await trio.sleep(1)
            puppet.now.end()

        tasks.start_soon(end)
        assert await try_login(puppet, timeout_s=60, logout_s=5) is DisconnectCause.GRID_CLOSED


async def test_time_is_up_for_the_login_and_for_the_logout(autojump_clock) -> None:
    """A grid that says nothing holds nobody up. Spec: BND-7."""
    puppet = Puppet()
    puppet.become_ready = False
    puppet.logout_takes_s = 1_000
    begun = trio.current_time()
    assert await try_login(puppet, timeout_s=60, logout_s=5) is None
    assert trio.current_time() - begun == pytest.approx(65)
    assert puppet.now.logouts == 1


async def test_a_cancelled_try_logs_out_all_the_same(autojump_clock) -> None:
    """Ctrl-C leaves no avatar in the world. Spec: LIV-1."""
    puppet = Puppet()
    puppet.become_ready = False
    puppet.logout_takes_s = 1
    with trio.move_on_after(10) as scope:
        await try_login(puppet, timeout_s=60, logout_s=5)
    assert scope.cancelled_caught
    assert puppet.now.logouts == 1


async def test_the_first_that_is_known_counts_and_nothing_can_be_done(autojump_clock) -> None:
    """Who was in the world was there; an action is a bug. Spec: POL-1."""

    class Hasty(Puppet):
        def __call__(self, *, generation: Generation, redeem: Redeem) -> PuppetBackend:
            with pytest.raises(InternalError, match="only a login is tried"):
                redeem(None)  # type: ignore[arg-type]
            backend = super().__call__(generation=generation, redeem=redeem)

            async def run(sink: EventSink) -> None:
                await sink.send_many((ready_event(), ready_event()))

            backend.run = run  # type: ignore[method-assign]
            return backend

    assert await try_login(Hasty(), timeout_s=60, logout_s=5) == InWorld("Stage")
