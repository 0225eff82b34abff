"""Only successes count, and only what was for the model is kept."""

from __future__ import annotations

import json

import pytest

from gridagent.actions import PayAvatar
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Delivery
from gridagent.tools.envelope import ToolResult
from gridagent.tools.evidence import SUBJECTS_MAX, evidence_for_later, evidence_now
from gridagent.tools.scheduler import Settled
from gridagent.tools.validated import ValidatedToolCall
from gridagent.tools.work import Act

WHO, SHOP = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
PAY = next(native.tool for native in CATALOGUE if native.tool.name == "pay_avatar")


def settled(code: ResultCode = ResultCode.DONE, delivery: Delivery = Delivery.MODEL, data: bytes = b"{}") -> Settled:
    """End a payment in some way."""
    call = ValidatedToolCall(
        call_id="c",
        tool=PAY,
        arguments=json.dumps({"amount": 5, "to": WHO}).encode(),
        key="k",
        work=Act(PayAvatar(to=WHO, amount=5)),
    )
    return Settled(
        ToolResult(call_id="c", name="pay_avatar", code=code, delivery=delivery, data=data, tainted=True), call
    )


@pytest.mark.parametrize("code", [code for code in ResultCode if code is not ResultCode.DONE])
def test_what_did_not_succeed_is_no_evidence(code: ResultCode) -> None:
    """No refusal, failure, doubt or cancellation backs a claim. Spec: MND-7, MND-8."""
    assert evidence_now([settled(code)]) == evidence_for_later([settled(code)]) == ()


def test_only_what_is_for_the_model_is_kept_for_later() -> None:
    """What was for both serves this turn; what was for the world is never shown. Spec: MND-8."""
    each = [settled(delivery=delivery, data=b'{"evidence":"balance"}') for delivery in Delivery]
    assert [kept.data for kept in evidence_for_later(each)] == [b'{"evidence":"balance"}']
    assert [now.data for now in evidence_now(each)] == [b'{"evidence":"balance"}', b"", b'{"evidence":"balance"}']


def test_a_call_that_was_no_good_is_no_evidence() -> None:
    """A result without a call behind it backs nothing. Spec: MND-7."""
    lonely = Settled(ToolResult(call_id="c", name="x", code=ResultCode.DONE), None)
    assert evidence_now([lonely]) == evidence_for_later([lonely]) == ()


def test_evidence_concerns_whom_it_names() -> None:
    """UUIDs of the arguments and of the answer say what it is about; the taint goes with it. Spec: MND-9, POL-5."""
    (found,) = evidence_now([settled(data=json.dumps({"seen": [SHOP, WHO]}).encode())])
    assert found.subjects == (WHO, SHOP)
    assert found.concerns(SHOP)
    assert not found.concerns("00000000-0000-4000-8000-00000000000c")
    assert (found.tool, found.tainted) == ("pay_avatar", True)
    assert json.loads(found.arguments)["amount"] == 5


def test_the_list_of_subjects_is_bounded() -> None:
    """The arguments' own come first, so they are never crowded out. Spec: MND-9."""
    crowd = [f"00000000-0000-4000-9000-{number:012}" for number in range(300)]
    (found,) = evidence_now([settled(data=json.dumps(crowd).encode())])
    assert len(found.subjects) == SUBJECTS_MAX
    assert found.concerns(WHO)
