"""A session over real sockets on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.handover import EndCause, GridSession, SessionEnded, SessionEvent, SessionSettings, TravelTimes
from live_grid.handover.events import How, RegionEntered
from live_grid.io.client import GridClient
from live_grid.io.recording import Recorder, replay
from live_grid.io.udp import UdpSocket
from live_grid.io.web import Web, WebFailed
from live_grid.login import LoginReply
from live_grid.messages import NIL
from live_grid.messages.speech import ChatFromSimulator
from live_grid.packet import encode_packet
from live_grid.requests.speaking import say
from live_grid.requests.travelling import teleport
from tests.live_grid.handover.fake_grid import ME, POLICY, SESSION, disabled
from tests.live_grid.io.loopback import RealRegion

pytestmark = pytest.mark.slow


class Scene:
    """Two regions and a client."""

    def __init__(self, client_settings: SessionSettings, lines: list[bytes]) -> None:
        self.plaza, self.garden = RealRegion("Plaza", 256000), RealRegion("Garden", 256256)
        self.events: list[SessionEvent] = []
        self.lines = lines
        self._settings = client_settings
        self._changed = trio.Event()
        self.udp = UdpSocket("127.0.0.1")
        self.web = Web()
        self.client: GridClient

    def connect(self, *, recorded: bool = True) -> None:
        """Make a client that has logged in to the plaza."""
        host, port = self.plaza.region.address
        reply = LoginReply(
            agent_id=ME,
            session_id=SESSION,
            secure_session_id=b"\x5f" * 16,
            circuit_code=77,
            sim_ip=host,
            sim_port=port,
            seed_capability=self.plaza.region.seed,
            region_x=256000,
            region_y=256000,
            first_name="Mia",
            last_name="Mine",
        )
        now = trio.current_time()
        session = GridSession(reply, policy=POLICY, now=now, settings=self._settings)
        recorder = Recorder(reply, now=now, write=self.lines.append) if recorded else None
        self.client = GridClient(
            session, udp=self.udp, web=self.web, policy=POLICY, on_event=self._on_event, recorder=recorder
        )

    def _on_event(self, event: SessionEvent) -> None:
        self.events.append(event)
        self._changed.set()

    async def wait_for(self, name: str, count: int = 1) -> list[SessionEvent]:
        """Wait until something has happened so often."""
        with trio.fail_after(60):
            while len(found := [event for event in self.events if type(event).__name__ == name]) < count:
                self._changed = trio.Event()
                await self._changed.wait()
        return found


@asynccontextmanager
async def scene(*, times: TravelTimes | None = None) -> AsyncIterator[Scene]:
    """Regions that serve and a client that runs."""
    found = Scene(SessionSettings(times=times or TravelTimes()), [])
    async with trio.open_nursery() as nursery:
        await nursery.start(found.plaza.serve)
        await nursery.start(found.garden.serve)
        found.connect()
        with found.udp:
            yield found
            await found.web.aclose()
        nursery.cancel_scope.cancel()


@pytest.fixture
def fast() -> trio.testing.MockClock:
    """A clock on which pauses pass ten times as fast."""
    return trio.testing.MockClock(rate=10.0)


def chat(text: bytes) -> ChatFromSimulator:
    """Words of somebody."""
    return ChatFromSimulator(chat_data=ChatFromSimulator.ChatData(b"Ben\0", NIL, NIL, 1, 1, 1, (0.0, 0.0, 0.0), text))


async def test_a_session_lives_over_real_sockets(fast) -> None:
    """In, heard, gone elsewhere, and out again with a goodbye to the queue. Spec: LIV-7, LIV-14, SUP-9."""
    async with scene() as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.client.run)
        (entered,) = await here.wait_for("RegionEntered")
        assert entered == RegionEntered(How.LOGIN, "Plaza", (10.0, 20.0, 30.0), 256, 256)
        here.plaza.region.send(chat(b"hello\0"))
        await here.wait_for("ChatHeard")
        here.client.send(say(here.client.session.me, "hi"))
        await here.wait_for("RequestDelivered")
        here.client.send(teleport(here.client.session.me, here.garden.region.handle, (1.0, 2.0, 3.0)))
        here.plaza.tell(here.garden.region.finish())
        await here.wait_for("RegionEntered", 2)
        here.client.session.body.face(45.0, trio.current_time())
        here.client.nudge()
        health = here.client.health()
        assert health.links == 2
        assert health.web_requests >= 4
        with pytest.raises(LocalProtocolError, match="bytes"):
            here.client.send(say(here.client.session.me, "x" * 2_000))
        here.client.session.log_out(trio.current_time())
        here.client.nudge()
        assert await here.wait_for("SessionEnded") == [SessionEnded(EndCause.LOGGED_OUT)]
    assert "LogoutRequest" in here.garden.region.names()
    assert here.plaza.polls >= 1
    replayed = [type(event).__name__ for _, event in replay(iter(here.lines))]
    assert {"RegionEntered", "ChatHeard"} <= set(replayed)
    assert b"5f5f5f5f" not in b"".join(here.lines)


async def test_a_cancelled_session_can_still_say_goodbye(fast) -> None:
    """Once: the second time does nothing. Spec: SUP-9."""
    async with scene() as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.client.run)
            await here.wait_for("RegionEntered")
            nursery.cancel_scope.cancel()
        await here.client.leave()
        await here.client.leave()
        assert here.events[-1] == SessionEnded(EndCause.LOGGED_OUT)
        assert here.plaza.region.names().count("LogoutRequest") == 1
        assert here.plaza.farewells <= 1


async def test_a_goodbye_that_nobody_answers_ends_in_time(fast) -> None:
    """The session's own bound, whatever the grid does. Spec: SUP-9."""
    async with scene() as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.client.run)
            await here.wait_for("RegionEntered")
            nursery.cancel_scope.cancel()
        here.plaza.deaf = True
        began = trio.current_time()
        await here.client.leave()
        assert trio.current_time() - began < 10
        assert here.events[-1] == SessionEnded(EndCause.LOGGED_OUT)


async def test_last_words_follow_an_end_we_did_not_choose(fast) -> None:
    """The grid may think that we are still there. Spec: SUP-9. Fault: 7, 8."""
    async with scene() as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.client.run)
            await here.wait_for("RegionEntered")
            here.plaza.region.send(disabled())
            await here.wait_for("SessionEnded")
        assert here.events[-1] == SessionEnded(EndCause.REGION_DOWN)
        await here.client.leave()
        await trio.sleep(2.0)
        assert "LogoutRequest" in here.plaza.region.names()


async def test_a_flood_is_handed_out_bit_by_bit(fast) -> None:
    """Between two looks at the socket a bounded number of events; none is lost. Spec: LIV-9. Fault: 6."""
    async with scene() as here, trio.open_nursery() as nursery:
        here.connect(recorded=False)
        nursery.start_soon(here.client.run)
        await here.wait_for("RegionEntered")
        circuit = here.plaza.region.circuit
        assert circuit is not None
        for _ in range(10):
            for _ in range(80):
                circuit.send(chat(b"spam\0"), reliable=False)
            await trio.sleep(1.0)
        await here.wait_for("ChatHeard", 800)
        for sequence in range(5_000, 5_600):
            data = encode_packet(chat(b"more\0"), sequence=sequence)
            here.client.session.receive_datagram_untrusted(data, here.plaza.region.address, trio.current_time())
        here.client.nudge()
        await here.wait_for("ChatHeard", 1_400)
        nursery.cancel_scope.cancel()


async def test_capabilities_answer_in_llsd(fast) -> None:
    """One that is not offered, one that refuses, and an address that may not be asked. Spec: LIV-4. Fault: 10."""
    async with scene() as here, trio.open_nursery() as nursery:
        with pytest.raises(WebFailed, match="not offered"):
            await here.client.ask_capability("Fetch", {})
        nursery.start_soon(here.client.run)
        await here.wait_for("RegionEntered")
        for _ in range(100):
            if here.client.session.capability("Fetch") is None:
                await trio.sleep(0.1)
        assert await here.client.ask_capability("Fetch", {"folders": []}) == {"asked": True}
        with pytest.raises(WebFailed, match="status 404"):
            await here.client.ask_address(here.plaza.http.url("/fetch?no"), b"", content_type="text/plain")
        with pytest.raises(RemoteProtocolError):
            await here.client.ask_address("http://169.254.169.254/", b"", content_type="text/plain")
        nursery.cancel_scope.cancel()


async def test_a_queue_that_breaks_is_told_to_the_session(fast) -> None:
    """No connection is a failure, not a crash. Spec: LIV-4."""
    async with scene() as here, trio.open_nursery() as nursery:
        here.plaza.region.seed = "http://127.0.0.1:9/"
        here.connect()
        nursery.start_soon(here.client.run)
        await here.wait_for("PartDegraded")
        assert here.client.health().web_failures >= 1
        nursery.cancel_scope.cancel()
