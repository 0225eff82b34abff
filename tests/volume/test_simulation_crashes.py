"""Claims about the oracle and crashes: what breaks a promise when the power goes off is caught within a few seeds.

Each mutant is a bug in what survives a crash that somebody could write; beside it stands the rule that finds it. A disk
that lies must be found out as well, or a clean run would mean nothing. All of them take about 40 s of one core.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from gridagent.actions import Refused
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.policy import ledger as policy_ledger
from gridagent.policy import revival as revival_module
from gridagent.policy.changes import EffectSent, EffectSettled, GenerationOpened
from gridagent.simulation import machine as machine_module
from gridagent.simulation.trial import run_trial
from gridagent.storage import approvals, avatars, budgets, effects, transactions
from gridagent.storage.avatar import AvatarStore
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.store import SqliteStore
from gridagent.storage.transactions import Ledger

PLAZA = load_shipped("plaza-8")
HOURS = 1.0
SEEDS = 16

Patch = pytest.MonkeyPatch

pytestmark = [pytest.mark.volume, pytest.mark.timeout(600)]


def send_again(patch: Patch) -> None:
    """Know nothing of the effects of earlier runs, and let a run send what another has reserved or sent."""
    patch.setattr(policy_ledger.Ledger, "recall", lambda *_: None)
    patch.setattr(policy_ledger.Ledger, "recall_end", lambda *_, **__: None)

    def generous(connection, kept, change, _):
        key = (kept.avatar, change.effect)
        connection.execute("UPDATE effect SET state = 'sent' WHERE avatar = ? AND effect = ?", key)
        return True

    patch.setitem(transactions.APPLY, EffectSent, generous)


def refund_budgets(patch: Patch) -> None:
    """Begin every run with budgets that nothing was ever charged to."""
    patch.setattr(budgets, "load", lambda *_: None)


def send_before_it_is_written(patch: Patch) -> None:
    """Have the intent written, and don't wait for it."""

    async def hasty(self, effect, wall):
        self._store.submit(self._kept(EffectSent(effect=effect, at=wall)))

    patch.setattr(AvatarStore, "sending", hasty)


def use_a_yes_again(patch: Patch) -> None:
    """Write down that somebody said yes, and never that it was used."""
    patch.setattr(approvals, "claim", lambda *_: True)


def take_sent_for_unsent(patch: Patch) -> None:
    """Refuse after a crash what may have been sent: it may be tried again then."""
    patch.setattr(revival_module, "CRASHED", Refused(reason="not_sent"))


def release_at_restart(patch: Patch) -> None:
    """Let a restart release what was held."""
    snapshot = avatars.snapshot
    patch.setattr(avatars, "snapshot", lambda *given: msgspec.structs.replace(snapshot(*given), held=False))


def number_connections_anew(patch: Patch) -> None:
    """Write no connection's number down."""
    patch.setitem(transactions.APPLY, GenerationOpened, lambda *_: True)


def lose_ends(patch: Patch) -> None:
    """Write down how an effect ended every other time."""
    settle, count = effects.settle, 0

    def every_other(*given):
        nonlocal count
        count += 1
        return count % 2 == 0 or settle(*given)

    patch.setitem(transactions.APPLY, EffectSettled, every_other)


def lose_rows(patch: Patch) -> None:
    """Drop an audit row now and then."""
    write, count = Ledger.write, 0

    def careless(self, batch):
        nonlocal count
        count += 1
        return write(self, batch) if count % 5 else [(True,) * len(each) for each in batch]

    patch.setattr(Ledger, "write", careless)


def never_flush(patch: Patch) -> None:
    """Leave in order without writing what waits."""

    async def hurried(self):
        pass

    patch.setattr(SqliteStore, "flush", hurried)


def lie_about_syncs(patch: Patch) -> None:
    """Put everything on a disk that only says that it has synced."""

    def liar(rng, *, name):
        return SimulatedDisk(rng, name=name, lies=True)

    patch.setattr(machine_module, "SimulatedDisk", liar)


MUTANTS: dict[str, tuple[Callable[[Patch], None], tuple[str, ...]]] = {
    "sent again after a restart": (send_again, ("one authorisation an effect", "an effect is done at most once")),
    "budgets are refunded by a restart": (refund_budgets, ("no budget is overrun",)),
    "sent before it is on the disk": (send_before_it_is_written, ("what may have cost something is remembered",)),
    "a yes is used again": (use_a_yes_again, ("a yes that was used is used up",)),
    "sent is taken for not sent": (take_sent_for_unsent, ("a restart guesses nothing",)),
    "a restart releases": (release_at_restart, ("nothing is authorised while held", "nothing is done while held")),
    "connections are numbered anew": (number_connections_anew, ("a generation is never used again",)),
    "ends are lost": (lose_ends, ("an orderly end loses nothing",)),
    "audit rows are lost": (lose_rows, ("the audit trail is what happened",)),
    "what waits is not written at the end": (never_flush, ("an orderly end loses nothing",)),
    "the disk lies": (
        lie_about_syncs,
        ("what may have cost something is remembered", "a generation is never used again", "the database is whole"),
    ),
}


@pytest.mark.parametrize("name", list(MUTANTS))
def test_the_oracle_catches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every known bug in what survives is found, by a rule it breaks. Spec: SIM-3, EFX-2, POL-6, POL-7. Fault: 38."""
    mutate, rules = MUTANTS[name]
    mutate(monkeypatch)
    found: set[str] = set()
    for seed in range(SEEDS):
        found |= {violation.rule for violation in run_trial(PLAZA, seed, HOURS).violations}
        if found.intersection(rules):
            break
    assert found.intersection(rules), found


def test_the_service_itself_survives() -> None:
    """Without a mutant no rule is broken, over many a crash. Spec: SIM-3, EFX-2."""
    results = [run_trial(PLAZA, seed, HOURS) for seed in range(3)]
    assert [result.violations for result in results] == [()] * 3
    assert sum(result.sometimes["power_cut"] + result.sometimes["process_killed"] for result in results) > 5
