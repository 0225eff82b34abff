"""From the configuration of a model to a client for it.

Owns which codec and which headers belong to which provider. Only the composition root calls it, and only where an
endpoint is configured: it imports httpx. The offline model needs none of this.

Invariant: what the configuration says is all there is; nothing is discovered or guessed (Spec: MND-1, CFG-3).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from gridagent.config.model import LlmConfig, LlmProvider
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.llm.anthropic import VERSION, Anthropic
from gridagent.llm.base import Codec
from gridagent.llm.chat_completions import ChatCompletions
from gridagent.llm.client import LlmClient
from gridagent.llm.prices import Prices
from gridagent.llm.retry import RetryPolicy
from gridagent.llm.slots import Slots
from gridagent.llm.transport import HttpTransport, TransportTimeouts
from gridagent.observability import Log
from gridagent.runtime.ports import Randomness

__all__ = ("open_endpoint",)

JITTER_STREAM: Final = "llm.retry"
_OPENAI: Final = "api.openai.com"
_AZURE: Final = ".openai.azure.com"


@asynccontextmanager
async def open_endpoint(
    config: LlmConfig,
    *,
    api_key: SecretStr | None,
    randomness: Randomness,
    slots: Slots | None = None,
    prices: Prices | None = None,
    log: Log | None = None,
) -> AsyncIterator[LlmClient]:
    """Open a client for the configured endpoint; it is closed with the block.

    Args:
        config: with a provider other than offline, and an endpoint.
        api_key: what ``llm.api_key_file`` held.
        randomness: where the jitter of retries comes from.
        slots: shared with other clients; None makes as many as are configured.
        prices: of a million tokens; None leaves unknown what a provider does not say.
        log: takes what providers say, redacted.

    Raises:
        ConfigError: there is no endpoint, or the key cannot be sent.

    Cancellation: requests under way are cancelled with their tasks; closing takes no time.
    """
    endpoint = config.endpoint
    if endpoint is None:
        raise _problem("$.llm.endpoint", "is needed for this provider", "write the model's URL")
    codec, headers = _speaking(config, endpoint, api_key)
    try:
        transport = HttpTransport(
            endpoint,
            headers=headers,
            timeouts=TransportTimeouts(
                connect_s=config.connect_timeout_s, read_s=config.read_timeout_s, write_s=config.read_timeout_s
            ),
            concurrency_max=config.max_concurrent_requests,
            log=log,
        )
    except ValueError:
        transport = None
    if transport is None:
        raise _problem(
            "$.llm.api_key_file", "holds a key that HTTP cannot carry", "write the key as the provider gave it"
        )
    client = LlmClient(
        transport,
        codec,
        slots=slots or Slots(config.max_concurrent_requests),
        rng=randomness.stream(JITTER_STREAM),
        policy=RetryPolicy(retries_max=config.max_retries),
        prices=prices,
        log=log,
    )
    try:
        yield client
    finally:
        await client.aclose()


def _speaking(
    config: LlmConfig, endpoint: EndpointUrl, api_key: SecretStr | None
) -> tuple[Codec, dict[str, str | SecretStr]]:
    """Return the wire of a provider, and the headers it wants."""
    if config.provider is LlmProvider.ANTHROPIC:
        headers: dict[str, str | SecretStr] = {"anthropic-version": VERSION}
        return Anthropic(config.model), headers | ({} if api_key is None else {"x-api-key": api_key})
    host = urlsplit(str(endpoint)).hostname or ""
    codec = ChatCompletions(config.model, openai=host == _OPENAI or host.endswith(_AZURE))
    if api_key is None:
        return codec, {}
    if host.endswith(_AZURE):
        return codec, {"api-key": api_key}
    return codec, {"Authorization": SecretStr(f"Bearer {api_key.reveal()}")}


def _problem(path: str, what: str, mend: str) -> ConfigError:
    return ConfigError((ConfigProblem(path=path, what=what, shape="", mend=mend),))
