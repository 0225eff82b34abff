"""The comments of a configuration that ``gridagent init`` writes.

Owns the words, by the dotted path of what they stand above; ``*`` is the avatar's key. Decides no value. Nothing that
somebody typed ever gets into a comment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ("remarks_for",)

_REMARKS: Final[Mapping[str, str]] = {
    "": """A configuration of gridagent, written by "gridagent init".
Lines that begin with // are comments; everything else is strict JSON. Only what differs from the defaults has to \
stand here: docs/reference/configuration.md explains every key. After a change: gridagent check-config FILE; many \
keys change in a running service: gridagent reload FILE.""",
    "avatars": "Every avatar of this service, by a short name of your own; commands and logs use it.",
    "avatars.*.first_name": "The account, as the grid knows it.",
    "avatars.*.password_file": """Holds the password, alone on its one line; nobody but you may have a permission \
on it (chmod 600). The path starts from this file's directory.""",
    "avatars.*.persona": "Who it is: a built-in persona. For one of your own, write persona_file and a path instead.",
    "avatars.*.persona_file": "Who it is, in Markdown; see docs/how-to/write-a-persona.md.",
    "avatars.*.aliases": "Other names people call it by, so that it knows it is being spoken to.",
    "avatars.*.start": 'Where it logs in: "last", "home", or a place as "Region/128/128/25".',
    "avatars.*.home": "Where it goes when it is sent home, as a place like above; null leaves that to the grid.",
    "avatars.*.fallbacks": "Places to flee to, in this order, when its region restarts.",
    "grid": "The world the avatars live in.",
    "grid.backend": "simulated: built in, no network. live: a real grid.",
    "grid.live.grid": "A well-known grid by name. For any other, write login_url and its exact login address instead.",
    "grid.live.login_url": "The exact address that viewers of this grid log in at.",
    "grid.live.allow_plain_http": """The login goes unencrypted over the network: whoever reads it there can log in \
as the avatar. You accepted that.""",
    "grid.live.accept_terms": """Set it to true once you have read the grid's terms and accept them for this account. \
Many grids want bots to be registered: read their rules first.""",
    "roles": """Whom the avatar obeys, by UUID; names can be imitated and are never accepted. Owners may do what the \
policy gives owners, and answer approvals; trusted people what it gives trusted.""",
    "policy": """What the avatar may do: a preset, and what differs from it. "gridagent policy show PRESET" prints \
one in the form it has here; a cell that stands here wins over the preset's. A meter that stands nowhere is zero, so \
what is allowed needs its numbers too. For example, to walk for trusted people who say so in public:
    "matrix": {"public_chat": {"move": "trusted"}},
    "budgets": {"calls.move": [{"per": "global", "limit": 30, "window_s": 60}],
                "metres": [{"per": "global", "limit": 2048, "window_s": 3600}]},""",
    "policy.dry_run": "true: decide and record everything, change nothing in the world. Good for a first day.",
    "llm": "The language model that thinks for the avatars.",
    "llm.provider": """offline: built in, no network. chat_completions: what OpenAI, Ollama, llama.cpp and vLLM speak. \
anthropic: Anthropic's messages.""",
    "llm.endpoint": "The one exact URL that requests go to.",
    "llm.allow_plain_http": "Conversations and the key go unencrypted over the network. You accepted that.",
    "llm.api_key_file": "Holds the endpoint's key, alone on its one line; nobody but you may read it.",
    "llm.prices": "What a million tokens cost; money is counted with these where the endpoint doesn't say.",
    "llm.spend": """The most that thinking may cost, in the currency of the prices: one answer, one person in a day, \
one avatar in a day, all of them in a day. Then the avatar says that it is tired.""",
}


def remarks_for(key: str) -> dict[str, str]:
    """Return the comments for a configuration whose avatar has this key."""
    return {path.replace("avatars.*", f"avatars.{key}"): text for path, text in _REMARKS.items()}
