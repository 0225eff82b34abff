"""A first configuration, asked for and written."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gridagent.cli import init, main
from gridagent.cli.discovery import LookedUp
from gridagent.config.load import load_config_and_secrets
from gridagent.config.model import Backend, Config
from gridagent.errors import OperatorError
from gridagent.grid.simulated.scenario import load_shipped
from tests.gridagent.cli.installed import process_environment, write_entry_points

OWNER = "01234567-89ab-4cde-8f01-23456789abcd"
LOCAL = "http://127.0.0.1:9000/"


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to be in, of an installation with its entry points."""
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path)))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grids that log in where they were asked; which were asked."""
    asked: list[str] = []

    def look_up(url: str) -> LookedUp:
        asked.append(url)
        if "nobody" in url:
            raise OperatorError("nobody answers there; see that the address is right")
        if "astray" in url:
            return LookedUp(name="Astray", login_url="https://elsewhere.example/login?key=canary", elsewhere=True)
        return LookedUp(name="Home", login_url=f"{url}login", elsewhere=False)

    monkeypatch.setattr(init, "look_up", look_up)
    return asked


def secret(room: Path, name: str = "mine", text: str = "canary-secret\n") -> str:
    """A secret file that is there."""
    path = room / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    return name


def loaded(room: Path, name: str = "config.json"):
    """What was written, as a start would load it."""
    return load_config_and_secrets(room / name, {})


def names(room: Path) -> list[str]:
    """What stands in the directory."""
    return sorted(each.name for each in room.iterdir())


LIVE = ("--grid", "secondlife", "--first-name", "Ada")


# --- offline ------------------------------------------------------------------------------------------


def test_enter_to_everything_is_a_working_avatar_offline(gridagent, room) -> None:
    """Its account and owner are those of the built-in world; it runs as it is. Spec: OPS-1, CFG-5."""
    done = gridagent("init", stdin="\n" * 5)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "config.json is written, and can be used.",
        "  The avatars live in the simulated grid; no grid is contacted.",
        "  The built-in offline model thinks for them; nothing is sent anywhere.",
        "  The control endpoint is off: commands and the kill switch cannot reach the service.",
        "next:",
        "  gridagent doctor --config config.json",
        "  gridagent run --config config.json",
        "  gridagent chat --config config.json",
    ]
    config = loaded(room).config
    story = load_shipped("plaza")
    assert [each.first_name for each in config.avatars.values()] == ["Robin"]
    assert config.roles.owners == (story.avatar_id(next(each for each in story.avatars if "Olive" in each.name)),)
    assert config.policy.preset.value == "guide"
    assert gridagent("run", "--config", "config.json", "--for", "5s").code == 0


def test_every_section_and_many_keys_have_a_comment(gridagent, room) -> None:
    """Whoever opens the file knows what it says; nothing that was typed is in a comment. Spec: OPS-1."""
    assert gridagent("init", "--yes", *LIVE, "--password-file", secret(room)).code == 0
    lines = (room / "config.json").read_text(encoding="utf-8").splitlines()
    for key in (
        "avatars",
        "grid",
        "roles",
        "policy",
        "llm",
        "password_file",
        "start",
        "home",
        "backend",
        "accept_terms",
    ):
        at = next(number for number, line in enumerate(lines) if line.strip().startswith(f'"{key}":'))
        assert lines[at - 1].strip().startswith("//"), key
    assert not any("Ada" in line for line in lines if line.strip().startswith("//"))
    assert max(map(len, lines)) <= 200


# --- a live grid --------------------------------------------------------------------------------------


def test_everything_can_be_answered_from_a_pipe(gridagent, room, looked_up) -> None:
    """One line an answer; secrets are in files of their own and printed nowhere. Spec: OPS-1, CFG-2, CFG-3."""
    answers = [
        *(LOCAL, "Ada", "Actor", "canary-password", OWNER, "", "greeter"),
        *("http://127.0.0.1:1/v1/messages", "", "small", "canary-key", "3", "15", "0.5"),
    ]
    done = gridagent("init", "ada.json", "--json", stdin="\n".join(answers) + "\n")
    assert (done.code, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["ok"]
    assert told["file"] == "ada.json"
    assert told["secrets"] == ["ada.password", "model.key"]
    assert (told["avatars"], told["grid"]) == (["ada"], f"{LOCAL}login")
    assert told["next"][1] == "gridagent run --config ada.json"
    assert looked_up == [LOCAL]
    assert names(room) == ["ada.json", "ada.password", "model.key"]
    assert {stat.S_IMODE((room / each).stat().st_mode) for each in names(room)} == {0o600}
    assert "canary" not in (room / "ada.json").read_text(encoding="utf-8") + done.out + done.err
    config, secrets = loaded(room, "ada.json").config, loaded(room, "ada.json").secrets
    assert secrets["avatars.ada.password_file"].reveal() == "canary-password"
    assert secrets["llm.api_key_file"].reveal() == "canary-key"
    avatar = config.avatars["ada"]
    assert (avatar.first_name, avatar.last_name, avatar.persona, avatar.start) == ("Ada", "Actor", "default", "last")
    assert config.grid.live.login_url is not None
    assert config.grid.live.login_url.reveal() == f"{LOCAL}login"
    assert not config.grid.live.accept_terms
    assert config.roles.owners == (OWNER,)
    assert config.policy.preset.value == "greeter"
    assert (config.llm.provider.value, config.llm.model) == ("anthropic", "small")
    assert config.llm.prices is not None
    assert (config.llm.prices.input, config.llm.prices.output) == (3.0, 15.0)
    spend = config.llm.spend
    assert (spend.turn_money, spend.person_money, spend.avatar_money, spend.fleet_money) == (0.2, 0.5, 0.5, 0.5)


def test_everything_can_be_answered_by_flags(gridagent, room) -> None:
    """Nothing is asked; files that are named are used where they are. Spec: OPS-1."""
    (room / "me.md").write_text("---\nname: Ada\n---\nKind.\n", encoding="utf-8")
    password = secret(room)
    flags = ["--last-name", "Actor", "--password-file", password, "--owner", "none", "--persona", "me.md"]
    flags += ["--preset", "observer", "--model-endpoint", "https://model.example/v1/chat/completions", "--model", "m"]
    flags += ["--api-key-file", password, "--daily-money", "2"]
    done = gridagent("init", "--yes", *LIVE, *flags)
    assert (done.code, done.err) == (0, "")
    assert names(room) == ["config.json", "me.md", "mine"]
    config = loaded(room).config
    assert config.avatars["ada"].password_file == str(room / "mine")
    assert config.avatars["ada"].persona_file == str(room / "me.md")
    assert config.grid.live.grid is not None
    assert config.grid.live.grid.value == "secondlife"
    assert config.roles.owners == ()
    assert (config.llm.provider.value, config.llm.prices) == ("chat_completions", None)
    assert "ada has no owner" in done.out


def test_a_login_without_encryption_has_to_be_accepted(gridagent, room, looked_up) -> None:
    """By a flag or a yes; else nothing is written. Spec: CFG-1."""
    known = ("init", "--yes", "--grid", "osgrid", "--first-name", "Ada", "--password-file", secret(room))
    done = gridagent(*known)
    assert (done.code, done.out) == (3, "")
    assert "its login is not encrypted, and that is not accepted; add --allow-plain-http" in done.err
    assert names(room) == ["mine"]
    assert gridagent(*known, "--allow-plain-http").code == 0
    assert loaded(room).config.grid.live.allow_plain_http
    plain = ("init", "--force", "--grid", "http://grid.example/", "--first-name", "Ada", "--password-file", "mine")
    assert gridagent(*plain, stdin="n\n").code == 3
    assert gridagent(*plain, stdin="y\n\n\n\n\n\n").code == 0
    assert loaded(room).config.grid.live.allow_plain_http


def test_a_model_without_encryption_has_to_be_accepted(gridagent, room) -> None:
    """Conversations and the key are at stake. Spec: CFG-1."""
    line = ("init", "--yes", "--grid", "offline", "--model-endpoint", "http://model.example/v1", "--model", "m")
    done = gridagent(*line)
    assert done.code == 3
    assert "the model's endpoint is not encrypted, and that is not accepted" in done.err
    assert gridagent(*line, "--allow-plain-http").code == 0
    config = loaded(room).config
    assert config.llm.allow_plain_http
    assert not config.grid.live.allow_plain_http
    assert config.grid.backend is Backend.SIMULATED


@pytest.mark.parametrize("where", ["nobody", "astray"])
def test_a_grid_that_cannot_be_found_or_sends_one_elsewhere_needs_a_word(gridagent, room, looked_up, where) -> None:
    """Without one nothing is written; with it the address is taken as it is, or the grid is believed. Spec: LIV-1."""
    address = f"https://{where}.example/"
    rest = ("--grid", address, "--first-name", "Ada", "--password-file", secret(room))
    done = gridagent("init", "--yes", *rest)
    assert done.code == 3
    assert "--no-lookup" in done.err
    assert "canary" not in done.err
    assert gridagent("init", *rest, stdin="no\n").code == 3
    assert names(room) == ["mine"]
    assert gridagent("init", *rest, stdin="yes\n\n\n\n\n\n").code == 0
    found = loaded(room).config.grid.live.login_url
    assert found is not None
    assert found.reveal() == (address if where == "nobody" else "https://elsewhere.example/login?key=canary")
    asked = len(looked_up)
    assert gridagent("init", "--yes", "--force", *rest, "--no-lookup").code == 0
    assert len(looked_up) == asked
    found = loaded(room).config.grid.live.login_url
    assert found is not None
    assert found.reveal() == address


def test_a_grid_without_its_transport_is_known_at_once(gridagent, room, monkeypatch, tmp_path) -> None:
    """Before any other question. Spec: LIV-14, OPS-1."""
    offered = {"live": "a_package_nobody_has:thing"}
    monkeypatch.syspath_prepend(str(write_entry_points(tmp_path / "bare", gridagent_backends=offered)))
    done = gridagent("init", stdin="secondlife\n")
    assert done.code == 3
    assert "pip install 'gridagent[live]'" in done.err


# --- what is wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flag", "answer", "says"),
    [
        ("grid", "second_life", "did you mean 'secondlife'?, offline, or an address with http://"),
        ("grid", "ftp://grid.example/", "does not begin with http:// or https://"),
        ("grid", "https://me:canary@grid.example/", "user info"),
        ("first-name", "x" * 64, "at most 63 characters"),
        ("last-name", "a\x07b", "a line break or another control character"),
        ("owner", "Olive Owner", "names are never accepted"),
        ("owner", "*", "a wildcard would authorise everybody"),
        ("persona", "pirate", "is no built-in persona; choose one of default"),
        ("persona", "~/missing.md", "does not exist"),
        ("preset", "tyrant", "must be one of: observer, greeter, guide, shopkeeper, builder"),
        ("model-endpoint", "local", "does not begin with http:// or https://"),
        ("provider", "offline", "does not go with an endpoint"),
        ("provider", "telepathy", "must be one of"),
        ("model", "m" * 200, "at most"),
        ("price-input", "cheap", "must be a number"),
        ("price-output", "-1", "raise it to 0 or more"),
        ("daily-money", "nan", "must be a number from 0"),
    ],
)
def test_a_wrong_answer_is_refused_at_once_by_the_rules_of_the_file(gridagent, room, flag, answer, says) -> None:
    """By its flag, with what to do, and nothing is written. Spec: OPS-1, CFG-1."""
    gridagent.environ["HOME"] = str(room)
    good = {
        "grid": "secondlife",
        "first-name": "Ada",
        "password-file": secret(room),
        "model-endpoint": "https://model.example/v1",
        "model": "m",
    }
    flags = [word for name, value in {**good, flag: answer}.items() for word in (f"--{name}", value)]
    done = gridagent("init", "--yes", *flags)
    assert (done.code, done.out) == (2, "")
    assert f"--{flag}: " in done.err
    assert says in done.err
    assert "canary" not in done.err
    assert names(room) == ["mine"]


def test_what_has_no_default_is_missed_by_name(gridagent, room) -> None:
    """Without questions there is nobody to say it. Spec: OPS-1."""
    assert "--first-name: an answer is needed" in gridagent("init", "--yes", "--grid", "secondlife").err
    done = gridagent("init", "--yes", *LIVE)
    assert done.code == 2
    assert "--password-file: an answer is needed" in done.err
    assert names(room) == []


def test_what_is_there_stays_unless_it_is_to_be_replaced(gridagent, room) -> None:
    """The configuration at once, a secret as soon as its name is known. Spec: OPS-1."""
    (room / "config.json").write_text("mine", encoding="utf-8")
    done = gridagent("init", stdin="")
    assert done.code == 3
    assert "config.json already; name another, or add --force" in done.err
    assert (room / "config.json").read_text(encoding="utf-8") == "mine"
    secret(room, "ada.password", "older\n")
    piped = "secondlife\nAda\n\ncanary\n\n\n\n\n"
    done = gridagent("init", "ada.json", stdin=piped)
    assert done.code == 3
    assert "use it with --password-file ada.password, or add --force" in done.err
    assert gridagent("init", "ada.json", "--force", stdin=piped).code == 0
    assert loaded(room, "ada.json").secrets["avatars.ada.password_file"].reveal() == "canary"
    assert gridagent("init", "--yes", "--force").code == 0
    assert list(loaded(room).config.avatars) == ["robin"]


def test_a_configuration_cannot_have_the_name_of_a_secret(gridagent, room) -> None:
    """One of the two would be lost. Spec: OPS-1."""
    done = gridagent("init", "ada.password", stdin="secondlife\nAda\n\ncanary\n")
    assert done.code == 3
    assert "give the configuration another name" in done.err
    assert names(room) == []


@pytest.mark.parametrize(
    ("file", "says"),
    [("~/config.json", "no home directory is known"), ("missing/config.json", "'missing' of the file's path does not")],
)
def test_a_place_that_does_not_exist_is_said(gridagent, room, file, says) -> None:
    """Before any question. Spec: OPS-1."""
    done = gridagent("init", file)
    assert done.code == 3
    assert says in done.err


def test_commands_to_go_on_with_can_be_copied_whatever_the_file_is_called(gridagent, room) -> None:
    """Whole, quoted for a shell, and nothing in them moves a terminal. Spec: OPS-1, OPS-7."""
    deep = room / ("d" * 200) / ("e" * 100)
    deep.mkdir(parents=True)
    done = gridagent("init", str(deep / "my config.json"), "--yes")
    assert f"  gridagent run --config '{deep / 'my config.json'}'" in done.out.splitlines()
    for flags in ((), ("--json",)):
        odd = gridagent("init", "a\x1b[2J\udcff.json", "--yes", "--force", *flags)
        assert odd.code == 0
        assert not {"\x1b", "\udcff"} & set(odd.out)


def test_what_the_environment_breaks_is_said_before_anything_is_written(gridagent, room) -> None:
    """A variable counts in the next command too. Spec: CFG-1."""
    gridagent.environ["GRIDAGENT_AVATARS__ROBIN__FIRST_NAME"] = "Wren"
    done = gridagent("init", "--yes")
    assert done.code == 3
    assert "has no account for an avatar of this name" in done.err
    assert names(room) == []


def test_ctrl_c_leaves_everything_as_it_was(gridagent, room) -> None:
    """At any question: 130, and no file. Spec: OPS-4."""

    class Interrupted(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:
            line = super().readline(-1)
            if not line:
                raise KeyboardInterrupt
            return line

    done = main.main(
        ["init"], stdin=Interrupted("secondlife\nAda\n"), stdout=io.StringIO(), stderr=io.StringIO(), environ={}
    )
    assert done == 130
    assert names(room) == []


# --- a terminal ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this platform has no pseudo-terminals")
def test_on_a_terminal_it_explains_asks_again_and_hides_secrets(room, tmp_path) -> None:
    """Mistakes are told, the password is never shown, and what comes out works. Spec: OPS-1, OPS-7, CFG-3."""
    turns = [
        ("Grid [offline]: ", "second_life"),
        ("did you mean 'secondlife'?", ""),
        ("Grid [offline]: ", "secondlife"),
        ("First name of the avatar's account: ", "Ada"),
        ("Last name [Resident]: ", ""),
        ("Password: ", "canary-one"),
        ("The same again: ", "canary-two"),
        ("type it twice", ""),
        ("Password: ", "canary-one"),
        ("The same again: ", "canary-one"),
        ("Owner's UUID [none]: ", "Olive Owner"),
        ("names are never accepted", ""),
        ("Owner's UUID [none]: ", OWNER),
        ("Persona [default]: ", ""),
        ("Preset [observer]: ", "greeter"),
        ("Model [offline]: ", ""),
        ("gridagent run --config ada.json", ""),
    ]
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "gridagent", "init", "ada.json"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**process_environment(tmp_path), "PYTHONWARNINGS": "error"},
        cwd=room,
    )
    os.close(theirs)
    shown = whole = ""
    try:
        for prompt, answer in turns:
            while prompt not in shown:
                data = read(ours)
                assert data, whole
                shown, whole = shown + data, whole + data
            shown = shown.partition(prompt)[2]
            if prompt.endswith(": "):
                os.write(ours, f"{answer}\n".encode())
        while data := read(ours):
            whole += data
        assert process.wait(timeout=10) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert "canary" not in whole
    assert "Second Life's test grid" in whole
    assert "Talks with everybody in public." in whole
    config = loaded(room, "ada.json")
    assert config.secrets["avatars.ada.password_file"].reveal() == "canary-one"
    assert config.config.policy.preset.value == "greeter"
    assert config.config.llm == Config().llm


def read(descriptor: int) -> str:
    """Read from a pseudo-terminal; the end of its other side is an error there."""
    try:
        return os.read(descriptor, 65_536).decode()
    except OSError:
        return ""
