"""Steps that end a connection: our own death, and three that want an administrator's hand."""

from __future__ import annotations

from collections.abc import Collection

import trio

from gridagent.events import DisconnectCause
from live_grid.check.course import Check
from live_grid.check.report import Evidence, StepFailed, StepSkipped

__all__ = ("kicked", "kill_and_return", "region_restart", "server_restart")


async def kill_and_return(check: Check) -> Evidence:
    """Vanish without a word and log in again: the grid takes us for logged in, and has to be outwaited."""
    await check.here.vanish()
    check.me = None
    return await check.arrive()


async def _with_a_hand(check: Check, step: str, what: str, causes: Collection[DisconnectCause]) -> Evidence:
    """Have an administrator end our connection, and come back.

    Raises:
        StepSkipped: nobody is there to do it.
        StepFailed: it did not end, ended as something else, or we did not get back.
    """
    if not await check.plan.hands(step, what):
        raise StepSkipped(f"needs an administrator's hand: {what}")
    cause: DisconnectCause | None = None
    began = trio.current_time()
    with trio.move_on_after(check.plan.hand_s):
        cause = await check.here.wait_for_end()
    if cause is None:
        raise StepFailed(f"our connection did not end within {check.plan.hand_s:g} s")
    noticed = round(trio.current_time() - began, 3)
    await check.leave()
    if cause not in causes:
        raise StepFailed("it ended as something else", cause=cause.value)
    return {"cause": cause.value, "noticed_s": noticed, **await check.arrive_patiently()}


async def kicked(check: Check) -> Evidence:
    """Be thrown out."""
    what = f"throw {_name(check)} out of the grid"
    return await _with_a_hand(check, "kicked", what, {DisconnectCause.KICKED})


async def region_restart(check: Check) -> Evidence:
    """Be in a region that restarts; a grid may throw us out of it first."""
    assert check.ready is not None  # noqa: S101 - we have been in the world
    what = f"restart the region that {_name(check)} is in"
    causes = {DisconnectCause.REGION_RESTART, DisconnectCause.KICKED, DisconnectCause.CIRCUIT_LOST}
    return await _with_a_hand(check, "region_restart", what, causes)


async def server_restart(check: Check) -> Evidence:
    """Be in a grid whose server is killed and started again."""
    causes = {DisconnectCause.CIRCUIT_LOST, DisconnectCause.REGION_RESTART}
    return await _with_a_hand(check, "server_restart", "kill the grid's server and start it again", causes)


def _name(check: Check) -> str:
    account = check.plan.account
    return f"{account.first_name} {account.last_name}"
