"""A stage for session tests: one session over a puppet backend, with a policy wide enough to act."""

from __future__ import annotations

from contextlib import asynccontextmanager

import msgspec
import pytest
import trio

from gridagent.config.policy import PolicySection, RolesSection
from gridagent.grid.puppet import Puppet
from gridagent.mind import QuietMind
from gridagent.policy import Gateway, Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.session import OnBackendFailure, Session, SessionHandle, SessionSettings

OWNER = "00000000-0000-4000-8000-0000000000aa"
BUDGETS = {
    meter: [{"per": "global", "limit": 1000, "window_s": 60}]
    for meter in (
        "calls.speak", "calls.move", "calls.interact", "calls.money", "calls.direct_message", "withdrawals",
        "speech_bytes", "ims", "metres", "linden",
    )
}  # fmt: skip


def policy(**section):
    """Build a policy under which the operator and the owner may do most things."""
    raw = {
        "preset": "observer",
        "matrix": {
            "operator_console": dict.fromkeys(
                ("speak", "move", "interact", "money", "direct_message", "social", "animate", "teleport"), "owner"
            ),
            "public_chat": {"speak": "anyone", "move": "owner", "money": "owner"},
        },
        "budgets": BUDGETS,
        **section,
    }
    return Policy(msgspec.convert(raw, PolicySection), RolesSection(owners=(OWNER,)))


class Stage:
    """One session and everything round it."""

    def __init__(self, *, mind=None, seed=0, section=None, reload=None, **settings):
        settings = {"key": "robin", "on_backend_failure": OnBackendFailure.RECONNECT, **settings}
        self.puppet = Puppet()
        self.audit = []
        self.errors = []
        self.ports = simulated_ports(seed)
        self.gateway = Gateway(
            policy(**(section or {})), tokens=lambda: self.ports.ids.token(16), audit=self.audit.append
        )
        self.session = Session(
            settings=SessionSettings(**settings),
            gateway=self.gateway,
            mind=mind or QuietMind(),
            backend=self.puppet,
            ports=self.ports,
            log_error=lambda code, error: self.errors.append((code, error)),
            reload=reload,
        )
        self.handle = SessionHandle(self.session)
        self.seen = []

    @property
    def core(self):
        return self.session.core

    def bodies(self, kind):
        """Observed bodies of one kind, in order."""
        return [o.body for o in self.seen if isinstance(o.body, kind)]

    @asynccontextmanager
    async def running(self):
        """Run the session, collect every observation, and stop it at the end."""
        with self.handle.observe("stage") as subscription:
            async with trio.open_nursery() as nursery:

                async def collect():
                    async for observation in subscription:
                        self.seen.append(observation)

                nursery.start_soon(collect)
                nursery.start_soon(self.session.run)
                yield self
                self.handle.close()


@pytest.fixture
def stage():
    """The class, to be built inside the test's own trio run."""
    return Stage
