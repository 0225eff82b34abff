"""Credential-bearing values: no way out but `reveal`."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import pickle
import traceback
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.secrets import EndpointUrl, Secrets, SecretStr, derived_forms, endpoint_problem

CANARY = "cAnary-7f3a+/=&é"
QUERY_CANARY = "queryCanary0123456789"
SECRET = SecretStr(CANARY)
ENDPOINT = EndpointUrl(f"https://api.example.org:8443/v1/chat?key={QUERY_CANARY}")
VALUES = pytest.mark.parametrize("value", [SECRET, ENDPOINT], ids=["SecretStr", "EndpointUrl"])


def _leaks(text: str) -> bool:
    return any(form in text for form in derived_forms(CANARY) | derived_forms(QUERY_CANARY))


@VALUES
@pytest.mark.parametrize(
    "show",
    [
        str,
        repr,
        ascii,
        lambda value: f"{value!r}",
        lambda value: f"{value:>40}",
        lambda value: format(value, "s"),
        lambda value: "%s %r %a" % (value, value, value),  # noqa: UP031 - one of the ways out
        "{0} {0!s:>9}".format,
        lambda value: str([value, {"a": value}, (value,)]),
        lambda value: str(ValueError(value)),
        lambda value: repr(KeyError(value)),
    ],
)
def test_no_way_of_printing_shows_the_content(value: object, show: Callable[[object], str]) -> None:
    """Text forms of every kind show a mask. Spec: CFG-3. Fault: 42."""
    shown = show(value)
    assert "***" in shown
    assert not _leaks(shown)


@VALUES
@pytest.mark.parametrize(
    "carry",
    [
        pickle.dumps,
        lambda value: pickle.dumps(value, 0),
        copy.copy,
        copy.deepcopy,
        json.dumps,
        msgspec.json.encode,
        msgspec.msgpack.encode,
        msgspec.to_builtins,
        lambda value: msgspec.json.encode({"nested": [value]}),
        lambda value: value.__getstate__(),
        lambda value: value.__reduce__(),
        hash,
        vars,
        len,
        iter,
        bytes,
    ],
)
def test_no_way_of_carrying_it_off_works(value: object, carry: Callable[[object], object]) -> None:
    """Serialising, copying, hashing and taking apart are refused with an error that holds nothing. Spec: CFG-3."""
    with pytest.raises(TypeError) as caught:
        carry(value)
    assert not _leaks(str(caught.value))
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
    assert not _leaks("".join(shown))


def test_a_secret_is_not_compared_by_equality() -> None:
    """`==` and `!=` raise instead of answering, also against itself. Spec: CFG-3."""
    with pytest.raises(TypeError, match="matches"):
        assert SECRET == SECRET  # noqa: PLR0124 - this is the point
    with pytest.raises(TypeError, match="matches"):
        assert SECRET != CANARY


def test_a_secret_matches_bytes_from_outside() -> None:
    """Comparison takes bytes, so that text beyond ASCII is no error but a mismatch. Fault: 33."""
    assert SECRET.matches(CANARY.encode())
    assert not SECRET.matches("änders".encode())
    assert not SECRET.matches(b"")
    assert SECRET.reveal() == CANARY


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.org", "https://api.example.org"),
        ("https://api.example.org/v1?key=abc", "https://api.example.org/v1?***"),
        ("http://127.0.0.1:11434/v1/chat", "http://127.0.0.1:11434/v1/chat"),
        ("http://[::1]:8080/", "http://[::1]:8080/"),
        ("https://api.example.org/?", "https://api.example.org/"),
    ],
)
def test_an_endpoint_shows_all_but_its_query(url: str, shown: str) -> None:
    """The diagnostic form keeps what helps and hides the whole query. Spec: CFG-3."""
    endpoint = EndpointUrl(url)
    assert str(endpoint) == shown
    assert repr(endpoint) == f"EndpointUrl('{shown}')"
    assert endpoint.reveal() == url


@pytest.mark.parametrize(
    ("url", "phrase"),
    [
        ("ftp://host/", "does not begin with http:// or https://"),
        ("file:///etc/passwd", "does not begin with"),
        ("HTTPS://host/", "does not begin with"),
        ("//host/", "does not begin with"),
        ("", "does not begin with"),
        (" https://host/", "percent-encode"),
        ("https://host/a b", "percent-encode"),
        ("https://höst/", "percent-encode"),
        ("https://host\\@evil/", "percent-encode"),
        ("https://host/#part", "fragment"),
        ("https://host/#", "fragment"),
        ("https://user:canary@host/", "user info"),
        ("https://user@host/", "user info"),
        ("https://@host/", "user info"),
        ("https:///path", "host or port"),
        ("https://", "host or port"),
        ("https://host:0/", "host or port"),
        ("https://host:99999/", "host or port"),
        ("https://host:abc/", "host or port"),
        ("https://[::1/", "host or port"),
        ("https://[v1]/", "host or port"),
        ("https://[localhost]/", "host or port"),
        ("https://-host/", "host or port"),
        ("https://a,b/", "host or port"),
        ("https://host/" + "x" * 2_048, "longer than 2048"),
    ],
)
def test_what_is_no_endpoint_is_refused_in_words_without_content(url: str, phrase: str) -> None:
    """Scheme, fragment, user info and host are judged, and the reason quotes nothing. Spec: CFG-1, CFG-3."""
    reason = endpoint_problem(url)
    assert reason is not None
    assert phrase in reason
    assert "canary" not in reason
    with pytest.raises(ValueError, match=r"URL|char|http|fragment|user|host"):
        EndpointUrl(url)


def test_an_at_sign_in_path_or_query_is_no_user_info() -> None:
    """Only the part before the path can name a user."""
    assert endpoint_problem("https://host/@me?to=a@b") is None


@pytest.mark.parametrize(
    ("url", "encrypted", "loopback"),
    [
        ("https://host/", True, False),
        ("http://host/", False, False),
        ("http://localhost:1/", False, True),
        ("http://127.0.0.2/", False, True),
        ("http://[::1]/", False, True),
        ("http://192.0.2.1/", False, False),
        ("http://localhost.example.org/", False, False),
    ],
)
def test_an_endpoint_knows_how_it_is_reached(url: str, encrypted: bool, loopback: bool) -> None:  # noqa: FBT001 - a table
    """Rules about plain HTTP look at these."""
    endpoint = EndpointUrl(url)
    assert (endpoint.is_encrypted, endpoint.is_loopback, endpoint.has_query) == (encrypted, loopback, False)


def test_endpoints_can_be_compared() -> None:
    """A reload has to see whether one changed; other values never equal one."""
    assert EndpointUrl("https://a/?k=1") == EndpointUrl("https://a/?k=1")
    assert EndpointUrl("https://a/?k=1") != EndpointUrl("https://a/?k=2")
    assert EndpointUrl("https://a/") != "https://a/"


def test_every_form_a_secret_takes_is_known() -> None:
    """Base64, hex, URL-encoded, the login's MD5, escapes and Basic authentication. Spec: CFG-3."""
    forms = derived_forms(CANARY)
    raw = CANARY.encode()
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    cut = hashlib.md5(CANARY[:16].encode(), usedforsecurity=False).hexdigest()
    wanted = {
        CANARY,
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        raw.hex(),
        raw.hex().upper(),
        quote(CANARY, safe=""),
        quote(CANARY, safe="").lower().replace("canary", "cAnary"),
        quote_plus(CANARY),
        md5,
        md5.upper(),
        f"$1${md5}",
        f"$1${cut}",
        json.dumps(CANARY)[1:-1],
        CANARY.replace("&", "&amp;"),
        repr(raw)[2:-1],
        json.dumps(repr(raw))[3:-2],
    }
    assert wanted <= forms


@given(st.text(min_size=8, max_size=40), st.binary(max_size=12), st.binary(max_size=12))
def test_base64_around_a_secret_holds_a_known_form(secret: str, before: bytes, after: bytes) -> None:
    """Whatever stands before and behind it, as in Basic authentication, a known form is in the base64 text."""
    forms = derived_forms(secret)
    joined = before + secret.encode() + after
    for text in (base64.b64encode(joined).decode(), base64.urlsafe_b64encode(joined).decode()):
        assert any(form in text for form in forms)


def test_forms_too_short_to_look_for_are_left_out() -> None:
    """A four-letter password has no two-letter form that would blot out everything."""
    assert min(map(len, derived_forms("abcd"))) >= 4


def test_the_registry_tells_paths_and_no_content() -> None:
    """Secrets are found by path; the forms cover secrets and endpoint queries. Spec: CFG-3."""
    secrets = Secrets(
        {"llm.api_key_file": SECRET}, {"llm.endpoint": ENDPOINT, "grid.live.login_url": EndpointUrl("https://g/")}
    )
    assert secrets["llm.api_key_file"] is SECRET
    assert list(secrets) == ["llm.api_key_file"]
    assert len(secrets) == 1
    assert repr(secrets) == "<Secrets ['llm.api_key_file']>"
    assert {CANARY, QUERY_CANARY, f"key={QUERY_CANARY}"} <= secrets.forms()
    assert not any("https" in form for form in secrets.forms())


def test_short_query_values_are_hidden_with_the_whole_query_only() -> None:
    """Masking "true" wherever it stands would spoil every line."""
    forms = Secrets({}, {"e": EndpointUrl("https://h/?stream=true&a=b")}).forms()
    assert "stream=true&a=b" in forms
    assert "true" not in forms
    assert Secrets({}, {"e": EndpointUrl("https://h/?a=")}).forms() == frozenset()


def test_an_empty_registry_knows_nothing() -> None:
    """A configuration without secrets has none to hide."""
    assert Secrets().forms() == frozenset()
    assert len(Secrets()) == 0
