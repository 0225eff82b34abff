"""What went over the wire, with its secrets taken out, and the way back from a recording to a session.

Owns the format (one JSON object a line), the scrubbing, and the replay. Session ids, circuit codes and the addresses
of capabilities are keys: a datagram is written with its zeros expanded and every secret in it overwritten, an address
is replaced by one that leads nowhere, the same one each time. Logins are never recorded, only what they led to
(Spec: LIV-13; CFG-3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from live_grid.addresses import HostPolicy
from live_grid.circuit import Address
from live_grid.errors import LimitReached, RemoteProtocolError
from live_grid.handover import GridSession, SessionEvent, SessionSettings, WebRequest
from live_grid.handover.link import WebKind
from live_grid.login import LoginReply
from live_grid.messages import BY_NUMBER
from live_grid.packet.codec import APPENDED_ACKS, HEADER_BYTES, ZEROCODED, decode_packet_untrusted

__all__ = ("Recorder", "Recording", "replay", "scrubbed_reply")

URLS_MAX: Final = 4_096
"""Addresses kept apart; beyond, they all look the same."""
RECORD_MAX_BYTES: Final = 256 * 1024
"""One body; a longer one is left out and counted."""
SESSION: Final = b"\x5e" * 16
CODE: Final = 0x5EC0DE
HOST: Final = "http://127.0.0.1:1"
_URL: Final = re.compile(rb"https?://[^\s<>\"']{1,2048}")


class _Start(msgspec.Struct, frozen=True, kw_only=True, tag="start", tag_field="what"):
    now: float
    reply: LoginReply


class _Datagram(msgspec.Struct, frozen=True, kw_only=True, tag="datagram", tag_field="what"):
    now: float
    address: Address
    incoming: bool
    data: bytes


class _Response(msgspec.Struct, frozen=True, kw_only=True, tag="response", tag_field="what"):
    now: float
    address: Address
    kind: WebKind
    url: str
    status: int
    body: bytes


Recording = _Start | _Datagram | _Response
"""One line of a recording."""


def scrubbed_reply(reply: LoginReply) -> LoginReply:
    """Take the secrets out of a login's answer, and what a replay has no use for."""
    return msgspec.structs.replace(
        reply,
        session_id=SESSION,
        secure_session_id=bytes(16),
        circuit_code=CODE,
        seed_capability=f"{HOST}/0",
        mfa_hash="",
        message="",
        inventory_skeleton=(),
        library_skeleton=(),
    )


class Recorder:
    """Writes down one session.

    Args:
        reply: the login's answer; its secrets are what is taken out.
        now: seconds.
        write: takes each line, with its line break.
        max_bytes: of the whole recording; then nothing more is written.
    """

    __slots__ = ("_encode", "_left", "_secrets", "_urls", "_write", "skipped")

    def __init__(
        self, reply: LoginReply, *, now: float, write: Callable[[bytes], object], max_bytes: int = 64 * 1024 * 1024
    ) -> None:
        self._write = write
        self._left = max_bytes
        self._encode = msgspec.json.Encoder().encode
        self._secrets = (
            (reply.session_id, SESSION),
            (reply.secure_session_id, bytes(16)),
            (reply.circuit_code.to_bytes(4, "little"), CODE.to_bytes(4, "little")),
        )
        self._urls: dict[bytes, bytes] = {reply.seed_capability.encode(): f"{HOST}/0".encode()}
        self.skipped = 0
        """Lines that did not fit."""
        self._put(_Start(now=now, reply=scrubbed_reply(reply)))

    def datagram(self, data: bytes, address: Address, now: float, *, incoming: bool) -> None:
        """Write a datagram down."""
        try:
            found = _plain(data)
        except RemoteProtocolError:
            self.skipped += 1
            return
        for secret, stand_in in self._secrets:
            found = found.replace(secret, stand_in)
        self._put(_Datagram(now=now, address=address, incoming=incoming, data=found))

    def response(self, request: WebRequest, status: int, body: bytes, now: float) -> None:
        """Write a response of a seed or an event queue down."""
        if len(body) > RECORD_MAX_BYTES:
            self.skipped += 1
            return
        url = self._stand_in(request.url.encode()).decode()
        text = _URL.sub(lambda match: self._stand_in(match[0]), body)
        for secret in self._secrets[:2]:
            text = text.replace(_hyphened(secret[0]), _hyphened(secret[1]))
        self._put(_Response(now=now, address=request.address, kind=request.kind, url=url, status=status, body=text))

    def _stand_in(self, url: bytes) -> bytes:
        found = self._urls.get(url)
        if found is None:
            if len(self._urls) >= URLS_MAX:
                return f"{HOST}/many".encode()
            found = self._urls[url] = f"{HOST}/{len(self._urls)}".encode()
        return found

    def _put(self, record: Recording) -> None:
        line = self._encode(record) + b"\n"
        if len(line) > self._left:
            self._left = 0
            self.skipped += 1
            return
        self._left -= len(line)
        self._write(line)


def _hyphened(uuid: bytes) -> bytes:
    text = uuid.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])).encode()


def _plain(data: bytes) -> bytes:
    """Write a datagram without zero-coding, so that what it holds can be found in it.

    Raises:
        RemoteProtocolError: it is no packet.
    """
    packet = decode_packet_untrusted(data)
    if not packet.flags & ZEROCODED:
        return data
    header = BY_NUMBER.get(packet.number)
    if header is None or packet.extra_bytes:
        raise RemoteProtocolError("a packet that nobody can read")
    tail = data[len(data) - 1 - 4 * data[-1] :] if packet.flags & APPENDED_ACKS else b""
    flags = packet.flags & ~ZEROCODED
    return bytes((flags,)) + data[1:HEADER_BYTES] + header.prefix + packet.body() + tail


def replay(lines: Iterator[bytes], *, settings: SessionSettings | None = None) -> Iterator[tuple[float, SessionEvent]]:
    """Run a recording through a session and yield what happens, with its time.

    Args:
        lines: of a recording, the first one first.
        settings: as the session had them.

    Raises:
        RemoteProtocolError: it is no recording.
    """
    decode = msgspec.json.Decoder(Recording).decode
    policy = HostPolicy(hosts=frozenset({"127.0.0.1"}), any_public_host=True, http=True, loopback=True, private=True)
    session: GridSession | None = None
    open_requests: dict[tuple[Address, WebKind, str], WebRequest] = {}
    for line in lines:
        try:
            record = decode(line)
        except (msgspec.DecodeError, ValueError):
            raise RemoteProtocolError("a line is no record of a session") from None
        if isinstance(record, _Start):
            session = GridSession(record.reply, policy=policy, now=record.now, settings=settings)
            continue
        if session is None:
            raise RemoteProtocolError("a recording starts with the login's answer")
        _catch_up(session, record.now, open_requests)
        if isinstance(record, _Response):
            request = open_requests.pop((record.address, record.kind, record.url), None)
            if request is not None:
                session.receive_response(request, record.status, record.body, record.now)
        elif record.incoming:
            session.receive_datagram_untrusted(record.data, record.address, record.now)
        while (event := session.next_event(record.now)) is not None:
            yield record.now, event
    if session is None:
        raise RemoteProtocolError("a recording starts with the login's answer")


def _catch_up(session: GridSession, now: float, open_requests: dict[tuple[Address, WebKind, str], WebRequest]) -> None:
    """Do what the shell did between two records: turn the clock, take requests, let datagrams go."""
    due = session.get_timer()
    while due is not None and due <= now:
        session.handle_timer(due)
        session.datagrams_to_send(due)
        following = session.get_timer()
        due = following if following is not None and following > due else None
    session.datagrams_to_send(now)
    while (request := session.next_request(now)) is not None:
        if len(open_requests) >= URLS_MAX:
            raise LimitReached("requests of a replay", allowed=URLS_MAX)
        open_requests[request.address, request.kind, request.url] = request
