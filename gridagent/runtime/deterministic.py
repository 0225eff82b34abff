"""Simulated ports and the seeded run: the same seed takes the same scheduler steps, in any process.

Owns the recipe: trio's batch sorted by task number and shuffled by a seeded `random.Random`, a clock
that jumps to the next deadline, the garbage collector off, one random stream a component. It rests
on three private names of trio (``_r``, ``_ALLOW_DETERMINISTIC_SCHEDULING``, ``Task._counter``), so
trio is pinned and a canary test fails when one of them goes. Used by tests and the simulator, never live.

What still breaks it: threads, sockets, signals, the wall clock, iteration over sets of objects,
``wait_all_tasks_blocked(cushion > 0)``, guest mode (Spec: SIM-2).
"""

from __future__ import annotations

import gc
import struct
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from random import Random
from typing import Final, Generic, TypeAlias, TypeVar, TypeVarTuple

import msgspec
import trio
from trio._core import _run as trio_run  # the scheduler's seed and switch have no public name

from gridagent.errors import LimitExceeded, ResourceBroken
from gridagent.runtime.ports import STREAMS_MAX, TOKEN_BYTES_MAX, TOKEN_BYTES_MIN, Ports

__all__ = (
    "DeterministicRun",
    "ScheduleTrace",
    "Seed",
    "SimulatedBlocking",
    "SimulatedClock",
    "SimulatedIds",
    "SimulatedNetwork",
    "SimulatedRandomness",
    "StepTrace",
    "run_deterministic",
    "schedule_seed",
    "simulated_ports",
)

START_WALL: Final = 1_767_225_600.0
"""2026-01-01 00:00 UTC: a date people recognise in a trace."""
BLOCKING_DELAY_S: Final = (0.000_1, 0.005)
"""What a blocking call costs in virtual time: an index lookup to a slow commit."""
TRACE_STEPS_MAX: Final = 65_536
"""Steps kept in words when a trace is asked for: the last ones."""
_PACK_TIME: Final = struct.Struct("<d").pack

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Seed: TypeAlias = int | str
"""What names a run. Strings do not depend on ``hash()``."""


class SimulatedClock:
    """The trio clock, and a wall clock that keeps its pace.

    Args:
        start_wall: Unix seconds at the trio clock's zero. Set ``offset_s`` to step it in a test.
    """

    __slots__ = ("offset_s", "start_wall")

    def __init__(self, start_wall: float = START_WALL) -> None:
        self.start_wall = start_wall
        self.offset_s = 0.0

    def monotonic(self) -> float:
        """Return virtual seconds."""
        return trio.current_time()

    def wall(self) -> float:
        """Return virtual Unix seconds."""
        return self.start_wall + trio.current_time() + self.offset_s


class SimulatedRandomness:
    """Streams that follow from the seed and their name alone."""

    __slots__ = ("_seed", "_streams")

    def __init__(self, seed: Seed) -> None:
        self._seed = seed
        self._streams: dict[str, Random] = {}

    def stream(self, name: str) -> Random:
        """Return the stream of this name.

        Raises:
            LimitExceeded: there are `STREAMS_MAX` names already.
        """
        found = self._streams.get(name)
        if found is None:
            if len(self._streams) >= STREAMS_MAX:
                raise LimitExceeded("random streams", allowed=STREAMS_MAX)
            found = self._streams[name] = Random(f"{self._seed}/{name}")  # noqa: S311 - seeded on purpose
        return found


class SimulatedIds:
    """Ids that follow from the seed: unique, well-formed and guessable."""

    __slots__ = ("_rng",)

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def uuid(self) -> str:
        """Return the next version 4 UUID."""
        bits = self._rng.getrandbits(128)
        bits = (bits & ~(0xF << 76)) | (0x4 << 76)  # version 4
        bits = (bits & ~(0x3 << 62)) | (0x2 << 62)  # the variant RFC 9562 describes
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def token(self, size: int = TOKEN_BYTES_MIN) -> str:
        """Return the next ``size`` bytes as lower-case hex."""
        if not TOKEN_BYTES_MIN <= size <= TOKEN_BYTES_MAX:
            raise ValueError(f"a token has {TOKEN_BYTES_MIN} to {TOKEN_BYTES_MAX} bytes, not {size}")
        return f"{self._rng.getrandbits(8 * size):0{2 * size}x}"


class SimulatedBlocking:
    """Blocking work inline, in the middle of a seeded virtual delay.

    A thread would let the clock jump while it runs. The delay before the call lets other tasks run
    first, the one after it lets a cancellation find the work done: both happen live.
    """

    __slots__ = ("_rng", "_turn")

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._turn = trio.Lock()

    async def run(self, fn: Callable[[*Ts], T], *args: *Ts, name: str) -> T:  # noqa: ARG002 - never too slow here
        """Run ``fn(*args)``; see `gridagent.runtime.ports.Blocking.run`."""
        async with self._turn:
            await self._pass_time()
            try:
                return fn(*args)
            finally:
                await self._pass_time()

    async def _pass_time(self) -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(self._rng.uniform(*BLOCKING_DELAY_S))


class SimulatedNetwork:
    """No network: what a simulation talks to lives in it."""

    __slots__ = ()

    async def serve_tcp(
        self,
        handler: Callable[[trio.abc.Stream], Awaitable[object]],  # noqa: ARG002 - the port's signature
        *,
        host: str,
        port: int,
        connections_max: int,  # noqa: ARG002 - the port's signature
        task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,  # noqa: ARG002 - the port's signature
    ) -> None:
        """Refuse.

        Raises:
            ResourceBroken: always.
        """
        await trio.lowlevel.checkpoint()
        raise ResourceBroken("network", f"a simulation cannot listen on {host}:{port}")

    async def connect_tcp(self, host: str, port: int, *, timeout_s: float) -> trio.abc.Stream:  # noqa: ARG002 - the port's signature
        """Refuse.

        Raises:
            ResourceBroken: always.
        """
        await trio.lowlevel.checkpoint()
        raise ResourceBroken("network", f"a simulation cannot reach {host}:{port}")


def simulated_ports(seed: Seed, *, start_wall: float = START_WALL) -> Ports:
    """Return ports that follow from ``seed`` alone.

    Args:
        seed: names the run.
        start_wall: Unix seconds at the trio clock's zero.
    """
    randomness = SimulatedRandomness(seed)
    return Ports(
        clock=SimulatedClock(start_wall),
        randomness=randomness,
        ids=SimulatedIds(randomness.stream("runtime.ids")),
        blocking=SimulatedBlocking(randomness.stream("runtime.blocking")),
        network=SimulatedNetwork(),
    )


class ScheduleTrace(trio.abc.Instrument):
    """A hash over the order the scheduler chose: equal digests mean that tasks ran in the same order.

    Tasks count in the order they were spawned, so equal names stay apart and times do not matter.
    A property test collects the digests of its examples and asserts that there was more than one:
    a test that always explores the same schedule explores nothing.
    """

    def __init__(self) -> None:
        self.steps = 0
        self._hash = blake2b(digest_size=16)
        self._numbers: dict[trio.lowlevel.Task, int] = {}
        self._spawned = 0

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        """Give the task its number."""
        self._spawned += 1
        self._numbers[task] = self._spawned

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Add one step."""
        self.steps += 1
        self._hash.update(self._numbers.get(task, 0).to_bytes(8, "little"))

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        """Forget the task: memory follows the living ones."""
        self._numbers.pop(task, None)

    @property
    def digest(self) -> str:
        """The hash of the order so far."""
        return self._hash.hexdigest()


class StepTrace(ScheduleTrace):
    """A hash over every scheduler step, its virtual time and its task: the strictest equality of two runs.

    Args:
        keep: how many of the last steps to keep in words.
    """

    def __init__(self, *, keep: int = 0) -> None:
        super().__init__()
        self._last: deque[str] = deque(maxlen=keep)

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Add one step."""
        super().before_task_step(task)
        now = trio.current_time()
        self._hash.update(_PACK_TIME(now) + task.name.encode() + b"\n")
        if self._last.maxlen:
            self._last.append(f"{now:.6f} {task.name}")

    @property
    def last(self) -> tuple[str, ...]:
        """The last steps as ``time task``, oldest first."""
        return tuple(self._last)


@contextmanager
def schedule_seed(seed: Seed) -> Iterator[None]:
    """Make every `trio.run` in the block schedule its tasks as ``seed`` says.

    Hypothesis reseeds trio alike for every example, so without this all examples share one
    schedule: draw a seed and wrap each example's `trio.run`. Trio's state is restored afterwards.
    """
    sorts_before = trio_run._ALLOW_DETERMINISTIC_SCHEDULING  # noqa: SLF001 - no public name, canary-tested
    rng = trio_run._r  # noqa: SLF001 - no public name, canary-tested
    state_before = rng.getstate()
    trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc] # noqa: SLF001 - declared Final there
    rng.seed(f"{seed}/trio")
    try:
        yield
    finally:
        rng.setstate(state_before)
        trio_run._ALLOW_DETERMINISTIC_SCHEDULING = sorts_before  # type: ignore[misc] # noqa: SLF001 - as above


class DeterministicRun(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What a seeded run returned and the proof of how it got there."""

    result: T
    steps: int
    step_hash: str
    """Equal for equal seeds, in any process (Spec: SIM-2)."""
    trace: tuple[str, ...]
    """The last steps in words, if asked for."""


def run_deterministic(
    async_fn: Callable[[*Ts], Awaitable[T]], *args: *Ts, seed: Seed, trace: bool = False
) -> DeterministicRun[T]:
    """Run ``async_fn(*args)`` in a trio loop whose every step follows from ``seed``.

    Args:
        async_fn: reaches the outside only through `simulated_ports`.
        args: handed to ``async_fn``.
        seed: names the run; print it when something fails.
        trace: keep the last steps in words.

    Raises:
        BaseException: whatever ``async_fn`` raises. Trio and the collector are restored all the same.

    Bounds: garbage cycles pile up until the end of the run.
    """
    import trio.testing  # noqa: PLC0415 - it loads pytest where that is installed; `gridagent run` needs the streams alone

    steps = StepTrace(keep=TRACE_STEPS_MAX if trace else 0)
    collects_before = gc.isenabled()
    gc.disable()
    try:
        with schedule_seed(seed):
            result = trio.run(
                async_fn,
                *args,
                clock=trio.testing.MockClock(autojump_threshold=0),
                instruments=[steps],
            )
    finally:
        if collects_before:
            gc.enable()
    return DeterministicRun(result=result, steps=steps.steps, step_hash=steps.digest, trace=steps.last)
