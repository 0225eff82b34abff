"""Libraries that log by themselves write through the redactor."""

from __future__ import annotations

import json
import logging

import pytest

from gridagent.config.model import LogLevel
from gridagent.observability import LibraryLogs, Redactor, open_log


@pytest.fixture
def bridged() -> tuple[logging.Logger, list[str]]:
    """A library's logger, and the lines that reach the sink."""
    lines: list[str] = []
    log = open_log(lines.append, Redactor(["canary-secret"]), level=LogLevel.DEBUG, clock=lambda: 0.0)
    logger = logging.Logger("library", level=1)  # noqa: LOG001 - of its own: the real tree stays as it is
    logger.addHandler(LibraryLogs(log))
    return logger, lines


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (5, "debug"),
        (logging.DEBUG, "debug"),
        (logging.INFO, "info"),
        (25, "info"),
        (logging.WARNING, "warning"),
        (logging.CRITICAL, "error"),
    ],
)
def test_levels_are_carried_over(bridged: tuple[logging.Logger, list[str]], level: int, name: str) -> None:
    """Each record keeps its weight, name and text. Spec: OPS-2."""
    logger, lines = bridged
    logger.log(level, "got %s", "there")
    record = json.loads(lines[0])
    assert (record["level"], record["logger"], record["text"]) == (name, "library", "got there")


def test_secrets_of_libraries_are_masked(bridged: tuple[logging.Logger, list[str]]) -> None:
    """An HTTP client prints whole URLs, and exceptions carry requests. Spec: CFG-3. Fault: 42."""
    logger, lines = bridged
    try:
        raise ValueError("canary-secret")  # noqa: TRY301 - this is the test
    except ValueError:
        logger.exception("GET https://host/?key=%s", "canary-secret")
    assert "canary-secret" not in lines[0]
    assert lines[0].count("***") >= 3


def test_a_message_that_cannot_be_formatted_is_named(bridged: tuple[logging.Logger, list[str]]) -> None:
    """A library's slip is no error of ours."""
    logger, lines = bridged
    logger.info("%d", "x")
    assert json.loads(lines[0])["text"] == "(its message cannot be formatted)"
