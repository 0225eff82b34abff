"""The log of a command."""

from __future__ import annotations

import io
import json
import logging

from gridagent.cli.journal import audit_sink, library_logs_into, open_journal, record_failure
from gridagent.config.model import Config
from gridagent.observability import Redactor
from gridagent.policy.audit import AuditKind, AuditRecord
from gridagent.runtime.system import SystemClock


def test_audit_records_go_to_the_log_without_empty_fields() -> None:
    """Every decision is in the log, with its rule and without text of people. Spec: POL-10, OPS-2."""
    stream = io.StringIO()
    log = open_journal(Config(), Redactor(), stream=stream, stderr=io.StringIO(), clock=SystemClock())
    record = AuditRecord(seq=3, at=1.0, kind=AuditKind.DECISION, code="held", rule="hold", action="say", digest="ab")
    audit_sink(log, "robin", record)
    line = json.loads(stream.getvalue())
    assert line["event"] == "audit"
    assert (line["avatar"], line["code"], line["rule"], line["seq"]) == ("robin", "held", "hold", 3)
    assert "effect" not in line
    assert "role" not in line


def test_what_libraries_log_goes_into_the_redacted_log_and_nowhere_else() -> None:
    """No handler of anybody else sees it meanwhile; afterwards all is as before. Spec: CFG-3. Fault: 42."""
    stream = io.StringIO()
    redactor = Redactor(["canary-5ecre7"])
    log = open_journal(Config(), redactor, stream=stream, stderr=io.StringIO(), clock=SystemClock())
    root = logging.getLogger()
    before = root.handlers[:]
    with library_logs_into(log):
        assert len(root.handlers) == 1
        logging.getLogger("somebody").warning("GET /?key=canary-5ecre7")
    assert root.handlers == before
    assert json.loads(stream.getvalue())["logger"] == "somebody"
    assert "canary" not in stream.getvalue()


def test_a_failure_is_recorded_whole_and_without_secrets(tmp_path) -> None:
    """The sentence says where; the log has the traceback; no secret is in it. Spec: CFG-3, SUP-10. Fault: 42."""
    secret = tmp_path / "password"
    secret.write_text("canary-5ecre7-passw0rd\n", encoding="utf-8")
    secret.chmod(0o600)
    config = tmp_path / "config.json"
    live = {
        "grid": {"backend": "live", "live": {"login_url": "https://login.example/login"}},
        "avatars": {"robin": {"first_name": "Robin", "password_file": str(secret)}},
        "paths": {"log_file": str(tmp_path / "log")},
    }
    config.write_text(json.dumps(live), encoding="utf-8")
    config.chmod(0o600)
    error = RuntimeError("login with canary-5ecre7-passw0rd failed")
    place = record_failure(error, config=config, environ={})
    text = (tmp_path / "log").read_text(encoding="utf-8")
    assert str(tmp_path / "log") in place
    assert "RuntimeError" in text
    assert "canary" not in text


def test_a_failure_is_recorded_while_the_configuration_is_broken(tmp_path) -> None:
    """The worst moment to lose an error is when the configuration is wrong too."""
    broken = tmp_path / "config.json"
    broken.write_text("{", encoding="utf-8")
    environ = {"GRIDAGENT_PATHS__LOG_FILE": str(tmp_path / "log")}
    assert "the whole of it is in" in record_failure(RuntimeError("x"), config=broken, environ=environ)
    assert (tmp_path / "log").exists()


def test_a_failure_is_recorded_while_everything_is_broken(tmp_path, monkeypatch) -> None:
    """Then the platform's usual place is left."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    environ = {"GRIDAGENT_NONSENSE": "1"}
    assert str(tmp_path) in record_failure(RuntimeError("x"), config=None, environ=environ)


def test_a_log_that_cannot_be_written_is_said_to_be(tmp_path) -> None:
    """There is always a sentence."""
    environ = {"GRIDAGENT_PATHS__LOG_FILE": str(tmp_path)}
    assert record_failure(RuntimeError("x"), config=None, environ=environ) == "and the log cannot be written"
