"""The seed request and its reply."""

from __future__ import annotations

import pytest

from benchmarks.captures import NAMES, exchanges
from live_grid.addresses import HostPolicy
from live_grid.caps import USED, Capabilities, read_seed_reply_untrusted, seed_request
from live_grid.errors import RemoteProtocolError
from live_grid.llsd import read_llsd_xml_untrusted, write_llsd_xml

HERE = HostPolicy(hosts=frozenset({"127.0.0.1"}), http=True, loopback=True)
AWAY = HostPolicy(hosts=frozenset(), any_public_host=True, http=True)
SEED = "http://region.example.org:9000/CAPS/canary/"


def test_recorded_replies_are_read() -> None:
    """A real region's offer, all at addresses that may be asked. Spec: LIV-4."""
    replies = [one for name in NAMES for one in exchanges(name) if one.path.startswith("/CAPS/") and one.status == 200]
    assert len(replies) >= 12
    for one in replies:
        caps = read_seed_reply_untrusted(one.body, seed="http://127.0.0.1:9000" + one.path, policy=HERE)
        assert caps.refused == ()
        assert caps["EventQueueGet"].startswith("http://127.0.0.1:9000/CE/")
        assert len(caps) >= 48
        assert {"GetDisplayNames", "FetchInventoryDescendents2"} <= set(caps)
        assert caps.get("InventoryAPIv3") is None
        assert "127.0.0.1" not in repr(caps)
        assert "EventQueueGet" in repr(caps)


def test_only_what_is_used_is_asked_for() -> None:
    """An LLSD array of names, sorted and each once; the address is not shown."""
    post = seed_request(SEED, AWAY)
    assert read_llsd_xml_untrusted(post.body) == list(USED) == sorted(set(USED))
    assert (post.url, post.content_type) == (SEED, "application/llsd+xml")
    assert "canary" not in repr(post)
    assert read_llsd_xml_untrusted(seed_request(SEED, AWAY, ["EventQueueGet"]).body) == ["EventQueueGet"]


@pytest.mark.parametrize("seed", ["http://169.254.169.254/latest/", "file:///etc/passwd", "http://127.0.0.1/", "x"])
def test_a_seed_that_may_not_be_asked_is_refused(seed: str) -> None:
    """Metadata service, file, this machine. Fault: 10."""
    with pytest.raises(RemoteProtocolError):
        seed_request(seed, AWAY)


def test_capabilities_elsewhere_are_left_out() -> None:
    """The seed's own host is vouched for, others only by the policy; what was refused is told. Fault: 10."""
    offer = {
        "EventQueueGet": "http://169.254.169.254/latest/",
        "GetTexture": "file:///etc/passwd",
        "ViewerAsset": "http://other.example.org/x",
        "HomeLocation": "http://region.example.org:9001/x",
        "Number": 5,
        "N" * 65: "http://region.example.org/",
    }
    caps = read_seed_reply_untrusted(write_llsd_xml(offer), seed=SEED, policy=AWAY)
    assert dict(caps) == {"HomeLocation": "http://region.example.org:9001/x"}
    assert caps.refused == ("EventQueueGet", "GetTexture", "ViewerAsset")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html/>", b"<llsd><array/></llsd>", write_llsd_xml({f"n{number}": "x" for number in range(513)})],
)
def test_a_reply_that_is_no_map_is_refused(body: bytes) -> None:
    """Or one too large. Fault: 12."""
    with pytest.raises(RemoteProtocolError):
        read_seed_reply_untrusted(body, seed=SEED, policy=AWAY)


def test_capabilities_are_a_mapping() -> None:
    """A name that is not offered raises as in any mapping."""
    caps = Capabilities({"A": "http://x/"})
    assert (list(caps), len(caps), "B" in caps) == (["A"], 1, False)
    with pytest.raises(KeyError):
        caps["B"]
