"""The health endpoint of a run: its token, and where it listens."""

from __future__ import annotations

import stat
from pathlib import Path

import attrs
import pytest
import trio

from gridagent.cli.embedding import open_service
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.health import HEALTH_TOKEN, TOKEN_FILE, open_health, token_of, withdraw_token
from gridagent.config.annotations import fields_of
from gridagent.config.model import Config, HealthConfig
from gridagent.config.secrets import SecretStr
from gridagent.errors import OperatorError
from gridagent.fronts.control import RuntimeDirectory
from gridagent.fronts.health import Pages
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service.progress import Progress


def test_a_token_nobody_chose_is_made_for_the_owner_alone(tmp_path: Path) -> None:
    """A new one at each start, in a file of its own, gone with the run. Spec: OPS-2."""
    with RuntimeDirectory(tmp_path / "run") as directory:
        ports = simulated_ports(1)
        first, second = token_of({}, directory, ports), token_of({}, directory, ports)
        file = tmp_path / "run" / TOKEN_FILE
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert second.matches(file.read_bytes().strip())
        assert not first.matches(second.reveal().encode())
        assert len(second.reveal()) == 64
        for _ in range(2):
            withdraw_token(directory)
            assert not file.exists()


def test_a_token_that_was_chosen_is_used_and_written_nowhere(tmp_path: Path) -> None:
    """Its file is the operator's. Spec: OPS-2, CFG-2."""
    assert "token_file" in fields_of(HealthConfig)
    assert HEALTH_TOKEN == "health.token_file"
    assert "health" in fields_of(Config)
    with RuntimeDirectory(tmp_path / "run") as directory:
        chosen = SecretStr("chosen-by-somebody")
        assert token_of({HEALTH_TOKEN: chosen}, directory, simulated_ports(1)) is chosen
    assert list((tmp_path / "run").iterdir()) == []


def test_a_token_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to do stands in it, and no token. Spec: OPS-1."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with RuntimeDirectory(tmp_path / "run") as directory:
        monkeypatch.setattr(RuntimeDirectory, "create", full)
        with pytest.raises(OperatorError, match=r"token cannot be written in .*No space left.*health\.token_file$"):
            token_of({}, directory, simulated_ports(1))


class Network:
    """Listens on nothing, and says on which port."""

    async def serve_tcp(self, handler, *, host, port, connections_max, task_status) -> None:  # type: ignore[no-untyped-def]
        """Tell a port."""
        assert connections_max > 16
        task_status.started(port or 8719)
        await trio.sleep_forever()


@pytest.mark.parametrize(("host", "where"), [("127.0.0.1", "http://127.0.0.1:8719"), ("::1", "http://[::1]:8719")])
async def test_it_says_where_it_listens(autojump_clock, host: str, where: str) -> None:
    """As an address that can be pasted. Spec: OPS-3."""
    ports = attrs.evolve(simulated_ports(1), network=Network())  # type: ignore[arg-type]
    async with open_service(scenario="quiet-room", ports=ports) as service, trio.open_nursery() as tasks:
        pages = Pages(
            service, Progress(service, store=None, clock=ports.clock), lambda _: "", token=SecretStr("t0ken-t0ken")
        )
        config = HealthConfig(enabled=True, host=host, port=0)
        found = await open_health(config, pages, ports=ports, log_error=lambda *_: None, tasks=tasks)
        assert found == where
        tasks.cancel_scope.cancel()


def test_a_port_that_is_taken_ends_the_start_in_one_sentence(gridagent, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left. Spec: OPS-1, OPS-3."""

    async def taken(*_: object, **__: object) -> None:
        await trio.lowlevel.checkpoint()
        raise OperatorError("the health endpoint cannot listen; set health.port to a free port")

    monkeypatch.setattr("gridagent.fronts.health.serve_health", taken)
    gridagent.environ["GRIDAGENT_HEALTH__ENABLED"] = "true"
    done = gridagent("run", "--for", "5s")
    assert (done.code, done.err) == (
        ExitCode.CONFIGURATION,
        "gridagent: the health endpoint cannot listen; set health.port to a free port\n",
    )
    assert [each.name for each in (gridagent.room / "run").iterdir()] == ["service.lock"]


def test_off_by_default_there_is_neither_port_nor_token(gridagent) -> None:
    """Nobody listens whom nobody asked to. Spec: OPS-3."""
    done = gridagent("run", "--for", "5s")
    assert done.code == 0
    assert "health endpoint" not in done.out
    assert [each.name for each in (gridagent.room / "run").iterdir()] == ["service.lock"]
