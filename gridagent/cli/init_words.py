"""The flags of ``gridagent init``: each answers one of its questions.

Owns words only, so that ``--help`` costs nothing; the questions themselves are `gridagent.cli.init`'s.
"""

from __future__ import annotations

from argparse import Namespace
from typing import Final, NamedTuple

__all__ = ("DEFAULT_FILE", "INIT_EXAMPLES", "INIT_FLAGS", "INIT_MORE", "INIT_SWITCHES", "InitFlag", "init_answers")

DEFAULT_FILE: Final = "config.json"


class InitFlag(NamedTuple):
    """One flag that takes the answer to a question."""

    name: str
    metavar: str
    help: str


INIT_FLAGS: Final = (
    InitFlag("grid", "GRID", "offline, the name of a well-known grid, or the address of any other"),
    InitFlag("first-name", "NAME", "first name of the account"),
    InitFlag("last-name", "NAME", "last name of the account (Resident)"),
    InitFlag("password-file", "FILE", "a file that holds the password, in place of typing it"),
    InitFlag("owner", "UUID", "whom the avatar obeys, or 'none'"),
    InitFlag("persona", "NAME|FILE", "a built-in persona, or a file of yours in Markdown"),
    InitFlag("preset", "PRESET", "what it may do: observer, greeter, guide, shopkeeper or builder"),
    InitFlag("model-endpoint", "URL", "'offline', or the one exact URL that requests go to"),
    InitFlag("provider", "WHICH", "chat_completions or anthropic: what the endpoint speaks"),
    InitFlag("model", "NAME", "the model, as the endpoint knows it"),
    InitFlag("api-key-file", "FILE", "a file that holds the endpoint's key, in place of typing it"),
    InitFlag("price-input", "MONEY", "what a million tokens of input cost"),
    InitFlag("price-output", "MONEY", "what a million tokens of output cost"),
    InitFlag("daily-money", "MONEY", "the most that thinking may cost in a day"),
)
"""In the order in which their questions are asked."""

INIT_SWITCHES: Final = (
    ("yes", "ask nothing: take flags and defaults, and fail where both are missing"),
    ("force", "replace files that are there"),
    ("no-lookup", "take the grid's address as its exact login address, and contact nobody"),
    ("allow-plain-http", "let the login, or what the model is sent, go unencrypted over a network"),
)

INIT_MORE: Final = (
    "Every question can be answered by its flag; the others are asked, or read from standard input one a line.\n"
    "Passwords and keys are typed unseen and go into files of their own that only you can read."
)
INIT_EXAMPLES: Final = (
    "init",
    "init robin.json --grid secondlife",
    "init --yes --grid offline --preset guide",
    "init robin.json --yes --grid http://127.0.0.1:9000/ --first-name Robin --password-file robin.password --json",
)


def init_answers(arguments: Namespace) -> dict[str, str]:
    """Return what a command line answers, by the name of the flag; a switch that is set has an empty text."""
    values = {flag.name: getattr(arguments, flag.name.replace("-", "_")) for flag in INIT_FLAGS}
    switches = {name: "" for name, _ in INIT_SWITCHES if getattr(arguments, name.replace("-", "_"))}
    return {**{name: value for name, value in values.items() if value is not None}, **switches}
