"""What an avatar learnt: every change has a row, and forgetting is whole or not at all."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from gridagent.storage.base import StorageFailed
from gridagent.storage.database import Holder, open_database
from gridagent.storage.learning import LEARN, held_about, readable
from gridagent.storage.records import HeldAbout, Learning
from gridagent.storage.settings import StorageSettings
from gridagent.storage.simulated_disk import SimulatedDisk
from gridagent.storage.transactions import Ledger


def test_every_change_has_a_function() -> None:
    """The table is total, so a new kind of change cannot be forgotten. Spec: MEM-3."""
    assert set(LEARN) == set(get_args(Learning))


def test_one_conversation_is_asked_about_itself_and_what_it_sees(ledger, make) -> None:
    """Spec: MEM-7 — its own entries and facts, the public facts, and nothing of any other."""
    ledger.write([make.learnt()])
    mine = ledger.read(lambda connection: readable(connection, make.robin, make.reads(make.key())))
    assert [row.number for row in mine.entries] == [1, 2, 3]
    assert {each.text for each in mine.facts} == {"Ann likes tea", "the café is shut"}
    other = ledger.read(lambda connection: readable(connection, make.robin, make.reads(make.key(make.ben))))
    assert other.entries == ()
    assert [each.text for each in other.facts] == ["the café is shut"]


def test_a_power_cut_while_forgetting_leaves_all_or_nothing(make) -> None:
    """Spec: MEM-5 — wherever the power goes off, nothing half-forgotten is left. Fault: 40."""
    whole = nothing = 0
    for seed in range(60):
        disk = SimulatedDisk(Random(seed), name=f"forget-{seed}")
        ledger = opened(disk, make)
        ledger.write([make.learnt()])
        before = ledger.read(lambda connection: held_about(connection, make.robin, make.ann))
        disk.cut_after(1 + seed % 30)
        with pytest.raises(StorageFailed):
            for _ in range(40):
                ledger.write([(make.forgot(),)])
        ledger.database.abandon()
        disk.reboot()
        again = opened(disk, make)
        after = again.read(lambda connection: held_about(connection, make.robin, make.ann))
        assert after in {before, HeldAbout(entries=(), evidence=(), facts=())}
        whole += after == before
        nothing += after != before
        again.database.close()
        disk.close()
    assert min(whole, nothing) > 3, "both were seen"


def opened(disk, make):
    """Open the ledger on a disk."""
    database = open_database(make.path, files=disk, holder=Holder(pid=1, since="now"), new_ledger="l")
    return Ledger(database, StorageSettings())
