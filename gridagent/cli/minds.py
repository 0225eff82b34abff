"""From the configuration to a mind: persona, presence, conversations, tools, and what thinking may cost.

Owns what a thinker is made of, and going on with the conversations that storage kept. Called by the composition
root, which names the model. Knows no world.

Invariant: whatever `prepare_mind` let pass can be opened; what storage hands back is untrusted, and what cannot be
read is dropped and counted (Spec: MEM-3).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import attrs

from gridagent.config.files import read_file
from gridagent.config.load import secret_from
from gridagent.config.model import AvatarConfig, Config, LlmProvider
from gridagent.config.presence import PresenceSection
from gridagent.config.secrets import SecretStr
from gridagent.conversation.changes import ConversationChange
from gridagent.conversation.settings import ConversationSettings, settings_of
from gridagent.conversation.store import ConversationStore
from gridagent.errors import ConfigError, ConfigProblem
from gridagent.ids import AvatarId, AvatarKey
from gridagent.limits import LLM_REQUESTS_MAX, PERSONA_FILE_MAX_BYTES, SECRET_FILE_MAX_BYTES
from gridagent.llm import LanguageModel
from gridagent.llm.accounting import Accounts, Limit, SpendLimits
from gridagent.llm.prices import Prices
from gridagent.llm.purse import AvatarPurse
from gridagent.observability import Log
from gridagent.presence import ReflexMind
from gridagent.presence.chain import PresenceChain
from gridagent.presence.persona import Persona, built_in_persona, names_of, parse_persona
from gridagent.presence.protected import Protected
from gridagent.runtime.ports import Ports
from gridagent.service import Hosted
from gridagent.storage.base import Store
from gridagent.storage.records import Learnt
from gridagent.thinking import Thinker, ThinkerSettings
from gridagent.thinking.mouth import Mouth
from gridagent.tools.descriptor import Port
from gridagent.tools.registry import Registry
from gridagent.turn import TurnLimits

__all__ = (
    "API_KEY",
    "PreparedMind",
    "open_mind",
    "open_model",
    "prepare_mind",
    "prices_of",
    "read_api_key",
    "spend_limits",
)

API_KEY: Final = "llm.api_key_file"
"""Where the model's key stands among the secrets."""
_PAGE: Final = 8
"""Conversations that are taken in at once: the loop runs in between, however long each of them is."""
_MICROS: Final = 1_000_000
_GRID_PORTS: Final = frozenset({Port.MAP, Port.INVENTORY})


@attrs.frozen(kw_only=True)
class PreparedMind:
    """One avatar's mind, checked and ready to be made."""

    key: AvatarKey
    persona: Persona
    names: tuple[str, ...]
    section: PresenceSection
    owners: tuple[AvatarId, ...]
    authorised: frozenset[AvatarId]
    settings: ThinkerSettings
    conversations: ConversationSettings


def prepare_mind(config: Config, key: AvatarKey, avatar: AvatarConfig) -> PreparedMind:
    """Check and load what a mind is made of.

    Raises:
        ConfigError: the persona cannot be used.
    """
    roles = avatar.roles or config.roles
    persona = load_persona(key, avatar)
    return PreparedMind(
        key=key,
        persona=persona,
        names=names_of(persona, first_name=avatar.first_name, last_name=avatar.last_name, aliases=avatar.aliases),
        section=avatar.presence or config.presence,
        owners=tuple(AvatarId(each) for each in roles.owners),
        authorised=frozenset(AvatarId(each) for each in (*roles.owners, *roles.trusted)),
        settings=_settings(config),
        conversations=settings_of(config.conversation),
    )


def load_persona(key: str, avatar: AvatarConfig) -> Persona:
    """Return who an avatar is.

    Raises:
        ConfigError: there is no such persona, or its file cannot be used.
    """
    if avatar.persona_file is None:
        return built_in_persona(avatar.persona, where=f"$.avatars.{key}.persona")
    where = f"$.avatars.{key}.persona_file"
    content = read_file(Path(avatar.persona_file), max_bytes=PERSONA_FILE_MAX_BYTES, holds_secret=False, where=where)
    return parse_persona(content.data, source=str(avatar.persona_file))


def _settings(config: Config) -> ThinkerSettings:
    llm = config.llm
    return ThinkerSettings(
        newer=llm.newer_message,
        turns_max=LLM_REQUESTS_MAX,
        turns=TurnLimits(
            model_turns_max=llm.max_model_turns,
            tool_calls_max=llm.max_tool_calls,
            deadline_s=llm.answer_timeout_s,
            request_deadline_s=llm.request_timeout_s,
            request_max_tokens=llm.max_request_tokens,
            reply_max_tokens=llm.max_reply_tokens,
        ),
    )


@asynccontextmanager
async def open_model(
    config: Config, api_key: SecretStr | None, *, ports: Ports, log: Log | None = None
) -> AsyncIterator[LanguageModel]:
    """Open the configured model for as long as the block lasts; all avatars share it, and its slots.

    Raises:
        ConfigError: the key cannot be sent.
    """
    if config.llm.provider is LlmProvider.OFFLINE:
        from gridagent.llm.offline import OfflineModel  # noqa: PLC0415 - on use

        yield OfflineModel()
        return
    from gridagent.llm.endpoint import open_endpoint  # noqa: PLC0415 - it loads httpx

    async with open_endpoint(
        config.llm, api_key=api_key, randomness=ports.randomness, prices=prices_of(config), log=log
    ) as client:
        yield client


def read_api_key(config: Config) -> dict[str, SecretStr]:
    """Read the model's key of a configuration that was not loaded from a file (an embedder's).

    Raises:
        ConfigError: the file cannot be used.
    """
    file = config.llm.api_key_file
    if file is None:
        return {}
    where = f"$.{API_KEY}"
    content = read_file(Path(file), max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=where)
    secret = secret_from(content.data)
    if not isinstance(secret, SecretStr):
        raise ConfigError((ConfigProblem(path=where, what=f"the secret file {secret[0]}", shape="", mend=secret[1]),))
    return {API_KEY: secret}


def spend_limits(config: Config) -> SpendLimits:
    """Return what all avatars together, each of them, a person and a turn may spend."""
    spend = config.llm.spend
    return SpendLimits(
        turn=Limit(tokens=spend.turn_tokens, micros=_micros(spend.turn_money)),
        person=Limit(tokens=spend.person_tokens, micros=_micros(spend.person_money)),
        day=Limit(tokens=spend.avatar_tokens, micros=_micros(spend.avatar_money)),
        fleet=Limit(tokens=spend.fleet_tokens, micros=_micros(spend.fleet_money)),
    )


def prices_of(config: Config) -> Prices | None:
    """Return what tokens cost; None where nobody said."""
    prices = config.llm.prices
    if prices is None:
        return None
    cached = None if prices.cached is None else _micros(prices.cached)
    return Prices(input_micros=_micros(prices.input), output_micros=_micros(prices.output), cached_micros=cached)


def _micros(money: float) -> int:
    return round(money * _MICROS)


async def open_mind(
    prepared: PreparedMind,
    store: Store | None,
    *,
    ports: Ports,
    model: LanguageModel,
    accounts: Accounts,
    prices: Prices | None,
    own: Iterable[AvatarId] = (),
    know: Callable[[Thinker], object] | None = None,
) -> Hosted:
    """Make a mind, and let it go on with the conversations of earlier runs.

    Args:
        prepared: from `prepare_mind`.
        store: where conversations and facts survive; None keeps them for this process only.
        ports: clock and randomness.
        model: thinks.
        accounts: what all avatars together may spend.
        prices: of a million tokens.
        own: the service's other avatars, as far as they are known.
        know: is given the mind, to change it later.

    Raises:
        StorageFailed: what was kept cannot be read.
    """
    from gridagent.cli.answering import AvatarFaculties  # noqa: PLC0415 - with storage's words
    from gridagent.cli.sql_answers import SqlAnswers  # noqa: PLC0415 - the same

    key = prepared.key
    conversations = ConversationStore(key, prepared.conversations)
    keep = None if store is None else partial(_keep, store, key)
    if store is not None:
        await _go_on(conversations, store, key, ports)
    memory = frozenset({Port.MEMORY, Port.SQL}) if store is not None else frozenset()
    thinker = Thinker(
        avatar=key,
        settings=prepared.settings,
        persona=prepared.persona,
        chain=PresenceChain(
            prepared.section,
            prepared.names,
            Protected(prepared.owners, prepared.section, own),
            _stream(ports, key),
        ),
        mouth=Mouth(prepared.section),
        reflex=ReflexMind(prepared.names, prepared.authorised),
        conversations=conversations,
        registry=Registry(),
        ports=memory | _GRID_PORTS,
        purse=AvatarPurse(accounts, key, prices),
        keep=keep,
    )
    if know is not None:
        know(thinker)
    tables = None if store is None else SqlAnswers(store, ports)
    return Hosted(mind=thinker, faculties=AvatarFaculties(key, model, store, tables))


def _stream(ports: Ports, key: AvatarKey) -> Random:
    return ports.randomness.stream(f"presence.{key}")


def _keep(store: Store, key: AvatarKey, change: ConversationChange) -> None:
    store.submit(Learnt(avatar=key, change=change))


async def _go_on(conversations: ConversationStore, store: Store, key: AvatarKey, ports: Ports) -> None:
    numbers = await store.conversations(key)
    clock = ports.clock
    for start in range(0, len(numbers), _PAGE):
        rows = await store.entries(key, numbers[start : start + _PAGE])
        for change in conversations.restore(rows, now=clock.monotonic(), wall=clock.wall()):
            _keep(store, key, change)
