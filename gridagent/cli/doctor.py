"""``gridagent doctor``: what may be wrong with this machine, this configuration and what they reach, in one list.

Owns the looking: files, locks, the database, the bounds of the process, and one question to each server. What is made
of it is `gridagent.cli.doctor_checks`'s. Changes nothing: a file that is written to try a disk is removed again, and
nobody is logged in unless that is asked for. Each look has a time-out: a hanging disk or server ends a check and not
the command (Spec: OPS-1, CFG-5).
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, TextIO, TypeAlias

import attrs
import msgspec
import trio

from gridagent.cli import doctor_checks as checks
from gridagent.cli.compose import Prepared, prepare, second_factors_of, sections_chosen
from gridagent.cli.doctor_checks import SPACE_RUNTIME, Directory, Finding, Reached, Verdict
from gridagent.cli.doctor_login import try_login
from gridagent.cli.doctor_reach import reach
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.grids import LiveGrid
from gridagent.cli.instance import SERVICE_LOCK, avatar_locks_directory, holder_of
from gridagent.cli.places import database_of, find_places
from gridagent.cli.reloading import policy_of
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.second_factor import SecondFactors
from gridagent.cli.stopped import StoppedDatabase
from gridagent.cli.wording import moment_in_words
from gridagent.config.files import shown_path
from gridagent.config.load import load_config_and_secrets
from gridagent.config.model import Backend, LlmProvider, LogDestination
from gridagent.config.paths import ResolvedPaths
from gridagent.config.secrets import EndpointUrl
from gridagent.errors import ConfigError, OperatorError, OutcomeUnknown
from gridagent.fronts.control.rendezvous import RuntimeDirectory
from gridagent.llm.real_requests import check_real_request
from gridagent.runtime.ports import Ports
from gridagent.runtime.system import system_ports
from gridagent.storage.base import LedgerInUse, LedgerRefused, StorageFailed

__all__ = ("DISK_S", "doctor_command")

Tell: TypeAlias = Callable[[Iterable[Finding]], None]
"""Takes findings to be printed, in order."""

DISK_S: Final = 20.0
"""Longest one look at a disk is waited for."""
_LINE_MAX: Final = 1_000
_PRIVATE: Final = 0o600
_TRIAL: Final = b"gridagent doctor tries whether this disk can be written\n"
_LATER: Final = (
    *("state directory", "runtime directory", "log directory", "database", "instance", "roles", "policy", "model"),
    *("encryption", "open files", "grid", "model endpoint", "clock", "login"),
)
_NO_LOGIN: Final = (
    "nobody was logged in; --live-check logs each avatar in and out once, python -m live_grid.check tries a whole stay"
)


def doctor_command(
    file: Path | None,
    environ: Mapping[str, str],
    *,
    out: TextIO,
    json: bool,
    log_in: bool = False,
    ports: Ports | None = None,
) -> ExitCode:
    """Check everything that a run depends on, and print one line a finding.

    Args:
        file: the configuration; None is the demonstration's.
        environ: the environment.
        out: where findings go, each when it is known.
        json: one object a finding, and no last line.
        log_in: log each avatar of a live grid in and out once.
        ports: what the outside is reached through; None takes the real ones.
    """
    found: list[Finding] = []

    def tell(findings: Iterable[Finding]) -> None:
        for finding in findings:
            found.append(finding)
            out.write(_line(finding, json=json) + "\n")
            out.flush()

    examine = partial(_examine, file, environ, ports or system_ports(blocking_bound_s=DISK_S), tell, log_in=log_in)
    trio.run(examine)
    if not json:
        out.write(f"{checks.last_line(found)}\n")
    return ExitCode.PROBLEM_FOUND if any(each.verdict is Verdict.PROBLEM for each in found) else ExitCode.OK


def _line(finding: Finding, *, json: bool) -> str:
    if json:
        return plain_json(msgspec.json.encode(finding))
    return f"{finding.verdict.value:<8} {finding.check}: {shown(finding.sentence, _LINE_MAX)}"


async def _examine(file: Path | None, environ: Mapping[str, str], ports: Ports, tell: Tell, *, log_in: bool) -> None:
    source = "the built-in configuration" if file is None else shown(str(file))
    try:
        loaded = load_config_and_secrets(file, environ)
        prepared = prepare(
            loaded.config,
            demonstrate=file is None,
            chosen=sections_chosen(environ),
            secrets=loaded.secrets if log_in else None,
        )
    except ConfigError as error:
        tell(checks.check_configuration(source, error.problems))
    except OperatorError as error:
        tell([Finding(check="configuration", verdict=Verdict.PROBLEM, sentence=str(error))])
    else:
        tell(checks.check_configuration(source, avatars=prepared.keys, where=prepared.where))
        await _this_machine(prepared, ports, tell)
        await _servers(prepared, ports, tell)
        if prepared.live is not None:
            await _logins(prepared, prepared.live, ports, tell, log_in=log_in)
        return
    tell(checks.skipped(check, "the configuration has to be mended first") for check in _LATER)


# --- this machine -----------------------------------------------------------------------------------


async def _this_machine(prepared: Prepared, ports: Ports, tell: Tell) -> None:
    config = prepared.config
    paths = find_places(config.paths)
    for directory in _directories(prepared, paths):
        look = partial(_look_at, directory, f".doctor-{ports.ids.token()}")
        tell([await _off_the_loop(ports, f"{directory.name} directory", directory.path, look)])
    path = database_of(paths)
    open_it = partial(_open_database, path, prepared.keys, moment_in_words(ports.clock.wall()))
    tell([await _off_the_loop(ports, "database", path, open_it)])
    tell([await _off_the_loop(ports, "instance", paths.state_dir, partial(_instance, paths, prepared.keys))])
    tell(checks.check_roles(config))
    tell(checks.check_policy({key: policy_of(config, key) for key in config.avatars}))
    tell([checks.check_llm(config)])
    tell(checks.check_plain_http(_grid_of(prepared), _model_of(prepared)))
    tell([checks.check_files(_open_files_max(), len(prepared.keys))])


async def _off_the_loop(ports: Ports, check: str, where: Path, look: Callable[[], Finding]) -> Finding:
    """Look at a disk; one that hangs is a finding, and holds up nothing else but the looks that come after it."""
    try:
        with trio.fail_after(DISK_S):
            return await ports.blocking.run(look, name=f"doctor: {check}")
    except (OutcomeUnknown, trio.TooSlowError):
        return checks.out_of_time(check, shown_path(where), DISK_S)


def _directories(prepared: Prepared, paths: ResolvedPaths) -> tuple[Directory, ...]:
    found = (
        Directory(name="state", key="paths.state_dir", path=paths.state_dir),
        Directory(name="runtime", key="paths.runtime_dir", path=paths.runtime_dir, space=SPACE_RUNTIME),
    )
    if prepared.config.log.destination is not LogDestination.FILE:
        return found
    return (*found, Directory(name="log", key="paths.log_file", path=paths.log_file.parent))


def _look_at(directory: Directory, trial: str) -> Finding:
    """Try a directory; of one that is still to be made, the nearest that is there."""
    place = directory.path
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        exists = place == directory.path
        if exists and directory.space is SPACE_RUNTIME:
            RuntimeDirectory(place).close()  # refuses what others may enter
        if not stat.S_ISDIR(place.stat().st_mode):
            failure = f"{shown_path(place)} is no directory"
        elif exists:
            _try_writing(place / trial)
            failure = ""
        else:
            failure = "" if os.access(place, os.W_OK | os.X_OK) else f"it cannot be made in {shown_path(place)}"
        room = os.statvfs(place)
    except OSError as error:
        return checks.check_directory(attrs.evolve(directory, failure=error.strerror or type(error).__name__))
    except OperatorError as error:
        return checks.check_directory(attrs.evolve(directory, failure=str(error)))
    free = room.f_bavail * room.f_frsize
    return checks.check_directory(attrs.evolve(directory, exists=exists, failure=failure, free_bytes=free))


def _try_writing(path: Path) -> None:
    """Write a file through to the disk, and remove it whatever happened."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _PRIVATE)
    try:
        os.write(descriptor, _TRIAL)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
        path.unlink()


def _open_database(path: Path, avatars: Iterable[str], since: str) -> Finding:
    if not path.parent.is_dir():
        return checks.check_database(path, begun=False)
    try:
        StoppedDatabase(path, avatars, since=since).close()
    except LedgerInUse:
        return checks.check_database(path, begun=True, in_use=True)
    except LedgerRefused as error:
        return checks.check_database(path, begun=False, refused="" if error.start_mends else str(error))
    except StorageFailed as error:
        mend = "see that its disk has room and can be written"
        return checks.check_database(path, begun=True, refused=f"{shown_path(path)}: {error}; {mend}")
    return checks.check_database(path, begun=True)


def _instance(paths: ResolvedPaths, avatars: Iterable[str]) -> Finding:
    state = avatar_locks_directory(paths.state_dir)
    locks = {"a service": paths.runtime_dir / SERVICE_LOCK}
    locks |= {f"the avatar {key}": state / f"{key}.lock" for key in avatars}
    holders: dict[str, str] = {}
    try:
        for what, lock in locks.items():
            holder = holder_of(lock)
            if holder is not None:
                holders[what] = holder
    except OSError as error:
        return checks.unknown_instance(shown_path(lock), error.strerror or type(error).__name__)
    return checks.check_instance(holders)


def _open_files_max() -> int | None:
    """Return how many files a process may have open; None where this platform does not say."""
    try:
        import resource  # noqa: PLC0415 - absent on some platforms
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


# --- other machines ---------------------------------------------------------------------------------


def _grid_of(prepared: Prepared) -> EndpointUrl | None:
    grid = prepared.config.grid
    return grid.live.address if grid.backend is Backend.LIVE else None


def _model_of(prepared: Prepared) -> EndpointUrl | None:
    llm = prepared.config.llm
    return None if llm.provider is LlmProvider.OFFLINE else llm.endpoint


async def _servers(prepared: Prepared, ports: Ports, tell: Tell) -> None:
    grid, model = _grid_of(prepared), _model_of(prepared)
    key = "grid.live.login_url" if prepared.config.grid.live.grid is None else "grid.live.grid"
    dates: dict[str, tuple[float, float]] = {}

    async def ask(check: str, url: EndpointUrl, key: str) -> None:
        answer = await reach(url, ports.network)
        if isinstance(answer, Reached) and answer.date is not None:
            dates[str(url)] = (answer.date, ports.clock.wall())
        tell([checks.check_reach(check, url, key, answer)])

    if grid is None:
        tell([checks.skipped("grid", "the avatars live in the simulated grid; there is none to reach")])
    else:
        await ask("grid", grid, key)
    if model is None:
        tell([checks.skipped("model endpoint", "the offline model has none")])
    else:
        check_real_request(loopback=model.is_loopback)
        await ask("model endpoint", model, "llm.endpoint")
    tell([checks.check_clock(dates)])


async def _logins(prepared: Prepared, live: LiveGrid, ports: Ports, tell: Tell, *, log_in: bool) -> None:
    """Log each avatar in and out, one after the other; an avatar that a service runs would be thrown out by that."""
    if not log_in:
        tell([checks.skipped("login", _NO_LOGIN)])
        return
    config = prepared.config
    state_dir = find_places(config.paths).state_dir
    state = avatar_locks_directory(state_dir)
    factors = second_factors_of(prepared, SecondFactors(state_dir=state_dir, blocking=ports.blocking))
    for number, key in enumerate(prepared.keys):
        if holder_of(state / f"{key}.lock") is not None:
            tell([checks.skipped("login", f"{key} is being run by a service; gridagent status says how it is")])
            continue
        if number:
            await trio.sleep(config.session.login_stagger_s)
        tried = await try_login(
            live.backend_factory(key, ports.ids.uuid, ports.blocking, factors[key]),
            timeout_s=config.grid.live.login_timeout_s,
            logout_s=config.session.logout_timeout_s,
        )
        tell([checks.check_login(key, tried)])
