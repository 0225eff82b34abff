"""XML-RPC of the login: calls, answers, faults and hostile bodies."""

from __future__ import annotations

import tracemalloc
import xmlrpc.client

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.login.xmlrpc import RpcFault, read_response_untrusted, write_call, write_response

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\t\r\n<&>"), max_size=10
)
TEXTS = TEXTS.filter(lambda text: not {"\ufffe", "\uffff"} & set(text))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


def answer(inside: str) -> bytes:
    """Wrap a value into an answer."""
    return f"<?xml version='1.0'?><methodResponse><params><param>{inside}</param></params></methodResponse>".encode()


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_values_are_read_as_they_were_written(value) -> None:
    """Round trip of an answer; the standard library reads our calls the same way."""
    assert read_response_untrusted(write_response(value)) == value
    arguments, method = xmlrpc.client.loads(write_call("login_to_simulator", value))
    assert (arguments, method) == ((value,), "login_to_simulator")


def test_every_type_of_the_protocol_is_read() -> None:
    """Both spellings of integers, text without a type, base64, dates as text, nil, and an empty array."""
    value = (
        "<value><struct><member><name>a</name><value><i4> -7 </i4></value></member>"
        "<member><name>b</name><value><int>8</int></value></member>"
        "<member><name>c</name><value>plain</value></member>"
        "<member><name>d</name><value><base64>QUJD</base64></value></member>"
        "<member><name>e</name><value><dateTime.iso8601>20261130T09:40:20</dateTime.iso8601></value></member>"
        "<member><name>f</name><value><nil/></value></member>"
        "<member><name>g</name><value><array><data /></array></value></member>"
        "<member><name>h</name><value><double>1.5</double></value></member>"
        "<member><name>i</name> <value> <boolean>1</boolean> </value></member>"
        "<member><name>j</name><value><array></array></value></member>"
        "</struct></value>"
    )
    assert read_response_untrusted(answer(value)) == {
        "a": -7,
        "b": 8,
        "c": "plain",
        "d": b"ABC",
        "e": "20261130T09:40:20",
        "f": None,
        "g": [],
        "h": 1.5,
        "i": True,
        "j": [],
    }


def test_a_fault_is_a_value() -> None:
    """Code and text are kept, the text cut to its bound."""
    data = xmlrpc.client.dumps(xmlrpc.client.Fault(4, "no" * 2000)).encode()
    assert read_response_untrusted(data) == RpcFault(code=4, text=("no" * 2000)[:1024])


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE methodResponse [<!ENTITY a 'b'>]>" + answer("<value>&a;</value>"),
        answer("<value><int>" + "9" * 5000 + "</int></value>"),
        answer("<value><i4>2147483648</i4></value>"),
        answer("<value><double>nan</double></value>"),
        answer("<value><boolean>maybe</boolean></value>"),
        answer("<value><array><data>" * 60 + "</data></array></value>" * 60),
        answer("<value><int>1</int><int>2</int></value>"),
        answer("<value>text<int>2</int></value>"),
        answer("<value><int>2</int>text</value>"),
        answer("<value><script/></value>"),
        answer("<value><struct>text</struct></value>"),
        answer("<value><struct><member><name>a</name></member></struct></value>"),
        answer("<value><struct><member><value>a</value></member></struct></value>"),
        answer("<value><struct><member><value>a</value><name>b</name></member></struct></value>"),
        answer("<value><struct><member><name>a</name><name>b</name></member></struct></value>"),
        answer("<value><struct>" + "<member><name>a</name><value>1</value></member>" * 2 + "</struct></value>"),
        answer(""),
        answer("<value>1</value><value>2</value>"),
        b"<methodResponse><fault><value>1</value></fault></methodResponse>",
        b"<methodResponse><fault><value><struct/></value></fault></methodResponse>",
        b"<methodCall/>",
        b"<methodResponse/>",
        b"",
        b"<methodResponse>" + b" " * (8 * 1024 * 1024) + b"</methodResponse>",
    ],
)
def test_hostile_answers_are_refused_cheaply(data: bytes) -> None:
    """Document types, 5,000 digits, depth, doubled names, 8 MiB and one byte: one error, little memory. Fault: 13."""
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError):
            read_response_untrusted(data)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 400), st.dictionaries(TEXTS, VALUES, max_size=3))
def test_any_bytes_give_a_value_or_the_one_error(junk: bytes, at: int, value) -> None:
    """Junk inside a good answer raises nothing but `RemoteProtocolError`. Fault: 13."""
    good = write_response(value)
    try:
        result = read_response_untrusted(good[:at] + junk + good[at:])
    except RemoteProtocolError:
        return
    assert result is not Ellipsis


@pytest.mark.parametrize("text", ["\0", "\x1b", "\ud800", "\ufffe"])
def test_text_that_xml_cannot_carry_is_our_own_mistake(text: str) -> None:
    """It is refused before it is sent, as a value and as a name."""
    for value in ({"a": text}, {text: "a"}):
        with pytest.raises(LocalProtocolError):
            write_call("x", value)
