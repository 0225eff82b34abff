"""Records of libraries that log by themselves (HTTP client and servers), led into the redacted log.

Owns one standard-library handler. The composition root installs it once and takes every other handler away, so
that no library writes past the redactor: some print whole URLs with their query (Spec: CFG-3).
"""

from __future__ import annotations

import logging

from gridagent.observability.logs import Log

__all__ = ("LibraryLogs",)


class LibraryLogs(logging.Handler):
    """Hands each record on, with the library's logger name as a field."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; what cannot be formatted is named, not raised."""
        try:
            text = record.getMessage()
        except (TypeError, ValueError, KeyError):
            text = "(its message cannot be formatted)"
        write = self._log.debug
        for least, method in (
            (logging.ERROR, self._log.error),
            (logging.WARNING, self._log.warning),
            (logging.INFO, self._log.info),
        ):
            if record.levelno >= least:
                write = method
                break
        error = record.exc_info[1] if record.exc_info else None
        write("library_log", logger=record.name, text=text, **({"exc_info": error} if error else {}))
