"""What every test stands on: Hypothesis profiles, one seeded trio schedule a test, and no network.

Owns nothing of the domain; fakes ship in the packages and strategies stand beside the tests that use them.
The clock is pytest-trio's ``autojump_clock``: ask for it by name where time passes.

Hypothesis reseeds trio's scheduler before each example, so a property test that only calls ``trio.run``
explores one schedule however many examples it draws. Draw a seed, seed trio inside the example, and assert
that more than one schedule was seen.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterator

import pytest
import trio
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from gridagent.llm.real_requests import RealRequests, allow_real_requests

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=100,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, max_examples=2_000)
settings.load_profile(PROFILE)
if PROFILE == "ci":
    # Hypothesis feeds the constants of every imported module of ours into its examples: what a property test draws
    # would depend on which other tests run beside it. Exploring keeps them, since they find things.
    providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture(autouse=True)
def trio_schedule(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own schedule, the same in every run; TRIO_SEED tries another."""
    monkeypatch.setattr(trio._core._run, "_ALLOW_DETERMINISTIC_SCHEDULING", True)
    trio._core._run._r.seed(f"{os.environ.get('TRIO_SEED', '0')}/{request.node.nodeid}")


@pytest.fixture(scope="session", autouse=True)
def _no_real_model() -> Iterator[None]:
    """Refuse every model request that leaves this machine, for the whole run."""
    with allow_real_requests(RealRequests.LOOPBACK):
        yield


class NetworkForbidden(Exception):
    """A test reached for something that is not on this machine's loopback."""


def _is_local(family: int, address: object) -> bool:
    if family not in {socket.AF_INET, socket.AF_INET6}:
        return family == socket.AF_UNIX
    host = address[0] if isinstance(address, tuple) else None
    return _is_local_host(host)


def _is_local_host(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str):
        return False
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def _network_guard() -> Iterator[list[str]]:
    """Refuse every address but loopback and Unix sockets, and every name but ``localhost``, for the whole run."""
    attempts: list[str] = []

    def forbid(what: str) -> None:
        attempts.append(what)
        raise NetworkForbidden(f"tests may only talk to the loopback interface, not {what}")

    def guarded(verb: str, position: int):
        original = getattr(socket.socket, verb)

        def call(self, *args):
            address = args[position] if len(args) > abs(position) - (position < 0) else None
            if address is not None and not _is_local(self.family, address):
                forbid(f"{verb} {address!r}")
            return original(self, *args)

        return call

    resolve = socket.getaddrinfo

    def getaddrinfo(host, *args, **kwargs):
        if not _is_local_host(host):
            forbid(f"resolve {host!r}")
        return resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for verb, position in (("connect", 0), ("connect_ex", 0), ("bind", 0), ("sendto", -1), ("sendmsg", 3)):
            patch.setattr(socket.socket, verb, guarded(verb, position))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield attempts


@pytest.fixture(autouse=True)
def network_attempts(_network_guard: list[str]) -> Iterator[list[str]]:
    """Fail a test that reached out, also when the code under test swallowed the refusal."""
    _network_guard.clear()
    yield _network_guard
    assert not _network_guard, f"this test reached for the network: {_network_guard}"
