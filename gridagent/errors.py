"""The error tree, sorted by who must act; the words every room raises with.

Owns the classes and their stable ``code``; may import nothing of ours. Fields are data, the
sentence is built from them, and ``__cause__`` is kept by ``raise … from``. No field ever holds a
secret: what an error carries may be shown to an operator (Spec: SUP-10, CFG-3).

    GridAgentError
    ├── ConfigError            the operator mends the configuration (lists every problem at once)
    ├── OperatorError          the operator asked for something that cannot be done as things stand
    ├── LimitExceeded          a stated bound was reached: the caller sends less, later or elsewhere
    ├── ResourceClosed         we closed it ourselves
    ├── ResourceBroken         the outside broke it
    ├── ResourceBusy           two tasks want what one may hold
    ├── LocalProtocolError     our side broke a protocol rule (a bug here)
    ├── RemoteProtocolError    the other side sent what it may not
    ├── BackendError           the grid connection failed; carries a typed cause for reconnecting
    ├── ToolRetry              the model mends its call
    ├── ToolFailed             the model adapts; calling again the same way is pointless
    ├── OutcomeUnknown         an effect may have happened; nobody may retry it blindly
    ├── AuthorityRefused       an AuthorizedAction was not honoured (forged, replayed, expired, stale)
    ├── StaleGeneration        work of an earlier connection tried to go on
    ├── IllegalTransition      a state table was given a pair it does not list
    └── InternalError          a broken promise of our own; escalates, never caught by name

Expected refusals of the policy gateway are values (`gridagent.policy.Denied`), not errors.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = (
    "AuthorityRefused",
    "BackendError",
    "ConfigError",
    "ConfigProblem",
    "GridAgentError",
    "IllegalTransition",
    "InternalError",
    "LimitExceeded",
    "LocalProtocolError",
    "OperatorError",
    "OutcomeUnknown",
    "RemoteProtocolError",
    "ResourceBroken",
    "ResourceBusy",
    "ResourceClosed",
    "StaleGeneration",
    "ToolFailed",
    "ToolRetry",
)


class GridAgentError(Exception):
    """Base of everything this package raises on purpose; cannot be raised itself."""

    code: ClassVar[str] = ""
    """Stable, documented name for logs, observers and exit codes."""

    def __init__(self, message: str) -> None:
        if not self.code:
            raise TypeError(f"{type(self).__name__} is a family; raise one of its members")
        super().__init__(message)


class ConfigProblem:
    """One thing wrong with the configuration: where, what its value looks like, how to mend it.

    ``shape`` tells a value's kind and size, never a secret's content.
    """

    __slots__ = ("mend", "path", "shape", "what")

    def __init__(self, *, path: str, what: str, shape: str, mend: str) -> None:
        self.path = path
        self.what = what
        self.shape = shape
        self.mend = mend

    def __str__(self) -> str:
        found = f" (found {self.shape})" if self.shape else ""
        return f"{self.path}: {self.what}{found}; {self.mend}"

    def __repr__(self) -> str:
        return f"ConfigProblem({self!s})"


class ConfigError(GridAgentError, ValueError):
    """The configuration cannot be used; ``problems`` lists everything wrong with it (Spec: CFG-1)."""

    code = "config_invalid"

    def __init__(self, problems: tuple[ConfigProblem, ...], *, source: str = "configuration") -> None:
        self.problems = problems
        self.source = source
        count = len(problems)
        head = f"{source} has {count} problem{'' if count == 1 else 's'}"
        super().__init__("\n  ".join([f"{head}:", *map(str, problems)]))


class OperatorError(GridAgentError):
    """A command cannot be carried out as things stand; the sentence says what, where and how to mend it."""

    code = "operator_error"


class LimitExceeded(GridAgentError, ValueError):
    """A bound was reached: ``seen`` is over ``allowed`` for ``limit``."""

    code = "limit_exceeded"

    def __init__(self, limit: str, *, allowed: float, seen: float | None = None) -> None:
        self.limit = limit
        self.allowed = allowed
        self.seen = seen
        super().__init__(f"{limit}: at most {allowed} allowed" + ("" if seen is None else f", got {seen}"))


class _ResourceError(GridAgentError):
    """Family of errors about one named resource."""

    verb: ClassVar[str] = ""

    def __init__(self, resource: str, why: str = "") -> None:
        self.resource = resource
        self.why = why
        super().__init__(f"{resource} {self.verb}" + (f": {why}" if why else ""))


class ResourceClosed(_ResourceError):
    """We closed it ourselves; stop using it."""

    code = "resource_closed"
    verb = "is closed"


class ResourceBroken(_ResourceError):
    """The outside broke it; a supervisor decides what follows."""

    code = "resource_broken"
    verb = "broke"


class ResourceBusy(_ResourceError):
    """Somebody else holds what only one may hold."""

    code = "resource_busy"
    verb = "is busy"


class LocalProtocolError(GridAgentError):
    """Our side broke a protocol rule: a bug here, not there."""

    code = "local_protocol_error"


class RemoteProtocolError(GridAgentError):
    """The other side sent what it may not; the input is dropped, the connection usually lives."""

    code = "remote_protocol_error"


class BackendError(GridAgentError):
    """The grid connection failed. ``cause`` is a `gridagent.events.DisconnectCause` value.

    ``detail`` is text from outside: it goes to the redacted log and nowhere else (Spec: SUP-10).
    """

    code = "backend_failed"

    def __init__(self, cause: str, *, detail: str = "") -> None:
        self.cause = cause
        self.detail = detail
        super().__init__(f"grid connection failed: {cause}")


class ToolRetry(GridAgentError):
    """The model can mend its call and try again."""

    code = "tool_retry"


class ToolFailed(GridAgentError):
    """The tool cannot do it; the model must adapt."""

    code = "tool_failed"


class OutcomeUnknown(GridAgentError):
    """An effect may or may not have happened; only evidence or an operator settles it."""

    code = "outcome_unknown"


class AuthorityRefused(GridAgentError):
    """An `AuthorizedAction` was not honoured; ``reason`` is one of `gridagent.policy.RedeemRefusal`."""

    code = "authority_refused"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"authorisation refused: {reason}")


class StaleGeneration(GridAgentError):
    """Work of generation ``seen`` arrived while ``current`` is live; it was fenced."""

    code = "stale_generation"

    def __init__(self, *, seen: int, current: int) -> None:
        self.seen = seen
        self.current = current
        super().__init__(f"generation {seen} is over; {current} is current")


class IllegalTransition(GridAgentError):
    """The state table ``table`` lists no row for (``state``, ``input``)."""

    code = "illegal_transition"

    def __init__(self, table: str, state: str, given: str) -> None:
        self.table = table
        self.state = state
        self.given = given
        super().__init__(f"{table}: no transition from {state} on {given}")


class InternalError(GridAgentError):
    """A promise of our own was broken; it escalates to the top and is a bug."""

    code = "internal_error"
