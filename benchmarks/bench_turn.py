"""A turn: assembling a request, judging a reply, and a whole tool turn beside a loop of somebody's own.

`turn assembly` makes a request of 256 messages from a conversation, as a ratio to building the same messages as plain
dictionaries; budget: 1 ms. `judge a reply` is what the gates and the sanitiser cost. `a tool turn` is model, tool,
model in CPU ms against a zero-latency server on loopback, the server included, as a ratio to a raw loop over httpx
and msgspec that sends the same messages and tools (median of interleaved rounds): the turn with its gates, the tool
pipeline, and the client with its slots, retries and bounds. `everything on` is the same as a visitor's IM that comes
in through the session, presence, conversations, thinking, the policy gateway, durable storage, audit and metrics,
and whose answer goes out as an IM; each turn is of another visitor. Goal: 1.6.
"""

from __future__ import annotations

import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import h11
import httpx
import msgspec
import trio

from gridagent.actions import Capability, Position
from gridagent.authority import Origin, Principal, Role, TextSource
from gridagent.cli.minds import open_mind, prepare_mind
from gridagent.config.load import parse_config
from gridagent.config.policy import PolicySection
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.conversation.entries import Heard, Said
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.events import AvatarView, GridProfile, ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.language import AssistantTurn, LlmReply, LlmRequest, SystemTurn, ToolCall, ToolTurn
from gridagent.llm.accounting import Accounts, Limit, SpendLimits
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport
from gridagent.observations import AgentState, TurnEnded
from gridagent.policy import Policy
from gridagent.presence.persona import built_in_persona
from gridagent.runtime.system import system_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.service.metering import Meter, meter_session
from gridagent.session import SessionSettings
from gridagent.storage.database import Holder
from gridagent.storage.store import open_store
from gridagent.tools import Access, Registry, TurnMode
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Answered
from gridagent.tools.ports import Around
from gridagent.turn import AskModel, Brief, Turn, TurnLimits
from gridagent.turn.assembly import Assembly
from gridagent.turn.gates import Draft, refused_by
from gridagent.turn.sanitise import sanitised

ROUNDS, TURNS = 9, 25
WHO = AvatarId("01234567-0000-4000-8000-00000000000a")
HERE = Position(x=1, y=2, z=3)
POLICY = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)
REGISTRY = Registry()
PERSONA = built_in_persona("default")
AROUND = Answered(
    answer=Around(
        region="Plaza",
        position=HERE,
        posture=None,
        avatars=tuple(
            AvatarView(
                avatar_id=AvatarId(f"{n:08x}-0000-4000-8000-00000000000a"), name=name, position=HERE, distance_m=n
            )
            for n, name in enumerate(("Mara Stone", "Ben Miller", "Eve Hill"), 1)
        ),
        more_avatars=0,
        objects=(),
        more_objects=0,
    )
)
TEXT = "I can see Mara and Ben by the fountain, and Eve is close to you. Shall I come over?"
SAID = "Who is here right now, and do you know any of them?"


def access() -> Access:
    """Open a turn's list of tools, as each turn does."""
    return Access(
        REGISTRY,
        mode=TurnMode.ADDRESSED,
        origin=Origin.PUBLIC_CHAT,
        role=Role.STRANGER,
        policy=POLICY,
        profile=GridProfile(grid="bench"),
        ports=frozenset(Port),
    )


def heard(text: str, at: float) -> Heard:
    """Return something a visitor said."""
    return Heard(who="Mara Stone", avatar_id=WHO, source=TextSource.STRANGER, text=text, at=at, tainted=True)


def talk(exchanges: int) -> tuple[Heard | Said, ...]:
    """Return a conversation so far."""
    return tuple(
        entry
        for number in range(exchanges)
        for entry in (
            heard(f"And what is behind door {number}? I've always wondered about it.", number),
            Said(
                text=f"Behind door {number} is the old library; it opens at noon.",
                at=number,
                persona=PERSONA.digest,
                tainted=True,
            ),
        )
    )


def brief(history: tuple[Heard | Said, ...], tools: Access | None = None) -> Brief:
    """Begin a turn about who is here."""
    return Brief(
        correlation=CorrelationId("c"),
        cause="u",
        mode=TurnMode.ADDRESSED,
        key=PersonKey(avatar=AvatarKey("ruth"), grid="bench", peer=WHO, channel=Channel.PUBLIC),
        principal=Principal(avatar_id=WHO),
        origin=Origin.PUBLIC_CHAT,
        role=Role.STRANGER,
        persona=PERSONA,
        self_name="Ruth Resident",
        history=history,
        now_said=(heard(SAID, 1e9),),
        access=tools or access(),
        wall=1e9,
        surroundings_line="You are in the region Plaza at (128, 128, 22), standing.",
    )


def best_us(run: Callable[[], object], rounds: int = 40) -> float:
    """Return the microseconds of processor time of the quickest round."""
    times = []
    for _ in range(rounds):
        began = time.process_time()
        run()
        times.append(time.process_time() - began)
    return min(times) * 1e6


# --- without any IO ---------------------------------------------------------------------------------


def assembly_us() -> tuple[float, float]:
    """Return what 256 messages take, and what building them as plain data takes."""
    given, limits = brief(talk(128)), TurnLimits()

    def ours() -> None:
        turns = Assembly(given, limits).request((), "")
        assert turns is not None
        assert len(turns) > 250

    def plain() -> None:
        system = {"role": "system", "content": given.persona.style}
        messages = [
            {"role": "assistant", "content": entry.text}
            if isinstance(entry, Said)
            else {
                "role": "user",
                "content": f"{entry.who} [{(entry.avatar_id or '')[:8]}, {entry.source.value}]: {entry.text}",
            }
            for entry in given.history
        ]
        assert len([system, *messages]) > 250

    return best_us(ours), best_us(plain)


def pure_turn(history: tuple[Heard | Said, ...]) -> None:
    """Run a tool turn against a model that takes no time at all."""
    turn = Turn(brief(history))
    call = ToolCall(id="call00001", name="look_around", arguments="{}")
    while not turn.done:
        for effect in turn.next_effects():
            if not isinstance(effect, AskModel):
                turn.call_ended(effect.start.ordinal, AROUND)
            else:
                turn.model_replied(
                    effect.number, LlmReply(tool_calls=(call,)) if not effect.number else LlmReply(text=TEXT)
                )
    assert turn.result().reply == TEXT


# --- a whole tool turn ------------------------------------------------------------------------------


def _answer(message: dict[str, object], reason: str) -> bytes:
    return msgspec.json.encode(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1_800_000_000,
            "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920},
        }
    )


CALL = _answer(
    {
        "content": None,
        "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": "look_around", "arguments": "{}"}}],
    },
    "tool_calls",
)
ANSWER = _answer({"content": TEXT}, "stop")


WORDS = ("amber", "birch", "cedar", "daisy", "ember", "fern", "grove", "hazel", "iris", "juniper", "kelp", "larch")
CHANCE = random.Random(5)


async def serve(stream: trio.SocketStream) -> None:
    """Ask for a look, and answer once it has been taken."""
    connection = h11.Connection(h11.SERVER)
    try:
        while True:
            body = b""
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    connection.receive_data(await stream.receive_some(65_536))
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.ConnectionClosed):
                    return
            reply = ANSWER if body[body.rfind(b'"role":') :].startswith(b'"role":"tool"') else CALL
            head = h11.Response(
                status_code=200, headers=[("content-type", b"application/json"), ("content-length", str(len(reply)))]
            )
            parts = (connection.send(head), connection.send(h11.Data(reply)), connection.send(h11.EndOfMessage()))
            await stream.send_all(b"".join(part for part in parts if part))
            connection.start_next_cycle()
    except (trio.BrokenResourceError, h11.RemoteProtocolError):
        return
    finally:
        await trio.aclose_forcefully(stream)


async def our_turn(client: LlmClient, history: tuple[Heard | Said, ...]) -> None:
    """Run a tool turn through the client."""
    turn = Turn(brief(history))
    while not turn.done:
        for effect in turn.next_effects():
            if isinstance(effect, AskModel):
                turn.model_replied(effect.number, await client.complete(effect.request))
            else:
                turn.call_ended(effect.start.ordinal, AROUND)
    assert turn.result().reply == TEXT


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct):
    id: str
    function: _Function


class _Message(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] = []


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


def _plain(turn: object) -> dict[str, object]:
    roles = {SystemTurn: "system", AssistantTurn: "assistant", ToolTurn: "tool"}
    return {"role": roles.get(type(turn), "user"), "content": turn.text}


def as_plain(request: LlmRequest) -> tuple[list[dict], list[dict]]:
    """Return messages and tools of a request as a loop of somebody's own has them."""
    return [_plain(turn) for turn in request.turns], [
        {
            "type": "function",
            "function": {"name": each.name, "description": each.description, "parameters": msgspec.Raw(each.schema)},
        }
        for each in request.tools
    ]


async def raw_turn(client: httpx.AsyncClient, url: str, messages: list[dict], tools: list[dict]) -> None:
    """Run the same turn as a loop of somebody's own would, with the least that can be done."""
    said = list(messages)
    while True:
        body = msgspec.json.encode({"model": "m", "messages": said, "tools": tools, "max_tokens": 1_024})
        response = await client.post(url, content=body, headers={"Authorization": "Bearer x"})
        message = msgspec.json.decode(response.content, type=_Completion).choices[0].message
        if not message.tool_calls:
            assert message.content == TEXT
            return
        said.append(
            {"role": "assistant", "content": message.content, "tool_calls": msgspec.to_builtins(message.tool_calls)}
        )
        for call in message.tool_calls:
            msgspec.json.decode(call.function.arguments)
            result = msgspec.json.encode(AROUND.answer).decode()
            said.append({"role": "tool", "tool_call_id": call.id, "content": result})


async def cpu_ms(work: Callable[[], Awaitable[None]]) -> float:
    """Return the milliseconds of processor time that one of many takes."""
    began = time.process_time()
    for _ in range(TURNS):
        await work()
    return (time.process_time() - began) / TURNS * 1_000


async def compare(history: tuple[Heard | Said, ...]) -> tuple[float, float]:
    """Return CPU ms a turn of ours, and the ratio to the raw loop."""
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1/chat/completions"
        headers = {"Authorization": SecretStr("Bearer sk-benchmark")}
        transport = HttpTransport(EndpointUrl(url), headers=headers, concurrency_max=1)
        client = LlmClient(transport, ChatCompletions("m"), slots=Slots(1), rng=random.Random(1))
        (first,) = Turn(brief(history)).next_effects()
        assert isinstance(first, AskModel)
        async with httpx.AsyncClient(trust_env=False) as raw:
            ours, theirs = partial(our_turn, client, history), partial(raw_turn, raw, url, *as_plain(first.request))
            await cpu_ms(ours)
            await cpu_ms(theirs)
            pairs = [(await cpu_ms(ours), await cpu_ms(theirs)) for _ in range(ROUNDS)]
        await client.aclose()
        nursery.cancel_scope.cancel()
    return min(mine for mine, _ in pairs), statistics.median(mine / other for mine, other in pairs)


# --- everything on ----------------------------------------------------------------------------------

LOTS = Limit(tokens=10**12, micros=10**12)
TALKATIVE = {
    "avatars": {"robin": {"first_name": "Robin", "last_name": "Resident"}},
    "presence": {
        "show_typing": False,
        "speech_characters_per_s": 1_000.0,
        "speech_pause_max_s": 0.0,
        "messages_per_minute": 600,
        "answers_per_minute": 600,
    },
}
OPEN_HANDED = Policy(
    msgspec.convert(
        {
            "preset": "guide",
            "matrix": {"direct_im": {each.value: "anyone" for each in Capability}},
            "budgets": {
                meter: [{"per": "global", "limit": 100_000, "window_s": 3_600}]
                for meter in ("ims", "calls.direct_message", "speech_bytes")
            },
        },
        PolicySection,
    )
)


async def whole(history: tuple[Heard | Said, ...]) -> tuple[float, float]:
    """Return CPU ms of a tool turn with everything on, and the ratio to the raw loop beside it."""
    config = parse_config(msgspec.json.encode(TALKATIVE))
    ports, puppet, avatar = system_ports(), Puppet(), AvatarKey("robin")
    puppet.near = AROUND.answer.avatars
    numbers = itertools.count(1)
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        nursery = await stack.enter_async_context(trio.open_nursery())
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1/chat/completions"
        headers = {"Authorization": SecretStr("Bearer sk-benchmark")}
        transport = HttpTransport(EndpointUrl(url), headers=headers, concurrency_max=1)
        client = LlmClient(transport, ChatCompletions("m"), slots=Slots(1), rng=random.Random(1))
        think = partial(
            open_mind,
            prepare_mind(config, avatar, config.avatars[avatar]),
            ports=ports,
            model=client,
            accounts=Accounts(SpendLimits(turn=LOTS, person=LOTS, day=LOTS, fleet=LOTS)),
            prices=None,
        )
        store = await stack.enter_async_context(
            open_store(str(Path(directory) / "ledger.db"), ports=ports, holder=Holder(pid=1, since="now"))
        )
        spec = AvatarSpec(settings=SessionSettings(key=avatar), policy=OPEN_HANDED, mind=think, backend=puppet)
        service = await stack.enter_async_context(open_service([spec], ports=ports, store=store))
        handle = service.avatar()
        await handle.wait_agent(AgentState.RUNNING)
        nursery.start_soon(meter_session, Meter(), handle)
        seen = stack.enter_context(handle.observe("bench"))

        async def ours() -> None:
            number = next(numbers)
            visitor = Speaker(
                kind=SpeakerKind.AVATAR, id=f"{number:08x}-0000-4000-8000-00000000000b", name="Mara Stone"
            )
            text = f"who is here? {' '.join(CHANCE.sample(WORDS, 6))}"
            await puppet.now.push(ImReceived(utterance_id=f"u{number}", source=visitor, text=text))
            while True:
                for each in await seen.receive_batch():
                    if isinstance(each.body, TurnEnded):
                        assert each.body.stop == "answered"
                        return

        (first,) = Turn(brief(history)).next_effects()
        assert isinstance(first, AskModel)
        raw = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        theirs = partial(raw_turn, raw, url, *as_plain(first.request))
        await cpu_ms(ours)
        await cpu_ms(theirs)
        pairs = [(await cpu_ms(ours), await cpu_ms(theirs)) for _ in range(ROUNDS)]
        await client.aclose()
        nursery.cancel_scope.cancel()
    return min(mine for mine, _ in pairs), statistics.median(mine / other for mine, other in pairs)


def figures() -> Iterator[dict[str, object]]:
    """Yield every figure."""
    ours, plain = assembly_us()
    yield {
        "name": "turn assembly",
        "value": ours / 1_000,
        "unit": "ms",
        "ratio": ours / plain,
        "of": "the same 256 messages built as plain dictionaries",
        "goal": 1.0,
    }
    given = brief(talk(10))
    judged = best_us(lambda: (refused_by(Draft.of(TEXT, given, ())), sanitised(TEXT, ("Ruth",), max_bytes=3_000)))
    yield {"name": "turn: judge a reply", "value": judged, "unit": "us", "note": f"{len(TEXT)} characters"}
    history = talk(10)
    pure = best_us(lambda: pure_turn(history))
    yield {"name": "turn: a tool turn without its model", "value": pure / 1_000, "unit": "ms"}
    mine, ratio = trio.run(compare, history)
    yield {
        "name": "turn: a tool turn",
        "value": mine,
        "unit": "ms CPU",
        "ratio": ratio,
        "of": "a raw httpx and msgspec loop, same run",
        "goal": 1.6,
        "note": "turn, tools and client alone",
    }
    mine, ratio = trio.run(whole, ())
    yield {
        "name": "turn: a tool turn, everything on",
        "value": mine,
        "unit": "ms CPU",
        "ratio": ratio,
        "of": "a raw httpx and msgspec loop, same run",
        "goal": 1.6,
        "note": "what costs what: docs/decisions/0013-a-turn-costs-twice-a-bare-loop.md",
    }


if __name__ == "__main__":
    for figure in figures():
        print(figure)
