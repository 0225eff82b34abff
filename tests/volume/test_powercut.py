"""The power goes off at any write of a payment: nothing is paid twice, forgotten or counted short.

Real SQLite on the simulated disk. The judge keeps its own books (what the grid was told to pay, what was
acknowledged) and shares no arithmetic with what it judges. Control runs on a disk that loses what was promised must
fail, or the test could not. CUTS=100000 asks for more cuts (`make powercuts`).
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from gridagent.actions import Confirmed, EvidenceKind, PayAvatar
from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.config.policy import Budget, BudgetScope, Meter
from gridagent.ids import AvatarId, AvatarKey, CorrelationId, EffectKey, Generation
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.budgets import BudgetBook, BudgetSnapshot
from gridagent.policy.canonical import canonicalise, effect_key
from gridagent.policy.decisions import Instant
from gridagent.policy.ledger import EffectState
from gridagent.storage.audit_chain import ChainReport, check_segment
from gridagent.storage.base import LedgerRefused, StorageFailed
from gridagent.storage.budgets import BudgetTracker
from gridagent.storage.database import Holder, open_database
from gridagent.storage.records import (
    AuditAppended,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GenerationUsed,
)
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.transactions import Ledger

pytestmark = [pytest.mark.volume, pytest.mark.timeout(3_600)]

CUTS = int(os.environ.get("CUTS", "2000"))
ROBIN = AvatarKey("robin")
PAYER = Principal(avatar_id=AvatarId("11111111-2222-4333-8444-555555555555"))
PAYEE = AvatarId("99999999-2222-4333-8444-555555555555")
MONTH_S = 31 * 86_400
BUDGETS = {Meter.LINDEN: (Budget(limit=1_000_000, window_s=MONTH_S, per=BudgetScope.GLOBAL),)}
SETTINGS = StorageSettings(audit_segment_rows=16, wal_pages=16)
START = 1_800_000_000.0


class Broken(Exception):
    """A promise was broken."""


def request(cause: int) -> ActionRequest:
    """The payment that one cause leads to."""
    return ActionRequest(
        action=PayAvatar(to=PAYEE, amount=1 + cause % 7),
        principal=PAYER,
        origin=Origin.DIRECT_IM,
        generation=Generation(1),
        correlation=CorrelationId(f"cause-{cause}"),
        cause=f"cause-{cause}",
    )


class Judge:
    """What the grid did and what was acknowledged, in books of its own."""

    def __init__(self) -> None:
        self.paid: Counter[EffectKey] = Counter()
        self.amounts: dict[EffectKey, int] = {}
        self.reserved: set[EffectKey] = set()
        self.confirmed: set[EffectKey] = set()
        self.charged = 0
        self.generation = 0
        self.rows = 0
        self.causes = 0
        self.done: set[int] = set()

    def examine(self, ledger: Ledger, recovered_generation: int, known: dict[EffectKey, EffectState]) -> None:
        """Hold what was found after a restart against the books."""
        twice = [key for key, times in self.paid.items() if times > 1]
        forgotten = [key for key in self.reserved if key not in known]
        unpaid = [key for key in self.paid if known.get(key) not in {EffectState.IN_DOUBT, EffectState.CONFIRMED}]
        unsettled = [key for key in self.confirmed if known.get(key) is not EffectState.CONFIRMED]
        for what, found in (("paid twice", twice), ("forgotten", forgotten), ("paid", unpaid), ("undone", unsettled)):
            if found:
                raise Broken(f"{what}: {len(found)}")
        if recovered_generation < self.generation:
            raise Broken("a generation would be used again")
        report = ChainReport()
        after: int | None = 0
        while after is not None:
            after = check_segment(ledger.database.connection, ledger.database.ledger, after, report)
        if report.problem or report.rows < self.rows:
            raise Broken(f"audit: {report.problem or 'rows lost'}")

    def examine_budget(self, book: BudgetBook) -> None:
        """What the budget remembers covers everything that was paid or acknowledged."""
        (gauge,) = book.gauges()
        if gauge.used < max(self.charged, sum(self.amounts[key] for key in self.paid)):
            raise Broken("a budget was counted short")


class Life:
    """One run of the avatar on the disk, from start to power cut."""

    def __init__(self, disk: SimulatedDisk, judge: Judge, *, synchronous: str, wall: float, hasty: bool) -> None:
        self.judge = judge
        self.hasty = hasty
        """Pay before it is durable that one is about to: what a careless runtime does."""
        self.wall = wall
        self.seq = 0
        database = open_database(
            "/state/gridagent.db",
            files=disk,
            holder=Holder(pid=1, since="now"),
            new_ledger="ledger",
            wal_pages=16,
            synchronous=synchronous,
        )
        self.close = database.abandon
        try:
            self.ledger = Ledger(database, SETTINGS)
            recovered = self.ledger.open_avatar(ROBIN, wall)
            self.run = recovered.run
            states = database.connection.execute("SELECT effect, state FROM effect").fetchall()
            known = {EffectKey(str(key)): EffectState(state) for key, state in states}
            judge.examine(self.ledger, recovered.generation, known)
            stored = recovered.budgets or BudgetSnapshot(clock_us=0, wall_high_us=0)
            self.book = BudgetBook.restore(BUDGETS, stored, pool_of=lambda _: 0)
            judge.examine_budget(self.book)
            self.tracker = BudgetTracker(ROBIN, recovered.budgets)
            self.write(GenerationUsed(avatar=ROBIN, number=Generation(recovered.generation + 1)))
            judge.generation = recovered.generation + 1
        except BaseException:
            database.abandon()
            raise

    def write(self, *records):
        """One transaction; it is acknowledged when this returns."""
        return self.ledger.write([records])[0]

    def audit(self, code: str) -> AuditAppended:
        """The next audit row."""
        self.seq += 1
        record = AuditRecord(seq=self.seq, at=self.wall, kind=AuditKind.DECISION, code=code)
        return AuditAppended(avatar=ROBIN, run=self.run, record=record)

    def pay(self, cause: int) -> None:
        """Try to pay for one cause: reserve and charge, send, settle."""
        judge, asked = self.judge, request(cause)
        canonical = canonicalise(asked.action)
        key, amount = effect_key(asked, canonical), asked.action.amount
        self.wall += 1.0
        charged = self.book.charge(
            ((Meter.LINDEN, amount),), Instant(self.wall, self.wall), key=PAYER.key, stranger=False, peer=None
        )
        assert isinstance(charged, tuple)
        reservation = EffectReserved(
            effect=key,
            avatar=ROBIN,
            run=self.run,
            action="pay_avatar",
            capability=asked.action.spec.capability,
            effect_class=asked.action.spec.effect,
            canonical=canonical.raw,
            request=asked,
            role=Role.OWNER,
            rule="r",
            charge=((Meter.LINDEN, amount),),
            at=self.wall,
        )
        fresh, *_ = self.write(reservation, self.audit("authorized"), self.tracker.changes(self.book.snapshot()))
        judge.rows += 1
        judge.charged += amount
        judge.reserved.add(key)
        if not fresh:
            judge.done.add(cause)  # it is known: in doubt, refused or confirmed; whichever, never again
            return
        if self.hasty:
            judge.paid[key] += 1
            judge.amounts[key] = amount
        (sent,) = self.write(EffectSent(effect=key, run=self.run, at=self.wall))
        if sent:
            if not self.hasty:
                judge.paid[key] += 1
                judge.amounts[key] = amount
            proof = Confirmed(evidence=EvidenceKind.BALANCE)
            self.write(EffectSettled(effect=key, outcome=proof, at=self.wall, run=self.run), self.audit("confirmed"))
            judge.rows += 1
            judge.confirmed.add(key)
        judge.done.add(cause)


def live(disk: SimulatedDisk, judge: Judge, *, payments: int, synchronous: str = "FULL", hasty: bool = False) -> bool:
    """Live until the power goes off or everything is paid; then come back to a switched-on disk.

    Every cause that was not finished is tried again, as a goal that survives a restart would.

    Returns:
        Whether the power went off.
    """
    life = None
    try:
        life = Life(disk, judge, synchronous=synchronous, wall=START + 100.0 * disk.counts.cuts, hasty=hasty)
        unfinished = [cause for cause in range(judge.causes) if cause not in judge.done]
        for cause in unfinished:
            life.pay(cause)
        for _ in range(payments):
            judge.causes += 1
            life.pay(judge.causes - 1)
    except StorageFailed:
        if not disk.dead:
            raise
    finally:
        if life is not None:
            life.close()
    cut = disk.dead
    disk.reboot()
    return cut


@pytest.mark.parametrize("powersafe", [True, False], ids=["powersafe", "bare"])
def test_the_power_may_go_off_at_every_write_of_a_payment(*, powersafe: bool) -> None:
    """Each operation on the disk, from the first start on, is cut once. Spec: EFX-2, POL-6, SUP-5. Fault: 38."""
    at, went_off = 0, True
    torn = lost = 0
    while went_off:
        at += 1
        disk = SimulatedDisk(Random(f"exhaustive/{at}"), name="exhaustive", powersafe=powersafe)
        judge = Judge()
        disk.cut_after(at)
        went_off = live(disk, judge, payments=2)
        for _ in range(2):
            assert not live(disk, judge, payments=2)
        assert sum(judge.paid.values()) >= 4
        torn += disk.counts.sectors_torn
        lost += disk.counts.sectors_lost
        disk.close()
    assert at > 100
    assert torn > 20
    assert lost > 20


def random_cuts(
    seed: str, cuts: int, *, synchronous: str = "FULL", lies: bool = False, hasty: bool = False
) -> tuple[Counter[str], SimulatedDisk]:
    """Cut the power at random moments of one long life; count what broke, and begin anew after it."""
    rng = Random(seed)
    broken: Counter[str] = Counter()
    disk, judge = SimulatedDisk(Random(f"{seed}/disk"), name="random", lies=lies), Judge()
    total = disk.counts
    while total.cuts < cuts:
        disk.cut_after(rng.randrange(1, 250))
        try:
            live(disk, judge, payments=12, synchronous=synchronous, hasty=hasty)
        except (Broken, LedgerRefused, StorageFailed) as error:
            broken[type(error).__name__] += 1
            disk.reboot()
            disk.close()
            disk, judge = SimulatedDisk(rng, name="random", lies=lies), Judge()
            disk.counts = total
        if judge.causes > 400:  # a fresh ledger now and then: the judge reads all of it at every start
            assert not live(disk, judge, payments=0, synchronous=synchronous)
            disk.close()
            disk, judge = SimulatedDisk(rng, name="random", lies=lies), Judge()
            disk.counts = total
    disk.close()
    return broken, disk


def test_random_power_cuts_break_no_promise() -> None:
    """Cut after cut over a long life: nothing is doubled, forgotten or short. Spec: EFX-2, EFX-3. Fault: 38."""
    broken, disk = random_cuts("cuts", CUTS)
    assert broken == {}
    assert disk.counts.cuts >= CUTS
    # The faults really happened: a test that tore nothing has shown nothing.
    assert disk.counts.sectors_torn > CUTS / 10
    assert disk.counts.sectors_lost > CUTS / 10


def test_the_same_seed_gives_the_same_cuts() -> None:
    """What survived and what was torn follows from the seed. Spec: SIM-2."""
    (_, first), (_, second), (_, other) = (random_cuts(seed, 60) for seed in ("same", "same", "other"))
    assert first.counts == second.counts
    assert first.counts != other.counts


def test_without_waiting_for_the_disk_the_test_fails() -> None:
    """Control: with ``synchronous=OFF`` promises are broken, and the judge sees it."""
    broken, _ = random_cuts("off", 150, synchronous="OFF")
    assert sum(broken.values()) > 5


def test_on_a_disk_that_lies_the_test_fails() -> None:
    """Control: with an fsync that only says so promises are broken, and the judge sees it."""
    broken, disk = random_cuts("lies", 150, lies=True)
    assert sum(broken.values()) > 5
    assert disk.counts.syncs_lied > 0


def test_paying_before_it_is_written_down_fails_the_test() -> None:
    """Control: whoever sends first and writes second is caught."""
    broken, _ = random_cuts("hasty", 150, hasty=True)
    assert broken["Broken"] > 0
