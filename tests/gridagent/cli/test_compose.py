"""The composition root."""

from __future__ import annotations

import json

import pytest
import trio

from gridagent.actions import Confirmed, Refused, TeleportHome
from gridagent.cli.compose import open_running, prepare
from gridagent.config.load import parse_config
from gridagent.config.model import AvatarConfig, Config, FailureRule, LogLevel, SessionConfig
from gridagent.config.policy import PolicySection, Preset
from gridagent.controls import ReloadConfig, RequestAction
from gridagent.errors import ConfigError, OperatorError
from gridagent.grid.simulated.faults import Faults
from gridagent.grid.simulated.scenario import load_shipped, shipped_scenarios
from gridagent.observations import ActionSettled, AgentState, LinkState
from gridagent.runtime.deterministic import simulated_ports
from gridagent.session import OnBackendFailure

OLIVE = "5eed0000-0000-4000-8000-000000000001"


@pytest.mark.parametrize("name", shipped_scenarios())
async def test_every_shipped_scenario_runs_with_the_defaults(name, autojump_clock) -> None:
    """Nothing has to be configured to see any of them. Spec: OPS-1, SIM-1."""
    prepared = prepare(Config(), scenario=name, demonstrate=True)
    async with open_running(prepared, ports=simulated_ports(1)) as running:
        for key in running.service.avatars:
            assert await running.service.avatar(key).wait_agent(AgentState.RUNNING) is AgentState.RUNNING


async def test_a_plain_configuration_runs_too(autojump_clock) -> None:
    """The defaults of every key make a service. Spec: CFG-1."""
    prepared = prepare(Config())
    assert prepared.config == Config()
    async with open_running(prepared, ports=simulated_ports(1)) as running:
        assert running.service.avatars == ("robin",)
        await running.service.avatar().wait_agent(AgentState.RUNNING)
    assert running.service.status()[0].agent is AgentState.STOPPED


def test_settings_come_from_the_configuration() -> None:
    """What the sections say is what each session gets. Spec: BND-1, BND-2, BND-3."""
    config = parse_config(
        b"""{"session": {"shutdown_timeout_s": 7, "max_restarts": 2},
            "queues": {"grid_events": 9, "controls": 8, "observables": 7},
            "reconnect": {"short_wait_s": 1.5}}"""
    )
    settings = prepare(config).avatars[0].settings
    assert (settings.grid_events_max, settings.controls_max, settings.observables_max) == (9, 8, 7)
    assert (settings.shutdown_timeout_s, settings.delays.short_wait_s) == (7.0, 1.5)
    assert settings.fault_intensity.max_restarts == 2
    assert settings.on_backend_failure is OnBackendFailure.FAIL


@pytest.mark.parametrize(
    ("name", "rule", "wanted"),
    [
        ("plaza", "auto", OnBackendFailure.FAIL),
        ("rough-night", "auto", OnBackendFailure.RECONNECT),
        ("two-regions", "auto", OnBackendFailure.RECONNECT),
        ("rough-night", "fail", OnBackendFailure.FAIL),
        ("plaza", "reconnect", OnBackendFailure.RECONNECT),
    ],
)
def test_a_story_that_breaks_connections_is_told_to_its_end(name, rule, wanted) -> None:
    """Spec: SUP-1 — offline a lost connection is the end, unless losing it is what the scenario is about."""
    config = parse_config(b'{"session": {"on_backend_failure": "%s"}}' % rule.encode())
    assert prepare(config, scenario=name, demonstrate=True).avatars[0].settings.on_backend_failure is wanted


async def test_the_scenarios_own_faults_count_unless_others_are_given(autojump_clock) -> None:
    """Spec: SIM-1 — what a scenario file says of its connections is so."""
    prepared = prepare(Config(), scenario="rough-night", demonstrate=True)
    assert prepared.scenario.faults != Faults()
    async with open_running(prepared, ports=simulated_ports(1)) as running:
        assert running.grid.faults == prepared.scenario.faults
    async with open_running(prepared, ports=simulated_ports(1), faults=Faults()) as running:
        assert running.grid.faults == Faults()


async def test_a_rough_night_is_survived(autojump_clock) -> None:
    """Spec: SUP-6 — kicked, restarted, stalled and flooded, the avatar comes back by itself."""
    prepared = prepare(Config(), scenario="rough-night", demonstrate=True)
    async with open_running(prepared, ports=simulated_ports(1)) as running:
        await trio.sleep(3 * 3600)
        avatar = running.service.avatar()
        assert await avatar.wait_link(LinkState.ONLINE) is LinkState.ONLINE
        assert avatar.status().generation > 2


def test_every_account_that_is_missing_is_a_problem() -> None:
    """The scenario's accounts are listed beside each. Spec: CFG-1."""
    config = parse_config(b'{"avatars": {"a": {"first_name": "Robin"}, "b": {"first_name": "Wren"}}}')
    with pytest.raises(ConfigError, match=r"\$\.avatars\.b: the scenario plaza has no account"):
        prepare(config)


def test_two_avatars_are_prepared_from_a_file(tmp_path) -> None:
    """A scenario of one's own, two accounts, staggered logins. Spec: SUP-11."""
    spot = {"region": "Room", "x": 10, "y": 10}
    people = [{"name": "Robin Resident", "start": spot}, {"name": "Wren Resident", "start": spot}]
    path = tmp_path / "two.json"
    path.write_text(json.dumps({"name": "two", "regions": [{"name": "Room"}], "avatars": people}), encoding="utf-8")
    config = Config(
        avatars={"a": AvatarConfig(first_name="robin"), "b": AvatarConfig(first_name="Wren", dry_run=True)},
        session=SessionConfig(login_stagger_s=3.0, on_backend_failure=FailureRule.RECONNECT),
    )
    prepared = prepare(config, scenario=str(path))
    assert prepared.keys == ("a", "b")
    assert [avatar.settings.start_after_s for avatar in prepared.avatars] == [0.0, 3.0]
    assert [avatar.policy.dry_run for avatar in prepared.avatars] == [False, True]
    assert prepared.avatars[0].settings.on_backend_failure is OnBackendFailure.RECONNECT
    shown = prepare(Config(), scenario=str(path), demonstrate=True)
    assert shown.keys == ("robin", "wren")


def test_the_seed_is_the_option_then_the_configuration_then_the_scenario() -> None:
    """Each may say it; the nearest to the operator wins. Spec: SIM-2."""
    assert prepare(Config()).seed == load_shipped("plaza").seed
    config = parse_config(b'{"grid": {"simulated": {"seed": 5}}}')
    assert prepare(config).seed == 5
    assert prepare(config, seed=0).seed == 0


def test_the_scenario_file_of_the_configuration_is_read(tmp_path) -> None:
    """A file named in the configuration takes the place of the built-in one."""
    path = tmp_path / "s.json"
    people = [{"name": "Robin Resident", "start": {"region": "Room", "x": 1, "y": 1}}]
    path.write_text(json.dumps({"name": "mine", "regions": [{"name": "Room"}], "avatars": people}), encoding="utf-8")
    config = parse_config(json.dumps({"grid": {"simulated": {"scenario_file": str(path)}}}).encode())
    assert prepare(config).scenario.name == "mine"


def test_what_cannot_be_used_is_refused_before_anything_runs(tmp_path) -> None:
    """A missing scenario, a broken file, a missing file. Spec: CFG-1."""
    with pytest.raises(OperatorError, match="no scenario named 'atlantis'"):
        prepare(Config(), scenario="atlantis")
    with pytest.raises(ConfigError, match="does not exist"):
        prepare(Config(), scenario=str(tmp_path / "missing.json"))
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError):
        prepare(Config(), scenario=str(broken))


async def reload(config: str, running: object) -> object:
    """Send a configuration to the one avatar."""
    return await running.service.avatar().control(ReloadConfig(config_json=config.encode()))


async def test_a_reload_takes_over_what_can_change_live_and_names_the_rest(autojump_clock) -> None:
    """Policy and log level change; roles, queues and what a session cannot change are named. Spec: SUP-8."""
    levels: list[LogLevel] = []
    async with open_running(prepare(Config()), ports=simulated_ports(1), set_level=levels.append) as running:
        avatar = running.service.avatar()
        before = avatar.status().gateway.policy
        reply = await reload('{"policy": {"preset": "greeter"}, "log": {"level": "debug"}}', running)
        assert (reply.accepted, reply.code) == (True, "ok")
        assert avatar.status().gateway.policy != before
        assert levels == [LogLevel.DEBUG]
        changed = {
            "policy": {"preset": "greeter"},
            "log": {"level": "debug"},
            "roles": {"owners": [OLIVE]},
            "reconnect": {"short_wait_s": 3},
            "queues": {"controls": 5},
        }
        reply = await reload(json.dumps(changed), running)
        assert (reply.accepted, reply.code) == (True, "partly")
        for name in ("roles", "reconnect.short_wait_s", "queues.controls"):
            assert name in reply.message


async def test_a_reload_to_a_dry_run_changes_that_avatar_only(autojump_clock) -> None:
    """What concerns one avatar concerns no other. Spec: SUP-8, POL-11."""
    async with open_running(prepare(Config()), ports=simulated_ports(1)) as running:
        reply = await reload('{"avatars": {"robin": {"first_name": "Robin", "dry_run": true}}}', running)
        assert reply.code == "ok"
        assert running.service.avatar().status().gateway.dry_run
        reply = await reload('{"avatars": {"wren": {"first_name": "Wren"}}}', running)
        assert "avatars.robin" in reply.message
        assert "wren" not in reply.message


async def test_a_reload_that_cannot_be_used_changes_nothing(autojump_clock) -> None:
    """The first problem is told, and how many more there are. Spec: SUP-8, CFG-1."""
    async with open_running(prepare(Config()), ports=simulated_ports(1)) as running:
        before = running.service.avatar().status().gateway.policy
        reply = await reload('{"nonsense": 1, "more": 2}', running)
        assert not reply.accepted
        assert "(and 1 more)" in reply.message
        reply = await reload("{", running)
        assert not reply.accepted
        assert running.service.avatar().status().gateway.policy == before


async def test_nothing_is_left_after_the_block(autojump_clock) -> None:
    """Leaving by an error stops everything too. Spec: SUP-3."""
    with pytest.raises(KeyError, match="mine"):
        async with open_running(prepare(Config()), ports=simulated_ports(1)) as running:
            await running.service.avatar().wait_agent(AgentState.RUNNING)
            raise KeyError("mine")
    assert running.service.status()[0].agent is AgentState.STOPPED


@pytest.mark.parametrize(
    ("home", "went"),
    [(None, "North Shore"), ("Old Harbour/10/20/22", "Old Harbour"), ("Atlantis/1/2/3", None)],
    ids=["grid", "place", "gone"],
)
async def test_a_configured_home_is_where_the_simulated_avatar_goes(autojump_clock, home, went) -> None:
    """To the place, to the grid's own home where none is configured, or refused with the reason. Spec: LIV-7, EFX-1."""
    story = load_shipped("two-regions")
    account = story.agents()[0]
    first, _, last = account.name.partition(" ")
    config = Config(
        avatars={"one": AvatarConfig(first_name=first, last_name=last or "Resident", home=home)},
        policy=PolicySection(preset=Preset.GUIDE),
    )
    async with open_running(prepare(config, scenario="two-regions"), ports=simulated_ports(1)) as running:
        handle = running.service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        with handle.observe() as seen:
            reply = await handle.control(RequestAction(action=TeleportHome()))
            assert reply.accepted, reply
            outcome = None
            async for each in seen:
                if isinstance(each.body, ActionSettled):
                    outcome = each.body.outcome
                    break
        if went is None:
            assert outcome == Refused(reason="region_not_found")
        else:
            assert isinstance(outcome, Confirmed)
        body = running.grid.world.avatar(story.avatar_id(account)).body
        assert body.region.name == (went or "North Shore")
