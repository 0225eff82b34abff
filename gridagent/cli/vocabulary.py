"""The names, arguments and helps of what an operator can tell an avatar; and the one error of usage.

Owns words only, so that ``--help`` and a wrong command line cost nothing; how each becomes a control is
`gridagent.cli.commands`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gridagent.errors import OperatorError

__all__ = ("COMMAND_WORDS", "LOCAL", "CommandWords", "UsageProblem")


class UsageProblem(OperatorError):
    """A command was written wrongly; the sentence says how to write it."""

    code = "usage"


class CommandWords(NamedTuple):
    """One command that is a control."""

    name: str
    argument: str
    """What stands behind the name, in capitals; empty for nothing."""
    help: str
    example: str
    option: str = ""
    """The name of an option whose value may be left out; typed while the service runs, the value stands alone."""
    typed: bool = True
    """Whether it can be typed while the service runs in the foreground."""
    for_all: bool = False
    """Without an avatar it concerns all of them, not the only one."""


COMMAND_WORDS: Final = (
    CommandWords(
        "say", "TEXT", "speak through the avatar; the policy decides on it like on anything else", "say Good evening"
    ),
    CommandWords(
        "act",
        "JSON",
        "ask for any action as the operator; the policy decides on it",
        """act '{"action":"emote","text":"waves"}'""",
    ),
    CommandWords("hold", "", "the kill switch: stay in the world, hear, and cause nothing", "hold", for_all=True),
    CommandWords("release", "", "let the avatar act again after hold", "release"),
    CommandWords("pause", "", "log out and stay away until resume", "pause --avatar robin"),
    CommandWords("resume", "", "come back from pause", "resume"),
    CommandWords(
        "connect",
        "",
        "connect now; ends a back-off, a stay-away or an authentication block",
        "connect --code 123456",
        option="code",
    ),
    CommandWords("disconnect", "", "log out and stay away until connect", "disconnect"),
    CommandWords("reconnect", "", "end this connection and begin the next at once", "reconnect"),
    CommandWords("stop-turn", "", "cancel what the avatar is doing or thinking", "stop-turn"),
    CommandWords(
        "forget", "UUID", "remove everything remembered about an avatar", "forget 5eed0000-0000-4000-8000-000000000001"
    ),
    CommandWords("allow", "ID", "allow what a waiting approval asks for, exactly once", "allow 0f3a"),
    CommandWords("deny", "ID", "deny what a waiting approval asks for", "deny 0f3a"),
    CommandWords(
        "settle",
        "EFFECT HOW",
        "say by hand how an effect in doubt ended: happened or failed",
        "settle 10b4b74e happened",
    ),
    CommandWords(
        "reload",
        "FILE",
        "take over what may change live from a configuration file; what may not is named",
        "reload config.json",
    ),
    CommandWords("stop", "", "stop in order: log out, then end", "stop", typed=False, for_all=True),
)
"""In the order in which help lists them."""

LOCAL: Final = {
    "status": "how every avatar is",
    "approvals": "what waits for an answer",
    "help": "this list",
    "quit": "stop in order and leave",
}
"""What can be typed besides."""
