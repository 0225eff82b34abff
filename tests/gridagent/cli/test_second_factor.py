"""One-time codes in memory, and what they proved in a file."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

import pytest

from gridagent.cli.second_factor import AccountFactor, SecondFactors
from gridagent.config.model import AvatarConfig
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import OutcomeUnknown
from gridagent.ids import AvatarKey
from gridagent.runtime.deterministic import simulated_ports

KEY = AvatarKey("ada")
ADA = AvatarConfig(first_name="Ada", last_name="Actor")
HERE = EndpointUrl("https://grid.example.org/login")


class Told:
    """What the log was told, and what its redactor learnt."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.learnt: dict[str, frozenset[str]] = {}

    def learn(self, name: str, forms: Iterable[str]) -> None:
        """Learn a secret."""
        self.learnt[name] = frozenset(forms)

    def log_error(self, code: str, error: BaseException) -> None:
        """Take an error."""
        self.errors.append(f"{code}: {error}")


@pytest.fixture
def told() -> Told:
    """What a run is told."""
    return Told()


def of(room: Path | None, told: Told, *, url: EndpointUrl = HERE, avatar: AvatarConfig = ADA) -> AccountFactor:
    """The second factor of an account, as a run makes it."""
    blocking = None if room is None else simulated_ports(1).blocking
    common = SecondFactors(state_dir=room, blocking=blocking, learn=told.learn, log_error=told.log_error)
    return common.of(KEY, avatar, url)


async def shown(factor: AccountFactor) -> str | None:
    """The proof it remembers."""
    proof = await factor.remembered()
    return None if proof is None else proof.reveal()


def test_a_code_is_handed_out_once_and_the_newest_counts(told) -> None:
    """And the redactor knows it first. Spec: CFG-3, LIV-1."""
    factor = of(None, told)
    assert factor.take_code() is None
    factor.give(SecretStr("111111"))
    factor.give(SecretStr("246810"))
    assert "246810" in told.learnt["avatars.ada.code"]
    code = factor.take_code()
    assert code is not None
    assert code.reveal() == "246810"
    assert factor.take_code() is None


async def test_a_proof_survives_in_a_private_file(tmp_path, told) -> None:
    """For its owner alone, and the redactor of the next run knows it before it is used. Spec: CFG-2, CFG-3, LIV-1."""
    assert await shown(of(tmp_path, told)) is None
    await of(tmp_path, told).remember(SecretStr("a-proof"))
    [file] = (tmp_path / "second-factor").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    told.learnt.clear()
    assert await shown(of(tmp_path, told)) == "a-proof"
    assert "a-proof" in told.learnt["avatars.ada.proof"]
    assert told.errors == []


async def test_a_proof_belongs_to_one_account_at_one_address(tmp_path, told) -> None:
    """A new name or another grid has none, so that it is never shown to a stranger. Spec: LIV-1."""
    await of(tmp_path, told).remember(SecretStr("a-proof"))
    assert await shown(of(tmp_path, told, url=EndpointUrl("https://evil.example/login"))) is None
    assert await shown(of(tmp_path, told, avatar=AvatarConfig(first_name="Ben", last_name="Actor"))) is None
    assert await shown(of(tmp_path, told, avatar=AvatarConfig(first_name="ADA", last_name="actor"))) == "a-proof"


async def test_a_proof_is_forgotten_for_good(tmp_path, told) -> None:
    """Also by the file. Spec: LIV-1."""
    factor = of(tmp_path, told)
    await factor.remember(SecretStr("a-proof"))
    await factor.remember(None)
    assert await shown(factor) is None
    assert await shown(of(tmp_path, told)) is None
    assert list((tmp_path / "second-factor").iterdir()) == []


@pytest.mark.parametrize("harm", ["open to others", "two lines", "a link"])
async def test_a_file_that_cannot_be_trusted_costs_another_code(tmp_path, told, harm) -> None:
    """It is not used, and the log says why without its content. Spec: CFG-2. Fault: 40."""
    await of(tmp_path, told).remember(SecretStr("a-proof"))
    [file] = (tmp_path / "second-factor").iterdir()
    if harm == "open to others":
        file.chmod(0o644)
    elif harm == "two lines":
        file.write_text("a-proof\na-proof\n", encoding="utf-8")
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    assert await shown(of(tmp_path, told)) is None
    [error] = told.errors
    assert error.startswith("second_factor_unread: ")
    assert "a-proof" not in error


async def test_a_disk_that_takes_nothing_costs_another_code_after_a_restart(tmp_path, told) -> None:
    """This run goes on with the proof in memory. Spec: LIV-1. Fault: 39."""
    (tmp_path / "second-factor").write_text("in the way", encoding="utf-8")
    factor = of(tmp_path, told)
    await factor.remember(SecretStr("a-proof"))
    assert [each.split(":")[0] for each in told.errors] == ["second_factor_unkept"]
    assert await shown(factor) == "a-proof"


async def test_a_disk_that_never_answers_holds_nothing_up(tmp_path, told) -> None:
    """The port's bound ends the wait, for reading and for writing. Spec: LIV-1. Fault: 39."""

    class Stuck:
        async def run(self, *_: object, name: str) -> object:
            raise OutcomeUnknown(name)

    common = SecondFactors(state_dir=tmp_path, blocking=Stuck(), learn=told.learn, log_error=told.log_error)
    factor = common.of(KEY, ADA, HERE)
    assert await shown(factor) is None
    await factor.remember(SecretStr("a-proof"))
    assert [each.split(":")[0] for each in told.errors] == ["second_factor_unread", "second_factor_unkept"]


async def test_without_a_directory_a_proof_lives_as_long_as_the_process() -> None:
    """An embedder's, say: nothing is written. Spec: LIV-1."""
    factor = SecondFactors().of(KEY, ADA, HERE)
    await factor.remember(SecretStr("a-proof"))
    assert await shown(factor) == "a-proof"


async def test_a_factor_without_a_blocking_port_writes_at_once(tmp_path) -> None:
    """And complains to nobody where nobody listens. Spec: LIV-1."""
    factor = SecondFactors(state_dir=tmp_path).of(KEY, ADA, HERE)
    await factor.remember(SecretStr("a-proof"))
    assert await shown(SecondFactors(state_dir=tmp_path).of(KEY, ADA, HERE)) == "a-proof"
    [file] = (tmp_path / "second-factor").iterdir()
    file.chmod(0o644)
    assert await shown(SecondFactors(state_dir=tmp_path).of(KEY, ADA, HERE)) is None
