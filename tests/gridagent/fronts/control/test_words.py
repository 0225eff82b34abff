"""The words of the control endpoint."""

from __future__ import annotations

import msgspec
import pytest

from gridagent.controls import Hold, Pause
from gridagent.fronts.control.words import REPLIES, REQUESTS, Hello, Observe, SendControl, TailAudit, Welcome


def test_every_word_has_a_tag_of_its_own() -> None:
    """No two requests and no two replies can be taken for one another. Spec: OPS-6."""
    for family in (REQUESTS, REPLIES):
        tags = [word.__struct_config__.tag for word in family]
        assert len(set(tags)) == len(tags)
        assert all(tags)


@pytest.mark.parametrize("request_class", REQUESTS)
def test_requests_refuse_unknown_keys(request_class) -> None:
    """A request is closed: a misspelt key is never ignored. Spec: OPS-6."""
    assert request_class.__struct_config__.forbid_unknown_fields


def test_the_greeting_is_open_to_later_versions() -> None:
    """A client of a later version gets an answer about its version, not about a key."""
    raw = b'{"request":"hello","protocol":9,"token":"t","wants":["zstd"]}'
    assert msgspec.json.decode(raw, type=Hello).protocol == 9


def test_words_survive_their_own_encoding() -> None:
    """A request and a reply come out as they went in."""
    for word in (
        SendControl(id=3, avatar="robin", control=Pause()),
        SendControl(control=Hold()),
        Observe(id=1, avatars=("robin",)),
        TailAudit(most=7),
        Welcome(id=1, protocol=1, version="0.1.0", instance="abc"),
    ):
        assert msgspec.json.decode(msgspec.json.encode(word), type=type(word)) == word
