"""What ``gridagent init`` asks: the words of each question, what explains it, and what an empty answer means.

Owns words only; the order, the checks and what follows from an answer are `gridagent.cli.init`'s.
"""

from __future__ import annotations

from typing import Final

from gridagent.cli.asking import Question
from gridagent.config.known_grids import KNOWN_GRIDS
from gridagent.config.model import AvatarConfig, LlmProvider
from gridagent.config.policy import Preset
from gridagent.config.secrets import EndpointUrl
from gridagent.policy.presets import SUMMARIES
from gridagent.presence.persona import built_in_personas

__all__ = (
    "ENDPOINT",
    "FIRST_NAME",
    "GRID",
    "KEY",
    "LAST_NAME",
    "MODEL",
    "MONEY",
    "NONE",
    "OFFLINE",
    "OWNER",
    "PASSWORD",
    "PERSONA",
    "PLAIN_LOGIN",
    "PLAIN_MODEL",
    "PRESET",
    "PRICE_INPUT",
    "PRICE_OUTPUT",
    "PROVIDER",
)

OFFLINE: Final = "offline"
NONE: Final = "none"


def _bare(url: EndpointUrl) -> str:
    return "" if url.is_encrypted else ", whose login is not encrypted"


GRID: Final = Question(
    "grid",
    "Grid",
    (
        "Where does the avatar live?",
        f"  {OFFLINE:<16} the built-in world: nothing leaves this machine",
        *(f"  {grid.value:<16} {facts.label}{_bare(facts.login_url)}" for grid, facts in KNOWN_GRIDS.items()),
        "  http…            the address of any other grid: it is asked where one logs in",
    ),
    OFFLINE,
)
PLAIN_LOGIN: Final = Question(
    "allow-plain-http",
    "Accept that",
    ("This grid's login is not encrypted: whoever reads your network can log in as the avatar.",),
)
PLAIN_MODEL: Final = Question(
    "allow-plain-http",
    "Accept that",
    ("This endpoint is not encrypted: whoever reads your network reads conversations and the key.",),
)
FIRST_NAME: Final = Question("first-name", "First name of the avatar's account")
LAST_NAME: Final = Question("last-name", "Last name", (), "Resident")
PASSWORD: Final = Question(
    "password-file",
    "Password",
    ("The account's password. It is not shown, and goes into a file of its own that only you can read.",),
)
OWNER: Final = Question(
    "owner",
    "Owner's UUID",
    (
        "Whom does it obey? The UUID of your own avatar, or 'none'; names can be imitated.",
        "  In world, this script says yours: default { state_entry() { llOwnerSay(llGetOwner()); } }",
        "  On an OpenSimulator console: show account FIRST LAST",
    ),
    NONE,
)
PERSONA: Final = Question(
    "persona",
    "Persona",
    (f"Who is it? A built-in persona ({', '.join(built_in_personas())}), or a file of yours in Markdown.",),
    AvatarConfig(first_name="Any").persona,
)
PRESET: Final = Question(
    "preset",
    "Preset",
    ("What may it do?", *(f"  {preset.value:<16} {SUMMARIES[preset]}" for preset in Preset)),
    Preset.OBSERVER.value,
)
ENDPOINT: Final = Question(
    "model-endpoint",
    "Model",
    (
        "Which language model thinks for it?",
        f"  {OFFLINE:<16} the built-in one: a few rules, no network",
        "  http…            an endpoint's one exact URL: http://127.0.0.1:11434/v1/chat/completions",
    ),
    OFFLINE,
)
PROVIDER: Final = Question(
    "provider", "What the endpoint speaks", (f"What does it speak? {', '.join([*LlmProvider][1:])}.",)
)
MODEL: Final = Question("model", "Name of the model")
KEY: Final = Question(
    "api-key-file", "Key", ("The endpoint's key. It is not shown; leave it empty where none is needed.",)
)
PRICE_INPUT: Final = Question(
    "price-input",
    "A million tokens of input cost",
    ("What does it cost? Money is counted with these prices where the endpoint does not say it itself.",),
    "0",
)
PRICE_OUTPUT: Final = Question("price-output", "A million tokens of output cost", (), "0")
MONEY: Final = Question("daily-money", "The most that thinking may cost in a day", (), "5")
