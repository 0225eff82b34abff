"""Claims about the link that the core's tests do not make."""

from random import Random

from gridagent.events import DisconnectCause
from gridagent.observations import LinkState
from gridagent.policy import Instant
from gridagent.session.link import Link
from gridagent.session.settings import SessionSettings
from gridagent.session.surroundings import Whereabouts

NOW = Instant(wall=1e9, monotonic=100.0)


class Generations:
    """A gateway that only notes which generations opened and closed."""

    def __init__(self):
        self.log = []

    def open_generation(self, generation):
        self.log.append(("open", generation))

    def close_generation(self, generation, now):
        self.log.append(("close", generation))


def link(last=0):
    """Build a link and the log of its gateway."""
    gateway = Generations()
    built = Link(
        settings=SessionSettings(key="robin", last_generation=last),
        gateway=gateway,
        where=Whereabouts(None),
        rng=Random(1),
        publish=lambda body: None,
        perform=lambda effect: None,
        fenced=lambda: gateway.log.append("fenced"),
    )
    return built, gateway.log


def test_the_gateway_hears_of_every_generation_once():
    """Spec: SUP-5 — opened and closed in turn, numbers going on from the last process."""
    line, log = link(last=7)
    line.want()
    line.end(DisconnectCause.REQUESTED, NOW)
    line.end(DisconnectCause.REQUESTED, NOW)
    assert line.cleaned_up(8, DisconnectCause.REQUESTED, NOW) is False
    line.state = LinkState.BACKOFF
    line.want()
    assert line.cleaned_up(9, DisconnectCause.CIRCUIT_LOST, NOW) is True
    assert log == [("open", 8), ("close", 8), "fenced", ("open", 9), ("close", 9), "fenced"]


def test_a_wish_while_cleaning_up_waits_and_an_end_drops_it():
    """Spec: BND-5 — wanted is remembered once, and forgotten when the connection is to end."""
    line, log = link()
    line.want()
    line.end(DisconnectCause.REQUESTED, NOW)
    line.want()
    assert line.wanted
    line.end(DisconnectCause.REQUESTED, NOW)
    assert not line.wanted
    assert log == [("open", 1), ("close", 1), "fenced"]


def test_a_pause_before_the_attempt_is_due_in_time():
    """A timer is due at its moment, not before."""
    line, _ = link()
    assert not line.due(NOW)
    line.want_after(5.0, NOW)
    assert not line.due(Instant(wall=0, monotonic=104.9))
    assert line.due(Instant(wall=0, monotonic=105.0))
