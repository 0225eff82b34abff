"""JSON from outside is decoded or refused with one typed failure, in bounded memory."""

from __future__ import annotations

import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.language import BadReply, LlmFailure
from gridagent.llm.untrusted import (
    CONTAINERS_MAX,
    REPLY_BODY_MAX_BYTES,
    decode_untrusted,
    json_object_text,
    json_text,
    sendable,
)


class _Item(msgspec.Struct):
    a: int | None = None


class _Thing(msgspec.Struct):
    x: list[_Item] | None = None


DECODER = msgspec.json.Decoder(_Thing)


@pytest.mark.parametrize(
    ("data", "bad_reply"),
    [
        (b"", BadReply.NOT_JSON),
        (b"nonsense", BadReply.NOT_JSON),
        (b"{} trailing", BadReply.TRUNCATED),
        (b'{"x": nonsense}', BadReply.NOT_JSON),
        (b"<!DOCTYPE html>", BadReply.HTML),
        (b"\xef\xbb\xbf \n<html>", BadReply.HTML),
        (b'{"x": [{"a"', BadReply.TRUNCATED),
        (b'{"x": 1}', BadReply.WRONG_SHAPE),
        (b"[]", BadReply.WRONG_SHAPE),
        (b'{"other": ' + b"[" * 90_000, BadReply.TOO_DEEP),
        (b'{"x": [{"a": 1' + b"0" * 5_000 + b"}]}", BadReply.WRONG_SHAPE),
        (b" " * (REPLY_BODY_MAX_BYTES + 1), BadReply.TOO_LONG),
        (b'{"x":[' + b",".join([b"{}"] * (CONTAINERS_MAX + 1)) + b"]}", BadReply.TOO_LONG),
    ],
)
def test_what_is_no_document_is_told_apart(data: bytes, bad_reply: BadReply) -> None:
    """Each way of not being a document has its name. Spec: MND-2. Fault: 21."""
    with pytest.raises(LlmFailure) as caught:
        decode_untrusted(DECODER, data)
    assert caught.value.bad_reply is bad_reply


@given(st.binary(max_size=300))
def test_any_bytes_decode_or_fail_typed(data: bytes) -> None:
    """There is no third way. Spec: MND-2."""
    found: object = None
    try:
        found = decode_untrusted(DECODER, data)
    except LlmFailure as failure:
        found = failure.bad_reply
    assert isinstance(found, _Thing | BadReply)


def test_many_small_objects_stay_small() -> None:
    """A document of nothing but empty objects is refused before they are made. Fault: 21."""
    body = b'{"x":[' + b",".join([b"{}"] * 690_000) + b"]}"
    tracemalloc.start()
    with pytest.raises(LlmFailure):
        decode_untrusted(DECODER, body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        (b"null", ""),
        (b'""', ""),
        (b'"{\\"a\\": 1}"', '{"a": 1}'),
        (b'{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        (b"[1]", "[1]"),
        (b"7", "7"),
    ],
)
def test_arguments_are_text_whatever_a_server_sends(raw: bytes, text: str) -> None:
    """A string is its content, anything else its own text, double keys and all. Fault: 23."""
    assert json_text(msgspec.Raw(raw)) == text


@pytest.mark.parametrize("arguments", ["", "nonsense", "[1]", "null", '{"a"', "\ud800", "[" * 90_000])
def test_misspelt_arguments_are_not_sent_back(arguments: str) -> None:
    """History goes out as an object a server can parse."""
    assert json_object_text(arguments) == b"{}"


def test_good_arguments_are_sent_back_as_they_were() -> None:
    """Not one byte is changed."""
    assert json_object_text('{"a":  1.50}') == b'{"a":  1.50}'


@pytest.mark.parametrize(
    ("name", "sent"),
    [("look", "look"), ("look_at-1", "look_at-1"), ("", "_"), ("a…", "a_"), ("f.g:0", "f_g_0"), ("né", "n_")],
)
def test_names_go_back_in_letters_everybody_takes(name: str, sent: str) -> None:
    """A name that a model made up does not spoil the request that carries its history."""
    assert sendable(name) == sent
