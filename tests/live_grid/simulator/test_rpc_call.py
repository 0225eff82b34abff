"""XML-RPC calls from outside."""

from __future__ import annotations

import xmlrpc.client

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live_grid.errors import RemoteProtocolError
from live_grid.login.xmlrpc import write_call
from live_grid.simulator.rpc_call import read_call_untrusted

NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.floats(-1e9, 1e9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
)


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_call_of_either_writer_is_read(method: str, argument: dict) -> None:
    """What this package and the standard library write is read alike. Spec: LIV-1."""
    for data in (write_call(method, argument), xmlrpc.client.dumps((argument,), method).encode()):
        call = read_call_untrusted(data)
        assert (call.method, call.argument) == (method, argument)


def test_only_the_first_struct_counts() -> None:
    """Further arguments, and one that is no struct, are nothing; text without a type is text."""
    call = read_call_untrusted(
        b"<methodCall><methodName> m </methodName><params><param><value><int>3</int></value></param>"
        b"<param><value><struct><member><name>a</name><value>text</value></member></struct></value></param>"
        b"<param><value><struct><member><name>b</name><value><i4>2</i4></value></member></struct></value></param>"
        b"<param></param></params></methodCall>"
    )
    assert (call.method, call.argument) == ("m", {"a": "text"})
    empty = read_call_untrusted(
        b"<methodCall><methodName>m</methodName><params><param><value><struct><member><name>a</name><value><array>"
        b"</array></value></member></struct></value></param></params></methodCall>"
    )
    assert empty.argument == {"a": []}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no xml",
        b"<methodResponse/>",
        b"<methodCall/>",
        b"<methodCall><methodName></methodName></methodCall>",
        b"<methodCall><methodCall/></methodCall>",
        b"<methodCall><methodName>m</methodName><boom/></methodCall>",
        b"<!DOCTYPE x><methodCall><methodName>m</methodName></methodCall>",
        (
            b"<methodCall><methodName>m</methodName><params><param><value><int>99999999999</int></value></param></params>"
            b"</methodCall>"
        ),
        (
            b"<methodCall><methodName>m</methodName><params><param><value><struct><member><value>1</value></member>"
            b"</struct></value></param></params></methodCall>"
        ),
        b"<methodCall>" + b"<value>" * 40 + b"</value>" * 40 + b"</methodCall>",
    ],
)
def test_every_other_body_is_one_typed_error(body: bytes) -> None:
    """Malformed, deep, hostile and empty bodies are refused. Fault: 13."""
    with pytest.raises(RemoteProtocolError):
        read_call_untrusted(body)
