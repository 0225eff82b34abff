"""The check of a grid, performed on a grid of our own on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio
import trio.testing

from gridagent.config.secrets import SecretStr
from gridagent.events import DisconnectCause
from gridagent.grid.simulated import open_simulated_grid
from gridagent.runtime.system import system_ports
from live_grid.backend import LiveAccount, LiveSettings
from live_grid.check import STEPS, Check, Plan, StepReport, command
from live_grid.check.arriving import edge_of
from live_grid.check.plan import Border, no_hands
from live_grid.check.visit import Visit
from live_grid.simulator import GridServer, serve_grid
from tests.live_grid.backend.scene import ADA, a_world

NEEDS_ALL = {"border": Border.EAST, "other_region": "Far"}


def account(name: str) -> LiveAccount:
    """Somebody of the scene."""
    first, last = name.split(" ")
    return LiveAccount(first_name=first, last_name=last, password=SecretStr("simulated"))


@pytest.fixture
def fast() -> trio.testing.MockClock:
    """A clock on which pauses pass ten times as fast."""
    return trio.testing.MockClock(rate=10.0)


class Scene:
    """A grid, and what a check of it reported."""

    def __init__(self, world, grid, server: GridServer) -> None:
        self.world = world
        self.grid = grid
        self.server = server
        self.reports: dict[str, StepReport] = {}

    async def check(self, *only: str, **fields) -> bool:
        """Check the grid."""
        made = {"companion": account("Ben Bystander"), "only": frozenset(only), **fields}
        settings = LiveSettings(login_url=self.server.login_url)
        plan = attrs.evolve(Plan(account=account("Ada Actor"), settings=settings), **made)
        return await Check(plan, ports=system_ports(), report=self._report).run(STEPS)

    def _report(self, report: StepReport) -> None:
        self.reports[report.step] = report

    def verdicts(self) -> dict[str, bool | None]:
        """What became of each step."""
        return {name: report.ok for name, report in self.reports.items()}


@asynccontextmanager
async def a_scene(**fields):
    """A grid on the wire with what a check needs."""
    world, ports = a_world(), system_ports()
    async with (
        open_simulated_grid(world, ports=ports) as grid,
        serve_grid(grid, ports=ports, **fields) as server,
    ):
        yield Scene(world, grid, server)


@pytest.mark.slow
async def test_every_step_that_needs_no_hand_passes_on_our_own_grid(fast) -> None:
    """With a companion, another region and a border; nobody is left in the world. Spec: LIV-1, LIV-5, LIV-7, LIV-15."""
    async with a_scene() as scene:
        assert await scene.check(**NEEDS_ALL, region="Plaza")
        by_hand = {step.name for step in STEPS if step.by_hand}
        assert scene.verdicts() == {step.name: None if step.name in by_hand else True for step in STEPS}
        assert scene.reports["cross_on_foot"].evidence["region"] == "Annex"
        assert scene.reports["cross_on_foot"].evidence["how"] == "crossing"
        assert scene.world.avatar(ADA).body is None


@pytest.mark.slow
async def test_what_needs_somebody_who_is_not_there_is_skipped(fast) -> None:
    """No companion, no other region, no border, nobody to help: that fails nothing. Spec: LIV-15."""
    async with a_scene() as scene:
        assert await scene.check(companion=None)
        skipped = {name for name, ok in scene.verdicts().items() if ok is None}
        assert {"companion", "hear", "im", "offer_inventory", "teleport_there_1", "cross_on_foot"} <= skipped
        assert False not in scene.verdicts().values()


@pytest.mark.slow
async def test_an_administrator_ends_us_and_we_come_back(fast) -> None:
    """Kicked, restarted, and told apart. Spec: SUP-6. Fault: 8."""
    async with a_scene() as scene:

        async def lend(step: str, what: str) -> bool:
            assert what
            await trio.lowlevel.checkpoint()
            if step == "kicked":
                scene.world.kick(ADA, scene.grid.now(), reason="Enough.")
            elif step == "region_restart":
                scene.world.restart_region("Plaza", scene.grid.now(), notice_s=5.0, down_s=10.0)
            else:
                return False
            return True

        assert await scene.check("kicked", "region_restart", "server_restart", hands=lend, hand_s=120.0)
        causes = {name: scene.reports[name].evidence.get("cause") for name in ("kicked", "region_restart")}
        assert causes == {"kicked": "kicked", "region_restart": "region_restart"}
        assert scene.reports["server_restart"].ok is None


@pytest.mark.slow
async def test_a_grid_that_does_not_do_what_it_should_fails_steps(fast) -> None:
    """A lost server, an end of another kind, a step without end: each fails alone. Spec: LIV-15."""
    async with a_scene() as scene:

        async def lend(step: str, what: str) -> bool:
            del what
            await trio.lowlevel.checkpoint()
            if step == "kicked":
                scene.world.restart_region("Plaza", scene.grid.now(), notice_s=2.0, down_s=5.0)
            return True

        wanted = ("kicked", "server_restart", "speak")
        assert not await scene.check(*wanted, hands=lend, hand_s=20.0, step_s=60.0)
        assert scene.verdicts() == {"login": True, "speak": True, "kicked": False, "server_restart": False}
        assert scene.reports["kicked"].evidence["why"] == "it ended as something else"
        assert scene.reports["server_restart"].evidence["why"] == "our connection did not end within 20 s"
        assert not await scene.check("teleport_there_1", "speak", other_region="Nirgends", step_s=60.0)
        assert scene.reports["teleport_there_1"].evidence["why"] == "teleport_to refused: region_not_found"
        assert await scene.check("teleport_there_1", region="Far", other_region="far")
        assert str(scene.reports["teleport_there_1"].evidence["skipped"]).startswith("we logged in to the other region")
        assert not await scene.check("speak", step_s=0.0)
        assert scene.reports["login"].evidence == {"why": "not done within 0 s"}
        assert scene.reports["speak"].evidence == {"skipped": "we never got into the world"}


@pytest.mark.slow
async def test_a_grid_that_lets_anybody_in_fails_the_wrong_password(fast, monkeypatch) -> None:
    """And one that refuses for another reason fails it too. Spec: LIV-1. Fault: 13."""
    async with a_scene() as scene:
        scene.server.refuse_next_login(DisconnectCause.TERMS_NOT_ACCEPTED)
        assert not await scene.check("wrong_password")
        assert scene.reports["wrong_password"].evidence == {"why": "terms_not_accepted"}
        enter = Visit.enter

        async def let_in(self, nursery):
            self.backend._account = account("Ada Actor")
            return await enter(self, nursery)

        monkeypatch.setattr(Visit, "enter", let_in)
        assert not await scene.check("wrong_password")
        assert scene.reports["wrong_password"].evidence == {"why": "a wrong password let us in"}


@pytest.mark.slow
async def test_who_was_lost_between_two_steps_logs_in_again(fast) -> None:
    """A step that cost us the connection ends nothing. Spec: LIV-15."""
    async with a_scene() as scene:
        table = [step for step in STEPS if step.name in {"login", "speak", "turn"}]

        async def speak(check: Check):
            scene.world.kick(ADA, scene.grid.now(), reason="Enough.")
            await check.here.wait_for_end()
            return await table[1].run(check)

        steps = (table[0], attrs.evolve(table[1], run=speak), table[2])
        plan = Plan(account=account("Ada Actor"), settings=LiveSettings(login_url=scene.server.login_url))
        assert not await Check(plan, ports=system_ports(), report=scene._report).run(steps)
        assert scene.verdicts() == {"login": True, "speak": False, "turn": True}
        assert scene.reports["speak"].evidence["why"] == "say refused: not_connected"


async def test_nobody_helps_by_default() -> None:
    """A check without an administrator asks nobody."""
    assert await no_hands("kicked", "throw us out") is False


@pytest.mark.parametrize(
    ("border", "place"),
    [
        *((Border.EAST, (248, 128)), (Border.WEST, (8, 128)), (Border.NORTH, (128, 248)), (Border.SOUTH, (128, 8))),
        (None, (128, 128)),
    ],
)
def test_we_log_in_near_the_border_that_we_walk_over(border, place) -> None:
    """Eight metres from it, or in the middle."""
    assert edge_of(border, 256) == place


def test_the_steps_that_an_issue_of_trust_is_about_are_all_there() -> None:
    """Names are unique; scripts may rely on them. Spec: LIV-15."""
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    assert {"login", "login_at_place", "wrong_password", "login_after_kill", "cross_on_foot", "kicked"} <= set(names)


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that holds a password."""
    file = tmp_path / "ada.secret"
    file.write_text("simulated\n", encoding="utf-8")
    file.chmod(0o600)
    return file


def test_the_steps_can_be_listed(capsys) -> None:
    """One line each. Spec: OPS-1."""
    assert command.main(["--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(STEPS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "LOGIN-URL is missing"),
        (["nonsense"], "the login URL"),
        (["http://grid.example/"], "unencrypted over a network"),
        (["https://grid.example/"], "--password-file is missing"),
        (["https://grid.example/", "--step", "dance"], "no step is called 'dance'"),
        (["https://grid.example/", "--companion", "Ben Boat"], "--companion-password-file is missing"),
        (["https://grid.example/", "--password-file", "FILE"], "--account is missing"),
        (["https://grid.example/", "--account", "A B", "--password-file", "/nowhere/at/all"], "does not exist"),
        (["https://grid.example/", "--account", "A B", "--password-file", "SHORT"], "holds fewer than"),
    ],
)
def test_a_wrong_command_is_one_sentence(arguments, words, secret: Path, tmp_path: Path, capsys) -> None:
    """And the exit code of usage. Spec: OPS-1, CFG-3."""
    short = tmp_path / "short.secret"
    short.write_text("\n", encoding="utf-8")
    short.chmod(0o600)
    given = [{"FILE": str(secret), "SHORT": str(short)}.get(word, word) for word in arguments]
    assert command.main(given) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert words in said.err
    assert said.err.startswith("live check: ")


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_a_check_prints_json_lines_and_has_an_exit_code(ok, code, secret: Path, monkeypatch, capsys) -> None:
    """The plan is what was asked for; passwords are in nothing that is printed. Spec: OPS-1, CFG-3."""
    plans: list[Plan] = []

    class Done:
        def __init__(self, plan: Plan, *, ports, report: Callable[[StepReport], None]) -> None:
            del ports
            plans.append(plan)
            self.report = report

        async def run(self, steps) -> bool:
            assert steps is STEPS
            assert await plans[0].hands("kicked", "throw us out")
            self.report(StepReport(step="login", ok=ok, seconds=0.5, evidence={"region": "Plaza"}))
            return ok

    monkeypatch.setattr(command, "Check", Done)
    file = str(secret)
    arguments = ["http://127.0.0.1:9000/", "--account", "Ada", "--password-file", file, "--companion", "Ben  Boat"]
    arguments += [
        "--region",
        "Plaza",
        "--companion-password-file",
        file,
        "--other-region",
        "Far",
        "--border",
        "east",
        "--hands",
        "60",
    ]
    assert command.main([*arguments, "--step", "speak"]) == code
    (plan,) = plans
    companion = plan.companion
    assert companion is not None
    assert (plan.account.first_name, plan.account.last_name, companion.last_name) == ("Ada", "Resident", "Boat")
    assert plan.start == "Plaza/128/128/25"
    assert (plan.other_region, plan.border, plan.hand_s, plan.only) == ("Far", Border.EAST, 60.0, {"speak"})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        {"step": "kicked", "asks": "throw us out"},
        {"step": "login", "ok": ok, "seconds": 0.5, "evidence": {"region": "Plaza"}},
    ]
