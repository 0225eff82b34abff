"""Claims about what `run` says of storage; what it keeps is proven with the archive and the stopped database."""

from __future__ import annotations

import io
from pathlib import Path

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.keeping import kept_in_words, last_word, open_kept
from gridagent.config.model import StorageConfig
from gridagent.fronts.control.words import StorageRow
from gridagent.runtime.deterministic import simulated_ports


class Log:
    """Keeps what is logged."""

    def __init__(self):
        self.kept = []

    def error(self, event, **fields):
        self.kept.append((event, fields))


class Shelf:
    """A storage in one state."""

    def __init__(self, fault):
        self._fault = fault

    def state(self):
        return StorageRow(file="/d", fault=self._fault, since=0.0, waiting=0, commits=0, records=0, lost=2)


def test_a_run_that_ends_in_safe_mode_says_so():
    """On standard error, in the log, and by its exit code; another reason to fail keeps its own code. Spec: EFX-4."""
    log, stderr = Log(), io.StringIO()
    assert last_word(Shelf("io_error"), ExitCode.OK, log=log, stderr=stderr) is ExitCode.STORAGE
    assert last_word(Shelf("io_error"), ExitCode.AVATAR_FAILED, log=log, stderr=stderr) is ExitCode.AVATAR_FAILED
    assert log.kept == [("storage_failed", {"fault": "io_error", "lost": 2})] * 2
    assert "the disk failed (/d), so nothing that costs anything is done; 2 records" in stderr.getvalue()


def test_sound_storage_has_no_last_word():
    """Nor has a run that keeps nothing. Spec: EFX-4."""
    log, stderr = Log(), io.StringIO()
    assert last_word(None, ExitCode.OK, log=log, stderr=stderr) is ExitCode.OK
    assert last_word(Shelf(""), ExitCode.OK, log=log, stderr=stderr) is ExitCode.OK
    assert (log.kept, stderr.getvalue()) == ([], "")


def test_the_first_lines_say_what_survives():
    """In memory, or in which file; a name that moves the cursor is written out. Spec: EFX-2."""
    assert "kept in memory, and end with this run" in kept_in_words(None)
    assert kept_in_words(Path("/s/\x1b.db")) == "what must survive is kept in /s/\\x1b.db"


async def test_a_demonstration_opens_no_database(autojump_clock):
    """Nothing is written where nothing was asked to be kept. Spec: EFX-2."""
    async with open_kept(
        None, ports=simulated_ports(1), pid=1, since="now", report=lambda *_: None, keep=StorageConfig()
    ) as archive:
        assert archive is None
