"""The check itself: performs the steps in order, each within its time, and reports each as it ends.

Owns who is in the world now, what the steps have left for each other, and the rule by which a step is skipped: whom it
needs is not there. A step that fails ends nothing: if it cost us our connection, the next one begins with another
login. Called by `live_grid.check.command` and by tests (Spec: LIV-1, LIV-7, LIV-15).

Invariant: whoever was logged in is logged out in the end, whatever happened.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, final

import attrs
import trio

from gridagent.events import BackendReady, RegionEntered
from gridagent.ids import AvatarId, ItemId, ObjectId
from gridagent.runtime.ports import Ports
from live_grid.backend import LiveAccount
from live_grid.check.plan import Plan
from live_grid.check.report import Evidence, StepFailed, StepReport, StepSkipped
from live_grid.check.visit import Visit

__all__ = ("Check", "Step")

_HAND_TURNS: Final = 2
"""An administrator acts, then the grid comes back: each has its time."""
FAREWELL_S: Final = 20.0
REENTRY_EVERY_S: Final = 5.0
"""Between two tries to log in to a grid that is starting."""
ENTERED_S: Final = 10.0


@attrs.frozen(kw_only=True)
class Step:
    """One row of the table of steps."""

    name: str
    run: Callable[[Check], Awaitable[Evidence]]
    says: str
    """What it shows, in a line."""
    in_world: bool = True
    """It needs us in the world."""
    of_two: bool = False
    """It needs the companion in the world as well."""
    by_hand: bool = False
    """It waits for an administrator as well."""
    always: bool = False
    """It is performed whatever was chosen: the others stand on it."""


@final
class Check:
    """One check of one grid.

    Args:
        plan: what to do.
        ports: clock and ids.
        report: takes each report as it comes.
    """

    __slots__ = ("_nursery", "_report", "companion", "item_id", "me", "object_id", "plan", "ports", "ready", "size_m")

    def __init__(self, plan: Plan, *, ports: Ports, report: Callable[[StepReport], None]) -> None:
        self.plan = plan
        self.ports = ports
        self._report = report
        self._nursery: trio.Nursery | None = None
        self.me: Visit | None = None
        self.companion: Visit | None = None
        self.ready: BackendReady | None = None
        """Of our newest arrival."""
        self.size_m = 256
        """Of the region we arrived in."""
        self.object_id: ObjectId | None = None
        """What we built."""
        self.item_id: ItemId | None = None
        """What we gave away, as its receiver holds it."""

    async def run(self, steps: Sequence[Step]) -> bool:
        """Perform the steps.

        Returns:
            Whether none failed.

        Cancellation: everybody is logged out.
        """
        good = True
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                for step in steps:
                    if step.always or not self.plan.only or step.name in self.plan.only:
                        report = await self._perform(step)
                        good = good and report.ok is not False
                        self._report(report)
                await self._everybody_leaves()
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + FAREWELL_S):
                await self._everybody_leaves()
        return good

    async def _perform(self, step: Step) -> StepReport:
        began = trio.current_time()
        ok: bool | None = False
        evidence: Evidence = {"why": f"not done within {self.plan.step_s:g} s"}
        try:
            with trio.move_on_after(self.plan.step_s + (_HAND_TURNS * self.plan.hand_s if step.by_hand else 0.0)):
                await self._gather(step)
                evidence = await step.run(self)
                ok = True
        except StepSkipped as skipped:
            ok, evidence = None, {"skipped": str(skipped)}
        except StepFailed as failed:
            evidence = failed.evidence
        return StepReport(step=step.name, ok=ok, seconds=round(trio.current_time() - began, 3), evidence=evidence)

    async def _gather(self, step: Step) -> None:
        """See to it that those whom a step needs are in the world.

        Raises:
            StepSkipped: somebody is not.
            StepFailed: we were lost on the way and do not get in again.
        """
        if step.in_world and self.ready is None:
            raise StepSkipped("we never got into the world")
        if step.of_two and self.plan.companion is None:
            raise StepSkipped("needs a companion")
        if step.of_two and (self.companion is None or self.companion.ended is not None):
            raise StepSkipped("the companion is not in the world")
        if step.in_world and (self.me is None or self.me.ended is not None):
            await self.leave()
            await self.arrive()

    async def _everybody_leaves(self) -> None:
        for visit in (self.me, self.companion):
            if visit is not None:
                await visit.leave()
        self.me = self.companion = None

    # --- for the steps ----------------------------------------------------------------------------
    @property
    def here(self) -> Visit:
        """Us in the world."""
        assert self.me is not None  # noqa: S101 - a step that needs us is skipped otherwise
        return self.me

    @property
    def friend(self) -> Visit:
        """The companion in the world."""
        assert self.companion is not None  # noqa: S101 - a step that needs them is skipped otherwise
        return self.companion

    @property
    def me_id(self) -> AvatarId:
        """Who we are."""
        assert self.ready is not None  # noqa: S101 - known since the first login
        return self.ready.avatar_id

    def visit(self, account: LiveAccount) -> Visit:
        """Make a visit that has not begun."""
        return Visit(account, self.plan.settings, ports=self.ports)

    async def enter(self, account: LiveAccount) -> tuple[Visit, BackendReady]:
        """Log somebody in.

        Raises:
            StepFailed: they did not get into the world; nothing of them is left.
        """
        assert self._nursery is not None  # noqa: S101 - steps run inside it
        visit = self.visit(account)
        entered = False
        try:
            ready = await visit.enter(self._nursery)
            entered = True
        finally:
            if not entered:
                await visit.leave()
        return visit, ready

    async def arrive(self, start: str = "") -> Evidence:
        """Log ourselves in at a place, or where the plan begins; whoever we were before has left.

        Raises:
            StepFailed: we did not get into the world.
        """
        began = trio.current_time()
        self.me, self.ready = await self.enter(attrs.evolve(self.plan.account, start=start or self.plan.start))
        took = trio.current_time() - began
        entered = await self.me.told(RegionEntered, since=0, within_s=ENTERED_S)
        self.size_m = entered.size_m
        place = self.ready.position
        return {
            "region": self.ready.region,
            "at": f"{place.x:.0f}/{place.y:.0f}/{place.z:.0f}",
            "login_s": round(took, 3),
        }

    async def arrive_patiently(self) -> Evidence:
        """Log ourselves in, as often as it takes a grid to come back.

        Raises:
            StepFailed: it did not, within the time of an administrator.
        """
        until = trio.current_time() + self.plan.hand_s
        tries = 0
        while True:
            tries += 1
            try:
                return {**await self.arrive(), "tries": tries}
            except StepFailed:
                if trio.current_time() >= until:
                    raise
            await trio.sleep(REENTRY_EVERY_S)

    async def leave(self) -> None:
        """Log ourselves out, if we are in."""
        if self.me is not None:
            await self.me.leave()
            self.me = None
