"""What a request is."""

from __future__ import annotations

import pytest

from live_grid.errors import LocalProtocolError
from live_grid.requests.request import Identity, text_field


def test_a_text_fits_or_is_refused() -> None:
    """The closing NUL is added and not counted; bytes count, not characters."""
    assert text_field("héllo") == "héllo".encode() + b"\0"
    assert len(text_field("x" * 254)) == 255
    with pytest.raises(LocalProtocolError, match="255 bytes where 254 fit"):
        text_field("x" * 255)
    with pytest.raises(LocalProtocolError):
        text_field("é" * 200)


def test_an_identity_shows_no_secret(me: Identity) -> None:
    """The session id is as good as being us."""
    assert me.session_id.hex() not in repr(me)
    assert me.session.agent_id == me.agent_id
