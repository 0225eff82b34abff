"""A configuration becomes a client that speaks as its provider wants to be spoken to."""

from __future__ import annotations

import pytest

from gridagent.config.model import LlmConfig, LlmProvider
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import ConfigError
from gridagent.language import LlmFailure, LlmRequest, UserTurn
from gridagent.llm import Slots
from gridagent.llm.anthropic import Anthropic
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.endpoint import _AZURE, _speaking, open_endpoint
from gridagent.runtime.deterministic import SimulatedRandomness
from tests.gridagent.llm.llm_server import KEY, always, answer, serve

ASK = LlmRequest(turns=(UserTurn(text="hello"),))
RANDOMNESS = SimulatedRandomness(1)


def config(url: EndpointUrl | str | None, provider: LlmProvider = LlmProvider.CHAT_COMPLETIONS, **rest) -> LlmConfig:
    """The section of a model."""
    endpoint = EndpointUrl(url) if isinstance(url, str) else url
    return LlmConfig(provider=provider, endpoint=endpoint, model="some-model", **rest)


async def test_a_configured_model_answers() -> None:
    """Endpoint, key, model and retries are the configuration's. Spec: MND-1, CFG-1."""
    async with serve(always({"error": {}}, 503)) as server:
        section = config(server.url, max_retries=0, max_concurrent_requests=3)
        async with open_endpoint(section, api_key=SecretStr(KEY), randomness=RANDOMNESS) as model:
            with pytest.raises(LlmFailure):
                await model.complete(ASK)
            assert len(server.seen) == 1
            server.scripts = [always(answer("hi"))]
            assert (await model.complete(ASK)).text == "hi"
            assert server.seen[1].headers["authorization"] == f"Bearer {KEY}"
            assert server.seen[1].json["model"] == "some-model"
            assert model.statistics().slots.limit == 3
        await server.all_gone()


async def test_clients_can_share_their_slots() -> None:
    """A service has one set. Spec: SUP-11, BND-10."""
    slots = Slots(1)
    async with open_endpoint(config("http://127.0.0.1:1/"), api_key=None, randomness=RANDOMNESS, slots=slots) as model:
        assert model.statistics().slots.limit == 1


async def test_anthropic_is_asked_its_own_way() -> None:
    """Its key and version have headers of their own. Spec: MND-1."""
    reply = {"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    async with serve(always(reply)) as server:
        section = config(server.url, LlmProvider.ANTHROPIC)
        async with open_endpoint(section, api_key=SecretStr(KEY), randomness=RANDOMNESS) as model:
            assert (await model.complete(ASK)).text == "hi"
        seen = server.seen[0].headers
        assert (seen["x-api-key"], seen["anthropic-version"]) == (KEY, "2023-06-01")
        assert "authorization" not in seen


@pytest.mark.parametrize(
    ("url", "key", "openai", "header"),
    [
        ("https://api.openai.com/v1/chat/completions", KEY, True, "Authorization"),
        (f"https://x{_AZURE}/openai/deployments/d/chat/completions?api-version=1", KEY, True, "api-key"),
        ("https://api.openai.com.example.org/v1", KEY, False, "Authorization"),
        ("http://localhost:11434/v1/chat/completions", None, False, None),
    ],
)
def test_hosts_are_told_apart(url: str, key: str | None, openai, header: str | None) -> None:
    """Only OpenAI's own hosts get OpenAI's own words; the key goes where the host looks for it."""
    section = config(url)
    codec, headers = _speaking(section, section.endpoint, None if key is None else SecretStr(key))
    assert isinstance(codec, ChatCompletions)
    assert (b"max_completion_tokens" in codec.encode(ASK, streaming=False)) is openai
    assert list(headers) == ([] if header is None else [header])
    anthropic, headers = _speaking(config(url, LlmProvider.ANTHROPIC), section.endpoint, None)
    assert isinstance(anthropic, Anthropic)
    assert list(headers) == ["anthropic-version"]


@pytest.mark.parametrize(
    ("url", "key", "path"), [(None, KEY, "$.llm.endpoint"), ("http://127.0.0.1:1/", f"{KEY}é", "$.llm.api_key_file")]
)
async def test_what_cannot_work_is_said_before_anything_is_sent(url: str | None, key: str, path: str) -> None:
    """Where, what, and how to mend it, without the key. Spec: CFG-1, CFG-3."""
    with pytest.raises(ConfigError) as caught:
        async with open_endpoint(config(url), api_key=SecretStr(key), randomness=RANDOMNESS):
            pass
    assert caught.value.problems[0].path == path
    assert KEY not in str(caught.value)
    assert caught.value.__context__ is None
