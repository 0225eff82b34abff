"""Asking a grid where one logs in, while a configuration is written.

Owns the way to the installed look-up, which comes through an entry point, and the judgement of what a grid says: its
word is text from outside, and a login address is where a password goes (Spec: LIV-1, LIV-14). `gridagent.cli.init`
calls it; a running service never does.
"""

from __future__ import annotations

from typing import Final, cast
from urllib.parse import urlsplit

import attrs
import trio

from gridagent.cli.entry_points import DISCOVERY, load_entry_point
from gridagent.cli.safe_text import shown
from gridagent.config.secrets import EndpointUrl, endpoint_problem
from gridagent.errors import OperatorError
from gridagent.grid.discovery import DiscoverGrid

__all__ = ("LookedUp", "look_up")

_NAME_MAX: Final = 64


@attrs.frozen(kw_only=True)
class LookedUp:
    """What a grid said, once it is known to be an address."""

    name: str
    """What it calls itself, fit to be shown."""
    login_url: str
    elsewhere: bool
    """Its login is on another host than the one that was asked, or loses its encryption: somebody has to agree."""


def look_up(url: str) -> LookedUp:
    """Ask a grid about itself; blocks until it answered or cannot.

    Args:
        url: any address of the grid that is an endpoint.

    Raises:
        NotInstalled: nothing installed asks grids.
        OperatorError: nobody answers, or nothing that can be used.
    """
    discover = cast("DiscoverGrid", load_entry_point(DISCOVERY, "live", extra="live"))
    found = trio.run(discover, url)
    problem = endpoint_problem(found.login_url)
    if problem is not None:
        raise OperatorError(f"the grid names a login address that {problem}; ask its people for the right one")
    asked, login = EndpointUrl(url), EndpointUrl(found.login_url)
    return LookedUp(
        name=shown(found.name, _NAME_MAX) or "a grid without a name",
        login_url=found.login_url,
        elsewhere=_host(url) != _host(found.login_url) or (asked.is_encrypted and not login.is_encrypted),
    )


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".")
