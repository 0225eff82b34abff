"""What an operator is told of a login that was refused for good."""

from __future__ import annotations

import pytest

from gridagent.cli.blocked import awaits_code, what_helps
from gridagent.events import DisconnectCause
from gridagent.observations import LinkState
from gridagent.session.reconnect import RECONNECT, Retry


@pytest.mark.parametrize("cause", [cause for cause, retry in RECONNECT.items() if retry is Retry.NEVER])
def test_every_cause_that_blocks_has_its_mend(cause: DisconnectCause) -> None:
    """A code is given while the service runs; everything else wants a restart. Spec: SUP-6, OPS-1."""
    by_code = cause in {DisconnectCause.MFA_REQUIRED, DisconnectCause.MFA_REFUSED}
    assert ("gridagent connect --code CODE" in what_helps(cause.value)) is by_code
    assert ("start again" in what_helps(cause.value)) is not by_code


class Status:
    """As much of a status as is looked at."""

    def __init__(self, link: LinkState, last_error: str) -> None:
        self.link, self.last_error = link, last_error


def test_only_who_is_blocked_for_a_code_awaits_one() -> None:
    """Not who was asked for one and is in the world by now. Spec: SUP-6."""
    blocked, online = LinkState.AUTHENTICATION_BLOCKED, LinkState.ONLINE
    assert awaits_code(Status(blocked, "mfa_required"))
    assert awaits_code(Status(blocked, "mfa_refused"))
    assert not awaits_code(Status(blocked, "banned"))
    assert not awaits_code(Status(online, "mfa_required"))
