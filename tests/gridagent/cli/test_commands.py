"""From words to controls."""

from __future__ import annotations

import io
from argparse import Namespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Emote
from gridagent.cli.commands import build_control, parse_typed, typed_help, words_of
from gridagent.cli.vocabulary import UsageProblem
from gridagent.controls import (
    AnswerApproval,
    Connect,
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
        ("connect", "", Connect()),
        ("connect", "246810", Connect(code="246810")),
        ("connect", "--code 246 810", Connect(code="246810")),
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
        ("connect", "12", "a one-time code is what your authenticator shows, as in: connect --code 123456"),
        ("connect", "24681\u0660", "a one-time code is what your authenticator shows"),
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


@pytest.mark.parametrize(
    ("given", "typed", "words"),
    [
        (Namespace(), None, ""),
        (Namespace(argument=["Good", "evening"]), None, "Good evening"),
        (Namespace(code=None), "unread\n", ""),
        (Namespace(code="246810"), "unread\n", "246810"),
        (Namespace(code="-"), "246 810\nunread\n", "246 810"),
    ],
)
def test_what_stands_behind_a_command_is_read(given, typed, words) -> None:
    """A code of - comes from standard input, where no list of processes shows it. Spec: SUP-8, CFG-3."""
    assert words_of(given, None if typed is None else io.StringIO(typed)) == words


@pytest.mark.parametrize(("code", "typed"), [("", None), ("-", None), ("-", ""), ("-", "  \n")])
def test_a_code_that_is_not_there_is_one_sentence(code, typed) -> None:
    """Nothing connects without it. Spec: OPS-1."""
    with pytest.raises(UsageProblem, match=r"^--code: the code is missing; write it as in: gridagent connect"):
        words_of(Namespace(code=code), None if typed is None else io.StringIO(typed))


def test_a_wrong_code_is_not_repeated() -> None:
    """The sentence says how to write it, not what was written. Spec: CFG-3."""
    with pytest.raises(UsageProblem) as raised:
        build_control("connect", "canary-code!")
    assert "canary" not in str(raised.value)
