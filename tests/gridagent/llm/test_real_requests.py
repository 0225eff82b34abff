"""The switch that keeps tests from asking a real model."""

from __future__ import annotations

import pytest

from gridagent.errors import InternalError
from gridagent.llm.real_requests import RealRequests, allow_real_requests, check_real_request, real_requests


@pytest.mark.parametrize(
    ("allowed", "loopback", "passes"),
    [
        (RealRequests.ANYWHERE, False, True),
        (RealRequests.ANYWHERE, True, True),
        (RealRequests.LOOPBACK, False, False),
        (RealRequests.LOOPBACK, True, True),
        (RealRequests.NOWHERE, False, False),
        (RealRequests.NOWHERE, True, False),
    ],
)
def test_each_position_lets_through_what_it_says(allowed: RealRequests, *, loopback: bool, passes: bool) -> None:
    """A forbidden request is a bug, which no fallback line hides."""
    with allow_real_requests(allowed):
        assert real_requests() is allowed
        if passes:
            check_real_request(loopback=loopback)
        else:
            with pytest.raises(InternalError, match="forbidden"):
                check_real_request(loopback=loopback)


def test_blocks_nest_and_end() -> None:
    """What held before holds again, also after an error."""
    before = real_requests()
    with allow_real_requests(RealRequests.NOWHERE):
        with pytest.raises(ZeroDivisionError), allow_real_requests(RealRequests.ANYWHERE):
            raise ZeroDivisionError
        assert real_requests() is RealRequests.NOWHERE
    assert real_requests() is before
