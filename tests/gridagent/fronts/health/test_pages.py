"""Which pages there are, and who sees what of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.secrets import SecretStr
from gridagent.fronts.health.exchange import Asked
from gridagent.fronts.health.pages import Pages, wanted_format
from gridagent.observability.metrics import TextFormat
from gridagent.observations import LinkState
from gridagent.service.api import Part, PartState

TOKEN = "canary-70ken-health"
BEARER = (b"authorization", b"Bearer " + TOKEN.encode())


class Service:
    """Avatars and where their connections stand."""

    def __init__(self, **links: LinkState) -> None:
        self._links = links
        self.avatars = tuple(links)

    def avatar(self, key: str) -> SimpleNamespace:
        """One avatar."""
        return SimpleNamespace(link=self._links[key])


class Progress:
    """What is known of the parts."""

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def parts(self) -> tuple[Part, ...]:
        """All of them."""
        return self._parts

    @property
    def alive(self) -> bool:
        """None is stalled."""
        return all(part.state is not PartState.STALLED for part in self._parts)


def part(name: str, state: PartState, kind: str = "avatar") -> Part:
    """One part."""
    return Part(kind=kind, name=name, state=state)


def pages(progress: Progress | None = None, **links: LinkState) -> Pages:
    """Pages about avatars."""
    given_links = links or {"robin": LinkState.ONLINE}
    parts = [part(name, PartState.TURNING) for name in given_links]
    return Pages(
        Service(**given_links),  # type: ignore[arg-type]
        progress or Progress(*parts),  # type: ignore[arg-type]
        lambda form: f"numbers as {form.name}\n",
        token=SecretStr(TOKEN),
    )


def ask(
    target: str, *headers: tuple[bytes, bytes], method: str = "GET", host: bytes | None = b"localhost:8719"
) -> Asked:
    """A request."""
    hosts = () if host is None else ((b"host", host),)
    return Asked(method=method, target=target, headers=(*hosts, *headers))


# --- the pages ------------------------------------------------------------------------------------


def test_one_word_is_all_that_a_stranger_is_told() -> None:
    """Well or not, and nothing of which avatar. Spec: OPS-3."""
    sick = Progress(part("robin", PartState.STALLED), part("ledger", PartState.SAFE_MODE, "store"))
    for target in ("/livez", "/readyz", "/livez?verbose"):
        well, unwell = pages().answer(ask(target)), pages(sick).answer(ask(target))
        assert (well.status, well.body) == (200, "ok\n")
        assert (unwell.status, unwell.body) == (503, "unavailable\n")


def test_the_token_shows_which_part_it_is() -> None:
    """One part a line, with one word; safe mode is alive and shows. Spec: OPS-3, EFX-4."""
    sick = Progress(
        part("robin", PartState.STALLED), part("wren", PartState.TURNING), part("ledger", PartState.SAFE_MODE, "store")
    )
    answer = pages(sick).answer(ask("/livez", BEARER))
    assert (answer.status, answer.body.splitlines()) == (
        503,
        ["unavailable", "avatar robin stalled", "avatar wren turning", "store ledger safe_mode"],
    )
    mended = Progress(part("ledger", PartState.SAFE_MODE, "store"))
    assert pages(mended).answer(ask("/livez", BEARER)).status == 200


def test_a_wrong_token_counts_as_none_where_none_is_needed() -> None:
    """A probe with yesterday's token must not kill the service. Spec: OPS-3."""
    answer = pages().answer(ask("/livez", (b"authorization", b"Bearer old")))
    assert (answer.status, answer.body) == (200, "ok\n")


@pytest.mark.parametrize("link", [link for link in LinkState if link is not LinkState.ONLINE])
def test_who_is_not_in_the_world_makes_it_unready_and_not_dead(link: LinkState) -> None:
    """The grid's trouble is said where it belongs. Spec: OPS-3."""
    both = pages(robin=LinkState.ONLINE, wren=link)
    ready, live = (both.answer(ask(target, BEARER)) for target in ("/readyz", "/livez"))
    assert (ready.status, ready.body.splitlines()) == (
        503,
        ["unavailable", "avatar robin online", f"avatar wren {link.value}"],
    )
    assert live.status == 200


def test_an_avatar_whose_loop_is_stuck_is_not_ready_either() -> None:
    """What it last said of its connection is worth nothing. Spec: OPS-3."""
    stuck = Progress(part("robin", PartState.STALLED))
    assert pages(stuck).answer(ask("/readyz")).status == 503


def test_the_metrics_come_in_the_format_that_is_preferred() -> None:
    """With their content type. Spec: OPS-2."""
    answer = pages().answer(ask("/metrics", BEARER))
    assert (answer.status, answer.body, answer.content_type) == (
        200,
        "numbers as PROMETHEUS\n",
        "text/plain; version=0.0.4; charset=utf-8",
    )
    answer = pages().answer(ask("/metrics", BEARER, (b"accept", b"application/openmetrics-text")))
    assert answer.body == "numbers as OPENMETRICS\n"
    assert answer.content_type.startswith("application/openmetrics-text; version=1.0.0")


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shown",
    [
        (),
        (b"Bearer wrong",),
        (b"Bearer ",),
        (b"Bearer",),
        (b"",),
        (b"Basic " + TOKEN.encode(),),
        (TOKEN.encode(),),
        (b"Bearer " + TOKEN.encode() + b"x",),
        (b"Bearer " + TOKEN[:-1].encode(),),
        (b"Bearer \xff\xfe\x00",),
        (b"Bearer " + TOKEN.encode(), b"Bearer " + TOKEN.encode()),
        (b"Bearer " + b"x" * 4_000,),
    ],
)
def test_without_the_token_the_metrics_are_one_and_the_same_refusal(shown: tuple[bytes, ...]) -> None:
    """Absent, wrong, not even text, or twice. Spec: OPS-2. Fault: 33."""
    answer = pages().answer(ask("/metrics", *((b"authorization", value) for value in shown)))
    assert answer == pages().answer(ask("/metrics"))
    assert answer.status == 401
    assert dict(answer.headers)["WWW-Authenticate"].startswith("Bearer")
    assert TOKEN not in answer.body


@pytest.mark.parametrize("shown", [b"Bearer " + TOKEN.encode(), b"bearer  " + TOKEN.encode() + b" "])
def test_the_scheme_is_no_matter_of_capitals(shown: bytes) -> None:
    """As the standard has it."""
    assert pages().answer(ask("/metrics", (b"authorization", shown))).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *(b"evil.example", b"localhost.evil.example", b"evil.example:8719", b"127.0.0.1.evil.example", b"192.0.2.7"),
        *(b"169.254.169.254", b"[::2]", b"", b"localhost:", b"localhost:port", b"a@localhost", b"localhost/x", b"\xff"),
        *(b"127.0.0.1:99999999", b"[::1", b"::1", b"0.0.0.0", b"localhost evil", b"127.1", b"2130706433"),
    ],
)
def test_a_name_that_was_led_here_is_refused_whatever_it_shows(host: bytes) -> None:
    """A page of somebody else's reads nothing through a name that points to this machine. Fault: 31."""
    for target in ("/livez", "/readyz", "/metrics", "/none"):
        assert pages().answer(ask(target, BEARER, host=host)).status == 403


@pytest.mark.parametrize(
    "host",
    [b"localhost", b"LOCALHOST:1", b"localhost.", b"127.0.0.1", b"127.0.0.2:8719", b"[::1]:8719", b"[::1]", None],
)
def test_every_name_of_this_machine_is_good(host: bytes | None) -> None:
    """By any port, since a tunnel may bring its own; HTTP/1.0 says none."""
    assert pages().answer(ask("/livez", host=host)).status == 200


def test_two_hosts_are_none() -> None:
    """The parser refuses them already; here they would be refused too. Fault: 31."""
    assert pages().answer(ask("/livez", (b"host", b"localhost"))).status == 403


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/", "GET", 404),
        ("/livez/", "GET", 404),
        ("/LIVEZ", "GET", 404),
        ("//livez", "GET", 404),
        ("/../livez", "GET", 404),
        ("/metrics", "POST", 405),
        ("/livez", "DELETE", 405),
        ("/livez", "get", 405),
        ("/livez", "OPTIONS", 405),
        ("*", "OPTIONS", 400),
        ("localhost:80", "CONNECT", 400),
        ("http://evil.example/livez", "GET", 400),
        ("/livez", "HEAD", 200),
    ],
)
def test_only_three_pages_can_be_read(target: str, method: str, status: int) -> None:
    """And nothing can be written; who may is told."""
    answer = pages().answer(ask(target, BEARER, method=method))
    assert answer.status == status
    assert ("Allow", "GET, HEAD") in answer.headers or status != 405


# --- which format ---------------------------------------------------------------------------------

PROMETHEUS_2 = (
    b"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    b"text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    b"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    b"application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    b"text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ((), TextFormat.PROMETHEUS),
        ((b"",), TextFormat.PROMETHEUS),
        ((b"*/*",), TextFormat.PROMETHEUS),
        ((b"text/html",), TextFormat.PROMETHEUS),
        ((PROMETHEUS_2,), TextFormat.OPENMETRICS),
        ((PROMETHEUS_3,), TextFormat.OPENMETRICS),
        ((b"text/plain", b"Application/OpenMetrics-Text"), TextFormat.OPENMETRICS),
        ((b"application/openmetrics-text;q=0.5,text/plain",), TextFormat.PROMETHEUS),
        ((b"application/openmetrics-text;q=0",), TextFormat.PROMETHEUS),
        ((b"application/openmetrics-text;q=nan",), TextFormat.PROMETHEUS),
        ((b"application/openmetrics-text;version=0.0.1",), TextFormat.PROMETHEUS),
        ((b",".join([b"a/b"] * 64) + b",application/openmetrics-text",), TextFormat.PROMETHEUS),
    ],
)
def test_the_format_follows_what_is_accepted(accept: tuple[bytes, ...], form: TextFormat) -> None:
    """As Prometheus asks, and Prometheus' own for whoever says nothing. Spec: OPS-2."""
    assert wanted_format(accept) is form


@given(st.lists(st.binary(max_size=60), max_size=4))
def test_any_accept_header_gives_a_format(accepts: list[bytes]) -> None:
    """It never raises. Spec: OPS-2."""
    assert wanted_format(tuple(accepts)) in TextFormat


@given(st.binary(max_size=80), st.binary(max_size=80), st.text(st.characters(max_codepoint=127), max_size=40))
def test_any_header_gives_an_answer(host: bytes, shown: bytes, target: str) -> None:
    """It never raises, and never is the token in it. Spec: CFG-3."""
    answer = pages().answer(ask(target, (b"authorization", shown), host=host))
    assert answer.status in {200, 400, 401, 403, 404}
    assert TOKEN not in repr(answer)
