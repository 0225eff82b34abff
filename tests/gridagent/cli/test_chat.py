"""``gridagent chat`` in this process: scripts, lines typed, problems."""

import io
import json

import pytest

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.main import main

pytestmark = pytest.mark.slow


def chat(tmp_path, *lines, arguments=("--json",), stdin=None, environ=None):
    """Chat by a script; returns the code, what came out, and what was complained of."""
    out, err = io.StringIO(), io.StringIO()
    given = list(arguments)
    if lines:
        script = tmp_path / "script.txt"
        script.write_text("\n".join(lines), encoding="utf-8")
        given += ["--script", str(script)]
    code = main(["chat", *given], stdin=stdin, stdout=out, stderr=err, environ=environ or {})
    return code, out.getvalue(), err.getvalue()


def events(out):
    """Every JSON line."""
    return [json.loads(line) for line in out.splitlines()]


def of_kind(out, kind):
    """Those of one kind."""
    return [each for each in events(out) if each["kind"] == kind]


def test_a_visitor_is_answered(tmp_path):
    """Spec: OPS-1, MND-14 — heard, decided, thought about, looked up, said and proved: each is a line of its own."""
    code, out, _ = chat(tmp_path, "Hello Robin!", "Robin, who is here?")
    assert code == ExitCode.OK
    kinds = {each["kind"] for each in events(out)}
    assert kinds >= {"typed", "heard", "decided", "turn", "tool", "reply", "action", "said", "outcome"}
    first = of_kind(out, "heard")[0]
    assert first == {
        "kind": "heard", "t": first["t"], "who": "Vera Visitor", "role": "stranger", "text": "Hello Robin!",
        "channel": "public", "utterance": first["utterance"],
    }  # fmt: skip
    assert [each["tool"] for each in of_kind(out, "tool")] == ["look_around"]
    assert "Greta" in of_kind(out, "said")[-1]["text"]
    assert {each["action"] for each in of_kind(out, "action")} == {"say"}


def test_what_the_policy_refuses_is_told_as_denied(tmp_path):
    """Spec: POL-5, MND-7 — the owner's payment after a look at strangers' words is denied, and not claimed."""
    config = tmp_path / "config.json"
    matrix = {"public_chat": {"money": "owner"}}
    config.write_text(
        json.dumps(
            {
                "avatars": {"robin": {"first_name": "Robin"}},
                "roles": {"owners": ["5eed0000-0000-4000-8000-000000000001"]},
                "policy": {"preset": "shopkeeper", "matrix": matrix},
            }
        ),
        encoding="utf-8",
    )
    _, out, _ = chat(tmp_path, "/as Olive", "Robin, pay me 5", arguments=("--json", "--config", str(config)))
    (denied,) = of_kind(out, "denied")
    assert (denied["action"], denied["code"], denied["role"]) == ("pay_avatar", "tainted", "owner")
    assert "sent" not in of_kind(out, "said")[-1]["text"]


def test_the_same_script_gives_the_same_lines(tmp_path):
    """Spec: SIM-2 — in virtual time and from one seed, a script says the same each time."""
    lines = ("Hello Robin", "/im are you there?", "/as olive", "Robin, come here", "/wait 1m")
    assert chat(tmp_path, *lines) == chat(tmp_path, *lines)


def test_the_owner_is_obeyed_and_an_im_is_answered_by_im(tmp_path):
    """Spec: POL-4, MEM-1 — the role is the UUID's; an IM is answered to that person alone."""
    _, out, _ = chat(tmp_path, "/as Olive", "Robin, come here", "/im Robin, who are you?")
    assert "walk_to" in {each["action"] for each in of_kind(out, "action")}
    (im, *_) = of_kind(out, "im")
    assert im["who"] == "Olive Owner"


def test_an_operator_can_hold_and_a_restart_remembers_it(tmp_path):
    """Spec: POL-12, SUP-8 — held, nothing is said any more; what storage kept holds in the next life."""
    _, out, _ = chat(tmp_path, "/op hold", "Robin, hello", "/restart", "Robin, hello again")
    assert of_kind(out, "said") == []
    assert [each["code"] for each in of_kind(out, "state")].count("running") == 2
    assert [each["text"] for each in of_kind(out, "typed")] == ["Robin, hello", "Robin, hello again"]


def test_people_see_words(tmp_path):
    """Without --json there are lines for people, a greeting first, and no colour in a pipe."""
    code, out, _ = chat(tmp_path, "Hello Robin", "/history", "/people", "/help", arguments=())
    assert code == ExitCode.OK
    assert "you are Vera Visitor" in out
    assert "Vera Visitor says: Hello Robin" in out
    assert "Olive Owner [owner]" in out
    assert "/whisper" in out
    assert "\x1b" not in out


def test_lines_can_be_typed_and_the_last_one_again(tmp_path):
    """Spec: OPS-1 — without a script lines come from standard input; /again repeats, /quit leaves."""
    typed = io.StringIO("/dance\n/op\n/op status\nRobin hello\n/again\n/accept\n/quit\nnever said\n")
    code, out, _ = chat(tmp_path, stdin=typed, arguments=())
    assert code == ExitCode.OK
    assert "there is no /dance" in out
    assert "as in: /op hold" in out
    assert "nothing was offered" in out
    assert out.count("says: Robin hello") == 2
    assert "never said" not in out


def test_a_chat_without_input_ends_at_once(tmp_path):
    """Nobody types and there is no script: the avatar comes, and leaves in order."""
    code, out, _ = chat(tmp_path, stdin=None)
    assert code == ExitCode.OK
    assert of_kind(out, "typed") == []


@pytest.mark.parametrize(
    ("line", "says"), [("/dance", "line 2 of the script: there is no /dance"), ("/op fly", "there is no command 'fly'")]
)
def test_a_wrong_line_of_a_script_is_said(tmp_path, line, says):
    """Spec: OPS-1 — a word that is none is found before anything runs; an operator's when it is reached."""
    code, out, err = chat(tmp_path, "hello", line)
    assert says in err + out
    assert (code == ExitCode.USAGE) is says.startswith("line 2")


def test_a_chat_needs_a_simulated_grid_and_a_script_that_exists(tmp_path):
    """Spec: CFG-1 — a missing script is a problem of its own sentence, with no traceback."""
    code, _, err = chat(tmp_path, arguments=("--script", str(tmp_path / "none.txt")))
    assert code == ExitCode.CONFIGURATION
    assert "none.txt" in err or "--script" in err
