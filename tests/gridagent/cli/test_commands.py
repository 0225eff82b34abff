"""From words to controls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Emote
from gridagent.cli.commands import build_control, parse_typed, typed_help
from gridagent.cli.vocabulary import UsageProblem
from gridagent.controls import (
    AnswerApproval,
    ForceReconnect,
    ForgetAvatar,
    Hold,
    ReloadConfig,
    RequestAction,
    SayAsOperator,
    SettleEffect,
    StopTurn,
)
from gridagent.errors import ConfigError, GridAgentError

OLIVE = "5eed0000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("name", "argument", "control"),
    [
        ("say", "Good evening", SayAsOperator(text="Good evening")),
        ("act", '{"action":"emote","text":"waves"}', RequestAction(action=Emote(text="waves"))),
        ("hold", "", Hold()),
        ("reconnect", "", ForceReconnect()),
        ("stop-turn", "", StopTurn()),
        ("forget", OLIVE, ForgetAvatar(avatar_id=OLIVE)),
        ("allow", "a1", AnswerApproval(approval_id="a1", allow=True)),
        ("deny", "a1", AnswerApproval(approval_id="a1", allow=False)),
        ("settle", "e1 happened", SettleEffect(effect="e1", happened=True)),
        ("settle", "e1 failed", SettleEffect(effect="e1", happened=False)),
    ],
)
def test_words_become_controls(name, argument, control) -> None:
    """Each command builds its control. Spec: SUP-8."""
    assert build_control(name, argument) == control


@pytest.mark.parametrize(
    ("name", "argument", "words"),
    [
        ("say", "", "TEXT is missing; write it as in: say Good evening"),
        ("say", "x" * 2_000, "at most 1023 allowed"),
        ("say", "\udcff", "not valid UTF-8"),
        ("hold", "everything", "takes nothing behind it"),
        ("act", "wave", "is not JSON"),
        ("act", '{"action":"fly"}', "write it as in: act"),
        ("act", '{"action":"pay_avatar","to":"' + OLIVE + '","amount":1,"amount":900}', "has a key twice"),
        ("act", '{"action":"pay_avatar","to":"' + OLIVE + '","amount":true}', "write it as in"),
        ("act", '{"action":"pay_avatar","to":"' + OLIVE + '","amount":1e2}', "write it as in"),
        ("act", '{"action":"pay_avatar","to":"' + OLIVE + '","amount":NaN}', "beyond any range"),
        ("forget", "Olive Owner", "write it as in: forget 5eed"),
        ("settle", "e1", "say how the effect ended"),
        ("allow", "x" * 65, "length <= 64"),
    ],
)
def test_wrong_words_are_one_sentence_with_the_right_ones(name, argument, words) -> None:
    """What was wrong and how to write it, before anything is sent. Spec: OPS-1. Fault: 23, 24, 25."""
    with pytest.raises(UsageProblem) as caught:
        build_control(name, argument)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_reload_carries_the_file(tmp_path) -> None:
    """The file is read here, under the rules for configuration files. Spec: CFG-2."""
    path = tmp_path / "config.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o600)
    assert build_control("reload", str(path)) == ReloadConfig(config_json=b"{}")
    with pytest.raises(ConfigError, match="does not exist"):
        build_control("reload", str(tmp_path / "missing.json"))


def test_typed_lines_are_understood() -> None:
    """A line is a command, perhaps for one avatar by name. Spec: OPS-1."""
    typed = parse_typed("  @robin say  hello there ")
    assert typed is not None
    assert (typed.name, typed.avatar, typed.control) == ("say", "robin", SayAsOperator(text="hello there"))
    assert parse_typed("") is None
    assert parse_typed("   ") is None
    held = parse_typed("hold")
    assert held is not None
    assert held.for_all
    one = parse_typed("@robin hold")
    assert one is not None
    assert not one.for_all
    for word in ("quit", "exit", "stop"):
        left = parse_typed(word)
        assert left is not None
        assert left.name == "quit"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello everybody", "to speak, type: say hello everybody"),
        ("@robin", "say what that avatar is to do"),
        ("say", "TEXT is missing"),
        ("HOLD", "there is no command 'HOLD'"),
    ],
)
def test_a_line_that_is_no_command_is_never_spoken(line, words) -> None:
    """What is mistyped stays here. Spec: OPS-1."""
    with pytest.raises(UsageProblem) as caught:
        parse_typed(line)
    assert words in str(caught.value)


@given(st.text(max_size=80))
def test_no_typed_line_raises_anything_but_its_two_errors(line) -> None:
    """Whatever is typed or piped in, the run goes on."""
    codes = set()
    try:
        parse_typed(line)
    except GridAgentError as error:
        codes.add(error.code)
    assert codes <= {"usage", "config_invalid"}


def test_help_lists_what_can_be_typed() -> None:
    """Every line of the help names a command and what it does."""
    listed = dict(typed_help())
    assert {"say TEXT", "hold", "status", "quit", "help"} <= set(listed)
    assert "stop" not in listed
