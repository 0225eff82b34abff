"""Tool pipeline: one call from raw text to its result, beside a toy that decodes and looks a function up.

The toy is what a pipeline would cost without strict reading, schema, access, ledger, judgement and envelope. The
ratio says how much of the toy's speed is left. What a turn pays twice or thrice is this, so the goal is small beside
the milliseconds of a turn. Registration is once a process.
Budget: a call in at most 60 µs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import jsonschema
import msgspec

from gridagent.actions import Capability, Confirmed, EvidenceKind, PayAvatar
from gridagent.authority import Origin, Role
from gridagent.config.policy import PolicySection
from gridagent.events import GridProfile
from gridagent.language import ToolCall
from gridagent.policy import Policy
from gridagent.tools import Access, CallLedger, Registry, ToolBatch, TurnMode
from gridagent.tools.arguments import parse_arguments
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Acted
from gridagent.tools.schema import compiled

WHO = "00000000-0000-4000-8000-00000000000a"
ARGUMENTS = json.dumps({"to": WHO, "amount": 5, "description": "thanks for the help"})
CALLS = 200
TOY_CALLS = 10 * CALLS  # so quick that fewer cannot be measured
ROUNDS = 30
SECTION = {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}
PAID = Acted(Confirmed(evidence=EvidenceKind.BALANCE))


def best(run, *, per: int, rounds: int = ROUNDS) -> float:
    """Return the microseconds of processor time that one of the best round's took."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times) / per * 1e6


def opened(registry: Registry) -> Access:
    """Open a turn that may use everything."""
    return Access(
        registry,
        mode=TurnMode.ADDRESSED,
        origin=Origin.PUBLIC_CHAT,
        role=Role.STRANGER,
        policy=Policy(msgspec.convert(SECTION, PolicySection)),
        profile=GridProfile(grid="bench"),
        ports=frozenset(Port),
    )


def pipeline(access: Access):
    """Take calls through everything, one reply and one turn each."""
    asked = [ToolCall(id="c", name="pay_avatar", arguments=ARGUMENTS)]

    def run() -> None:
        for _ in range(CALLS):
            batch = ToolBatch(asked, access, CallLedger())
            (start,) = batch.next_effects()
            batch.apply(start.position, PAID)
            assert batch.results()[0].for_model()

    return run


def toy():
    """Do what a loop without any of it does."""
    decode, known = msgspec.json.Decoder(PayAvatar).decode, {"pay_avatar": lambda action: {"paid": action.amount}}

    def run() -> None:
        for _ in range(TOY_CALLS):
            assert msgspec.json.encode({"ok": True, "data": known["pay_avatar"](decode(ARGUMENTS))})

    return run


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    registry = Registry()
    access = opened(registry)
    plain = best(toy(), per=TOY_CALLS)
    whole = best(pipeline(access), per=CALLS)
    yield {
        "name": "tools: a call, raw text to result",
        "value": whole,
        "unit": "us",
        "ratio": whole / plain,
        "of": "a toy that decodes and looks a function up",
        "goal": 60,
    }
    reading = best(lambda: [parse_arguments(ARGUMENTS) for _ in range(TOY_CALLS)], per=TOY_CALLS)
    lenient = best(lambda: [json.loads(ARGUMENTS) for _ in range(TOY_CALLS)], per=TOY_CALLS)
    yield {
        "name": "tools: read arguments strictly",
        "value": reading,
        "unit": "us",
        "ratio": reading / lenient,
        "of": "json.loads, which takes NaN and doubled keys",
    }
    tool = registry.find("pay_avatar")
    assert tool is not None
    value = json.loads(ARGUMENTS)
    slow = jsonschema.Draft202012Validator(json.loads(tool.tool.schema))
    fast_us = best(lambda: [tool.validator.problem(value) for _ in range(TOY_CALLS)], per=TOY_CALLS)
    slow_us = best(lambda: [slow.is_valid(value) for _ in range(CALLS)], per=CALLS, rounds=5)
    yield {
        "name": "tools: check arguments by their schema",
        "value": fast_us,
        "unit": "us",
        "ratio": fast_us / slow_us,
        "of": "the library that checks schemas",
    }
    yield {"name": "tools: open a turn's list", "value": best(lambda: opened(registry), per=1), "unit": "us"}

    def register() -> None:
        compiled.cache_clear()
        Registry()

    yield {
        "name": "tools: register the catalogue",
        "value": best(register, per=1, rounds=5) / 1_000,
        "unit": "ms",
        "note": f"{len(CATALOGUE)} tools, once a process",
    }


if __name__ == "__main__":
    for figure in figures():
        print(figure)
