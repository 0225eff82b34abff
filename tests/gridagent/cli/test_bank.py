"""Claims about the simulated bank's book on disk: money outlives the process, and what is missing is never denied."""

from __future__ import annotations

import errno
import json
import os
import random
from pathlib import Path
from typing import Self

import pytest

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.cli import bank
from gridagent.cli.bank import keep_bank
from gridagent.errors import OperatorError
from gridagent.grid.simulated import Account, Place, World
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports

ADA, BEN = (AvatarId(f"00000000-0000-4000-8000-00000000000{number}") for number in (1, 2))
HERE = Place(region="Plaza", position=Position(x=1.0, y=1.0))


def build() -> World:
    """Return a world in which Ada has L$ 100, and is there."""
    world = World(random.Random(7), simulated_ports(7).ids.uuid)
    world.add_region("Plaza", x_m=0, y_m=0, size_m=256)
    for avatar_id, name in ((ADA, "Ada Actor"), (BEN, "Ben Bystander")):
        world.add_avatar(Account(name=name, avatar_id=avatar_id, home=HERE, balance=100))
    world.login(ADA, 1.0)
    return world


def pay(world: World, amount: int, reference: str) -> None:
    """Let Ada pay Ben."""
    world.perform(ADA, asked.PayAvatar(to=BEN, amount=amount), 2.0, reference)


class Kept:
    """One run of the bank."""

    def __init__(self, file: Path, wall: float = 1_000.0) -> None:
        self.errors: list[tuple[str, BaseException]] = []
        self.world = build()
        self.keeping = keep_bank(
            str(file), self.world, wall=wall, log_error=lambda code, error: self.errors.append((code, error))
        )

    def __enter__(self) -> Self:
        self.keeping.__enter__()
        return self

    def __exit__(self, *how: object) -> None:
        self.keeping.__exit__(None, None, None)


def test_money_and_history_go_on_in_the_next_process(tmp_path: Path) -> None:
    """Every payment is in the file before the world goes on; the next world begins with it. Spec: SIM-1, EFX-2."""
    file = tmp_path / "book.jsonl"
    with Kept(file) as first:
        assert first.world.book.since == 1_000.0
        pay(first.world, 30, "r1")
        assert len(file.read_bytes().splitlines()) == 2, "written at once: a kill loses nothing"
        pay(first.world, 5, "r2")
    assert file.stat().st_mode & 0o777 == 0o600
    with Kept(file, wall=2_000.0) as second:
        world = second.world
        assert (world.balance(ADA), world.balance(BEN)) == (65, 135)
        traces = world.traces(ADA, "r1")
        assert [event.change for event in traces.told] == [-30]
        assert traces.money_since == 1_000.0
        assert world.traces(ADA, "r3").told == ()
        pay(world, 1, "r3")
    with Kept(file) as third:
        assert third.world.balance(ADA) == 64


def test_without_a_file_nothing_is_kept(tmp_path: Path) -> None:
    """The money ends with the process, as it always did. Spec: SIM-1."""
    with keep_bank(None, build(), wall=1.0, log_error=lambda *_: None):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_torn_book_is_whole_only_from_then_on(tmp_path: Path) -> None:
    """What a power cut tore off is missing, for ever; nobody may conclude anything from it. Spec: EFX-2."""
    file = tmp_path / "book.jsonl"
    with Kept(file) as first:
        pay(first.world, 30, "r1")
        pay(first.world, 5, "r2")
    file.write_bytes(file.read_bytes()[:-9])
    for wall in (2_000.0, 3_000.0):
        with Kept(file, wall=wall) as again:
            assert again.world.balance(ADA) == 70
            assert again.world.traces(ADA, "r2").told == ()
            assert again.world.traces(ADA, "r2").money_since == 2_000.0


@pytest.mark.parametrize(
    "line", [b"{}\n", b"\xff\n", b'{"since":"x"}\n', b'{"payer":"x","counterpart":"y","amount":-1}\n', b"\n"]
)
def test_what_is_no_payment_is_refused_by_its_line(tmp_path: Path, line: bytes) -> None:
    """One sentence, and the file stays as it is. Spec: CFG-1."""
    file = tmp_path / "book.jsonl"
    file.write_bytes(b'{"since":1.0}\n' + line)
    with pytest.raises(OperatorError, match=r"line 2 of the bank's book .* is no payment"), Kept(file):
        pass
    assert file.read_bytes() == b'{"since":1.0}\n' + line


def test_a_book_that_cannot_be_used_is_refused(tmp_path: Path, monkeypatch) -> None:
    """A directory, a link, one that is too long, one of another scenario. Spec: CFG-2."""
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in (".", "link"):
        with pytest.raises(OperatorError, match="cannot be opened"), Kept(tmp_path / name):
            pass
    file = tmp_path / "book.jsonl"
    file.write_text(
        '{"since":1.0}\n' + json.dumps({"payer": ADA, "payee": BEN, "counterpart": BEN, "amount": 5_000}) + "\n",
        encoding="utf-8",
    )
    with pytest.raises(OperatorError, match="does not fit the scenario"), Kept(file):
        pass
    monkeypatch.setattr(bank, "BOOK_FILE_MAX_BYTES", 10)
    with pytest.raises(OperatorError, match="is over 10 bytes"), Kept(file):
        pass


@pytest.mark.parametrize("short", [True, False])
def test_a_full_disk_is_logged_once_and_the_world_goes_on(tmp_path: Path, monkeypatch, *, short: bool) -> None:
    """The next reader finds a torn line, and knows that some are missing. Spec: EFX-2, EFX-4, SIM-1."""
    file = tmp_path / "book.jsonl"
    with Kept(file) as kept:
        real = os.write

        def full(descriptor: int, data: bytes) -> int:
            if short:
                return real(descriptor, data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(bank.os, "write", full)
            pay(kept.world, 30, "r1")
            pay(kept.world, 5, "r2")
        pay(kept.world, 5, "r3")
        assert kept.world.balance(ADA) == 60
        assert [code for code, _ in kept.errors] == ["bank_book"]
    with Kept(file, wall=2_000.0) as again:
        assert again.world.balance(ADA) == 100
        assert again.world.book.since == 2_000.0
