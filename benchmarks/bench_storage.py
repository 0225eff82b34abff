"""Storage: what a durable effect costs, what sharing a commit saves, and how an audit trail of millions is read.

Commits are durable: each waits for the disk, so wall time is the disk's and is shown beside a bare SQLite commit of one
row into the same directory. The one ratio that is held leaves the disk out. Budgets: 0.4 ms of processor time a
payment over the path that keeps nothing; with 10,000,000 audit rows, one avatar's last day under 50 ms and a start
under 1 s.

The first is met by payments that share commits, and not by one that is alone (0.52 ms): there the hand-over to the
thread and back decides. One bare row behind the same port costs 0.23 ms, so the two commits of a lone payment could not
cost less than 0.45 with nothing in them; the same payment without the thread costs 0.34.

AUDIT_ROWS says how long the trail is (100,000 otherwise; 10,000,000 take some minutes and 7 GB).
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import apsw
import trio

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar
from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.config.policy import BudgetScope, Meter
from gridagent.ids import AvatarId, AvatarKey, CorrelationId, EffectKey, Generation
from gridagent.policy.audit import AuditKind, AuditRecord, BudgetMark
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.canonical import canonicalise
from gridagent.policy.changes import EffectReserved, EffectSent, EffectSettled, GatewaySnapshot
from gridagent.runtime.system import system_ports
from gridagent.storage import AuditQuery, AvatarStore, StorageSettings
from gridagent.storage.audit import query
from gridagent.storage.database import Holder, open_database
from gridagent.storage.files import SystemFiles
from gridagent.storage.records import AuditAppended, Kept, Record, Recovered
from gridagent.storage.store import open_store
from gridagent.storage.transactions import Ledger

ROWS = int(os.environ.get("AUDIT_ROWS", "100000"))
AVATARS = 100
DAYS = 100
DAY = 86_400.0
START = 1_800_000_000.0
PAYMENTS = 100
ROUNDS = 5
OF = "a bare SQLite transaction of one row, neither waiting for the disk"
ROBIN = AvatarKey("robin")
PAYER = Principal(avatar_id=AvatarId("11111111-2222-4333-8444-555555555555"))
ACTION = PayAvatar(to=AvatarId("99999999-2222-4333-8444-555555555555"), amount=5)
HOLDER = Holder(pid=1, since="now")


def reserved(number: int) -> EffectReserved:
    """A payment with its charge: four windows, as a shopkeeper has."""
    request = ActionRequest(
        action=ACTION,
        principal=PAYER,
        origin=Origin.DIRECT_IM,
        generation=Generation(1),
        correlation=CorrelationId(f"c-{number}"),
        cause=f"c-{number}",
    )
    rows = tuple(
        BudgetRow(meter=meter, per=per, window_s=86_400, key=key, buckets=((number * 1_000, 5 * number),))
        for meter in (Meter.LINDEN, Meter.CALLS_MONEY)
        for per, key in ((BudgetScope.GLOBAL, ""), (BudgetScope.PRINCIPAL, PAYER.key))
    )
    return EffectReserved(
        effect=EffectKey(f"{number:064x}"),
        action="pay_avatar",
        capability=ACTION.spec.capability,
        effect_class=ACTION.spec.effect,
        canonical=canonicalise(ACTION).raw,
        request=request,
        generation=Generation(1),
        role=Role.OWNER,
        rule="matrix.direct_im.money",
        policy_version="v1",
        charge=((Meter.LINDEN, 5), (Meter.CALLS_MONEY, 1)),
        budgets=BudgetSnapshot(clock_us=number * 1_000, wall_high_us=number * 1_000, rows=rows),
        at=START + number,
    )


def row(seq: int, code: str, at: float) -> AuditRecord:
    """An audit row of usual size."""
    mark = BudgetMark(Meter.LINDEN, BudgetScope.GLOBAL, 86_400, 0, 5, 1_000)
    return AuditRecord(
        seq=seq,
        at=at,
        kind=AuditKind.DECISION,
        code=code,
        rule="matrix.direct_im.money",
        who=PAYER.key,
        role=Role.OWNER,
        origin=Origin.DIRECT_IM,
        generation=Generation(1),
        action="pay_avatar",
        digest="a" * 64,
        budgets=(mark, mark),
        effect=EffectKey(f"{seq:064x}"),
        correlation=CorrelationId(f"c-{seq}"),
        cause=f"c-{seq}",
        policy="v1",
    )


async def pay(keep: AvatarStore, number: int) -> None:
    """All that storage has to do with one payment."""
    change = reserved(number)
    keep.audit(row(2 * number, "authorized", START))
    keep.change(change)
    keep.change(EffectSent(effect=change.effect, at=START))
    assert await keep.sending(change.effect, START) is None
    keep.change(EffectSettled(effect=change.effect, outcome=Confirmed(evidence=EvidenceKind.BALANCE), at=START))
    keep.audit(row(2 * number + 1, "confirmed", START))


class Nothing:
    """A store that keeps nothing: what a payment costs without one."""

    safe_mode = None

    def submit(self, *records, urgent=False) -> None:
        """Drop them."""

    async def commit(self, *records) -> tuple[bool, ...]:
        """Drop them."""
        await trio.lowlevel.checkpoint()
        return (True,) * len(records)

    async def open_avatar(self, avatar: AvatarKey) -> Recovered:  # noqa: ARG002 - the port's signature
        """Know nothing."""
        await trio.lowlevel.checkpoint()
        return Recovered(run=1, snapshot=GatewaySnapshot())


async def payments(keep: AvatarStore, at_once: int, first: int, settle: Callable[[], Awaitable[None]]) -> list[float]:
    """Make rounds of payments, so many at a time; return the processor time of one in each round, in seconds."""
    spent = []
    for number in range(ROUNDS):
        begin = first + number * PAYMENTS
        cpu = time.process_time()
        for start in range(begin, begin + PAYMENTS, at_once):
            async with trio.open_nursery() as nursery:
                for each in range(start, start + at_once):
                    nursery.start_soon(pay, keep, each)
        await settle()
        spent.append((time.process_time() - cpu) / PAYMENTS)
    return spent


def bare(directory: Path) -> tuple[float, float]:
    """What one durable row costs with nothing but SQLite: processor and wall time in seconds."""
    connection = apsw.Connection(str(directory / "bare.db"))
    connection.pragma("locking_mode", "EXCLUSIVE")
    connection.pragma("journal_mode", "WAL")
    connection.pragma("synchronous", "FULL")
    connection.execute("CREATE TABLE t (k TEXT PRIMARY KEY, v BLOB)")
    cpus, walls = [], []
    for batch in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        for number in range(PAYMENTS):
            connection.execute("INSERT INTO t VALUES (?, ?)", (f"{batch:032x}{number:032x}", b"x" * 1_000))
        cpus.append((time.process_time() - cpu) / PAYMENTS)
        walls.append((time.perf_counter() - wall) / PAYMENTS)
    connection.close()
    return min(cpus), statistics.median(walls)


async def floor(directory: Path) -> float:
    """What one durable row costs with nothing but SQLite behind the port that blocking work goes through.

    Returns:
        Processor time in seconds: the hand-over to the thread and back, one row, one commit that waits for the disk.
        No payment can cost less, and one whose end nobody is in a hurry to write down costs it twice.
    """
    blocking = system_ports().blocking
    connection = apsw.Connection(str(directory / "floor.db"))
    for name, value in (("locking_mode", "EXCLUSIVE"), ("journal_mode", "WAL"), ("synchronous", "FULL")):
        connection.pragma(name, value)
    connection.execute("CREATE TABLE t (k TEXT PRIMARY KEY, v BLOB)")
    cpus = []
    for batch in range(ROUNDS):
        cpu = time.process_time()
        for number in range(PAYMENTS):
            bound = (f"{batch:032x}{number:032x}", b"x" * 1_000)
            await blocking.run(connection.execute, "INSERT INTO t VALUES (?, ?)", bound, name="floor")
        cpus.append((time.process_time() - cpu) / PAYMENTS)
    connection.close()
    return min(cpus)


async def commits(path: Path) -> list[dict[str, object]]:
    """The figures of writing: the best of some rounds each, since a busy machine can only make them worse."""
    bare_cpu, bare_wall = bare(path.parent.parent)
    found: list[dict[str, object]] = [
        {"name": "storage.bare_commit", "value": bare_wall * 1e6, "unit": "µs", "note": f"{bare_cpu * 1e6:.0f} µs CPU"}
    ]
    least = await floor(path.parent.parent)
    found.append(
        {"name": "storage.floor_cpu", "value": least * 1e6, "unit": "µs", "note": "one bare commit through the port"}
    )
    nothing = await AvatarStore.open(Nothing(), ROBIN)
    async with open_store(str(path), ports=system_ports(), holder=HOLDER) as store:
        keep = await AvatarStore.open(store, ROBIN)
        for batch, at_once in enumerate((1, 10, 50), 1):
            without = min(await payments(nothing, at_once, batch * 10_000, trio.lowlevel.checkpoint))
            before = store.status().commits
            cpu = min(await payments(keep, at_once, batch * 10_000, store.flush))
            made = store.status().commits - before
            found.append(
                {
                    "name": f"storage.payment_cpu.{at_once}_at_once",
                    "value": (cpu - without) * 1e6,
                    "unit": "µs",
                    "note": f"over {without * 1e6:.0f} µs without; {made / ROUNDS / PAYMENTS:.2f} commits each;"
                    f" {(cpu - without) / least:.1f} times the floor",
                    **({"goal": 400} if at_once == 1 else {}),
                }
            )
    found += grouped(path.parent / "rows" / "gridagent.db")
    return found


def grouped(path: Path) -> Iterator[dict[str, object]]:
    """What one row costs when so many share a commit."""
    database = open_database(str(path), files=SystemFiles(), holder=HOLDER, new_ledger="l")
    ledger, seq, alone = Ledger(database, StorageSettings()), 0, 0.0
    for rows in (1, 10, 50):
        times = []
        for _ in range(60):
            batch = [AuditAppended(avatar=ROBIN, run=1, record=row(seq + n, "x", START)) for n in range(1, rows + 1)]
            seq += rows
            start = time.perf_counter()
            ledger.write([batch])
            times.append((time.perf_counter() - start) / rows)
        each = statistics.median(times)
        alone = alone or each
        yield {
            "name": f"storage.row.{rows}_a_commit",
            "value": each * 1e6,
            "unit": "µs",
            **({} if rows == 1 else {"note": f"{each / alone:.3f} of one row a commit"}),
        }
    database.close()


def transactions(directory: Path) -> dict[str, object]:
    """What all that one payment writes costs the processor, next to SQLite's least; the disk is left out of both."""
    database = open_database(
        str(directory / "gridagent.db"), files=SystemFiles(), holder=HOLDER, new_ledger="l", synchronous="OFF"
    )
    ledger, times, ratios = Ledger(database, StorageSettings()), [], []
    ledger.open_avatar(ROBIN)
    plain = apsw.Connection(str(directory / "plain.db"))
    for name, value in (("locking_mode", "EXCLUSIVE"), ("journal_mode", "WAL"), ("synchronous", "OFF")):
        plain.pragma(name, value)
    plain.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)")
    body = b"x" * 1_000
    for number in range(1, 60 * ROUNDS):
        change = reserved(number)
        proof = Confirmed(evidence=EvidenceKind.BALANCE)
        batch: list[Record] = [
            AuditAppended(avatar=ROBIN, run=1, record=row(2 * number, "authorized", START)),
            *(
                Kept(avatar=ROBIN, run=1, change=each)
                for each in (
                    change,
                    EffectSent(effect=change.effect, at=START),
                    EffectSettled(effect=change.effect, outcome=proof, at=START),
                )
            ),
            AuditAppended(avatar=ROBIN, run=1, record=row(2 * number + 1, "confirmed", START)),
        ]
        start = time.perf_counter()
        plain.execute("INSERT INTO t VALUES (?, ?)", (number, body))
        between = time.perf_counter()
        ledger.write([batch])
        took = time.perf_counter() - between
        times.append(took)
        ratios.append(took / (between - start))
    database.close()
    plain.close()
    return {
        "name": "storage.transaction",
        "value": statistics.median(times) * 1e6,
        "unit": "µs",
        "ratio": statistics.median(ratios),
        "of": OF,
        "note": "reserved, sent, settled, four budget windows and two audit rows",
    }


def timed(work: Callable[[], object]) -> float:
    """The middle one of some runs, in seconds."""
    times = []
    for _ in range(7):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def trail(path: Path) -> Iterator[dict[str, object]]:
    """The figures of a long audit trail."""
    opening = partial(open_database, str(path), files=SystemFiles(), holder=HOLDER, new_ledger="l", synchronous="OFF")
    database = opening(wal_pages=10_000)
    ledger, keys = (
        Ledger(database, StorageSettings(audit_keep_rows=100_000_000)),
        [AvatarKey(f"a-{n}") for n in range(AVATARS)],
    )
    step = DAYS * DAY / ROWS
    start = time.perf_counter()
    for first in range(0, ROWS, 4_096):
        numbers = range(first, min(first + 4_096, ROWS))
        ledger.write(
            [
                [
                    AuditAppended(avatar=keys[n % AVATARS], run=1, record=row(n // AVATARS + 1, "x", START + n * step))
                    for n in numbers
                ]
            ]
        )
    took = time.perf_counter() - start
    database.close()
    yield {
        "name": "storage.audit.write",
        "value": ROWS / took,
        "unit": "rows/s",
        "note": f"{ROWS:,} rows, {path.stat().st_size / ROWS:.0f} bytes a row, no fsync",
    }

    def begin() -> None:
        opened = opening()
        Ledger(opened, StorageSettings())
        opened.close()

    yield {"name": "storage.start", "value": timed(begin) * 1e3, "unit": "ms", "goal": 1_000, "note": f"{ROWS:,} rows"}
    database = opening()
    last = START + (DAYS - 1) * DAY
    for name, wanted in (
        ("last_day", AuditQuery(avatar=keys[7], since=last)),
        ("last_day_everybody", AuditQuery(since=last)),
    ):
        found = len(query(database.connection, wanted))
        spent = timed(partial(query, database.connection, wanted))
        yield {
            "name": f"storage.audit.{name}",
            "value": spent * 1e3,
            "unit": "ms",
            "goal": 50,
            "note": f"{found} rows of {ROWS:,}",
        }
    database.close()


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    with tempfile.TemporaryDirectory() as directory:
        yield from trio.run(commits, Path(directory) / "payments" / "gridagent.db")
        (Path(directory) / "transactions").mkdir()
        yield transactions(Path(directory) / "transactions")
        yield from trail(Path(directory) / "trail" / "gridagent.db")
