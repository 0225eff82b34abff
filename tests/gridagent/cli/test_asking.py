"""Questions asked of a terminal, a pipe or nobody."""

from __future__ import annotations

import io

import pytest

from gridagent.cli import asking
from gridagent.cli.asking import ANSWER_MAX_CHARS, Asker, Question
from gridagent.cli.vocabulary import UsageProblem

COLOUR = Question("colour", "Colour", ("Which colour?",), "blue")
SIZE = Question("size", "Size")
SECRET = Question("key-file", "Key", ("Not shown.",))


def wrong(text: str) -> str | None:
    """Colours only."""
    return None if text in {"red", "blue"} else "is no colour"


class Screen(io.StringIO):
    """Something that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(typed: str, **given: str) -> tuple[Asker, io.StringIO]:
    """Somebody at a terminal."""
    out = io.StringIO()
    return Asker(given, stdin=Screen(typed), out=out, ask=True), out


def pipe(text: str | None, **given: str) -> Asker:
    """A pipe; what would be written is an error."""
    closed = io.StringIO()
    closed.close()
    return Asker(given, stdin=None if text is None else io.StringIO(text), out=closed, ask=True)


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden lines come from the same place."""

    def read(stdin: io.StringIO, most: int, *, prompt) -> str:
        prompt()
        return stdin.readline(most)

    monkeypatch.setattr(asking, "read_hidden_line", read)


def test_a_person_is_told_what_is_wrong_and_asked_again() -> None:
    """Until the answer is one; blanks around it don't count. Spec: OPS-1."""
    asker, out = terminal("loud\n\n")
    assert asker.ask(COLOUR, wrong) == "blue"
    assert out.getvalue() == "\nWhich colour?\nColour [blue]: " + "  is no colour\nColour [blue]: "
    asker, out = terminal("\n  red \n")
    assert asker.ask(SIZE, wrong) == "red"
    assert out.getvalue() == "\nSize: " + "  an answer is needed\nSize: "


def test_a_pipe_answers_one_line_each_and_sees_nothing() -> None:
    """Lines of any kind of end; the last may have none. Spec: OPS-1."""
    asker = pipe("red\r\n\nblue")
    assert [asker.ask(COLOUR, wrong) for _ in range(3)] == ["red", "blue", "blue"]


def test_a_flag_is_an_answer_and_is_checked_like_one() -> None:
    """Nobody is asked then. Spec: OPS-1."""
    asker = pipe(None, colour=" red ", size="x")
    assert asker.ask(COLOUR, wrong) == "red"
    assert asker.given(COLOUR) == " red "
    assert asker.given(SECRET) is None
    assert (asker.is_set(SIZE), asker.is_set(SECRET)) == (True, False)
    with pytest.raises(UsageProblem, match=r"^--size: is no colour$"):
        asker.ask(SIZE, wrong)


def test_where_nobody_is_asked_defaults_count() -> None:
    """What has none is missing, by the name of its flag. Spec: OPS-1."""
    asker = Asker({}, stdin=Screen("red\n"), out=io.StringIO(), ask=False)
    assert asker.ask(COLOUR, wrong) == "blue"
    assert asker.ask_secret(SECRET, optional=True) is None
    assert not asker.confirm(COLOUR)
    with pytest.raises(UsageProblem, match=r"^--size: an answer is needed$"):
        asker.ask(SIZE, wrong)
    with pytest.raises(UsageProblem, match=r"^--key-file: an answer is needed$"):
        asker.ask_secret(SECRET, optional=False)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (None, "Size: there is no answer; --size answers it too. Nothing was written"),
        ("", "Size: there is no answer"),
        ("\n", "Size: an answer is needed. Nothing was written"),
        ("loud\n", "Size: is no colour. Nothing was written"),
        ("\udcff\n", "Size: the answer is not UTF-8"),
        ("x" * (ANSWER_MAX_CHARS + 9), f"Size: the answer is longer than {ANSWER_MAX_CHARS} characters"),
    ],
)
def test_a_pipe_that_answers_wrongly_is_not_asked_again(typed: str | None, says: str) -> None:
    """Its next line would answer another question. Spec: OPS-1, BND-7."""
    with pytest.raises(UsageProblem) as raised:
        pipe(typed).ask(SIZE, wrong)
    assert str(raised.value).startswith(says)


def test_bytes_that_are_no_text_are_no_answer() -> None:
    """And stand in no sentence. Spec: OPS-1, CFG-3."""
    asker = Asker({}, stdin=io.TextIOWrapper(io.BytesIO(b"can\xffary\n"), "utf-8"), out=io.StringIO(), ask=True)
    with pytest.raises(UsageProblem, match="is not UTF-8") as raised:
        asker.ask_secret(SECRET, optional=False)
    assert "can" not in str(raised.value).replace("answers", "")


def test_a_terminal_that_went_away_gives_no_answer() -> None:
    """A hang-up is an end, not an error. Spec: OPS-1."""

    class Gone(Screen):
        def readline(self, size: int | None = -1, /) -> str:
            raise OSError(5, "Input/output error")

    with pytest.raises(UsageProblem, match="Size: there is no answer"):
        Asker({}, stdin=Gone(), out=io.StringIO(), ask=True).ask(SIZE, wrong)


@pytest.mark.parametrize(
    ("typed", "agreed"), [("y\n", True), ("Yes\n", True), ("no\n", False), ("\n", False), ("maybe\ny\n", True)]
)
def test_only_a_yes_is_a_yes(typed: str, *, agreed: bool) -> None:
    """Nothing said is a no. Spec: OPS-1."""
    asker, out = terminal(typed)
    assert asker.confirm(COLOUR) is agreed
    assert "Colour [no]: " in out.getvalue()
    assert pipe(None, colour="").confirm(COLOUR)


def test_a_secret_is_typed_twice_and_shown_never() -> None:
    """What differs, or cannot be a secret, is asked for again. Spec: CFG-3."""
    asker, out = terminal("abc\ncanary-1\ncanary-2\ncanary-3\ncanary-3\n")
    secret = asker.ask_secret(SECRET, optional=False)
    assert secret is not None
    assert secret.reveal() == "canary-3"
    assert out.getvalue() == (
        "\nNot shown.\nKey:   holds fewer than 4 characters; put the secret into it, alone on one line\n"
        "Key: The same again:   is not what was typed the first time; type it twice\nKey: The same again: "
    )


def test_a_secret_may_be_left_out_or_piped() -> None:
    """An empty line is none where that is allowed; a pipe says it once. Spec: CFG-3."""
    assert terminal("\n")[0].ask_secret(SECRET, optional=True) is None
    secret = pipe(" canary \n").ask_secret(SECRET, optional=True)
    assert secret is not None
    assert secret.reveal() == " canary "
    with pytest.raises(UsageProblem, match="Key: holds fewer than 4"):
        pipe("abc\n").ask_secret(SECRET, optional=False)


def test_a_secret_file_that_is_named_has_to_be_one(tmp_path, monkeypatch) -> None:
    """The flag is what the sentence names; relative to where one is. Spec: CFG-2, OPS-1."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "key"
    file.write_text("canary\n", encoding="utf-8")
    file.chmod(0o600)
    assert asking.named_secret("key", SECRET, {}) == str(file)
    assert asking.named_secret("~/key", SECRET, {"HOME": str(tmp_path)}) == str(file)
    for text, mode, says in (("abc", 0o600, "fewer than 4"), ("canary", 0o644, "others may read")):
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        with pytest.raises(Exception, match=says) as raised:
            asking.named_secret("key", SECRET, {})
        assert "--key-file" in str(raised.value)
        assert "canary" not in str(raised.value)
    with pytest.raises(Exception, match="not a full path"):
        asking.named_secret("~/key", SECRET, {})
