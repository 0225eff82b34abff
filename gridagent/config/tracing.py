"""The configuration section ``tracing``: whether spans leave the process, and where to (Spec: OPS-2).

Owns the keys with their bounds; decides nothing: `gridagent.cli.tracing` reads the section. May import only L0. Its
invariant: nothing is traced unless it is asked for, and no words of anybody go out unless that is asked for too.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from gridagent.config.fields import FilePath, HeaderName, SecretFile
from gridagent.config.secrets import EndpointUrl
from gridagent.limits import Name

__all__ = ("TracingSection",)


class TracingSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Spans of turns, tool calls and actions, for a collector of traces; needs the extra ``otel``."""

    enabled: bool = False
    """Trace at all."""
    endpoint: EndpointUrl | None = None
    """The one exact URL of a collector that takes OTLP over HTTP as JSON, usually ending in ``/v1/traces``."""
    allow_plain_http: bool = False
    """Let spans (and the token) go over unencrypted HTTP to another machine."""
    token_file: SecretFile | None = None
    """File that holds the collector's token; null for collectors without one."""
    token_header: HeaderName = "Authorization"  # noqa: S105 - the name of a header
    """Header that carries the token. In ``Authorization`` a token of one word goes as ``Bearer``."""
    file: FilePath | None = None
    """File to write instead, one OTLP message in JSON a line; bounded as the log is (``log.max_bytes``,
    ``log.keep_files``)."""
    service_name: Annotated[Name, Meta(min_length=1)] = "gridagent"
    """What this service is called among all that the collector knows."""
    sample: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0
    """Part of all traces that is kept; each is kept or left out whole."""
    content: bool = False
    """Also send the beginning of what the avatar says. What people say to it is never sent."""
