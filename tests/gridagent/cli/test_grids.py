"""A live grid found and checked before anything connects."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from gridagent.cli.compose import prepare, second_factors_of
from gridagent.cli.grids import find_live_grid, read_passwords
from gridagent.cli.second_factor import SecondFactors
from gridagent.config.load import load_config_and_secrets, parse_config
from gridagent.config.model import Backend, Config, GridConfig
from gridagent.errors import ConfigError, OperatorError
from gridagent.ids import Generation
from gridagent.runtime.deterministic import simulated_ports
from gridagent.session import OnBackendFailure
from live_grid.backend import LiveBackend
from tests.gridagent.cli.installed import write_entry_points


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation with its entry points."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path)))


def a_live_one(room: Path, **changes: object) -> bytes:
    """A configuration of one avatar in a live grid."""
    password = room / "password"
    password.write_text("canary-secret\n", encoding="utf-8")
    password.chmod(0o600)
    return json.dumps(
        {
            "grid": {"backend": "live", "live": {"login_url": "http://127.0.0.1:9/"}},
            "avatars": {"ada": {"first_name": "Ada", "last_name": "Actor", "password_file": str(password)}},
            **changes,
        }
    ).encode()


def test_a_live_configuration_is_prepared_with_its_backend_and_password(tmp_path) -> None:
    """Every avatar has a factory, reconnects by cause, and its password is in no text. Spec: LIV-14, SUP-1, CFG-3."""
    file = tmp_path / "live.json"
    file.write_bytes(a_live_one(tmp_path))
    loaded = load_config_and_secrets(file, {})
    prepared = prepare(loaded.config, secrets=loaded.secrets)
    assert prepared.scenario is None
    assert prepared.where == "in the live grid at http://127.0.0.1:9/"
    assert [each.settings.on_backend_failure for each in prepared.avatars] == [OnBackendFailure.RECONNECT]
    assert "canary" not in repr(prepared)
    factories = prepared.live.factories(simulated_ports(1))
    backend = factories["ada"](generation=Generation(1), redeem=lambda handle: handle)
    assert isinstance(backend, LiveBackend)
    assert backend._account.password.reveal() == "canary-secret"


def test_a_backend_knows_whom_its_avatar_heeds(tmp_path) -> None:
    """The common owners and trusted ones, or the avatar's own. Spec: BND-1."""
    owner, friend, other = (f"00000000-0000-4000-8000-00000000000{digit}" for digit in "123")
    common = {"owners": [owner], "trusted": [friend]}
    sections = json.loads(a_live_one(tmp_path, roles=common))
    sections["avatars"]["bob"] = {**sections["avatars"]["ada"], "first_name": "Bob", "roles": {"owners": [other]}}
    file = tmp_path / "live.json"
    file.write_text(json.dumps(sections), encoding="utf-8")
    loaded = load_config_and_secrets(file, {})
    factories = find_live_grid(loaded.config, loaded.secrets).factories(simulated_ports(1))
    made = {key: make(generation=Generation(1), redeem=lambda handle: handle) for key, make in factories.items()}
    assert {key: each._buffer._heeded for key, each in made.items()} == {"ada": {owner, friend}, "bob": {other}}


@pytest.mark.parametrize("live", [{"login_url": "http://127.0.0.1:9/"}, {"grid": "secondlife"}])
def test_every_account_of_a_live_grid_can_be_given_a_one_time_code(tmp_path, live) -> None:
    """Also where the grid is named, and its address is known by that; the simulated one wants none. Spec: LIV-1."""
    config = parse_config(a_live_one(tmp_path, grid={"backend": "live", "live": live}))
    assert [*second_factors_of(prepare(config), SecondFactors())] == ["ada"]
    assert second_factors_of(prepare(Config()), SecondFactors()) == {}


def test_a_live_grid_has_no_story(tmp_path) -> None:
    """A scenario or a seed beside it is a mistake, and said. Spec: CFG-1."""
    config = parse_config(a_live_one(tmp_path))
    for choice in ({"scenario": "plaza"}, {"seed": 1}):
        with pytest.raises(OperatorError, match="a live grid has no scenario"):
            prepare(config, **choice)


def test_every_problem_is_listed_once(tmp_path) -> None:
    """What is wrong with the grid is not said again for each avatar. Spec: CFG-1."""
    config = parse_config(a_live_one(tmp_path))
    # The loader's own rules would have found this one; an embedder has no loader.
    broken = msgspec.structs.replace(
        config,
        grid=GridConfig(backend=Backend.LIVE),
        avatars={"a": config.avatars["ada"], "b": config.avatars["ada"]},
    )
    with pytest.raises(ConfigError) as raised:
        find_live_grid(broken, None)
    assert [each.path for each in raised.value.problems] == ["$.grid.live.login_url"]


def test_without_the_extra_there_is_one_clear_sentence(tmp_path, monkeypatch) -> None:
    """It names what is missing and how to install it. Spec: LIV-14, CFG-1."""
    offered = {"live": "a_package_nobody_has:thing"}
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path / "bare", gridagent_backends=offered)))
    with pytest.raises(ConfigError) as raised:
        prepare(parse_config(a_live_one(tmp_path)))
    [problem] = raised.value.problems
    assert str(problem) == (
        "$.grid.backend: cannot be used: 'live' needs the package a_package_nobody_has, which is not installed; "
        "run: pip install 'gridagent[live]'"
    )


def test_an_embedder_has_its_password_files_read(tmp_path) -> None:
    """Every file that cannot be used is listed. Spec: CFG-2."""
    config = parse_config(a_live_one(tmp_path))
    assert read_passwords(config)["avatars.ada.password_file"].reveal() == "canary-secret"
    (tmp_path / "password").write_text("abc\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="the file holds fewer than"):
        read_passwords(config)
    (tmp_path / "password").unlink()
    with pytest.raises(ConfigError, match=r"\$\.avatars\.ada\.password_file"):
        read_passwords(config)
    with pytest.raises(ConfigError, match="password_file: is missing"):
        read_passwords(Config())
