"""Checking a configuration."""

from __future__ import annotations

import json

from tests.gridagent.cli.installed import write_entry_points

BAD = """{
  "avatars": {"robin": {"first_name": "Robin", "pasword_file": "x"}},
  "queues": {"controls": 100000},
  "roles": {"owners": ["Olive Owner", "*"]},
  "grid": {"backend": "live"}
}"""


def test_a_good_configuration_is_said_to_be_one(gridagent) -> None:
    """What would run, and what is worth a second look, without running. Spec: CFG-5."""
    path = gridagent.write("config.json", '{"control": {"enabled": true}}')
    done = gridagent("check-config", str(path))
    assert done.code == 0
    assert "can be used: avatars robin, scenario plaza" in done.out
    assert "robin has no owner" in done.out
    assert not (gridagent.room / "run").exists()


def test_every_problem_is_listed_at_once(gridagent) -> None:
    """Path, what, how to mend; exit code 3. Spec: CFG-1, CFG-5."""
    path = gridagent.write("config.json", BAD)
    done = gridagent("check-config", str(path))
    assert done.code == 3
    for where in (
        "$.avatars.robin.pasword_file",
        "$.queues.controls",
        "$.roles.owners[0]",
        "$.roles.owners[1]",
        "$.grid.live.login_url",
    ):
        assert where in done.err, where
    assert done.out == ""


def test_programs_get_every_problem_too(gridagent) -> None:
    """With --json the list is data on standard output. Spec: CFG-5."""
    path = gridagent.write("config.json", BAD)
    done = gridagent("check-config", "--json", str(path))
    assert done.code == 3
    answer = json.loads(done.out)
    assert not answer["ok"]
    assert {"path", "what", "found", "mend"} == set(answer["problems"][0])
    assert len(answer["problems"]) >= 5
    good = gridagent.write("good.json", "{}")
    answer = json.loads(gridagent("check-config", "--json", str(good)).out)
    assert answer["ok"]
    assert answer["avatars"] == ["robin"]


def a_live_configuration(gridagent, **changes: object) -> str:
    """A file for a live grid."""
    password = gridagent.write("password", "secret-canary\n")
    live = {
        "grid": {"backend": "live", "live": {"login_url": "https://login.example/cgi-bin/login.cgi"}},
        "avatars": {"robin": {"first_name": "Robin", "password_file": str(password)}},
        **changes,
    }
    return str(gridagent.write("config.json", json.dumps(live)))


def test_what_this_version_cannot_do_is_refused(gridagent, monkeypatch) -> None:
    """A transport that is not installed: not at the first login. Spec: CFG-1, LIV-14."""
    llm = {"provider": "anthropic", "endpoint": "https://api.example/v1/messages"}
    offered = {"live": "a_package_nobody_has:thing"}
    monkeypatch.syspath_prepend(str(write_entry_points(gridagent.room, gridagent_backends=offered)))
    done = gridagent("check-config", a_live_configuration(gridagent, llm=llm))
    assert done.code == 3
    assert "$.grid.backend: cannot be used: 'live' needs the package a_package_nobody_has" in done.err
    assert "canary" not in done.err


def test_a_live_configuration_is_checked_without_a_connection(gridagent, monkeypatch) -> None:
    """It can be used, and no name is asked for. Spec: CFG-5."""
    monkeypatch.syspath_prepend(str(write_entry_points(gridagent.room)))
    file = a_live_configuration(gridagent)
    done = gridagent("check-config", file)
    assert (done.code, done.err) == (0, "")
    assert "can be used: avatars robin, a live grid" in done.out
    assert json.loads(gridagent("check-config", "--json", file).out)["scenario"] is None


def test_an_avatar_the_scenario_does_not_know_is_named(gridagent) -> None:
    """The accounts of the scenario are listed. Spec: CFG-1."""
    path = gridagent.write("config.json", '{"avatars": {"wren": {"first_name": "Wren"}}}')
    done = gridagent("check-config", str(path))
    assert done.code == 3
    assert "$.avatars.wren" in done.err
    assert "Robin Resident" in done.err


def test_a_scenario_that_does_not_exist_is_named(gridagent) -> None:
    """The shipped ones are listed. Spec: CFG-1."""
    path = gridagent.write("config.json", '{"grid": {"simulated": {"scenario": "atlantis"}}}')
    done = gridagent("check-config", str(path))
    assert done.code == 3
    assert "plaza" in done.err


def test_a_file_that_is_not_there_is_one_sentence(gridagent) -> None:
    """No traceback for a typing error. Spec: OPS-1."""
    done = gridagent("check-config", str(gridagent.room / "missing.json"))
    assert done.code == 3
    assert "does not exist" in done.err
    assert "Traceback" not in done.err
