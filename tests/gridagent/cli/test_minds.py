"""Claims about what a mind is made of, and how it goes on after a restart."""

import json
from functools import partial

import attrs
import pytest
import trio

from gridagent import open_service
from gridagent.actions import SendIm
from gridagent.cli import minds
from gridagent.cli.compose import open_running, prepare
from gridagent.cli.minds import open_mind, open_model, prepare_mind, prices_of, read_api_key, spend_limits
from gridagent.cli.visitors import quiet_story
from gridagent.config.load import parse_config
from gridagent.config.model import Config
from gridagent.config.secrets import SecretStr
from gridagent.errors import ConfigError
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.llm import RealRequests, allow_real_requests
from gridagent.llm.accounting import Accounts, SpendLimits
from gridagent.llm.client import LlmClient
from gridagent.llm.offline import OfflineModel
from gridagent.observations import ActionSettled, LinkState, ReplyComposed
from gridagent.runtime.deterministic import simulated_ports
from gridagent.runtime.system import system_ports
from gridagent.storage.database import Holder
from gridagent.storage.memory import MemoryStore
from gridagent.storage.store import open_store
from gridagent.tools.descriptor import Port

OLIVE = "5eed0000-0000-4000-8000-000000000001"


def config(**sections):
    """Build a configuration."""
    return parse_config(json.dumps(sections).encode())


def prepared(of=None):
    """Prepare the first avatar's mind."""
    of = of or Config()
    (key, avatar), *_ = of.avatars.items()
    return prepare_mind(of, key, avatar)


async def opened(of, store=None, **more):
    """Open it with the offline model."""
    return await open_mind(
        of, store, ports=simulated_ports(0), model=OfflineModel(), accounts=Accounts(SpendLimits()), prices=None, **more
    )


def test_a_mind_answers_to_its_account_persona_and_aliases():
    """Spec: PRS-6 — every name once; whom it obeys follows from the roles."""
    of = config(
        avatars={"robin": {"first_name": "Robin", "last_name": "Bird", "aliases": ["Bot"]}}, roles={"owners": [OLIVE]}
    )
    mind = prepared(of)
    assert {"Robin", "Robin Bird", "Bot"} <= set(mind.names)
    assert len(set(mind.names)) == len(mind.names)
    assert (mind.owners, mind.authorised) == ((OLIVE,), frozenset({OLIVE}))


def test_a_persona_comes_from_its_file(tmp_path):
    """Spec: PRS-6 — the file takes the built-in one's place; one that cannot be used is said at the start."""
    file = tmp_path / "persona.md"
    file.write_text("---\nname: Rob\n---\nYou are gruff.\n", encoding="utf-8")
    avatar = {"first_name": "Robin", "persona_file": str(file)}
    assert prepared(config(avatars={"robin": avatar})).persona.style == "You are gruff."
    file.write_text("---\nnothing: here\n---\n", encoding="utf-8")
    for broken in (avatar, {"first_name": "Robin", "persona": "nobody"}, {**avatar, "persona_file": "/none"}):
        with pytest.raises(ConfigError):
            prepared(config(avatars={"robin": broken}))


def test_what_a_turn_may_take_is_the_configurations():
    """Spec: BND-11, MND-11, MND-12 — limits, habits, prices and budgets in whole millionths."""
    of = config(
        llm={
            "max_model_turns": 3,
            "max_tool_calls": 7,
            "answer_timeout_s": 130,
            "newer_message": "queue",
            "prices": {"input": 3, "output": 15.5, "cached": 0.3},
            "spend": {"turn_money": 0.25, "fleet_tokens": 9},
        }
    )
    settings = prepared(of).settings
    assert (settings.turns.model_turns_max, settings.turns.tool_calls_max, settings.turns.deadline_s) == (3, 7, 130)
    assert settings.newer.value == "queue"
    prices = prices_of(of)
    assert (prices.input_micros, prices.output_micros, prices.cached_micros) == (3_000_000, 15_500_000, 300_000)
    assert (spend_limits(of).turn.micros, spend_limits(of).fleet.tokens) == (250_000, 9)
    assert prices_of(Config()) is None
    assert spend_limits(Config()) == SpendLimits()
    assert prices_of(config(llm={"prices": {"input": 1}})).cached_micros is None


async def test_the_model_is_the_built_in_one_or_a_client_for_the_endpoint():
    """Spec: MND-1 — nothing configured thinks offline; an endpoint gets a client, which is closed with the block."""
    async with open_model(Config(), None, ports=simulated_ports(0)) as model:
        assert isinstance(model, OfflineModel)
    of = config(
        llm={"provider": "chat_completions", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "m"}
    )
    async with open_model(of, None, ports=simulated_ports(0)) as model:
        assert isinstance(model, LlmClient)


def test_an_embedders_key_is_read_from_its_file(tmp_path):
    """Spec: CFG-3 — the file's content, or a sentence that names the key of the configuration."""
    key = tmp_path / "key"
    key.write_text("sk-canary\n", encoding="utf-8")
    key.chmod(0o600)
    llm = {"provider": "anthropic", "endpoint": "https://api.example/v1/messages", "api_key_file": str(key)}
    assert read_api_key(Config()) == {}
    assert read_api_key(config(llm=llm))["llm.api_key_file"].reveal() == "sk-canary"
    key.write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_api_key(config(llm=llm))
    assert "llm.api_key_file" in str(caught.value)


async def test_what_can_be_looked_up_depends_on_storage(autojump_clock):
    """Spec: MND-13 — map and inventory always, memory where something is kept."""
    store = MemoryStore(simulated_ports(0).clock)
    await store.open_avatar("robin")
    for kept in (None, store):
        hosted = await opened(prepared(), kept)
        there = hosted.mind._ports
        assert {Port.MAP, Port.INVENTORY} <= there
        assert (Port.MEMORY in there) is (Port.SQL in there) is (kept is not None)


async def say_to(running, text):
    """Let the owner send the avatar an IM, and wait until it was answered."""
    robin = running.prepared.avatars[0].account_id
    running.grid.world.perform(OLIVE, SendIm(to=robin, text=text), running.grid.now())
    await trio.sleep(60)


async def test_a_conversation_goes_on_after_a_restart(autojump_clock, monkeypatch):
    """Spec: MEM-3 — what was said in one life is in the history of the next, read a page at a time and untrusted."""
    monkeypatch.setattr(minds, "_PAGE", 2)
    store = MemoryStore(simulated_ports(0).clock)
    requests = []

    class Noting(OfflineModel):
        async def complete(self, request):
            requests.append("\n".join(turn.text for turn in request.turns))
            return await super().complete(request)

    monkeypatch.setattr("gridagent.llm.offline.OfflineModel", Noting)
    plan = prepare(Config(), scenario="plaza", demonstrate=True)
    for life in range(2):
        async with open_running(plan, ports=simulated_ports(life), store=store) as running:
            await running.service.avatar("robin").wait_link(LinkState.ONLINE)
            await trio.sleep(5)
            await say_to(running, f"hello, kumquat {life}")
    later = [text for text in requests if "kumquat 1" in text]
    assert later
    assert all("kumquat 0" in text and "memory]" in text for text in later), later


async def test_a_turn_costs_few_commits(tmp_path):
    """Spec: MEM-3, EFX-2 — hearing, looking, answering and speaking ride in group commits: at most four for a turn."""
    ports = simulated_ports(0)
    scenario = load_shipped("plaza")
    robin = scenario.agents()[0]
    plan = prepare(Config(), scenario="plaza", demonstrate=True)
    plan = attrs.evolve(plan, scenario=quiet_story(scenario, robin))
    holder = Holder(pid=1, since="now")
    async with (
        open_store(str(tmp_path / "ledger.sqlite3"), ports=ports, holder=holder) as store,
        open_running(plan, ports=ports, store=store) as running,
    ):
        await running.service.avatar("robin").wait_link(LinkState.ONLINE)
        running.grid.world.login(OLIVE, running.grid.now())
        await store.commit()
        before = store.status().commits
        with running.service.avatar("robin").observe("test") as seen:
            words = SendIm(to=plan.avatars[0].account_id, text="who is here?")
            running.grid.world.perform(OLIVE, words, running.grid.now())
            async for item in seen:
                if isinstance(item.body, ActionSettled):
                    break
        await store.commit()
        commits = store.status().commits - before
    assert 1 <= commits <= 4


async def test_embedders_get_a_mind_too(autojump_clock):
    """Spec: OPS-1 — `open_service` with nothing configured answers the scenario's people by the offline model."""
    async with open_service(scenario="plaza", ports=simulated_ports(1)) as service:
        with service.avatar().observe("test") as seen:
            async for item in seen:
                if isinstance(getattr(item, "body", None), ReplyComposed):
                    break
        assert item.body.text


async def test_an_endpoint_thinks_for_an_avatar():
    """Spec: MND-1, OPS-1 — from a configured URL on this machine to words in the plaza, tools and key included."""
    asked = []

    async def serve(stream):
        data = b""
        while b"\r\n\r\n" not in data:
            data += await stream.receive_some(65_536)
        head, _, body = data.partition(b"\r\n\r\n")
        size = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
        while len(body) < size:
            body += await stream.receive_some(65_536)
        asked.append((head, json.loads(body)))
        said = {"message": {"role": "assistant", "content": "A fine evening to you."}, "finish_reason": "stop"}
        reply = json.dumps({"choices": [said], "usage": {"prompt_tokens": 9, "completion_tokens": 5}}).encode()
        await stream.send_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
            + f"content-length: {len(reply)}\r\n\r\n".encode()
            + reply
        )

    scenario = load_shipped("plaza")
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        llm = {"provider": "chat_completions", "endpoint": f"http://127.0.0.1:{port}/v1/chat/completions", "model": "m"}
        plan = prepare(
            config(llm=llm), scenario="plaza", demonstrate=True, secrets={"llm.api_key_file": SecretStr("sk-1")}
        )
        plan = attrs.evolve(plan, scenario=quiet_story(scenario, scenario.agents()[0]))
        with allow_real_requests(RealRequests.LOOPBACK):
            async with open_running(plan, ports=system_ports()) as running:
                await running.service.avatar("robin").wait_link(LinkState.ONLINE)
                running.grid.world.login(OLIVE, running.grid.now())
                with running.service.avatar("robin").observe("test") as seen:
                    words = SendIm(to=plan.avatars[0].account_id, text="good evening")
                    running.grid.world.perform(OLIVE, words, running.grid.now())
                    async for item in seen:
                        if isinstance(item.body, ReplyComposed):
                            break
        nursery.cancel_scope.cancel()
    assert item.body.text == "A fine evening to you."
    head, body = asked[0]
    assert b"authorization: bearer sk-1" in head.lower()
    assert "look_around" in {tool["function"]["name"] for tool in body["tools"]}
    assert "good evening" in body["messages"][-1]["content"]
