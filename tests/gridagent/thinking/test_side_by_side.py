"""Many conversations at once through a whole session: nobody waits for anybody else's answer."""

import pytest
import trio
import trio.testing

from gridagent.config.presence import PresenceSection
from gridagent.conversation.store import ConversationStore
from gridagent.events import ChatHeard, ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.language import LlmReply
from gridagent.observations import AgentState, ReplyComposed, TurnEnded
from gridagent.policy import Policy
from gridagent.presence.chain import PresenceChain
from gridagent.presence.persona import Persona
from gridagent.presence.protected import Protected
from gridagent.presence.reflex import ReflexMind
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, Hosted, open_service
from gridagent.session import SessionSettings
from gridagent.storage.memory import MemoryStore
from gridagent.storage.records import Learnt
from gridagent.thinking import Thinker, ThinkerSettings
from gridagent.thinking.mouth import Mouth
from gridagent.tools.registry import Registry

MODEL_S = 2.0


class SlowModel:
    """Takes two seconds, and says what it was asked last."""

    def __init__(self):
        self.most = self.out = 0

    async def perform(self, what, backend):
        self.out += 1
        self.requests.append("\n".join(turn.text for turn in what.request.turns))
        self.most = max(self.most, self.out)
        await trio.sleep(MODEL_S)
        self.out -= 1
        return LlmReply(text=f"I heard: {what.request.turns[-1].text.rpartition(' ')[2]}")


def spec(key, faculties, *, errands_max=256, bots=(), store=None, requests=None):
    """Build an avatar whose model is slow; with a store, it goes on with what that kept."""
    section = PresenceSection(
        messages_per_minute=600, answers_per_minute=600, turns_per_bot=6, speech_pause_max_s=0.0, declared_bots=bots
    )

    async def think(_):
        await trio.lowlevel.checkpoint()
        conversations = ConversationStore(key)
        if store is not None:
            for number in await store.conversations(key):
                conversations.restore(await store.entries(key, (number,)), now=trio.current_time(), wall=0.0)
        faculties.requests = [] if requests is None else requests
        mind = Thinker(
            avatar=key,
            settings=ThinkerSettings(),
            persona=Persona(style=f"You are {key}.", name=key),
            chain=PresenceChain(section, (key,), Protected((), section), simulated_ports(0).randomness.stream(key)),
            mouth=Mouth(section),
            reflex=ReflexMind((key,)),
            conversations=conversations,
            registry=Registry(),
            keep=None if store is None else lambda change: store.submit(Learnt(avatar=key, change=change)),
        )
        return Hosted(mind=mind, faculties=faculties)

    return AvatarSpec(
        settings=SessionSettings(key=key, errands_max=errands_max, observables_max=8_192),
        policy=Policy(),
        mind=think,
        backend=Puppet(),
    )


def person(number):
    """Name somebody."""
    return f"00000000-0000-4000-8000-{number + 4096:012x}"


async def heard_by_all(service, puppet, people):
    """Let everybody speak at once; returns when each turn ended, in seconds from then."""
    handle = service.avatar()
    await handle.wait_agent(AgentState.RUNNING)
    ended = []
    with handle.observe("test") as seen:
        began = trio.current_time()
        events = [
            ImReceived(
                utterance_id=f"u{number}",
                source=Speaker(kind=SpeakerKind.AVATAR, id=person(number), name=f"P{number}"),
                text=f"hello word{number}",
            )
            for number in range(people)
        ]
        await puppet.now.push(*events)
        replies = {}
        async for item in seen:
            if isinstance(item.body, ReplyComposed):
                replies[item.body.correlation] = item.body.text
            if isinstance(item.body, TurnEnded):
                ended.append(item.at - began)
                if len(ended) == people:
                    return ended, replies
    raise AssertionError


async def test_256_conversations_are_answered_side_by_side(autojump_clock):
    """Spec: MND-15, BND-10 — a model of 2 s answers each of 256 people after 2 s: p99 of what we add is under 20 ms."""
    model = SlowModel()
    avatar = spec("robin", model)
    async with open_service([avatar], ports=simulated_ports(0)) as service:
        ended, replies = await heard_by_all(service, avatar.backend, 256)
    added = sorted(each - MODEL_S for each in ended)
    assert added[int(len(added) * 0.99)] <= 0.020
    assert model.most == 256
    assert replies == {f"1.u{number}": f"I heard: word{number}" for number in range(256)}


async def test_with_fewer_places_who_came_first_is_answered_first(autojump_clock):
    """Spec: BND-4, MND-15 — sixteen at a time, in the order in which they spoke."""
    model = SlowModel()
    avatar = spec("robin", model, errands_max=16)
    async with open_service([avatar], ports=simulated_ports(0)) as service:
        ended, replies = await heard_by_all(service, avatar.backend, 64)
    assert model.most == 16
    assert [round(each) for each in ended] == [2] * 16 + [4] * 16 + [6] * 16 + [8] * 16
    assert [int(each.partition("u")[2]) // 16 for each in replies] == [0] * 16 + [1] * 16 + [2] * 16 + [3] * 16


@pytest.mark.slow
async def test_two_avatars_of_ours_that_talk_to_each_other_stop_by_themselves(autojump_clock):
    """Spec: PRS-2, PRS-4 — each hears what the other says; after a few turns both keep quiet, and stay so."""
    ids = {"robin": person(1), "wren": person(2)}
    specs = [
        spec("robin", SlowModel(), bots=(ids["wren"],)),
        spec("wren", SlowModel(), bots=(ids["robin"],)),
    ]
    spoken = {"robin": 0, "wren": 0}
    async with open_service(specs, ports=simulated_ports(0)) as service, trio.open_nursery() as nursery:
        puppets = {each.settings.key: each.backend for each in specs}

        async def carry(key, other):
            with service.avatar(key).observe("test") as seen:
                async for item in seen:
                    if isinstance(item.body, ReplyComposed):
                        spoken[key] += 1
                        source = Speaker(kind=SpeakerKind.AVATAR, id=ids[key], name=key)
                        text = f"{other}, {item.body.text} and {spoken[key] * 7919:x}"
                        words = ChatHeard(utterance_id=f"{key}{spoken[key]}", source=source, text=text, distance_m=2.0)
                        await puppets[other].now.push(words)

        for key in ids:
            await service.avatar(key).wait_agent(AgentState.RUNNING)
        nursery.start_soon(carry, "robin", "wren")
        nursery.start_soon(carry, "wren", "robin")
        await trio.testing.wait_all_tasks_blocked()
        source = Speaker(kind=SpeakerKind.AVATAR, id=ids["wren"], name="wren")
        await puppets["robin"].now.push(
            ChatHeard(utterance_id="w0", source=source, text="robin, hello", distance_m=2.0)
        )
        await trio.sleep(3_600)
        nursery.cancel_scope.cancel()
    assert 2 <= sum(spoken.values()) <= 14


async def test_what_a_crash_cut_off_is_never_answered_twice(autojump_clock):
    """Spec: MND-11, EFX-2, MEM-3 — ended while it thought: the next life says nothing by itself, and answers once."""
    store = MemoryStore(simulated_ports(0).clock)
    requests, replies = [], []
    for life in range(2):
        model = SlowModel()
        avatar = spec("robin", model, store=store, requests=requests)
        async with open_service([avatar], ports=simulated_ports(life), store=store) as service:
            handle = service.avatar()
            await handle.wait_agent(AgentState.RUNNING)
            with handle.observe("test") as seen:
                await trio.sleep(600)
                assert model.most == 0
                source = Speaker(kind=SpeakerKind.AVATAR, id=person(1), name="P1")
                # Another connection's ids begin anew: the second life hears another message under the same one.
                words = ImReceived(utterance_id="u1", source=source, text=f"hello word{life}")
                await avatar.backend.now.push(words)
                await trio.sleep(1 if life == 0 else 60)
                told = (each.body for each in seen.drain_nowait())
                replies.append([each.text for each in told if isinstance(each, ReplyComposed)])
    assert replies == [[], ["I heard: word1"]]
    assert "word0" in requests[-1]
