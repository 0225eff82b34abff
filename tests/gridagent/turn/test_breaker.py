"""The breaker: a round of calls that brings nothing new is no progress."""

from __future__ import annotations

from gridagent.tools.codes import ResultCode
from gridagent.tools.envelope import ToolResult
from gridagent.tools.scheduler import Settled
from gridagent.turn.breaker import Breaker


def settled(name: str, data: bytes) -> Settled:
    """Return a call that brought something."""
    return Settled(ToolResult(call_id="c", name=name, code=ResultCode.DONE, data=data), None)


def test_the_same_call_with_the_same_result_is_no_progress() -> None:
    """Only a round in which call and result were seen before, each of them, trips it. Spec: MND-12."""
    breaker = Breaker()
    assert breaker.progressed([settled("look", b"1")], ["{}"])
    assert breaker.progressed([settled("look", b"2")], ["{}"])
    assert breaker.progressed([settled("look", b"2")], ['{"a":1}'])
    assert breaker.progressed([settled("look", b"1"), settled("walk", b"1")], ["{}", "{}"])
    assert not breaker.progressed([settled("walk", b"1"), settled("look", b"2")], ["{}", "{}"])
