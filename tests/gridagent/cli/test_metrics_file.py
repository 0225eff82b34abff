"""``gridagent run --metrics``: a file that is whole whenever it is read, and never the reason that anything fails."""

from __future__ import annotations

import json

import pytest
import trio

from gridagent.cli.counting import Counting
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.metrics_file import PERIOD_S, keep_metrics, metrics_place
from gridagent.errors import OperatorError


class Inline:
    """Runs what blocks at once, and keeps count."""

    def __init__(self) -> None:
        self.calls = 0

    async def run(self, fn, *args, name):
        assert name == "metrics"
        self.calls += 1
        await trio.lowlevel.checkpoint_if_cancelled()
        return fn(*args)


def test_a_run_leaves_its_numbers_in_the_file(gridagent) -> None:
    """What an avatar did stands there in the end, for one avatar and by name. Spec: OPS-2."""
    file = gridagent.room / "gridagent.prom"
    done = gridagent("run", "--for", "40s", "--metrics", str(file))
    assert (done.code, done.err) == (0, "")
    text = file.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert 'gridagent_connections_total{avatar="robin"} 1\n' in text
    assert 'gridagent_agent_state{avatar="robin",state="stopped"} 1\n' in text
    assert [each.name for each in file.parent.glob(".*new")] == []


@pytest.mark.parametrize(("name", "says"), [("none/x.prom", "is no directory"), ("", "is no file")])
def test_a_place_that_cannot_be_is_said_before_anything_runs(gridagent, name: str, says: str) -> None:
    """One sentence, and how to mend it. Spec: OPS-1, OPS-2."""
    done = gridagent("run", "--for", "1s", "--metrics", str(gridagent.room / name))
    assert done.code not in {ExitCode.OK, ExitCode.INTERNAL}
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_relative_place_is_beside_whoever_types(tmp_path, monkeypatch) -> None:
    """Spec: OPS-2 — as with every other path of the command line."""
    monkeypatch.chdir(tmp_path)
    assert metrics_place("x.prom", {}) == tmp_path / "x.prom"
    with pytest.raises(OperatorError):
        metrics_place("y/x.prom", {})


async def test_it_is_written_every_so_often_and_once_more_at_the_end(tmp_path, autojump_clock) -> None:
    """At 0, 15 and 30 s, and when it is over. Spec: OPS-2."""
    blocking, errors = Inline(), []

    def log(*said):
        errors.append(said)

    with Counting([]) as counting, trio.move_on_after(2 * PERIOD_S + 1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(counting.run)
            await keep_metrics(tmp_path / "x.prom", counting, blocking=blocking, log_error=log)
    assert (blocking.calls, errors) == (4, [])
    assert (tmp_path / "x.prom").exists()


async def test_a_disk_that_refuses_is_said_once_and_again_after_it_was_well(tmp_path, autojump_clock) -> None:
    """Nothing else happens: the service goes on. Spec: OPS-2."""
    room, errors = tmp_path / "room", []
    room.mkdir()
    place = metrics_place(str(room / "x.prom"), {})
    room.rmdir()

    def log(code, _):
        errors.append(code)

    with Counting([]) as counting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(counting.run)
            nursery.start_soon(lambda: keep_metrics(place, counting, blocking=Inline(), log_error=log))
            await trio.sleep(2.5 * PERIOD_S)
            assert errors == ["metrics_unwritten"]
            room.mkdir()
            await trio.sleep(PERIOD_S)
            assert place.exists()
            place.unlink()
            room.rmdir()
            await trio.sleep(PERIOD_S)
            assert errors == ["metrics_unwritten"] * 2
            nursery.cancel_scope.cancel()


def test_the_view_still_has_its_lines(gridagent) -> None:
    """A watcher more changes nothing of what is shown. Spec: MND-18."""
    plain = gridagent("run", "--for", "5s", "--json")
    metered = gridagent("run", "--for", "5s", "--json", "--metrics", str(gridagent.room / "x.prom"))
    kinds = [[json.loads(line)["body"]["kind"] for line in each.out.splitlines()] for each in (plain, metered)]
    assert kinds[0] == kinds[1]
