"""What the tests of storage share: a disk with a seed, an open ledger, and short ways to make records."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace

import pytest

from gridagent.actions import Confirmed, EffectClass, EvidenceKind, InDoubt, PayAvatar, Refused, Say
from gridagent.authority import ActionRequest, Origin, Principal, Role, TextSource
from gridagent.config.policy import BudgetScope, Meter
from gridagent.conversation.changes import EntriesCompacted, EntryAdded, PersonForgotten
from gridagent.conversation.entries import Entry, Finding, Heard, Said, Summary, Used
from gridagent.conversation.keys import Channel, PersonKey, ThreadKey
from gridagent.ids import ApprovalId, AvatarId, AvatarKey, CorrelationId, EffectKey, Generation, GrantId
from gridagent.memory.facts import Fact, FactKept, Reader, learn
from gridagent.policy.approvals import ApprovalInput
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.policy.budgets import BudgetRow, BudgetSnapshot
from gridagent.policy.canonical import canonicalise
from gridagent.policy.changes import (
    ApprovalMoved,
    ApprovalOpened,
    ApprovalTried,
    BudgetsReplaced,
    EffectReserved,
    EffectSent,
    EffectSettled,
    GenerationOpened,
    GrantEnded,
    GrantGiven,
    HoldChanged,
)
from gridagent.policy.grants import GrantRecord, GrantState, GrantUse
from gridagent.storage import avatars
from gridagent.storage.database import Database, Holder, open_database
from gridagent.storage.records import AuditAppended, Kept, Learnt
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


def kept(change, *, avatar: str = "robin", run: int = 1) -> Kept:
    """A change of an avatar's gateway."""
    return Kept(avatar=AvatarKey(avatar), run=run, change=change)


def window(used: int = 5, *, clock_us: int = 1_000, key: str = "", window_s: int = 3_600) -> BudgetRow:
    """What one window holds."""
    per = BudgetScope.PRINCIPAL if key else BudgetScope.GLOBAL
    return BudgetRow(meter=Meter.LINDEN, per=per, window_s=window_s, key=key, buckets=((clock_us, used),))


def held(*rows: BudgetRow, clock_us: int = 1_000) -> BudgetSnapshot:
    """What budgets hold."""
    return BudgetSnapshot(clock_us=clock_us, wall_high_us=clock_us, rows=rows)


def reserved(
    key: str = "a",
    *,
    at: float = 100.0,
    once: bool = True,
    budgets: BudgetSnapshot | None = None,
    approval: str | None = None,
    grant: GrantUse | None = None,
) -> EffectReserved:
    """An effect was authorised."""
    asked = request(key)
    return EffectReserved(
        effect=EffectKey(key),
        action="pay_avatar",
        capability=asked.action.spec.capability,
        effect_class=EffectClass.ONCE if once else EffectClass.EPHEMERAL,
        canonical=canonicalise(asked.action).raw,
        request=asked,
        generation=Generation(1),
        role=Role.OWNER,
        rule="cells",
        policy_version="v1",
        charge=((Meter.LINDEN, 5),),
        budgets=held(window()) if budgets is None else budgets,
        approval_id=None if approval is None else ApprovalId(approval),
        grant=grant,
        at=at,
    )


def sent(key: str = "a", *, at: float = 101.0) -> EffectSent:
    """It is about to be redeemed."""
    return EffectSent(effect=EffectKey(key), at=at)


def settled(key: str = "a", outcome=CONFIRMED, *, at: float = 102.0) -> EffectSettled:
    """How it ended."""
    return EffectSettled(effect=EffectKey(key), outcome=outcome, at=at)


def opened(key: str = "approval-1", *, at: float = 100.0, expires_at: float = 400.0) -> ApprovalOpened:
    """A request waits."""
    asked = request(key)
    return ApprovalOpened(
        approval_id=ApprovalId(key),
        effect=EffectKey(f"effect-of-{key}"),
        nonce_hash=b"\x01" * 32,
        canonical=canonicalise(asked.action).raw,
        request=asked,
        rule="approval",
        policy_version="v1",
        opened_at=at,
        expires_at=expires_at,
    )


def moved(*given: ApprovalInput, key: str = "approval-1", at: float = 200.0, by: str = "operator") -> ApprovalMoved:
    """An approval went along its table."""
    return ApprovalMoved(approval_id=ApprovalId(key), given=given, by=by, at=at)


def tried(times: int, *, key: str = "approval-1") -> ApprovalTried:
    """Wrong nonces were tried."""
    return ApprovalTried(approval_id=ApprovalId(key), wrong_nonces=times)


def given(key: str = "grant-1", *, at: float = 100.0) -> GrantGiven:
    """A schedule grant."""
    record = GrantRecord(
        grant_id=GrantId(key),
        principal=Principal(client="schedule"),
        action="say",
        allowed=(canonicalise(Say(text="hello")).raw,),
        summary="say text='hello'",
        times=2,
        window_s=60,
        valid_from=at,
        valid_until=at + 1_000.0,
        given_by="client:operator",
        given_at=at,
        policy_version="v1",
    )
    return GrantGiven(grant=record)


def used(times: int, *, key: str = "grant-1", at: float = 150.0) -> GrantUse:
    """How a grant stands with its last use."""
    return GrantUse(grant_id=GrantId(key), used=times, at=at, buckets=((1_000, times),))


def ended(key: str = "grant-1", *, at: float = 300.0, state: GrantState = GrantState.REVOKED) -> GrantEnded:
    """A grant counts no longer."""
    return GrantEnded(grant_id=GrantId(key), state=state, by="operator", at=at)


def audited(seq: int, *, at: float | None = None, avatar: str = "robin", run: int = 1, kind=AuditKind.DECISION, **more):
    """An audit row."""
    record = AuditRecord(seq=seq, at=100.0 + seq if at is None else at, kind=kind, code="authorized", **more)
    return AuditAppended(avatar=AvatarKey(avatar), run=run, record=record)


ANN = AvatarId("0a0a0a0a-0000-4000-8000-000000000001")
BEN = AvatarId("0b0b0b0b-0000-4000-8000-000000000002")


def key(peer: str = ANN, channel: Channel = Channel.IM, *, grid: str = "g", avatar: str = "robin") -> PersonKey:
    """A conversation with a person."""
    return PersonKey(avatar=AvatarKey(avatar), grid=grid, peer=AvatarId(peer), channel=channel)


def reads(key_: PersonKey | ThreadKey) -> Reader:
    """A conversation as it reads."""
    return Reader(scope=key_.scope, private=key_.private)


def heard(text: str, *, at: float = 100.0) -> Heard:
    """Something heard."""
    return Heard(at=at, tainted=True, who="Ann", source=TextSource.STRANGER, text=text)


def looked(*subjects: str, data: str = "{}", after: int = 0, at: float = 101.0) -> Used:
    """Something looked up."""
    finding = Finding(tool="look", arguments=b"{}", data=data.encode(), subjects=subjects, tainted=False)
    return Used(at=at, tainted=False, evidence=(finding,), after=after)


def added(number: int, entry: Entry, key_: PersonKey | ThreadKey | None = None) -> Learnt:
    """One more entry."""
    change = EntryAdded(key=key() if key_ is None else key_, number=number, entry=entry)
    return Learnt(avatar=change.key.avatar, change=change)


def fact(text: str, *, key_: PersonKey | ThreadKey | None = None, avatar: str = "robin", **more) -> Learnt:
    """One more fact."""
    said = {"source": TextSource.OWNER, "told_by": None, "about": None, "tainted": False, "at": 100.0, **more}
    found = learn(text, reader=reads(key() if key_ is None else key_), **said)
    assert isinstance(found, Fact)
    return Learnt(avatar=AvatarKey(avatar), change=FactKept(avatar=AvatarKey(avatar), fact=found))


def forgot(person: str = ANN, *, avatar: str = "robin") -> Learnt:
    """Somebody is forgotten."""
    change = PersonForgotten(avatar=AvatarKey(avatar), person=AvatarId(person))
    return Learnt(avatar=AvatarKey(avatar), change=change)


def learnt() -> tuple[Learnt, ...]:
    """A row of every kind that conversations and facts have."""
    thread = ThreadKey(avatar=ROBIN, principal="desk", thread="t")
    summary = Summary(at=90.0, tainted=True, text="[stranger] Ann: hm", covers=4, since=80.0)
    return (
        added(1, heard("hello")),
        added(2, Said(at=101.0, tainted=False, text="hello Ann", persona="p1")),
        added(3, looked(BEN, after=2)),
        added(4, heard("in public"), key(channel=Channel.PUBLIC)),
        added(5, heard("from the desk"), thread),
        Learnt(avatar=ROBIN, change=EntriesCompacted(key=thread, through=5, summary=summary)),
        fact("Ann likes tea", told_by=ANN),
        fact("the café is shut", key_=key(channel=Channel.PUBLIC), source=TextSource.STRANGER, region="Plaza"),
    )


@pytest.fixture
def make() -> SimpleNamespace:
    """Short ways to make records."""
    return SimpleNamespace(
        request=request,
        kept=kept,
        window=window,
        held=held,
        reserved=reserved,
        sent=sent,
        settled=settled,
        opened=opened,
        moved=moved,
        tried=tried,
        given=given,
        used=used,
        ended=ended,
        replaced=lambda budgets: BudgetsReplaced(budgets=budgets),
        generation=lambda number: GenerationOpened(generation=Generation(number)),
        hold=lambda held, at=1.0: HoldChanged(held=held, at=at),
        audited=audited,
        ann=ANN,
        ben=BEN,
        key=key,
        reads=reads,
        heard=heard,
        looked=looked,
        added=added,
        fact=fact,
        forgot=forgot,
        learnt=learnt,
        confirmed=CONFIRMED,
        refused=Refused(reason="no_funds"),
        in_doubt=InDoubt(reason="no_evidence"),
        robin=ROBIN,
        path=PATH,
    )


@pytest.fixture
def keep(ledger: Ledger):
    """Take changes of one avatar in, in one transaction; tell which applied."""

    def write(*changes, avatar: str = "robin", run: int = 1) -> tuple[bool, ...]:
        return ledger.write([[kept(change, avatar=avatar, run=run) for change in changes]])[0]

    return write


@pytest.fixture
def snapshot(ledger: Ledger):
    """What all changes of an avatar come to."""
    return lambda avatar="robin": ledger.read(lambda connection: avatars.snapshot(connection, AvatarKey(avatar)))


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
