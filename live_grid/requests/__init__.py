"""Requests: what a viewer asks of a simulator, and what would confirm that it was done.

Import the functions from their family: `arriving`, `speaking`, `moving`, `travelling`, `answering`, `holding`,
`building`.
"""

from live_grid.requests.request import Confirmation as Confirmation
from live_grid.requests.request import Identity as Identity
from live_grid.requests.request import Request as Request

__all__ = ("Confirmation", "Identity", "Request")
