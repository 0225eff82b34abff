"""What the doctor makes of what was found: bounds, and sentences that mend."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gridagent.cli import doctor_checks as checks
from gridagent.cli.doctor_checks import (
    CLOCK_OFF_MAX_S,
    FILES_EACH_AVATAR,
    FILES_FOR_SERVICE,
    SPACE,
    SPACE_RUNTIME,
    Directory,
    Finding,
    InWorld,
    Reached,
    Space,
    Unreached,
    Verdict,
)
from gridagent.config.load import parse_config
from gridagent.config.model import Config
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.secrets import EndpointUrl
from gridagent.errors import ConfigProblem
from gridagent.events import DisconnectCause
from gridagent.policy import Policy

MIB = 1 << 20
FILE = Path("/var/lib/gridagent/gridagent.db")
OLIVE = "5eed0000-0000-4000-8000-000000000001"


def brief(findings) -> list[tuple[str, str]]:
    """Check and verdict of each."""
    return [(each.check, each.verdict.value) for each in findings]


def test_a_configuration_is_good_or_every_problem_is_a_finding() -> None:
    """One line each, with path and way out. Spec: CFG-1, CFG-5."""
    good = list(checks.check_configuration("c.json", avatars=("robin", "wren"), where="in a grid"))
    assert brief(good) == [("configuration", "ok")]
    assert good[0].sentence == "c.json can be used: avatars robin, wren, in a grid"
    problems = [ConfigProblem(path=f"$.{each}", what="is wrong", shape="", mend="mend it") for each in "ab"]
    assert [each.sentence for each in checks.check_configuration("c.json", problems)] == [
        "$.a: is wrong; mend it",
        "$.b: is wrong; mend it",
    ]


@pytest.mark.parametrize(
    ("free", "space", "verdict", "says"),
    [
        (1024 * MIB, SPACE, "ok", "can be written, 1024 MiB free"),
        (1024 * MIB - 1, SPACE, "warning", "has 1023 MiB free, and should have 1024 MiB; free space there, or set a.b"),
        (64 * MIB, SPACE, "warning", "has 64 MiB free"),
        (64 * MIB - 1, SPACE, "problem", "has 63 MiB free, and needs 64 MiB; free space there, or set a.b"),
        (8 * MIB, SPACE_RUNTIME, "ok", "8 MiB free"),
        (MIB - 1, SPACE_RUNTIME, "problem", "has 0 MiB free, and needs 1 MiB"),
        (0, Space(2, 1), "problem", "0 MiB"),
    ],
)
def test_room_is_judged_by_what_a_directory_is_for(free, space, verdict, says) -> None:
    """A small disk in memory is enough for locks, and not for a database. Spec: OPS-1."""
    found = checks.check_directory(Directory(name="state", key="a.b", path=Path("/s"), free_bytes=free, space=space))
    assert (found.check, found.verdict.value) == ("state directory", verdict)
    assert says in found.sentence


def test_a_directory_that_cannot_be_used_says_why_and_one_to_come_is_fine() -> None:
    """With the key that moves it. Spec: OPS-1."""
    bad = Directory(name="log", key="paths.log_file", path=Path("/l"), failure="Permission denied")
    assert checks.check_directory(bad) == Finding(
        check="log directory",
        verdict=Verdict.PROBLEM,
        sentence="/l cannot be used (Permission denied); let this user write there, "
        "or set paths.log_file to another place",
    )
    coming = Directory(name="log", key="k", path=Path("/l"), exists=False, free_bytes=2048 * MIB)
    assert checks.check_directory(coming).sentence == "/l can be made, 2048 MiB free"


def test_a_database_may_be_missing_or_in_use_but_not_refused() -> None:
    """What storage says is repeated as it is. Spec: EFX-4, OPS-6."""
    found = [
        checks.check_database(FILE, begun=True),
        checks.check_database(FILE, begun=False),
        checks.check_database(FILE, begun=True, in_use=True),
        checks.check_database(FILE, begun=True, refused="it is damaged; restore a backup"),
    ]
    assert [each.verdict.value for each in found] == ["ok", "ok", "ok", "problem"]
    assert "can be used" in found[0].sentence
    assert "next start" in found[1].sentence
    assert "in use by a running service" in found[2].sentence
    assert found[3].sentence == "it is damaged; restore a backup"


def test_a_service_that_runs_is_named() -> None:
    """Nothing is wrong with that. Spec: OPS-4."""
    assert checks.check_instance({}).sentence == "no service runs here"
    running = checks.check_instance({"a service": "by process 7 since noon"})
    assert running.verdict is Verdict.OK
    assert running.sentence == "a service is running, held by process 7 since noon; ask it with: gridagent status"
    assert checks.unknown_instance("/run/x.lock", "Permission denied").verdict is Verdict.PROBLEM


def test_an_avatar_without_an_owner_is_pointed_at() -> None:
    """Each by its key; its own section counts. Spec: POL-4."""
    config = parse_config(
        msgspec.json.encode(
            {
                "avatars": {
                    "robin": {"first_name": "Robin"},
                    "wren": {"first_name": "Wren", "roles": {"owners": [OLIVE]}},
                }
            }
        )
    )
    (found,) = checks.check_roles(config)
    assert (found.verdict, found.sentence[:19]) == (Verdict.WARNING, "robin has no owner,")
    owned = msgspec.structs.replace(config, roles=RolesSection(owners=(OLIVE,)))
    assert brief(checks.check_roles(owned)) == [("roles", "ok")]


def a_policy(**section: object) -> Policy:
    """A shopkeeper's, changed."""
    return Policy(msgspec.convert({"preset": "shopkeeper", **section}, PolicySection), RolesSection())


def test_paying_without_a_yes_is_pointed_at() -> None:
    """With a budget and without one; where each payment is approved, or no door is open, all is well. Spec: POL-14."""
    free = {"approvals": {"money": "not_required"}}
    policies = {
        "asks": a_policy(),
        "watches": Policy(PolicySection(), RolesSection()),
        "pays": a_policy(**free),
        "poor": a_policy(**free, budgets={"linden": []}),
    }
    pays, poor = checks.check_policy(policies)
    assert pays.verdict is poor.verdict is Verdict.WARNING
    assert "pays may pay (through " in pays.sentence
    assert "up to its L$ budget; set policy.approvals.money to required" in pays.sentence
    assert "poor may pay" in poor.sentence
    assert "with no L$ budget" in poor.sentence
    assert "operator_console" not in pays.sentence
    assert brief(checks.check_policy({"asks": a_policy()})) == [("policy", "ok")]


def a_config(backend: str, provider: str, model: str = "https://api.example/v1?key=canary-canary") -> Config:
    """A configuration of one kind of grid and of model."""
    live = {"login_url": "https://login.example/"} if backend == "live" else {}
    robin = {"first_name": "Robin", **({"password_file": "/p"} if live else {})}
    llm = {"provider": provider, **({} if provider == "offline" else {"endpoint": model})}
    return msgspec.structs.replace(
        Config(),
        **{
            name: getattr(parse_config(msgspec.json.encode(each)), name)
            for name, each in {
                "grid": {"grid": {"backend": backend, "live": live}, "avatars": {"robin": robin}},
                "llm": {"llm": llm},
            }.items()
        },
    )


@pytest.mark.parametrize(
    ("backend", "provider", "verdict"),
    [
        ("simulated", "offline", "ok"),
        ("live", "offline", "warning"),
        ("live", "anthropic", "ok"),
        ("simulated", "anthropic", "ok"),
    ],
)
def test_the_offline_model_on_a_live_grid_is_pointed_at(backend, provider, verdict) -> None:
    """People there expect somebody who thinks; an endpoint's query is not shown. Spec: CFG-3, MND-1."""
    found = checks.check_llm(a_config(backend, provider))
    assert (found.check, found.verdict.value) == ("model", verdict)
    assert "canary" not in found.sentence


def test_what_leaves_unencrypted_is_pointed_at() -> None:
    """The login, the model; this machine itself is no wire. Spec: CFG-3, LIV-1."""
    plain, own, good = map(
        EndpointUrl, ("http://far.example/?key=canary-canary", "http://127.0.0.1:9/", "https://x.example/")
    )
    assert brief(checks.check_plain_http(own, good)) == [("encryption", "ok")]
    assert brief(checks.check_plain_http(None, None)) == [("encryption", "ok")]
    found = list(checks.check_plain_http(plain, plain))
    assert brief(found) == [("encryption", "warning")] * 2
    assert ["grid.live.login_url" in found[0].sentence, "llm.endpoint" in found[1].sentence] == [True, True]
    assert "canary" not in str(found)


def test_open_files_are_counted_by_avatar() -> None:
    """One less is a problem that says how to raise it. Spec: BND-1."""
    wanted = FILES_FOR_SERVICE + 10 * FILES_EACH_AVATAR
    assert checks.check_files(wanted, 10).verdict is Verdict.OK
    short = checks.check_files(wanted - 1, 10)
    assert short.verdict is Verdict.PROBLEM
    assert f"ulimit -n {wanted}" in short.sentence
    assert checks.check_files(None, 10).verdict is Verdict.SKIPPED


def test_a_server_answers_or_not() -> None:
    """Any answer counts; an error of its own is worth a look. Spec: OPS-1."""
    url = EndpointUrl("https://x.example/a?key=canary-canary")
    found = [checks.check_reach("grid", url, "a.b", each) for each in (Reached(405, None), Reached(503, 1.0))]
    found.append(checks.check_reach("grid", url, "a.b", Unreached("no route")))
    assert [each.verdict.value for each in found] == ["ok", "warning", "problem"]
    assert "status 503" in found[1].sentence
    assert found[2].sentence == (
        "https://x.example/a?*** cannot be reached: no route; see that a.b and this machine's network work"
    )


@pytest.mark.parametrize(
    ("tried", "verdict", "says"),
    [
        (InWorld("Stage"), "ok", "robin was in Stage, and is logged out again"),
        (None, "problem", "not in the world in time; see that a firewall"),
        (DisconnectCause.MFA_REQUIRED, "warning", "gridagent connect --code CODE"),
        (DisconnectCause.BAD_CREDENTIALS, "problem", "no such name and password; mend first_name"),
        (DisconnectCause.KICKED, "problem", "the connection ended (kicked); try again"),
    ],
)
def test_a_login_that_fails_says_what_to_mend(tried, verdict, says) -> None:
    """What passes by itself is a warning. Spec: LIV-1, OPS-1."""
    found = checks.check_login("robin", tried)
    assert (found.check, found.verdict.value, says in found.sentence) == ("login", verdict, True)


def test_every_cause_has_a_sentence() -> None:
    """None is left without a way out. Spec: OPS-1."""
    for cause in DisconnectCause:
        found = checks.check_login("robin", cause)
        assert found.verdict in {Verdict.WARNING, Verdict.PROBLEM}
        assert ";" in found.sentence, cause


@pytest.mark.parametrize(
    ("ours", "verdict", "says"),
    [
        (1_000 + CLOCK_OFF_MAX_S, "ok", "agrees with grid"),
        (1_000 - CLOCK_OFF_MAX_S, "ok", "agrees with grid"),
        (1_000 + CLOCK_OFF_MAX_S + 1, "problem", "61 s ahead of that of grid"),
        (1_000 - CLOCK_OFF_MAX_S - 1, "problem", "61 s behind that of grid"),
    ],
)
def test_a_clock_may_be_a_minute_off(ours, verdict, says) -> None:
    """More is a problem, in either direction. Spec: OPS-1."""
    found = checks.check_clock({"grid": (1_000.0, ours)})
    assert (found.verdict.value, says in found.sentence) == (verdict, True)
    assert checks.check_clock({}).verdict is Verdict.SKIPPED


def test_the_last_line_counts() -> None:
    """Each kind, the worst first. Spec: OPS-1."""
    found = [checks.skipped("a", "why"), checks.out_of_time("b", "/disk", 20.0), checks.check_instance({})]
    assert checks.last_line(found) == "1 problem, 0 warnings, 1 ok, 1 skipped"
    assert "/disk did not answer within 20 s" in found[1].sentence
