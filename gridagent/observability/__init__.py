"""Seeing what the service does: the redacted log, and a bridge for libraries that log by themselves.

Mechanism only, no domain words (Spec: OPS-2, CFG-3).
"""

from __future__ import annotations

from gridagent.observability.bridge import LibraryLogs as LibraryLogs
from gridagent.observability.logs import Log as Log
from gridagent.observability.logs import LogStatistics as LogStatistics
from gridagent.observability.logs import TextStream as TextStream
from gridagent.observability.logs import open_log as open_log
from gridagent.observability.redaction import Redactor as Redactor

__all__ = ("LibraryLogs", "Log", "LogStatistics", "Redactor", "TextStream", "open_log")
