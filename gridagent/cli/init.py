"""``gridagent init``: a few questions, then a commented configuration that works, with its secret files (Spec: OPS-1).

Owns the questions, their order and what follows from each answer. Every answer is checked at once by the loader's own
rules, and the whole of it before anything is written; after the last answer the files are put there together, and
checked as a start would check them. Contacts nobody but a grid whose address was given, once.

Invariant: until the last answer nothing is written; no secret is printed, and none stands in the configuration.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TextIO
from urllib.parse import urlsplit

import attrs
import msgspec

from gridagent.cli.asking import Asker, Question, named_secret
from gridagent.cli.compose import prepare
from gridagent.cli.discovery import look_up
from gridagent.cli.entry_points import BACKENDS, load_entry_point
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.init_questions import (
    ENDPOINT,
    FIRST_NAME,
    GRID,
    KEY,
    LAST_NAME,
    MODEL,
    MONEY,
    NONE,
    OFFLINE,
    OWNER,
    PASSWORD,
    PERSONA,
    PLAIN_LOGIN,
    PLAIN_MODEL,
    PRESET,
    PRICE_INPUT,
    PRICE_OUTPUT,
    PROVIDER,
)
from gridagent.cli.init_remarks import remarks_for
from gridagent.cli.minds import load_persona
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.story import demonstration, key_of
from gridagent.config.check import check_config
from gridagent.config.files import absolute_path
from gridagent.config.known_grids import KNOWN_GRIDS, KnownGrid
from gridagent.config.load import parse_config
from gridagent.config.model import AvatarConfig, Backend, Config, LlmProvider
from gridagent.config.new_files import names_taken, write_private_files
from gridagent.config.secrets import EndpointUrl, SecretStr
from gridagent.config.writing import problems_of, render
from gridagent.errors import ConfigError, OperatorError
from gridagent.grid.simulated.scenario import DEFAULT_SCENARIO, load_shipped

__all__ = ("InitOptions", "init_command")

_SECTIONS: Final = ("avatars", "grid", "roles", "policy", "llm")
"""In the order of the file."""

_PATH_MAX: Final = 4_096
"""A command that is to be copied is shown whole."""
_CHECKED: Final = {"grid.backend": "live", "grid.live.allow_plain_http": True}
"""With a grid that is being chosen: whether its login may go unencrypted is asked afterwards."""


@attrs.frozen(kw_only=True)
class InitOptions:
    """What the command line says."""

    file: Path
    given: Mapping[str, str]
    """Answers by the name of their question; a switch that is set is there too."""
    yes: bool = False
    force: bool = False
    json: bool = False


def init_command(
    options: InitOptions, *, stdin: TextIO | None, out: TextIO, err: TextIO, environ: Mapping[str, str]
) -> ExitCode:
    """Ask, write, and say what comes next.

    Raises:
        UsageProblem: an answer is missing or wrong, and nobody can be asked again.
        ConfigError: a file that was named cannot be used, or what was written cannot.
        OperatorError: a file is there already or cannot be written, or the grid cannot be found.
    """
    file = absolute_path(str(options.file), base=Path.cwd(), environ=environ)
    if file is None:
        raise OperatorError("the file's path begins with ~, and no home directory is known; give the full path")
    if not options.force and names_taken(file.parent, [file.name]):
        raise OperatorError(f"there is a file at {shown(str(file))} already; name another, or add --force")
    asker = Asker(options.given, stdin=stdin, out=err if options.json else out, ask=not options.yes)
    asker.say(
        f"This writes {shown(str(options.file))}, with every secret in a file of its own beside it.",
        "Enter takes what stands in brackets; Ctrl-C leaves everything as it was.",
    )
    setup = _Setup(asker, file=file, force=options.force, environ=environ)
    setup.ask()
    contents = setup.contents()
    prepare(parse_config(contents[file.name], environ, base=file.parent))
    write_private_files(file.parent, contents, replace=options.force)
    _, notes = check_config(file, environ)
    asker.say("")
    _report(options, out, secrets=[*contents][:-1], where=setup.where, key=setup.key, notes=notes)
    return ExitCode.OK


def _report(
    options: InitOptions, out: TextIO, *, secrets: list[str], where: str, key: str, notes: tuple[str, ...]
) -> None:
    file = shown(str(options.file), _PATH_MAX)
    named = shlex.quote(file)
    commands = [f"gridagent doctor --config {named}", f"gridagent run --config {named}"]
    if where == OFFLINE:
        commands.append(f"gridagent chat --config {named}")
    if options.json:
        told = {
            "ok": True,
            "file": file,
            "secrets": secrets,
            "avatars": [key],
            "grid": where,
            "notes": notes,
            "next": commands,
        }
        out.write(plain_json(msgspec.json.encode(told)) + "\n")
        return
    beside = f", with {' and '.join(secrets)} beside it" if secrets else ""
    out.write(f"{file} is written{shown(beside)}, and can be used.\n")
    out.writelines(f"  {shown(note)}\n" for note in notes)
    out.writelines(["next:\n", *(f"  {command}\n" for command in commands)])


class _Setup:
    """One configuration on its way.

    Args:
        asker: where answers come from.
        file: what is going to be written.
        force: whether files that are there are replaced.
        environ: for ``~/`` in paths.
    """

    def __init__(self, asker: Asker, *, file: Path, force: bool, environ: Mapping[str, str]) -> None:
        self._asker = asker
        self._file = file
        self._force = force
        self._environ = environ
        self._settings: dict[str, object] = {}
        self._secrets: dict[str, SecretStr] = {}
        self.key = ""
        self.where = OFFLINE

    def ask(self) -> None:
        """Ask everything, in order."""
        self._ask_grid()
        live = self.where != OFFLINE
        owner, preset = (OWNER, PRESET) if live else self._take_from_scenario()
        if live:
            self._ask_account()
        self._ask_owner(owner)
        self._ask_persona(live=live)
        self._ask_preset(preset)
        self._ask_model()

    def contents(self) -> dict[str, bytes]:
        """Return every file by its name; the configuration is the last."""
        in_order = sorted(self._settings, key=lambda path: _SECTIONS.index(path.partition(".")[0]))
        text = render({path: self._settings[path] for path in in_order}, remarks_for(self.key))
        secrets = {name: secret.reveal().encode() + b"\n" for name, secret in self._secrets.items()}
        return {**secrets, self._file.name: text}

    def _wrong(self, changes: Mapping[str, object], path: str) -> str | None:
        """Say what the loader finds wrong at a path once some values are changed."""
        where = f"$.{path}"
        for problem in problems_of({**self._settings, **changes}, base=self._file.parent):
            if problem.path == where or problem.path.startswith((f"{where}.", f"{where}[")):
                return f"{problem.what}; {problem.mend}"
        return None

    def _set(self, question: Question, path: str) -> str:
        """Ask for a text and set it."""
        answer = self._asker.ask(question, lambda text: self._wrong({path: text}, path))
        self._settings[path] = answer
        return answer

    # --- the grid ----------------------------------------------------------------------------------

    def _ask_grid(self) -> None:
        def wrong(text: str) -> str | None:
            if text == OFFLINE:
                return None
            path = f"grid.live.{'login_url' if '://' in text else 'grid'}"
            problem = self._wrong({**_CHECKED, path: text}, path)
            return problem if problem is None or "://" in text else f"{problem}, {OFFLINE}, or an address with http://"

        text = self._asker.ask(GRID, wrong)
        if text == OFFLINE:
            self._settings["grid.backend"] = Backend.SIMULATED.value
            return
        load_entry_point(BACKENDS, Backend.LIVE.value, extra="live")  # what is not installed is better known now
        self._settings["grid.backend"] = Backend.LIVE.value
        if "://" in text:
            url = EndpointUrl(self._login_url(text))
            self._settings["grid.live.login_url"], self.where = url.reveal(), str(url)
        else:
            url = KNOWN_GRIDS[KnownGrid(text)].login_url
            self._settings["grid.live.grid"] = self.where = text
        if not (url.is_encrypted or url.is_loopback):
            self._accept(PLAIN_LOGIN, "grid.live.allow_plain_http", "its login is not encrypted")
        self._settings["grid.live.accept_terms"] = False

    def _login_url(self, address: str) -> str:
        """Find out where one logs in to a grid.

        Raises:
            OperatorError: that cannot be found out, or nobody agrees to it.
        """
        as_it_is = Question("no-lookup", "Take it as the exact login address")
        if self._asker.is_set(as_it_is):
            return address
        self._asker.say("  asking the grid …")
        try:
            found = look_up(address)
        except OperatorError as error:
            if self._asker.confirm(attrs.evolve(as_it_is, explains=(f"  {error}",))):
                return address
            raise OperatorError(f"{error}, or add --no-lookup to take it as it is") from error
        login = EndpointUrl(found.login_url)
        self._asker.say(f"  {found.name} is logged in to at {login}")
        if found.elsewhere:
            said = f"the grid at {EndpointUrl(address)} says that one logs in at {login}"
            agreed = Question("no-lookup", "Send the password there", ("That is another host, or loses encryption.",))
            if not self._asker.confirm(agreed):
                raise OperatorError(f"{said}; if you trust that, give that address as --grid, with --no-lookup")
        return found.login_url

    def _accept(self, question: Question, path: str, why: str) -> None:
        """Ask whether a risk is accepted.

        Raises:
            OperatorError: it is not.
        """
        if not self._asker.confirm(question):
            raise OperatorError(f"{why}, and that is not accepted; add --{question.name} if it is. Nothing was written")
        self._settings[path] = True

    # --- the avatar --------------------------------------------------------------------------------

    def _take_from_scenario(self) -> tuple[Question, Question]:
        """Take the account that lives in the built-in world; its owner and preset are what is offered."""
        story = demonstration(Config(), load_shipped(DEFAULT_SCENARIO))
        self.key, avatar = next(iter(story.avatars.items()))
        self._settings[f"avatars.{self.key}.first_name"] = avatar.first_name
        self._settings[f"avatars.{self.key}.last_name"] = avatar.last_name
        owner = Question(
            OWNER.name,
            OWNER.asks,
            ("Whom does it obey? The one in brackets lives in the built-in world; 'none' is nobody.",),
            story.roles.owners[0],
        )
        return owner, attrs.evolve(PRESET, default=story.policy.preset.value)

    def _ask_account(self) -> None:
        anybody = "avatars.any.first_name"
        first = self._asker.ask(FIRST_NAME, lambda text: self._wrong({anybody: text}, anybody))
        self.key = key_of(first)
        self._settings[f"avatars.{self.key}.first_name"] = first
        self._set(LAST_NAME, f"avatars.{self.key}.last_name")
        self._ask_secret(PASSWORD, f"avatars.{self.key}.password_file", f"{self.key}.password", optional=False)

    def _ask_secret(self, question: Question, path: str, name: str, *, optional: bool) -> None:
        """Take a secret's file, or the secret itself for a file of its own.

        Raises:
            ConfigError: the file that was named is no secret file.
            OperatorError: the file that would be written is there already.
        """
        named = self._asker.given(question)
        if named is not None:
            self._settings[path] = named_secret(named, question, self._environ)
            return
        secret = self._asker.ask_secret(question, optional=optional)
        if secret is None:
            return
        if name == self._file.name:
            raise OperatorError(f"{name} is the file of a secret; give the configuration another name")
        if not self._force and names_taken(self._file.parent, [name]):
            raise OperatorError(
                f"there is a file {name} already; use it with --{question.name} {name}, or add --force to replace it"
            )
        self._settings[path] = name
        self._secrets[name] = secret

    def _ask_owner(self, question: Question) -> None:
        def wrong(text: str) -> str | None:
            return None if text == NONE else self._wrong({"roles.owners": [text]}, "roles.owners")

        owner = self._asker.ask(question, wrong)
        self._settings["roles.owners"] = [] if owner == NONE else [owner]
        self._settings["roles.trusted"] = []

    def _ask_persona(self, *, live: bool) -> None:
        def wrong(text: str) -> str | None:
            try:
                load_persona(self.key, self._with_persona(text))
            except ConfigError as error:
                return f"{error.problems[0].what}; {error.problems[0].mend}"
            return None

        chosen = self._with_persona(self._asker.ask(PERSONA, wrong))
        avatar = f"avatars.{self.key}"
        if chosen.persona_file is None:
            self._settings[f"{avatar}.persona"] = chosen.persona
        else:
            self._settings[f"{avatar}.persona_file"] = chosen.persona_file
        self._settings[f"{avatar}.aliases"] = []
        if live:
            self._settings[f"{avatar}.start"] = chosen.start
            self._settings[f"{avatar}.home"] = None
            self._settings[f"{avatar}.fallbacks"] = []

    def _with_persona(self, text: str) -> AvatarConfig:
        if "/" not in text and not text.endswith(".md"):
            return AvatarConfig(first_name="Any", persona=text)
        path = absolute_path(text, base=Path.cwd(), environ=self._environ)
        return AvatarConfig(first_name="Any", persona_file=text if path is None else str(path))

    def _ask_preset(self, question: Question) -> None:
        self._set(question, "policy.preset")
        self._settings["policy.dry_run"] = False

    # --- the model ---------------------------------------------------------------------------------

    def _ask_model(self) -> None:
        def wrong(text: str) -> str | None:
            if text == OFFLINE:
                return None
            tried = {"llm.provider": "chat_completions", "llm.allow_plain_http": True, "llm.endpoint": text}
            return self._wrong(tried, "llm.endpoint")

        text = self._asker.ask(ENDPOINT, wrong)
        if text == OFFLINE:
            self._settings["llm.provider"] = LlmProvider.OFFLINE.value
            return
        url = EndpointUrl(text)
        speaks = LlmProvider.ANTHROPIC if urlsplit(text).path.endswith("/messages") else LlmProvider.CHAT_COMPLETIONS
        self._settings["llm.provider"] = speaks.value
        self._settings["llm.endpoint"] = text
        if not (url.is_encrypted or url.is_loopback):
            self._accept(PLAIN_MODEL, "llm.allow_plain_http", "the model's endpoint is not encrypted")

        def wrong_provider(word: str) -> str | None:
            if word == OFFLINE:
                return "does not go with an endpoint; choose chat_completions or anthropic"
            return self._wrong({"llm.provider": word}, "llm.provider")

        self._settings["llm.provider"] = self._asker.ask(attrs.evolve(PROVIDER, default=speaks.value), wrong_provider)
        self._set(MODEL, "llm.model")
        self._ask_secret(KEY, "llm.api_key_file", "model.key", optional=True)
        self._ask_money()

    def _ask_money(self) -> None:
        prices = {
            name: self._number(question, f"llm.prices.{name}")
            for name, question in (("input", PRICE_INPUT), ("output", PRICE_OUTPUT))
        }
        if any(prices.values()):
            self._settings |= {f"llm.prices.{name}": price for name, price in prices.items()}
        money = self._number(MONEY, "llm.spend.avatar_money")
        usual = Config().llm.spend
        for name, most in (("turn", usual.turn_money), ("person", usual.person_money)):
            self._settings[f"llm.spend.{name}_money"] = min(most, money)
        for name in ("avatar", "fleet"):
            self._settings[f"llm.spend.{name}_money"] = money

    def _number(self, question: Question, path: str) -> float:
        def wrong(text: str) -> str | None:
            return self._wrong({path: _number_or_text(text)}, path)

        return float(self._asker.ask(question, wrong))


def _number_or_text(text: str) -> float | str:
    """Read a number; what is none is for the loader to refuse."""
    try:
        return float(text)
    except ValueError:
        return text
