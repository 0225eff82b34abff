"""Asking questions: of a terminal, of a pipe with one answer a line, or of nobody.

Owns where an answer comes from (a flag, the input, the default) and what follows from a wrong one: a person at a
terminal is told and asked again, everything else ends with one sentence. Knows no question. `gridagent.cli.init` asks.

Invariant: what is typed as a secret is shown nowhere, stands in no error, and is kept as a `SecretStr` (Spec: CFG-3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO, TypeAlias

import attrs

from gridagent.cli.hidden_input import read_hidden_line
from gridagent.cli.terminal import is_terminal
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.files import absolute_path, read_file
from gridagent.config.load import secret_from
from gridagent.config.secrets import SecretStr
from gridagent.errors import OperatorError
from gridagent.limits import SECRET_FILE_MAX_BYTES

__all__ = ("Asker", "Question", "Wrong", "named_secret")

ANSWER_MAX_CHARS: Final = 4_096
_NEEDED: Final = "an answer is needed"

Wrong: TypeAlias = Callable[[str], str | None]
"""Says what is wrong with an answer and how to mend it; None when nothing is."""


@attrs.frozen
class Question:
    """One thing to be known."""

    name: str
    """Of the flag that answers it."""
    asks: str
    explains: Sequence[str] = ()
    """Lines above the question."""
    default: str | None = None
    """What an empty answer means; None where there has to be one."""


class Asker:
    """Gets answers.

    Args:
        given: answers by the name of their question, from flags.
        stdin: where others come from; None means nowhere.
        out: where a terminal is asked.
        ask: whether to ask at all; else defaults count.
    """

    __slots__ = ("_ask", "_given", "_out", "_stdin", "_terminal")

    def __init__(self, given: Mapping[str, str], *, stdin: TextIO | None, out: TextIO, ask: bool) -> None:
        self._given = given
        self._stdin = stdin
        self._out = out
        self._ask = ask
        self._terminal = ask and is_terminal(stdin)

    def say(self, *lines: str) -> None:
        """Tell a person at a terminal something."""
        if self._terminal:
            self._out.writelines(f"{line}\n" for line in lines)

    def given(self, question: Question) -> str | None:
        """Return what a flag says."""
        return self._given.get(question.name)

    def is_set(self, question: Question) -> bool:
        """Tell whether a switch is set."""
        return question.name in self._given

    def ask(self, question: Question, wrong: Wrong) -> str:
        """Return the answer to a question, without blanks around it.

        Raises:
            UsageProblem: there is none, or it is wrong and nobody can be asked again.
        """
        given = self._given.get(question.name)
        if given is not None or not self._ask:
            answer, problem = _judge(question, given or "", wrong)
            if problem is not None:
                raise UsageProblem(f"--{question.name}: {problem}")
            return answer
        self.say("", *question.explains)
        while True:
            answer, problem = _judge(question, self._read(question, hidden=False), wrong)
            if problem is None:
                return answer
            self._again(question, problem)

    def confirm(self, question: Question) -> bool:
        """Return whether somebody said yes; nobody's answer is a no.

        Raises:
            UsageProblem: the answer is neither yes nor no, and nobody can be asked again.
        """
        if question.name in self._given:
            return True
        if not self._ask:
            return False

        def wrong(answer: str) -> str | None:
            return None if answer.casefold() in {"y", "yes", "n", "no"} else "is neither; answer yes or no"

        return self.ask(attrs.evolve(question, default="no"), wrong).casefold().startswith("y")

    def ask_secret(self, question: Question, *, optional: bool) -> SecretStr | None:
        """Return a secret that is typed unseen, or read from a pipe; None for none, where that is allowed.

        Raises:
            UsageProblem: there is none, or it cannot be one.
        """
        if not self._ask:
            if optional:
                return None
            raise UsageProblem(f"--{question.name}: {_NEEDED}")
        self.say("", *question.explains)
        while True:
            line = self._read(question, hidden=True)
            if optional and not line:
                return None
            secret = secret_from(line.encode())
            if isinstance(secret, SecretStr):
                if not self._terminal or secret.matches(self._read(question, hidden=True, again=True).encode()):
                    return secret
                self._again(question, "is not what was typed the first time; type it twice")
            else:
                self._again(question, f"{secret[0]}; {secret[1]}")

    def _read(self, question: Question, *, hidden: bool, again: bool = False) -> str:
        """Read a line without its end.

        Raises:
            UsageProblem: there are no more, or it is no line of text.
        """

        def prompt() -> None:
            default = f" [{question.default}]" if question.default else ""
            self._out.write(f"{'The same again' if again else question.asks}{default}: ")
            self._out.flush()

        problem, line = self._line(prompt, hidden=hidden)
        if problem:
            raise UsageProblem(f"{question.asks}: {problem}; --{question.name} answers it too. Nothing was written")
        return line

    def _line(self, prompt: Callable[[], None], *, hidden: bool) -> tuple[str, str]:
        """Return what is wrong with the next line, if anything, and the line."""
        most = ANSWER_MAX_CHARS + 1
        try:
            if self._stdin is None:
                line = ""
            elif hidden and self._terminal:
                line = read_hidden_line(self._stdin, most, prompt=prompt)
            else:
                if self._terminal:
                    prompt()
                line = self._stdin.readline(most)
            line.encode()
        except UnicodeError:  # its words would hold what was typed
            return "the answer is not UTF-8", ""
        except OSError:  # the terminal went away
            line = ""
        if not line:
            return "there is no answer", ""
        text = line.removesuffix("\n").removesuffix("\r")
        return (f"the answer is longer than {ANSWER_MAX_CHARS} characters", "") if len(line) == most else ("", text)

    def _again(self, question: Question, problem: str) -> None:
        """Tell a person what was wrong.

        Raises:
            UsageProblem: nobody is there.
        """
        if not self._terminal:
            raise UsageProblem(f"{question.asks}: {problem}. Nothing was written")
        self.say(f"  {problem}")


def _judge(question: Question, text: str, wrong: Wrong) -> tuple[str, str | None]:
    """Return the answer that a text is, and what is wrong with it."""
    answer = text.strip() or question.default
    return ("", _NEEDED) if answer is None else (answer, wrong(answer))


def named_secret(named: str, question: Question, environ: Mapping[str, str]) -> str:
    """Return the full path of a secret file that a flag names.

    Raises:
        ConfigError: it cannot be used.
        OperatorError: it holds no secret.
    """
    path = absolute_path(named, base=Path.cwd(), environ=environ) or Path(named)
    where = f"--{question.name}"
    content = read_file(path, max_bytes=SECRET_FILE_MAX_BYTES, holds_secret=True, where=where)
    secret = secret_from(content.data)
    if isinstance(secret, SecretStr):
        return str(path)
    raise OperatorError(f"{where}: the file {secret[0]}; {secret[1]}")
