"""The redactor: no form of a known secret comes out, and nothing grows without bound."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gridagent.config.secrets import Secrets, SecretStr, derived_forms
from gridagent.observability.redaction import BYTES_MAX, ITEMS_MAX, TEXT_MAX_CHARS, Redactor, represent

SECRET = 'hunter2-Canary&"é'
REDACTOR = Redactor(derived_forms(SECRET))
MANY = Redactor(form for number in range(64) for form in derived_forms(f"other-secret-{number * 7919}"))
CROWD = Redactor(
    {*derived_forms(SECRET), *(form for number in range(64) for form in derived_forms(f"other-secret-{number * 7919}"))}
)


@pytest.mark.parametrize("redactor", [REDACTOR, CROWD], ids=["few", "many"])
@pytest.mark.parametrize(
    "dress",
    [
        lambda raw: raw.decode(),
        lambda raw: base64.b64encode(raw).decode(),
        lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
        lambda raw: base64.b64encode(b"Ada:" + raw).decode(),
        lambda raw: raw.hex(),
        lambda raw: quote(raw.decode(), safe=""),
        lambda raw: hashlib.md5(raw, usedforsecurity=False).hexdigest(),
        lambda raw: "$1$" + hashlib.md5(raw[:16], usedforsecurity=False).hexdigest(),
        lambda raw: json.dumps(raw.decode()),
        repr,
        lambda raw: json.dumps(repr(raw)),
        lambda raw: raw.decode().replace("&", "&amp;").replace('"', "&quot;"),
    ],
)
def test_every_dress_of_a_secret_is_masked(redactor: Redactor, dress: object) -> None:
    """As it is, encoded, escaped, hashed as the login sends it. Spec: CFG-3. Fault: 42."""
    assert callable(dress)
    shown = dress(SECRET.encode())
    text = f"before {shown} after"
    scrubbed = redactor.scrub(text)
    assert "***" in scrubbed
    assert scrubbed.startswith("before ")
    assert scrubbed.endswith(" after")
    assert not any(form in scrubbed for form in derived_forms(SECRET))


def test_innocent_text_is_left_as_it_is() -> None:
    """Only known secrets are masked."""
    for redactor in (Redactor(), REDACTOR, CROWD):
        assert redactor.scrub("a perfectly innocent text, hunter3") == "a perfectly innocent text, hunter3"


@given(
    st.lists(st.text(min_size=4, max_size=12), min_size=1, max_size=6),
    st.lists(st.text(max_size=12) | st.integers(0, 5), max_size=12),
)
def test_no_known_secret_survives_in_any_text(secrets: list[str], parts: list[str | int]) -> None:
    """Whatever stands around secrets, and whatever they share, none is left whole. Spec: CFG-3. Fault: 42."""
    assume(not any("*" in secret for secret in secrets))
    text = "".join(part if isinstance(part, str) else secrets[part % len(secrets)] for part in parts)
    few = Redactor(secrets)
    many = Redactor([*secrets, *(f"filler-{number}" for number in range(400))])
    for scrubbed in (few.scrub(text), many.scrub(text)):
        assert not any(secret in scrubbed for secret in secrets)
    assert few.scrub(text) == many.scrub(text) or "filler" in text


def test_bytes_are_masked_without_being_text() -> None:
    """Recordings of binary data keep every other byte."""
    data = b"\xff\xfe" + SECRET.encode() + b"\x00\x80"
    assert REDACTOR.scrub_bytes(data) == b"\xff\xfe***\x00\x80"


@pytest.mark.parametrize("method", ["scrub", "bound"])
@pytest.mark.parametrize("redactor", [REDACTOR, Redactor()], ids=["known", "nothing known"])
def test_a_cut_does_not_part_a_secret(redactor: Redactor, method: str) -> None:
    """What is longer than the bound loses its end, and half a secret goes with it."""
    for inside in range(len(SECRET)):
        text = "x" * (TEXT_MAX_CHARS - inside) + SECRET
        cut = getattr(redactor, method)(text)
        assert len(cut) < TEXT_MAX_CHARS + 10
        assert cut.endswith("…[cut]")
        if redactor is REDACTOR:
            assert "hun" not in cut
    assert getattr(redactor, method)("short") == "short"


class Level(StrEnum):
    HIGH = "high"


class Row(msgspec.Struct, frozen=True):
    name: str
    secret: SecretStr


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError(SECRET)


class Telling:
    def __repr__(self) -> str:
        return f"<Telling {SECRET} at 0x7f00deadbeef>"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (2.5, 2.5),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (2**64, "integer of 65 bits"),
        (10**4_000, "integer of 13288 bits"),
        ("text", "text"),
        ("half \ud800", "half ?"),
        (Level.HIGH, "high"),
        (b"\x00ab", "b'\\x00ab'"),
        (b"x" * (BYTES_MAX + 1), f"{BYTES_MAX + 1} bytes"),
        ((1, [2, {3}]), [1, [2, [3]]]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({"a": {"b": SECRET}, 5: 6}, {"a": {"b": "***"}, "5": 6}),
        ({SECRET: 1}, {"***": 1}),
        (Row("Ada", SecretStr(SECRET)), {"name": "Ada", "secret": "SecretStr('***')"}),
        (Secrets({"key": SecretStr(SECRET)}), {"key": "SecretStr('***')"}),
        (ValueError(SECRET), "ValueError('***')"),
        (SECRET.encode(), "b'***'"),
        (bytearray(SECRET.encode()), "bytearray(b'***')"),
        (Telling(), "<Telling ***>"),
        (Broken(), "<Broken whose repr raised RuntimeError>"),
    ],
)
def test_any_value_becomes_plain_and_clean(value: object, plain: object) -> None:
    """Numbers stay numbers, structures stay structures, secrets go. Spec: CFG-3, OPS-2."""
    made = REDACTOR.plain(value)
    assert made == plain
    msgspec.json.encode(made)


def test_a_number_that_is_a_secret_is_masked() -> None:
    """A PIN in digits is a secret in any type."""
    assert Redactor(["4711"]).plain([4711, 47110, 1234]) == ["***", "***0", 1234]


def test_depth_and_width_are_bounded() -> None:
    """A structure that goes on for ever is cut, and says so."""
    deep: list[object] = []
    for _ in range(50):
        deep = [deep]
    assert REDACTOR.plain(deep) == [[[[[[[["…[cut]"]]]]]]]]
    loop: dict[str, object] = {}
    loop["again"] = loop
    assert "…[cut]" in str(REDACTOR.plain(loop))
    wide = REDACTOR.plain(list(range(1_000)))
    assert isinstance(wide, list)
    assert (len(wide), wide[-1]) == (ITEMS_MAX + 1, "…[cut]")
    broad = REDACTOR.plain({str(number): number for number in range(1_000)})
    assert isinstance(broad, Mapping)
    assert (len(broad), broad["…[cut]"]) == (ITEMS_MAX + 1, True)


def test_the_redactor_does_not_show_what_it_knows() -> None:
    """It is the one object that holds every form. Spec: CFG-3."""
    assert repr(Redactor(["hunter2-Canary"])) == "<Redactor 1 forms>"
    assert repr(Redactor(["", "abcd"])) == "<Redactor 1 forms>"


def test_addresses_are_left_out() -> None:
    """They differ between two runs of the same seed. Spec: SIM-2."""
    assert "0x" not in represent(object())


def test_a_secret_that_comes_later_is_masked_from_then_on() -> None:
    """The newest of a name counts, and what was loaded stays known. Spec: CFG-3. Fault: 42."""
    redactor = Redactor(derived_forms(SECRET))
    assert redactor.scrub("code 246810") == "code 246810"
    redactor.learn("avatars.ada.code", derived_forms("246810"))
    assert redactor.scrub(f"code 246810 beside {SECRET}") == "code *** beside ***"
    assert redactor.plain({"code": 246810}) == {"code": "***"}
    redactor.learn("avatars.ada.code", derived_forms("135791"))
    assert redactor.scrub("246810, 135791") == "246810, ***"
