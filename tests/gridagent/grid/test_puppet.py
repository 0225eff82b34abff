"""Claims about the backend moved by hand."""

import pytest
import trio

from gridagent.errors import BackendError
from gridagent.events import DisconnectCause, TransportUp
from gridagent.grid.puppet import Puppet


class Sink:
    """Keeps what is put."""

    def __init__(self):
        self.events = []

    async def send(self, event):
        await trio.lowlevel.checkpoint()
        self.events.append(event)


async def test_it_says_only_what_it_was_told_to():
    """A puppet may log in without becoming ready, or say nothing at all."""
    for log_in, ready, said in ((True, False, 1), (False, True, 1), (False, False, 0), (True, True, 2)):
        puppet = Puppet()
        puppet.log_in, puppet.become_ready = log_in, ready
        backend = puppet(generation=1, redeem=None)
        backend.end()
        sink = Sink()
        await backend.run(sink)
        assert len(sink.events) == said
        assert backend.logged_in is (log_in or ready)
        assert not backend.running


async def test_a_refused_login_carries_its_cause_and_its_text_apart():
    """Spec: SUP-10 — the cause is typed, the grid's words are a detail for the log."""
    puppet = Puppet()
    puppet.refuse_login, puppet.detail = DisconnectCause.BANNED, "go away"
    with pytest.raises(BackendError) as caught:
        await puppet(generation=1, redeem=None).run(Sink())
    assert (caught.value.cause, caught.value.detail) == ("banned", "go away")


async def test_pushing_before_it_runs_is_a_mistake_of_the_test():
    """The puppet says so instead of losing the event."""
    puppet = Puppet()
    backend = puppet(generation=1, redeem=None)
    with pytest.raises(RuntimeError, match="has not been run"):
        await backend.push(TransportUp(avatar_id="00000000-0000-4000-8000-000000000001", name="x"))
    assert puppet.now is backend
