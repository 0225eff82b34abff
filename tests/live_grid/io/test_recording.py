"""Recordings of the wire: nothing secret in them, and the same story when they are run again."""

from __future__ import annotations

import msgspec
import pytest

from benchmarks.captures import datagrams
from live_grid.errors import RemoteProtocolError
from live_grid.handover.link import WebKind, WebRequest
from live_grid.io.recording import HOST, RECORD_MAX_BYTES, URLS_MAX, Recorder, replay, scrubbed_reply
from live_grid.llsd import write_llsd_xml
from live_grid.login import LoginReply
from live_grid.messages import NIL
from live_grid.packet import decode_packet_untrusted, read_message_untrusted
from tests.live_grid.handover.fake_grid import ME, FakeGrid

SESSION = bytes.fromhex("83b0803290a54c71b24bbd5076b89817")
"""The session of one of the recorded clients."""
CODE = 409555852
SECURE = b"\x5f" * 16


def reply(**changes: object) -> LoginReply:
    """A login's answer, with secrets."""
    fields: dict[str, object] = {
        "agent_id": ME,
        "session_id": SESSION,
        "secure_session_id": SECURE,
        "circuit_code": CODE,
        "sim_ip": "127.0.0.1",
        "sim_port": 9000,
        "seed_capability": "http://127.0.0.1:9000/CAPS/secret-seed/",
        "region_x": 256000,
        "region_y": 256000,
        "mfa_hash": "secret-hash",
    }
    return LoginReply(**(fields | changes))  # type: ignore[arg-type]


def request(url: str = "http://127.0.0.1:9000/CE/secret-queue") -> WebRequest:
    """A poll."""
    address = ("127.0.0.1", 9000)
    return WebRequest(address=address, kind=WebKind.POLL, url=url, body=b"", content_type="", timeout_s=1.0)


def test_no_secret_of_a_real_session_is_written() -> None:
    """Neither plain nor under zero-coding; and every packet can still be read. Spec: LIV-13, CFG-3."""
    lines: list[bytes] = []
    recorder = Recorder(reply(), now=0.0, write=lines.append)
    for one in datagrams("two_clients"):
        recorder.datagram(one.data, ("127.0.0.1", 9000), one.time, incoming=one.from_simulator)
    body = b"<llsd>http://127.0.0.1:9000/CAPS/other-secret/ 83b08032-90a5-4c71-b24b-bd5076b89817</llsd>"
    recorder.response(request(), 200, body, 1.0)
    assert recorder.skipped == 0
    text = b"".join(lines)
    assert b"secret" not in text
    for line in lines:
        record = msgspec.json.decode(line)
        data = msgspec.convert(record.get("data") or record.get("body") or "", bytes)
        assert SESSION not in data
        assert SESSION.hex()[:8].encode() not in data
        if record["what"] == "datagram":
            packet = decode_packet_untrusted(data)
            assert not packet.flags & 0x80
            read_message_untrusted(packet)
            assert CODE.to_bytes(4, "little") not in data


def test_a_reply_keeps_what_a_replay_needs() -> None:
    """Who and where; nothing that opens a door. Spec: LIV-13."""
    found = scrubbed_reply(reply(region_size_x=512))
    assert (found.agent_id, found.sim_port, found.region_size_x) == (ME, 9000, 512)
    assert found.session_id not in {SESSION, NIL}
    assert (found.secure_session_id, found.mfa_hash, found.seed_capability) == (NIL, "", f"{HOST}/0")


def test_what_cannot_be_written_is_counted() -> None:
    """Garbage, giants, and what comes after the end of the space. Spec: LIV-13."""
    lines: list[bytes] = []
    recorder = Recorder(reply(), now=0.0, write=lines.append, max_bytes=2_000)
    recorder.datagram(b"?", ("127.0.0.1", 9000), 0.0, incoming=True)
    recorder.datagram(b"\x80\0\0\0\1\0\xfe\1\1", ("127.0.0.1", 9000), 0.0, incoming=True)
    recorder.response(request(), 200, bytes(RECORD_MAX_BYTES + 1), 0.0)
    assert recorder.skipped == 3
    assert len(lines) == 1
    recorder.response(request(), 200, bytes(3_000), 0.0)
    recorder.response(request(), 200, b"", 0.0)
    assert (recorder.skipped, len(lines)) == (5, 1)


def test_addresses_are_kept_apart_up_to_a_number() -> None:
    """The same one has the same stand-in; beyond the ceiling they all look alike. Spec: BND-1."""
    lines: list[bytes] = []
    recorder = Recorder(reply(), now=0.0, write=lines.append)
    for number in range(URLS_MAX + 1):
        recorder.response(request(f"http://127.0.0.1/{number}"), 200, b"", 0.0)
    recorder.response(request("http://127.0.0.1/0"), 200, b"", 0.0)
    assert b'"url":"http://127.0.0.1:1/1"' in lines[1]
    assert b'"url":"http://127.0.0.1:1/1"' in lines[-1]
    assert b'"url":"http://127.0.0.1:1/many"' in lines[-2]


def test_a_recording_tells_the_same_story_again() -> None:
    """A login and a teleport, run through the same handlers. Spec: LIV-13."""
    lines: list[bytes] = []
    grid = RecordedGrid(lines)
    grid.enter()
    grid.plaza.events.append(grid.garden.finish())
    grid.run(3.0)
    grid.session.log_out(grid.now)
    grid.run(1.0)
    told = [type(event).__name__ for event in grid.events]
    again = [type(event).__name__ for _, event in replay(iter(lines))]
    assert again.count("RegionEntered") == told.count("RegionEntered") == 2
    assert [name for name in again if name in told][:6] == told[:6]
    assert "JourneyEnded" in again


def test_answers_to_nothing_are_passed_over() -> None:
    """A response that the session did not ask for in a replay is none. Spec: LIV-13."""
    lines: list[bytes] = []
    recorder = Recorder(reply(), now=0.0, write=lines.append)
    recorder.response(request(), 200, b"", 1.0)
    recorder.datagram(b"\0" * 8, ("127.0.0.1", 9000), 2.0, incoming=False)
    assert list(replay(iter(lines))) == []


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b"nonsense"],
        [b'{"what":"datagram","now":1.0,"address":["127.0.0.1",9000],"incoming":true,"data":""}'],
    ],
)
def test_what_is_no_recording_is_refused(lines: list[bytes]) -> None:
    """An empty one, garbage, and one without its beginning. Spec: LIV-13."""
    with pytest.raises(RemoteProtocolError):
        list(replay(iter(lines)))


class RecordedGrid(FakeGrid):
    """A fake grid that writes down what goes over its wire."""

    def __init__(self, lines: list[bytes]) -> None:
        super().__init__()
        self.recorder = Recorder(
            reply(session_id=self.session.me.session_id, circuit_code=77, seed_capability=self.plaza.seed),
            now=self.now,
            write=lines.append,
        )

    def let_speak(self, region) -> None:
        """Write down what is about to arrive."""
        session = self.session
        recorder = self.recorder

        class Tapped:
            def receive_response(self, request, status, body, now) -> None:
                recorder.response(request, status, body, now)
                session.receive_response(request, status, body, now)

            def receive_datagram_untrusted(self, data, address, now) -> None:
                recorder.datagram(data, address, now, incoming=True)
                session.receive_datagram_untrusted(data, address, now)

        self.session = Tapped()  # type: ignore[assignment]
        try:
            super().let_speak(region)
        finally:
            self.session = session

    def answer(self, request: WebRequest) -> None:
        """Write down the answer of a seed."""
        if request.kind is WebKind.SEED:
            queue = self.regions[request.address].queue
            self.recorder.response(request, 200, write_llsd_xml({"EventQueueGet": queue}), self.now)
        super().answer(request)
