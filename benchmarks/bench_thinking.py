"""Many conversations at once: what the mind and its session add to the time that a model takes.

People talk to one avatar over IM, so many that about 256 of them wait for an answer at any time, and the model takes
2 s (1.6 to 2.4). What is added is the time from the utterance to the end of its turn, less the model's: p99 in
wall-clock milliseconds of one process; budget: 20 ms. The model here is one sleep, so nothing of a client or a wire
is in it. The knee is the most turns a second at which the p99 of what is added stays below 200 ms, found with a
model that takes 0.2 s, since no more than 256 turns are under way. `at one instant` is the worst case: all 256 speak
in the same moment, so the last is begun after 255 others.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator

import trio

from gridagent.cli.minds import open_mind, prepare_mind
from gridagent.config.load import parse_config
from gridagent.events import ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.ids import AvatarId, AvatarKey
from gridagent.language import LlmReply
from gridagent.llm.accounting import Accounts, SpendLimits
from gridagent.llm.offline import OfflineModel
from gridagent.observations import AgentState, TurnEnded, TurnStarted
from gridagent.policy import Policy
from gridagent.runtime.system import system_ports
from gridagent.service import AvatarSpec, Hosted, open_service
from gridagent.session import SessionSettings

PEOPLE = 256
MODEL_S = 2.0
KNEE_MODEL_S = 0.2
KNEE_MS = 200.0
ANSWERS = 500
"""Presence lets 600 answers go out at once, and then ten a second."""
RATES = (50, 100, 200, 300, 400, 600, 800)
KEY = AvatarKey("robin")
CONFIG = {
    "avatars": {KEY: {"first_name": "Robin"}},
    "llm": {"max_concurrent_requests": PEOPLE},
    "presence": {"answers_per_minute": 600, "messages_per_minute": 600, "speech_pause_max_s": 0.0},
    "policy": {"preset": "guide"},
}  # fmt: skip


class Model:
    """Takes its time, and says one thing; remembers how long it took, by correlation."""

    def __init__(self, mean_s: float) -> None:
        self.mean_s = mean_s
        self.took: dict[str, float] = {}
        self._rng = random.Random(1)

    async def perform(self, what: object, backend: object) -> object:  # noqa: ARG002 - a protocol's shape
        request = what.request  # type: ignore[attr-defined]
        self.took[request.correlation] = wait = self.mean_s * self._rng.uniform(0.8, 1.2)
        await trio.sleep(wait)
        return LlmReply(text="Good to hear from you.")


def person(number: int) -> AvatarId:
    return AvatarId(f"00000000-0000-4000-8000-{number + 4096:012x}")


def utterance(number: int, who: int) -> ImReceived:
    source = Speaker(kind=SpeakerKind.AVATAR, id=person(who), name=f"Person {who}")
    text = f"hello there, number {random.Random(number).getrandbits(60):x}"
    return ImReceived(utterance_id=f"u{number}", source=source, text=text)


async def added_ms(mean_s: float, utterances: int, per_s: float) -> list[float]:
    """Let people speak at a rate (infinite: at one instant); return what was added to each answer, sorted."""
    config = parse_config(repr(CONFIG).replace("'", '"').encode())
    ports, model = system_ports(), Model(mean_s)
    prepared = prepare_mind(config, KEY, config.avatars[KEY])

    async def think(store: object) -> Hosted:  # noqa: ARG001 - the same
        hosted = await open_mind(
            prepared, None, ports=ports, model=OfflineModel(), accounts=Accounts(SpendLimits()), prices=None
        )
        return Hosted(mind=hosted.mind, faculties=model)  # type: ignore[arg-type]

    puppet = Puppet()
    settings = SessionSettings(key=KEY, errands_max=PEOPLE, observables_max=8_192)
    spec = AvatarSpec(settings=settings, policy=Policy(config.policy), mind=think, backend=puppet)
    spoken: dict[str, float] = {}
    began: dict[str, float] = {}
    added: list[float] = []
    async with open_service([spec], ports=ports) as service, trio.open_nursery() as nursery:
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)

        async def speak() -> None:
            rng = random.Random(2)
            for number in range(utterances):
                if not math.isinf(per_s):
                    await trio.sleep(rng.expovariate(per_s))
                spoken[f"1.u{number}"] = trio.current_time()
                await puppet.now.push(utterance(number, number))

        with handle.observe("bench") as seen:
            nursery.start_soon(speak)
            async for item in seen:
                if isinstance(item.body, TurnStarted):
                    began[item.body.correlation] = item.at
                if isinstance(item.body, TurnEnded):
                    name = item.body.correlation
                    added.append((trio.current_time() - spoken[name] - model.took.get(name, 0.0)) * 1e3)
                    if len(added) == utterances:
                        break
    return sorted(added)


def p99(values: list[float]) -> float:
    return values[int(len(values) * 0.99)]


def figures() -> Iterator[dict[str, object]]:
    """Yield what is added with all in conversation, at one instant, and the knee."""
    spent = time.process_time()
    steady = trio.run(added_ms, MODEL_S, PEOPLE * 2, PEOPLE / MODEL_S * 0.9)
    spent = time.process_time() - spent
    yield {
        "name": "thinking: added to 2 s, 256 in conversation",
        "value": p99(steady),
        "unit": "ms p99",
        "goal": 20,
        "note": f"median {steady[len(steady) // 2]:.1f} ms, {spent / len(steady) * 1e3:.2f} ms CPU a turn",
    }
    burst = trio.run(added_ms, MODEL_S, PEOPLE, math.inf)
    yield {"name": "thinking: added to 2 s, 256 at one instant", "value": p99(burst), "unit": "ms p99"}
    knee = 0
    for rate in RATES:
        if p99(trio.run(added_ms, KNEE_MODEL_S, min(rate * 3, ANSWERS), rate)) > KNEE_MS:
            break
        knee = rate
    yield {
        "name": "thinking: turns a second below 200 ms added",
        "value": knee,
        "unit": "turns/s",
        "note": "the knee, of the rates " + ", ".join(map(str, RATES)),
    }
