"""From a request to an answer: which pages there are, who may see what of them, and what they say.

Owns the three pages, the rule about host names (a web page of somebody else's must not read them through a name that
points here), and the token. ``/livez`` and ``/readyz`` say one word to anybody on this machine, and which part is the
matter to whoever shows the token; ``/metrics`` wants the token. May not look at anything but `gridagent.service.api`
and the numbers it is given, and causes nothing (Spec: MND-18).

Invariant: an answer depends on the request and on what the service says now; no request changes anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final, TypeAlias

from gridagent.config.secrets import SecretStr
from gridagent.fronts.health.exchange import Answer, Asked
from gridagent.observability.metrics import TextFormat
from gridagent.observations import LinkState
from gridagent.service.api import PartState, Progress, Service

__all__ = ("Exposition", "Pages", "wanted_format")

Exposition: TypeAlias = Callable[[TextFormat], str]
"""Everything that is counted, as text."""

_METHODS: Final = ("GET", "HEAD")
_HOST: Final = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]{2,45})\]|(?P<name>[A-Za-z0-9.-]{1,255}))(?::[0-9]{1,5})?\Z")
_QUALITY: Final = re.compile(r"(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\Z")
_OPENMETRICS_VERSIONS: Final = frozenset({None, "1.0.0"})
_RANGES_MAX: Final = 32
"""Ranges of one ``Accept`` that are looked at."""

_WELL: Final = "ok"
_UNWELL: Final = "unavailable"
_ELSEWHERE: Final = Answer(status=403, body="ask by a name of this machine, such as localhost or 127.0.0.1\n")
_BAD_TARGET: Final = Answer(status=400, body="ask for a path\n")
_UNKNOWN: Final = Answer(status=404, body="there are /livez, /readyz and /metrics\n")
_ONLY_READ: Final = Answer(status=405, body="this can only be read\n", headers=(("Allow", ", ".join(_METHODS)),))
_STRANGER: Final = Answer(
    status=401,
    body="show the token: Authorization: Bearer …\n",
    headers=(("WWW-Authenticate", 'Bearer realm="gridagent"'),),
)


class Pages:
    """Answers requests about one service.

    Args:
        service: which avatars there are.
        progress: what of it makes progress.
        exposition: what is counted.
        token: opens the metrics, and the details of the other pages.
    """

    __slots__ = ("_exposition", "_progress", "_service", "_token")

    def __init__(self, service: Service, progress: Progress, exposition: Exposition, *, token: SecretStr) -> None:
        self._service = service
        self._progress = progress
        self._exposition = exposition
        self._token = token

    def answer(self, asked: Asked) -> Answer:
        """Return the answer to one request."""
        if not _is_this_machine(asked.values(b"host")):
            return _ELSEWHERE
        path = asked.target.partition("?")[0]
        if not path.startswith("/"):
            return _BAD_TARGET
        page = {"/livez": self._live, "/readyz": self._ready, "/metrics": self._metrics}.get(path)
        if page is None:
            return _UNKNOWN
        return page(asked) if asked.method in _METHODS else _ONLY_READ

    def _live(self, asked: Asked) -> Answer:
        """Whether loop and store make progress; what the grid or a model does counts for nothing."""
        parts = self._progress.parts()
        well = all(part.state is not PartState.STALLED for part in parts)
        return self._word(asked, [f"{part.kind} {part.name} {part.state.value}" for part in parts], well=well)

    def _ready(self, asked: Asked) -> Answer:
        """Whether every avatar is in the world."""
        links = [(key, self._service.avatar(key).link) for key in self._service.avatars]
        # a loop that is stuck says nothing about its connection any more
        well = self._progress.alive and all(link is LinkState.ONLINE for _, link in links)
        return self._word(asked, [f"avatar {key} {link.value}" for key, link in links], well=well)

    def _word(self, asked: Asked, lines: list[str], *, well: bool) -> Answer:
        said = [_WELL if well else _UNWELL, *(lines if self._is_trusted(asked) else ())]
        return Answer(status=200 if well else 503, body="\n".join(said) + "\n")

    def _metrics(self, asked: Asked) -> Answer:
        if not self._is_trusted(asked):
            return _STRANGER
        form = wanted_format(asked.values(b"accept"))
        return Answer(status=200, body=self._exposition(form), content_type=form.value)

    def _is_trusted(self, asked: Asked) -> bool:
        shown = asked.values(b"authorization")
        if len(shown) != 1:
            return False
        scheme, _, token = shown[0].partition(b" ")
        return scheme.lower() == b"bearer" and self._token.matches(token.strip(b" "))


def _is_this_machine(hosts: tuple[bytes, ...]) -> bool:
    """Tell whether a request was meant for this machine: who came by another name was led here."""
    if not hosts:
        return True  # HTTP/1.0; a browser always says it
    found = _HOST.match(hosts[0].decode("latin-1")) if len(hosts) == 1 else None
    if found is None:
        return False
    name = found["six"] or found["name"].lower().removesuffix(".")
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def wanted_format(accepts: tuple[bytes, ...]) -> TextFormat:
    """Choose the format that the ``Accept`` headers prefer; Prometheus' own where they say nothing."""
    best = {TextFormat.OPENMETRICS: 0.0, TextFormat.PROMETHEUS: 0.0}
    for each in b",".join(accepts).decode("latin-1").split(",")[:_RANGES_MAX]:
        kind, *parameters = (part.strip().lower() for part in each.split(";"))
        values = {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in parameters)}
        quality = values.get("q", "1")
        weight = float(quality) if _QUALITY.match(quality) else 0.0
        if kind == "application/openmetrics-text" and values.get("version") in _OPENMETRICS_VERSIONS:
            best[TextFormat.OPENMETRICS] = max(best[TextFormat.OPENMETRICS], weight)
        elif kind in {"text/plain", "text/*", "*/*"}:
            best[TextFormat.PROMETHEUS] = max(best[TextFormat.PROMETHEUS], weight)
    chosen = best[TextFormat.OPENMETRICS] > 0.0 and best[TextFormat.OPENMETRICS] >= best[TextFormat.PROMETHEUS]
    return TextFormat.OPENMETRICS if chosen else TextFormat.PROMETHEUS
