"""The words of the port say what went wrong and who must act."""

from __future__ import annotations

from gridagent.errors import GridAgentError, OperatorError
from gridagent.storage.base import LedgerInUse, LedgerRefused, StorageFailed, StorageFault


def test_a_failure_names_its_fault() -> None:
    """The code is stable, the detail optional. Spec: EFX-4."""
    assert str(StorageFailed(StorageFault.DISK_FULL)) == "storage failed: disk_full"
    assert str(StorageFailed(StorageFault.STUCK, "30 s")) == "storage failed: stuck (30 s)"
    assert StorageFailed.code == "storage_failed"
    assert issubclass(StorageFailed, GridAgentError)


def test_a_refused_ledger_is_the_operators_to_mend() -> None:
    """It is one sentence, and no crash."""
    assert issubclass(LedgerRefused, OperatorError)
    assert LedgerRefused.code == "ledger_refused"
    assert issubclass(LedgerInUse, LedgerRefused)
    assert LedgerInUse.code == "ledger_in_use"
