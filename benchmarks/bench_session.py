"""A session's two prices: one event on its way to three subscribers, and one avatar that only stands there.

The way is the real one: sink, inbox, coordinator, core, a mind that wants nothing, broadcast, three readers
that keep up. Its ratio is to a single bounded channel with the same batches, so it says how many hops of
one the whole way costs. Budget: at least 150,000 events a second of one core.

Idle avatars are simulated ones with their whole session, 20 a region, in one process. Budget: at most
100 KiB each, and neither memory nor processor time an avatar grows from 10 avatars to 1,000 (an arrival in
an emptier region is cheaper, as there are fewer to be shown: so it is compared with one full region).
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import trio
import trio.testing

from gridagent.actions import Position
from gridagent.events import ChatHeard, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.grid.simulated import Account, Place, World, open_simulated_grid
from gridagent.mind import QuietMind
from gridagent.observations import AgentState
from gridagent.policy import Policy
from gridagent.runtime.channels import Overflow, open_channel
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import SessionSettings

BATCH = 64
EVENTS = 625 * BATCH
ROUNDS = 5
SUBSCRIBERS = 3
A_REGION = 20
IDLE_S = 60.0
SIZES = (10, 20, 100, 1000)
PERSON = "00000000-0000-4000-8000-00000000000b"


def events() -> list[ChatHeard]:
    source = Speaker(kind=SpeakerKind.AVATAR, id=PERSON, name="Ben")
    return [ChatHeard(utterance_id=f"u{n}", source=source, text="hello there, how are you?") for n in range(BATCH)]


async def whole_way() -> float:
    """Return the processor seconds that `EVENTS` took from the grid to three readers."""
    puppet, batch, seen = Puppet(), events(), [0] * SUBSCRIBERS
    settings = SessionSettings(key="robin", observables_max=8192)
    spec = AvatarSpec(settings=settings, policy=Policy(), mind=QuietMind(), backend=puppet)

    async def read(number: int, reader) -> None:
        with reader as subscription:
            while seen[number] < EVENTS:
                seen[number] += len(await subscription.receive_batch())

    async with open_service([spec], ports=simulated_ports(0)) as service:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        async with trio.open_nursery() as nursery:
            for number in range(SUBSCRIBERS):
                nursery.start_soon(read, number, handle.observe(f"reader-{number}"))
            await trio.testing.wait_all_tasks_blocked()
            began = time.process_time()
            for _ in range(EVENTS // BATCH):
                await puppet.now.push(*batch)
        return time.process_time() - began


async def one_hop() -> float:
    """Return the processor seconds that as many events took through one channel."""
    batch, seen = events(), 0
    sender, receiver = open_channel(1024, overflow=Overflow.WAIT, name="hop")

    async def read() -> None:
        nonlocal seen
        while seen < EVENTS:
            seen += len(await receiver.receive_batch())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        began = time.process_time()
        for _ in range(EVENTS // BATCH):
            await sender.send_many(batch)
    return time.process_time() - began


def per_second(run) -> float:
    """Return how many events a second of processor time the best round did."""
    return EVENTS / min(trio.run(run) for _ in range(ROUNDS))


def a_world(avatars: int) -> tuple[World, list[str]]:
    """Build regions with `A_REGION` accounts each."""
    ports = simulated_ports(0)
    world, accounts = World(random.Random(0), ports.ids.uuid), []
    for number in range(-(-avatars // A_REGION)):
        world.add_region(f"Region {number}", x_m=256 * number, y_m=0)
    for number in range(avatars):
        home = Place(region=f"Region {number // A_REGION}", position=Position(x=10.0 * (number % A_REGION) + 5, y=99.0))
        accounts.append(world.add_avatar(Account(name=f"Avatar {number}", home=home)))
    return world, accounts


def resident_kib() -> float:
    """Return what of this process is in memory, where the system says it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS"))


class Idle(NamedTuple):
    """One avatar's share."""

    traced_kib: float
    resident_kib: float
    arrival_ms: float
    """Processor time from nothing to standing in the world."""
    minute_ms: float
    """Processor time of a simulated minute in which nothing happens."""


async def idle(avatars: int) -> Idle:
    """Let avatars log in and stand there."""
    gc.collect()
    resident, began = resident_kib(), time.process_time()
    before = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
    world, accounts = a_world(avatars)
    async with open_simulated_grid(world, ports=simulated_ports(1)) as grid:
        specs = [
            AvatarSpec(
                settings=SessionSettings(key=f"a{number}", start_after_s=number * 0.01),
                policy=POLICY,
                mind=QuietMind(),
                backend=grid.backend_factory(account),
            )
            for number, account in enumerate(accounts)
        ]
        async with open_service(specs, ports=simulated_ports(2)) as service:
            for key in service.avatars:
                await service.avatar(key).wait_agent(AgentState.RUNNING)
            await trio.sleep(30.0)
            arrived = time.process_time()
            gc.collect()
            resident = resident_kib() - resident
            after = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
            idles = time.process_time()
            await trio.sleep(IDLE_S)
            took = time.process_time() - idles
    return Idle(
        traced_kib=(after - before) / 1024 / avatars,
        resident_kib=resident / avatars,
        arrival_ms=(arrived - began) * 1000 / avatars,
        minute_ms=took * 1000 / avatars,
    )


POLICY = Policy()
"""One for all, as the composition root does for avatars without a policy of their own."""


def stand(avatars: int, *, traced: bool) -> Idle:
    """Run idle avatars, with every allocation traced or at full speed."""
    if traced:
        tracemalloc.start()
    try:
        return trio.run(idle, avatars, clock=trio.testing.MockClock(autojump_threshold=0))
    finally:
        tracemalloc.stop()


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    cost = {size: [stand(size, traced=False) for _ in range(3)] for size in reversed(SIZES)}
    arrival = {size: min(each.arrival_ms for each in cost[size]) for size in SIZES}
    for size in SIZES:
        yield {
            "name": f"session: arrival of an avatar among {size}",
            "value": arrival[size],
            "unit": "ms",
            "ratio": arrival[size] / arrival[A_REGION],
            "of": f"the same among {A_REGION}, one full region",
            "note": "what grows is the collector's full passes; without it the figure is flat" if size > 100 else "",
        }
    most = SIZES[-1]
    yield {
        "name": f"session: resident memory of an idle avatar among {most}",
        "value": cost[most][0].resident_kib,
        "unit": "KiB",
        "goal": 100,
        "note": "before anything else ran: the allocator keeps what it got",
    }
    yield {
        "name": f"session: simulated minute of an idle avatar among {most}",
        "value": min(each.minute_ms for each in cost[most]),
        "unit": "ms",
        "note": "nothing polls, so standing there costs nothing",
    }
    memory = {size: stand(size, traced=True).traced_kib for size in SIZES}
    for size in SIZES:
        yield {
            "name": f"session: memory of an idle avatar among {size}",
            "value": memory[size],
            "unit": "KiB",
            "ratio": memory[size] / memory[SIZES[0]],
            "of": f"the same among {SIZES[0]}",
            "goal": 100,
        }
    hop, way = per_second(one_hop), per_second(whole_way)
    yield {
        "name": "session: event to three subscribers",
        "value": way,
        "unit": "events/s",
        "ratio": way / hop,
        "of": "one bounded channel with the same batches",
        "goal": 150_000,
    }
    yield {"name": "session: one bounded channel", "value": hop, "unit": "events/s"}


if __name__ == "__main__":
    for figure in figures():
        print(figure)
