"""The words of the commands."""

from __future__ import annotations

from gridagent.cli.commands import _BUILD
from gridagent.cli.vocabulary import COMMAND_WORDS, LOCAL
from gridagent.controls import CONTROLS, GiveGrant, RevokeGrant


def test_every_control_of_the_catalogue_has_a_command() -> None:
    """Nothing an operator may tell an avatar is missing from the command line. Spec: SUP-8, OPS-1."""
    arguments = {
        "TEXT": "hi",
        "JSON": '{"action":"stop_moving"}',
        "UUID": "5eed0000-0000-4000-8000-000000000001",
        "ID": "a1",
        "EFFECT HOW": "e1 happened",
        "FILE": __file__,
        "": "",
    }
    built = {type(_BUILD[words.name](arguments[words.argument])) for words in COMMAND_WORDS}
    by_grants = {GiveGrant, RevokeGrant}  # `gridagent grants`, which also lists them
    assert built == set(CONTROLS) - by_grants


def test_commands_and_local_words_are_apart_and_complete() -> None:
    """Every command has a builder, a help and an example that begins with its name."""
    assert {words.name for words in COMMAND_WORDS} == set(_BUILD)
    assert not {words.name for words in COMMAND_WORDS} & set(LOCAL)
    for words in COMMAND_WORDS:
        assert words.help
        assert words.example.split()[0] == words.name


def test_the_kill_switch_concerns_everybody() -> None:
    """Hold and stop need no avatar. Spec: POL-12."""
    assert {words.name for words in COMMAND_WORDS if words.for_all} == {"hold", "stop"}
