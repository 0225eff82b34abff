"""Every configuration key with its default, its unit and its bounds (Spec: CFG-1).

Owns the shape of the configuration and nothing else: reading is `gridagent.config.load`, rules between keys are
`gridagent.config.rules`; the sections ``policy``, ``roles``, ``presence``, ``conversation`` and ``tracing`` have
modules of their own. Only the composition root sees a whole `Config`; every other room gets its section. The text
under each key is what ``docs/reference/configuration.md`` says about it.

Invariant: `Config()` is usable as it is (one avatar in the simulated plaza, no network), and no key can raise a
ceiling of `gridagent.limits`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.config.conversation import ConversationSection
from gridagent.config.fields import (
    AvatarKeyText,
    FilePath,
    LongSeconds,
    LoopbackHost,
    PersonName,
    Place,
    Port,
    Seconds,
    SecretFile,
)
from gridagent.config.known_grids import KNOWN_GRIDS, KnownGrid
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.presence import PresenceSection
from gridagent.config.secrets import EndpointUrl
from gridagent.config.spending import PriceSection, SpendSection
from gridagent.config.tracing import TracingSection
from gridagent.limits import (
    AUDIT_ROWS_MAX,
    AVATARS_PER_SERVICE_MAX,
    CONTROL_QUEUE_MAX,
    EFFECT_ROWS_MAX,
    GRID_EVENT_QUEUE_MAX,
    KEEP_DAYS_MAX,
    LLM_REQUESTS_MAX,
    MODEL_TURNS_MAX,
    OBSERVABLE_QUEUE_MAX,
    OFFLINE_WORK_MAX,
    TOOL_CALLS_PER_SESSION_MAX,
    Label,
    Name,
)

__all__ = (
    "AvatarConfig",
    "Backend",
    "Config",
    "ControlConfig",
    "FailureRule",
    "GridConfig",
    "HealthConfig",
    "LiveGridConfig",
    "LlmConfig",
    "LlmProvider",
    "LogConfig",
    "LogDestination",
    "LogFormat",
    "LogLevel",
    "NewerMessage",
    "PathsConfig",
    "QueuesConfig",
    "ReconnectConfig",
    "SessionConfig",
    "SimulatedGridConfig",
    "StorageConfig",
)


class Backend(StrEnum):
    """Which world the avatars live in."""

    SIMULATED = "simulated"
    """The built-in grid: no network, no account."""
    LIVE = "live"
    """A real Second Life or OpenSimulator grid."""


class FailureRule(StrEnum):
    """What a failed grid connection leads to."""

    AUTO = "auto"
    """``reconnect`` in a live grid, and in a scenario that itself breaks connections; otherwise ``fail``."""
    FAIL = "fail"
    RECONNECT = "reconnect"


class LlmProvider(StrEnum):
    """Who thinks."""

    OFFLINE = "offline"
    """The built-in rule-based model: no network, no key."""
    CHAT_COMPLETIONS = "chat_completions"
    """Any endpoint that speaks OpenAI's chat completions (OpenAI, Ollama, llama.cpp, vLLM, …)."""
    ANTHROPIC = "anthropic"


class LogLevel(StrEnum):
    """The least important record that is still written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a record is written."""

    JSON = "json"
    """One JSON object a line, for machines."""
    CONSOLE = "console"
    """One readable line, for people."""


class NewerMessage(StrEnum):
    """What a newer message of a conversation does to an answer that is being thought about (Spec: MND-11)."""

    JOIN = "join"
    REPLACE = "replace"
    QUEUE = "queue"


class LogDestination(StrEnum):
    """Where records go."""

    FILE = "file"
    """The file named by ``paths.log_file``."""
    STDERR = "stderr"


KeepDays: TypeAlias = Annotated[int, Meta(ge=1, le=KEEP_DAYS_MAX)]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every section."""


class AvatarConfig(_Section, frozen=True, kw_only=True):
    """One avatar: its account, who it is, and what it may do."""

    first_name: PersonName
    """First name of the account in the grid."""
    last_name: PersonName = "Resident"
    """Last name of the account; newer Second Life accounts are all called Resident."""
    password_file: SecretFile | None = None
    """File that holds the account's password (live grid only)."""
    persona: Label = "default"
    """Name of a built-in persona."""
    persona_file: FilePath | None = None
    """Persona of your own, in Markdown; takes the place of ``persona``."""
    aliases: Annotated[tuple[Name, ...], Meta(max_length=16)] = ()
    """Other names people call it by, so that it knows it is being spoken to."""
    start: Place = "last"
    """Where it logs in: last, home, or a place as Region/x/y/z."""
    home: Place | None = None
    """Place it returns to when sent home, as Region/x/y/z; home or null leaves that to the grid."""
    fallbacks: Annotated[tuple[Place, ...], Meta(max_length=8)] = ()
    """Places to flee to, in this order, when its region restarts."""
    policy: PolicySection | None = None
    """What this avatar may do; null takes the section ``policy``."""
    roles: RolesSection | None = None
    """Whom this avatar obeys; null takes the section ``roles``."""
    presence: PresenceSection | None = None
    """When this avatar feels spoken to; null takes the section ``presence``."""
    dry_run: bool = False
    """Perceive, think and decide, but change nothing in the world."""


class SimulatedGridConfig(_Section, frozen=True, kw_only=True):
    """The built-in grid."""

    scenario: Label = "plaza"
    """Name of a built-in scenario."""
    scenario_file: FilePath | None = None
    """Scenario of your own; takes the place of ``scenario``."""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 1
    """The same seed gives the same life."""
    book_file: FilePath | None = None
    """File in which the grid's bank writes down who paid whom, so that its money outlives the service as a real grid's
    does; null lets it end with the service."""


class LiveGridConfig(_Section, frozen=True, kw_only=True):
    """A real grid."""

    grid: KnownGrid | None = None
    """A well-known grid, by name; stands in place of ``login_url``."""
    login_url: EndpointUrl | None = None
    """The grid's exact login address; `gridagent init` finds it out from a grid's home address."""
    allow_plain_http: bool = False
    """Let the login go over unencrypted HTTP to another machine (what it sends is as good as the password)."""
    accept_terms: bool = False
    """You have read the grid's terms and critical messages and accept them for these accounts; each login says so."""
    login_timeout_s: Seconds = 60.0
    """Longest a login may take."""
    idle_timeout_s: Annotated[float, Meta(ge=5.0, le=600.0)] = 60.0
    """Silence after which the connection counts as lost."""

    @property
    def address(self) -> EndpointUrl | None:
        """Where avatars log in: ``login_url``, or what is known of the grid that is named."""
        return self.login_url if self.grid is None else KNOWN_GRIDS[self.grid].login_url


class GridConfig(_Section, frozen=True, kw_only=True):
    """The world the avatars live in."""

    backend: Backend = Backend.SIMULATED
    """simulated: built in, no network. live: a real grid."""
    simulated: SimulatedGridConfig = SimulatedGridConfig()
    """Settings of the simulated grid; leave as they are for a live one."""
    live: LiveGridConfig = LiveGridConfig()
    """Settings of the live grid; leave as they are for the simulated one."""


class SessionConfig(_Section, frozen=True, kw_only=True):
    """How one avatar's session is run and ended."""

    on_backend_failure: FailureRule = FailureRule.AUTO
    """fail, reconnect, or auto: reconnect in a live grid and where a scenario breaks connections itself, else fail."""
    shutdown_timeout_s: Annotated[float, Meta(ge=0.1, le=120.0)] = 10.0
    """Longest each part may take to end in order; then it is cancelled."""
    logout_timeout_s: Annotated[float, Meta(ge=0.1, le=60.0)] = 3.0
    """Longest the one attempt to log out may take."""
    healthy_after_s: Seconds = 60.0
    """Time in world after which a connection counts as healthy and waiting times start small again."""
    max_restarts: Annotated[int, Meta(ge=0, le=100)] = 5
    """Restarts of a failed part (its connection's code, its mind) within ``restart_window_s``; one more ends the
    avatar's session as failed."""
    restart_window_s: Seconds = 300.0
    """Window over which restarts are counted."""
    login_stagger_s: Annotated[float, Meta(ge=0.0, le=600.0)] = 2.0
    """Pause between the logins of two avatars."""
    doubts_settle_s: Annotated[float, Meta(ge=1.0, le=3_600.0)] = 60.0
    """Time in the world again after which nothing of an earlier connection is on its way any more; only then does it
    mean anything that the grid knows nothing of a payment."""


class QueuesConfig(_Section, frozen=True, kw_only=True):
    """How much may wait where; more only costs memory."""

    grid_events: Annotated[int, Meta(ge=1, le=GRID_EVENT_QUEUE_MAX)] = 1_024
    """Events from the grid that wait for the session; then the grid connection waits."""
    controls: Annotated[int, Meta(ge=1, le=CONTROL_QUEUE_MAX)] = 64
    """Operator's controls that wait for the session; then the sender waits."""
    observables: Annotated[int, Meta(ge=1, le=OBSERVABLE_QUEUE_MAX)] = 1_024
    """Observations that wait for one subscriber; then it loses the oldest and is told how many."""


class ReconnectConfig(_Section, frozen=True, kw_only=True):
    """Coming back after the connection is lost, by cause."""

    offline_work_capacity: Annotated[int, Meta(ge=0, le=OFFLINE_WORK_MAX)] = 256
    """Requests that only read and wait for the avatar to be back; more are refused."""
    backoff_base_s: Seconds = 1.0
    """Lost connection: longest first wait; it doubles with each failure, and each wait is drawn at random below."""
    backoff_cap_s: Seconds = 60.0
    """Lost connection: the longest wait there is."""
    short_wait_s: Seconds = 10.0
    """The grid says the avatar is logged in already: wait this long."""
    long_wait_s: LongSeconds = 300.0
    """The grid is under maintenance: wait this long."""
    stay_away_s: LongSeconds = 3_600.0
    """Somebody in charge kicked the avatar: stay away this long."""
    return_after_s: LongSeconds = 300.0
    """The region restarted: go back to it from the fallback after this long."""


class LlmConfig(_Section, frozen=True, kw_only=True):
    """The language model that thinks for the avatars."""

    provider: LlmProvider = LlmProvider.OFFLINE
    """offline: built in, no network. chat_completions or anthropic: an endpoint."""
    endpoint: EndpointUrl | None = None
    """The one exact URL requests go to."""
    allow_plain_http: bool = False
    """Let requests (and the key) go over unencrypted HTTP to another machine."""
    model: Annotated[Name, Meta(min_length=1)] = "built-in"
    """Name of the model, as the endpoint knows it."""
    api_key_file: SecretFile | None = None
    """File that holds the endpoint's key; null for endpoints without one."""
    max_concurrent_requests: Annotated[int, Meta(ge=1, le=LLM_REQUESTS_MAX)] = 16
    """Requests at one time, all avatars together; more wait."""
    connect_timeout_s: Seconds = 10.0
    """Longest until connected."""
    read_timeout_s: Seconds = 60.0
    """Longest silence inside a reply."""
    request_timeout_s: Seconds = 120.0
    """Longest one request may take, retries included."""
    max_retries: Annotated[int, Meta(ge=0, le=10)] = 3
    """Tries after the first, for failures that a second try can cure."""
    max_request_tokens: Annotated[int, Meta(ge=256, le=2_000_000)] = 16_000
    """Tokens of one request; older turns are left out until it fits."""
    max_reply_tokens: Annotated[int, Meta(ge=16, le=65_536)] = 1_024
    """Tokens of one reply."""
    max_model_turns: Annotated[int, Meta(ge=1, le=MODEL_TURNS_MAX)] = 8
    """Requests to the model for one answer."""
    max_tool_calls: Annotated[int, Meta(ge=1, le=TOOL_CALLS_PER_SESSION_MAX)] = 32
    """Tools used for one answer."""
    answer_timeout_s: Seconds = 300.0
    """Longest the whole of one answer may take."""
    newer_message: NewerMessage = NewerMessage.JOIN
    """join: while nothing was done yet, one answer covers what came before too. replace: only the newest message is
    answered. queue: each message is answered by itself."""
    prices: PriceSection | None = None
    """What tokens cost; null where that is nothing, or the provider says it."""
    spend: SpendSection = SpendSection()
    """The most that thinking may take."""


class ControlConfig(_Section, frozen=True, kw_only=True):
    """The endpoint through which the commands (and the kill switch) reach a running service."""

    enabled: bool = True
    """Listen at all."""
    host: LoopbackHost = "127.0.0.1"
    """Address to listen on; this machine only."""
    port: Port = 0
    """TCP port to listen on; 0 takes any free one (the commands find it)."""


class HealthConfig(_Section, frozen=True, kw_only=True):
    """The endpoint that tells supervisors, probes and collectors how the service is: /livez, /readyz and /metrics."""

    enabled: bool = False
    """Listen at all."""
    host: LoopbackHost = "127.0.0.1"
    """Address to listen on; this machine only."""
    port: Port = 8_719
    """TCP port to listen on, the same in every run so that a collector finds it; 0 takes any free one, and the first
    lines of the run say which."""
    token_file: SecretFile | None = None
    """File that holds the token which opens the metrics; null makes a new one at each start, in the file health.token
    of ``paths.runtime_dir``."""


class PathsConfig(_Section, frozen=True, kw_only=True):
    """Where files are kept; null takes this system's usual place."""

    state_dir: FilePath | None = None
    """What must survive a restart."""
    runtime_dir: FilePath | None = None
    """Locks and the control endpoint's token, for as long as the service runs."""
    log_file: FilePath | None = None
    """The log."""


class StorageConfig(_Section, frozen=True, kw_only=True):
    """How long what survives is kept; what is open, in doubt, waiting or usable never goes."""

    audit_keep_days: KeepDays = 400
    """A sealed segment of the audit trail whose last record is older goes."""
    audit_keep_rows: Annotated[int, Meta(ge=4_096, le=AUDIT_ROWS_MAX)] = 20_000_000
    """Beyond it the oldest sealed segments go, however young."""
    audit_segment_rows: Annotated[int, Meta(ge=16, le=65_536)] = 4_096
    """Records of a segment before it is sealed."""
    audit_segment_days: KeepDays = 1
    """Age of a segment's first record at which it is sealed however few it has."""
    effects_keep_days: KeepDays = 400
    """An ended effect that may have cost something goes when it is older."""
    effects_light_keep_days: KeepDays = 7
    """An ended effect that cost nothing goes when it is older."""
    effects_keep_rows: Annotated[int, Meta(ge=1_024, le=EFFECT_ROWS_MAX)] = 100_000
    """Beyond it the effects that ended longest ago go; those that cost nothing first."""
    approvals_keep_days: KeepDays = 90
    """An ended approval goes when it is older."""
    grants_keep_days: KeepDays = 90
    """A grant that ended longer ago goes."""
    conversations_keep_days: KeepDays = 400
    """A conversation in which nothing was said for so long goes, also of an avatar that no longer runs."""
    facts_keep_days: KeepDays = 3_660
    """A fact learnt longer ago goes."""
    tend_every_s: Annotated[float, Meta(ge=1.0, le=86_400.0)] = 300.0
    """How often what is too old is looked for."""


class LogConfig(_Section, frozen=True, kw_only=True):
    """The log; known secrets never appear in it."""

    level: LogLevel = LogLevel.INFO
    """debug, info, warning or error: the least important record that is written."""
    format: LogFormat = LogFormat.JSON
    """json for machines, console for people."""
    destination: LogDestination = LogDestination.FILE
    """file (see ``paths.log_file``) or stderr."""
    max_bytes: Annotated[int, Meta(ge=65_536, le=2**40)] = 67_108_864
    """Size at which the file is set aside (``gridagent.log.1`` and so on) and a new one begun."""
    keep_files: Annotated[int, Meta(ge=1, le=1_000)] = 8
    """Files that are kept when they were set aside; the oldest goes."""


def _default_avatars() -> dict[AvatarKeyText, AvatarConfig]:
    return {"robin": AvatarConfig(first_name="Robin")}  # type: ignore[dict-item]


class Config(_Section, frozen=True, kw_only=True):
    """The whole configuration."""

    avatars: Annotated[Mapping[AvatarKeyText, AvatarConfig], Meta(min_length=1, max_length=AVATARS_PER_SERVICE_MAX)] = (
        msgspec.field(default_factory=_default_avatars)
    )
    """Every avatar of this service, by a short name of your own."""
    grid: GridConfig = GridConfig()
    """The world they live in."""
    session: SessionConfig = SessionConfig()
    """How one avatar's session is run and ended."""
    queues: QueuesConfig = QueuesConfig()
    """How much may wait where."""
    reconnect: ReconnectConfig = ReconnectConfig()
    """Coming back after the connection is lost."""
    llm: LlmConfig = LlmConfig()
    """The language model."""
    policy: PolicySection = PolicySection()
    """What avatars may do in the world."""
    roles: RolesSection = RolesSection()
    """Whom avatars obey, by UUID."""
    presence: PresenceSection = PresenceSection()
    """When avatars feel spoken to, and how they speak."""
    conversation: ConversationSection = ConversationSection()
    """How much of what was said is kept, and for how long."""
    control: ControlConfig = ControlConfig()
    """The control endpoint of this machine."""
    health: HealthConfig = HealthConfig()
    """The health endpoint of this machine."""
    tracing: TracingSection = TracingSection()
    """Traces for a collector."""
    paths: PathsConfig = PathsConfig()
    """Where files are kept."""
    storage: StorageConfig = StorageConfig()
    """How long what survives is kept."""
    log: LogConfig = LogConfig()
    """The log."""

    @property
    def failure_rule(self) -> FailureRule:
        """What a failed grid connection leads to, ``auto`` resolved."""
        rule = self.session.on_backend_failure
        if rule is not FailureRule.AUTO:
            return rule
        return FailureRule.FAIL if self.grid.backend is Backend.SIMULATED else FailureRule.RECONNECT
