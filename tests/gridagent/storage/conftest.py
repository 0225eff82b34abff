"""What the tests of storage share: a disk with a seed, an open ledger, and short ways to make records."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace

import pytest

from gridagent.actions import Confirmed, EffectClass, EvidenceKind, InDoubt, PayAvatar, Refused, Say
from gridagent.authority import ActionRequest, Origin, Principal, Role
from gridagent.config.policy import BudgetScope, Meter
from gridagent.ids import ApprovalId, AvatarId, AvatarKey, CorrelationId, EffectKey, Generation, GrantId
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.budgets import BudgetRow
from gridagent.policy.canonical import canonicalise
from gridagent.storage.database import Database, Holder, open_database
from gridagent.storage.records import (
    ApprovalOpened,
    AuditAppended,
    BudgetSaved,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GrantGiven,
)
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.transactions import Ledger

PATH = "/state/gridagent.db"
ROBIN = AvatarKey("robin")
PAYER = Principal(avatar_id=AvatarId("11111111-2222-4333-8444-555555555555"))
PAYEE = AvatarId("99999999-2222-4333-8444-555555555555")
CONFIRMED = Confirmed(evidence=EvidenceKind.BALANCE)


def request(cause: str = "utterance-1", amount: int = 5, *, say: str = "", origin: Origin = Origin.DIRECT_IM):
    """A request to pay, or to say something."""
    return ActionRequest(
        action=Say(text=say) if say else PayAvatar(to=PAYEE, amount=amount),
        principal=PAYER,
        origin=origin,
        generation=Generation(1),
        correlation=CorrelationId(cause),
        cause=cause,
    )


def reserved(key: str = "a", *, avatar: str = "robin", run: int = 1, at: float = 100.0, once: bool = True):
    """A reservation."""
    asked = request(key)
    return EffectReserved(
        effect=EffectKey(key),
        avatar=AvatarKey(avatar),
        run=run,
        action="pay_avatar",
        capability=asked.action.spec.capability,
        effect_class=EffectClass.ONCE if once else EffectClass.EPHEMERAL,
        canonical=canonicalise(asked.action).raw,
        request=asked,
        role=Role.OWNER,
        rule="cells",
        charge=((Meter.LINDEN, 5),),
        at=at,
    )


def sent(key: str = "a", *, run: int = 1, at: float = 101.0):
    """A note that something is about to be sent."""
    return EffectSent(effect=EffectKey(key), run=run, at=at)


def settled(key: str = "a", outcome=CONFIRMED, *, run: int | None = 1, at: float = 102.0):
    """A note of how something ended."""
    return EffectSettled(effect=EffectKey(key), outcome=outcome, at=at, run=run)


def opened(key: str = "approval-1", *, at: float = 100.0, expires_at: float = 400.0, avatar: str = "robin"):
    """A request that waits."""
    asked = request(key)
    return ApprovalOpened(
        approval_id=ApprovalId(key),
        avatar=AvatarKey(avatar),
        effect=EffectKey(f"effect-of-{key}"),
        nonce_hash=b"\x01" * 32,
        canonical=canonicalise(asked.action).raw,
        request=asked,
        rule="approval",
        summary="pay_avatar amount=5",
        policy_version="v1",
        at=at,
        expires_at=expires_at,
    )


def given(key: str = "grant-1", *, at: float = 100.0, avatar: str = "robin", every_s: float = 10.0, uses_max: int = 2):
    """A schedule grant, valid for a thousand seconds."""
    return GrantGiven(
        grant_id=GrantId(key),
        avatar=AvatarKey(avatar),
        principal=Principal(client="schedule"),
        canonical=canonicalise(Say(text="hello")).raw,
        summary="say text='hello'",
        policy_version="v1",
        given_by="client:operator",
        at=at,
        valid_from=at,
        valid_until=at + 1_000.0,
        every_s=every_s,
        uses_max=uses_max,
    )


def spent(clock_us: int = 1_000, used: int = 5, *, key: str = "", window_s: int = 3_600, avatar: str = "robin"):
    """What a budget held."""
    per = BudgetScope.PRINCIPAL if key else BudgetScope.GLOBAL
    row = BudgetRow(meter=Meter.LINDEN, per=per, window_s=window_s, key=key, buckets=((clock_us, used),))
    return BudgetSaved(avatar=AvatarKey(avatar), clock_us=clock_us, wall_high_us=clock_us, rows=(row,))


def audited(seq: int, *, at: float | None = None, avatar: str = "robin", run: int = 1, kind=AuditKind.DECISION, **more):
    """An audit row."""
    record = AuditRecord(seq=seq, at=100.0 + seq if at is None else at, kind=kind, code="authorized", **more)
    return AuditAppended(avatar=AvatarKey(avatar), run=run, record=record)


@pytest.fixture
def make() -> SimpleNamespace:
    """Short ways to make records."""
    return SimpleNamespace(
        request=request,
        reserved=reserved,
        sent=sent,
        settled=settled,
        opened=opened,
        given=given,
        spent=spent,
        audited=audited,
        confirmed=CONFIRMED,
        refused=Refused(reason="no_funds"),
        in_doubt=InDoubt(reason="no_evidence"),
        robin=ROBIN,
        path=PATH,
    )


@pytest.fixture
def disk() -> Iterator[SimulatedDisk]:
    """An empty simulated disk."""
    made = SimulatedDisk(Random("disk"), name="test-disk")
    yield made
    made.close()


@pytest.fixture
def database(disk: SimulatedDisk) -> Iterator[Database]:
    """A new database on it."""
    made = open_database(PATH, files=disk, holder=Holder(pid=7, since="noon"), new_ledger="ledger-1")
    yield made
    made.abandon()


@pytest.fixture
def ledger(database: Database) -> Ledger:
    """The database, ready to be written to; segments of 16 rows."""
    return Ledger(database, StorageSettings(audit_segment_rows=16, effects_keep_rows=1_024))
