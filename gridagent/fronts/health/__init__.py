"""The health endpoint: what supervisors, probes and collectors ask a running service (Spec: OPS-2, OPS-3).

=================  ==================================================================
`exchange`         the server's side of one HTTP/1.1 connection, sans-IO, over `h11`
`pages`            from a request to an answer: who may see what, and what it says
`server`           trio: connections, deadlines, sending
`limits`           every bound
=================  ==================================================================

What each page means is described in ``docs/how-to/keep-it-running.md``.
"""

from __future__ import annotations

from gridagent.fronts.health.limits import HealthLimits as HealthLimits
from gridagent.fronts.health.pages import Pages as Pages
from gridagent.fronts.health.server import HealthServer as HealthServer
from gridagent.fronts.health.server import serve_health as serve_health

__all__ = ("HealthLimits", "HealthServer", "Pages", "serve_health")
