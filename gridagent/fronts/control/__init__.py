"""The control endpoint: how commands, and the kill switch, reach a running service (Spec: OPS-6).

=================  ==================================================================
`words`            requests and replies, one struct each
`frames`           one JSON text a line, bounded, decoded strictly
`conversation`     the server's side of one connection, sans-IO
`server`           trio: connections, deadlines, performing requests
`client`           trio: the other end, for the command line and for tools
`rendezvous`       the files of the runtime directory by which a client finds a server
=================  ==================================================================

The protocol is described in ``docs/reference/control-endpoint.md``.
"""

from __future__ import annotations

from gridagent.fronts.control.client import ControlClient as ControlClient
from gridagent.fronts.control.client import EndpointRefused as EndpointRefused
from gridagent.fronts.control.client import NotRunning as NotRunning
from gridagent.fronts.control.client import open_client as open_client
from gridagent.fronts.control.limits import ControlLimits as ControlLimits
from gridagent.fronts.control.rendezvous import Endpoint as Endpoint
from gridagent.fronts.control.rendezvous import RuntimeDirectory as RuntimeDirectory
from gridagent.fronts.control.server import ControlServer as ControlServer
from gridagent.fronts.control.server import serve_control as serve_control

__all__ = (
    "ControlClient",
    "ControlLimits",
    "ControlServer",
    "Endpoint",
    "EndpointRefused",
    "NotRunning",
    "RuntimeDirectory",
    "open_client",
    "serve_control",
)
