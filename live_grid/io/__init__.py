"""The shells: a socket, HTTP, logging in, one nursery a session, its health, and recordings of the wire."""

from live_grid.io.client import GridClient as GridClient
from live_grid.io.client import ReadLarge as ReadLarge
from live_grid.io.door import LoginFailed as LoginFailed
from live_grid.io.door import ask_grid as ask_grid
from live_grid.io.door import find_login_url as find_login_url
from live_grid.io.door import log_in as log_in
from live_grid.io.health import Health as Health
from live_grid.io.network import Network as Network
from live_grid.io.network import RealNetwork as RealNetwork
from live_grid.io.recording import Recorder as Recorder
from live_grid.io.recording import replay as replay
from live_grid.io.trust import is_second_life as is_second_life
from live_grid.io.trust import trust_in as trust_in
from live_grid.io.udp import UdpSocket as UdpSocket
from live_grid.io.web import Web as Web
from live_grid.io.web import WebFailed as WebFailed

__all__ = (
    "GridClient",
    "Health",
    "LoginFailed",
    "Network",
    "ReadLarge",
    "RealNetwork",
    "Recorder",
    "UdpSocket",
    "Web",
    "WebFailed",
    "ask_grid",
    "find_login_url",
    "is_second_life",
    "log_in",
    "replay",
    "trust_in",
)
