"""Claims about the database of a service that is stopped, from the command line."""

from __future__ import annotations

import json

import msgspec
import pytest
import trio

from gridagent.actions import InDoubt, PayAvatar
from gridagent.authority import Origin, Principal, Provenance
from gridagent.cli.archive import open_archive
from gridagent.cli.places import database_of, find_places
from gridagent.cli.stopped import StoppedDatabase
from gridagent.config.load import load_config
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.controls import RequestAction
from gridagent.errors import OperatorError
from gridagent.events import ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.ids import AvatarKey
from gridagent.mind import Proposal, QuietMind
from gridagent.observations import AgentState
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.storage.base import LedgerInUse, StorageFailed, StorageFault
from gridagent.storage.database import Holder, open_database
from gridagent.storage.files import SystemFiles

OLIVE = "5eed0000-0000-4000-8000-000000000001"
CONFIG = {
    "avatars": {"robin": {"first_name": "Robin", "last_name": "Resident"}},
    "grid": {"simulated": {"scenario": "quiet-room"}},
    "roles": {"owners": [OLIVE]},
    "policy": {
        "preset": "shopkeeper",
        "patterns": {"secret": {"action": "say", "argument": "text", "contains": ["secret"], "then": "approve"}},
    },
}


@pytest.fixture
def lived(gridagent):
    """The command line after a service ran and was stopped; it keeps its database."""
    config = gridagent.write("c.json", json.dumps(CONFIG))
    gridagent.environ["GRIDAGENT_CONFIG"] = str(config)
    done = gridagent("run", "--for", "20s", "--plain", stdin="say hello\nhold\n")
    assert (done.code, done.err) == (0, "")
    assert f"what must survive is kept in {gridagent.room / 'state' / 'gridagent.db'}" in done.out
    return gridagent


def test_the_audit_trail_is_read_when_no_service_runs(lived) -> None:
    """By time and kind, or the newest; people and programs. Spec: OPS-6, POL-10."""
    done = lived("audit", "--since", "1h", "--kind", "hold", "--json")
    (row,) = (json.loads(line) for line in done.out.splitlines())
    assert (done.code, row["avatar"], row["record"]["code"], row["run"]) == (0, "robin", "held", 1)
    newest = lived("audit", "--last", "2")
    assert len(newest.out.splitlines()) == 2
    assert "held" in newest.out
    assert lived("audit", "--until", "2001-01-01").out == ""
    assert lived("audit", "--avatar", "wren").out == ""


def test_the_trail_is_verified_exported_and_the_database_copied(lived) -> None:
    """As while it runs; a file that exists is never written over. Spec: OPS-6, POL-10."""
    done = lived("audit", "verify")
    assert (done.code, "fit together; newest digest" in done.out) == (0, True)
    export = lived.room / "audit.jsonl"
    assert lived("audit", "export", str(export)).code == 0
    lines = export.read_text(encoding="utf-8").splitlines()
    assert {"hold"} <= {json.loads(line).get("kind") for line in lines}
    copy = lived.room / "copy.db"
    done = lived("backup", str(copy), "--json")
    assert (done.code, json.loads(done.out)["bytes"]) == (0, copy.stat().st_size)
    again = lived("backup", str(copy))
    assert (again.code, "there is a file at" in again.err) == (5, True)
    again = lived("audit", "export", str(export))
    assert (again.code, "there is a file at" in again.err) == (5, True)


def test_a_changed_record_shows(lived) -> None:
    """One byte of an older record is changed; verification says so and ends with storage's code. Spec: POL-10."""
    path = lived.room / "state" / "gridagent.db"
    database = open_database(str(path), files=SystemFiles(), holder=Holder(pid=1, since="now"), new_ledger="")
    database.connection.execute("UPDATE audit SET kind = 'policy' WHERE row = 1")
    database.close()
    done = lived("audit", "verify")
    assert (done.code, "the audit trail was changed" in done.out) == (9, True)


def test_the_kill_switch_survives_a_restart_and_the_newer_database_refuses(lived) -> None:
    """Held before, held after; a newer schema is named with the way out. Spec: POL-12, EFX-4."""
    again = lived("run", "--for", "5s", "--plain")
    assert again.code == 0
    path = lived.room / "state" / "gridagent.db"
    database = open_database(str(path), files=SystemFiles(), holder=Holder(pid=1, since="now"), new_ledger="")
    database.connection.execute("PRAGMA user_version = 99")
    database.close()
    for command in (("run", "--for", "5s"), ("audit", "verify")):
        done = lived(*command)
        assert done.code == 9
        assert "was written by a newer gridagent (schema 99" in done.err
        assert "restore a backup" in done.err


def test_a_missing_database_is_never_begun_anew_beside_its_traces(lived) -> None:
    """The sentence says how to restore, or how to begin anew on purpose. Spec: EFX-4."""
    (lived.room / "state" / "gridagent.db").unlink()
    done = lived("run", "--for", "5s")
    assert (done.code, "says that one was begun here: restore a backup" in done.err) == (9, True)
    assert not (lived.room / "state" / "gridagent.db").exists()


def test_a_second_user_of_the_database_is_refused_by_name(lived) -> None:
    """Also with a runtime directory of its own; the holder is named. Spec: OPS-4."""
    path = lived.room / "state" / "gridagent.db"
    holding = open_database(str(path), files=SystemFiles(), holder=Holder(pid=4711, since="noon"), new_ledger="")
    try:
        for command in (("run", "--for", "5s"), ("audit",), ("status",)):
            done = lived(*command)
            assert done.code == 8
            assert "is in use by process 4711 since noon" in done.err
        with pytest.raises(LedgerInUse):
            StoppedDatabase(path, (), since="now")
    finally:
        holding.close()


def test_status_and_approvals_of_a_stopped_service_say_so(lived) -> None:
    """Nothing is in doubt and nothing waits; the exit code still says that no service runs. Spec: OPS-6."""
    done = lived("status")
    assert (done.code, done.out) == (4, "no service runs; start it with: gridagent run\n")
    assert lived("status", "--json").out == ""
    assert lived("approvals").out == "nothing waits for an answer, and no service runs\n"
    assert lived("approvals", "--json").out == ""
    assert lived("approvals", "allow", "0f3a").code == 4
    assert lived("storage").code == 4


def test_without_a_database_it_is_as_if_nothing_ran(gridagent) -> None:
    """The demonstration leaves none behind. Spec: OPS-6."""
    done = gridagent("run", "--for", "5s")
    assert "kept in memory, and end with this run" in done.out
    for command in (("audit",), ("status",), ("backup", "x.db")):
        assert gridagent(*command).code == 4
    assert not (gridagent.room / "state" / "gridagent.db").exists()


def test_a_broken_configuration_does_not_hide_that_nothing_runs(gridagent) -> None:
    """With the place named on the command line the file is not needed. Spec: OPS-6."""
    broken = gridagent.write("broken.json", "{")
    done = gridagent("status", "--config", str(broken), "--runtime-dir", str(gridagent.room / "run"))
    assert (done.code, "no service runs" in done.err) == (4, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "export"), "FILE is missing"),
        (("audit", "verify", "x"), "takes no FILE"),
        (("audit", "--since", "yesterday"), "is no moment"),
        (("grants", "give"), "as JSON are missing"),
        (("grants", "revoke"), "ID is missing"),
    ],
)
def test_wrong_words_are_one_sentence(gridagent, words, said) -> None:
    """Before anything is opened. Spec: OPS-1."""
    done = gridagent(*words)
    assert (done.code, said in done.err) == (2, True)


def test_the_database_lies_in_the_state_directory(gridagent) -> None:
    """At an absolute path. Spec: OPS-7."""
    places = find_places(load_config(None, gridagent.environ).paths)
    assert database_of(places) == gridagent.room / "state" / "gridagent.db"
    assert AvatarKey("robin") in load_config(None, gridagent.environ).avatars


def _full(*arguments):
    raise StorageFailed(StorageFault.DISK_FULL)


async def _lost(action):
    await trio.lowlevel.checkpoint()
    return InDoubt(reason="no_evidence")


async def test_what_waits_and_what_is_in_doubt_is_read_from_the_file(autojump_clock, tmp_path, monkeypatch) -> None:
    """Exactly what a running service would show, and nothing of what ended. Spec: POL-7, EFX-2, OPS-6."""
    path, ports, puppet = tmp_path / "gridagent.db", simulated_ports(1), Puppet()
    puppet.applier = _lost
    section = {
        "preset": "observer",
        "budgets": {
            meter: [{"per": "global", "limit": 100, "window_s": 86400}]
            for meter in ("calls.money", "linden", "calls.speak", "speech_bytes")
        },
        "matrix": {"direct_im": {"money": "owner"}},
    }
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(msgspec.convert(section, PolicySection), RolesSection(owners=(OLIVE,))),
        mind=Paying(),
        backend=puppet,
    )
    opened = open_archive(path, ports=ports, pid=1, since="now", report=lambda code, error: None)
    async with opened as archive, open_service([spec], ports=ports, store=archive.store) as service:
        robin = service.avatar()
        await robin.wait_agent(AgentState.RUNNING)
        await robin.control(RequestAction(action=PayAvatar(to=OLIVE, amount=5)))
        await puppet.now.push(
            ImReceived(utterance_id="u1", source=Speaker(kind=SpeakerKind.AVATAR, id=OLIVE), text="pay me")
        )
        await trio.sleep(1)
        (waiting,) = robin.status().gateway.approvals
        (effect,) = robin.status().gateway.in_doubt
    now = ports.clock.wall()
    with StoppedDatabase(path, ("robin", "wren"), since="now") as database:
        (row,) = database.approvals(now)
        assert (row.approval_id, row.summary, row.principal) == (waiting.approval_id, waiting.summary, OLIVE)
        assert 0.0 < row.expires_in_s <= spec.policy.approval_ttl_s
        assert database.approvals(now + spec.policy.approval_ttl_s + 1.0) == ()
        (doubt,) = database.in_doubt()
        assert (doubt.effect, doubt.action, doubt.nonce) == (effect, "pay_avatar", effect[:16])
        assert doubt.since is not None
        assert 0.0 <= now - doubt.since < 10.0
        assert "amount=5" in doubt.summary
        assert "transaction history" in doubt.look_at
        with pytest.raises(OperatorError, match="there is a file at"):
            database.back_up(str(path))
        with monkeypatch.context() as patch:
            patch.setattr("gridagent.cli.stopped.PagedBackup.step", _full)
            with pytest.raises(StorageFailed):
                database.back_up(str(tmp_path / "copy.db"))
            patch.setattr("gridagent.cli.stopped.export_segment", _full)
            with pytest.raises(StorageFailed):
                database.export(str(tmp_path / "audit.jsonl"))
        assert {each.name for each in tmp_path.iterdir()} & {"copy.db", "copy.db.part", "audit.jsonl"} == set()


class Paying(QuietMind):
    """A mind that pays whoever asks."""

    def hear(self, event, around, now):
        if not isinstance(event, ImReceived):
            return ()
        who = Principal(avatar_id=event.source.id)
        return (
            Proposal(
                action=PayAvatar(to=event.source.id, amount=7),
                principal=who,
                origin=Origin.DIRECT_IM,
                cause=event.utterance_id,
                target_provenance=Provenance.AUTHORISED_WORDS,
            ),
        )
