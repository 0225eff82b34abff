"""Commands that reach a running service: status, controls, approvals, watch, audit.

Owns finding the service, asking, and printing the answers for people or programs; decides nothing. Every
command works while the service's configuration is broken, given ``--runtime-dir``: the kill switch must
not depend on a file that somebody is editing (Spec: OPS-6, POL-12).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TextIO

import msgspec
import trio

from gridagent.cli.blocked import what_helps
from gridagent.cli.commands import build_control
from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.places import find_places
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.scene import Scene, plain_line, summary
from gridagent.cli.terminal import Output
from gridagent.cli.view import observation_line
from gridagent.cli.vocabulary import COMMAND_WORDS, UsageProblem
from gridagent.cli.wording import doubt_in_words, lacking_in_words, moment_in_words
from gridagent.config.load import load_config
from gridagent.config.secrets import SecretStr
from gridagent.controls import Connect, Control, ControlReply
from gridagent.errors import ConfigError, LimitExceeded, OperatorError
from gridagent.events import PartHealth
from gridagent.fronts.control import ControlClient, Endpoint, NotRunning, open_client
from gridagent.fronts.control.client import StreamItem
from gridagent.fronts.control.rendezvous import find_endpoint
from gridagent.fronts.control.words import DoubtRow, Ended, Missed, Observed, Omitted, Refused, StatusRow
from gridagent.ids import AvatarKey
from gridagent.observations import AgentState, LinkState, Observation
from gridagent.policy import AuditRecord
from gridagent.runtime.channels import Lagged
from gridagent.runtime.ports import Network
from gridagent.runtime.system import SystemNetwork

__all__ = (
    "Reach",
    "answer_approval",
    "audit_line",
    "find_service",
    "printed",
    "send_built",
    "send_control",
    "show_approvals",
    "show_audit",
    "show_status",
    "watch",
)

_ENCODER: Final = msgspec.json.Encoder()
_FOR_ALL: Final = frozenset(words.name for words in COMMAND_WORDS if words.for_all)


class Reach:
    """A way to one service, and where the answers go.

    Args:
        endpoint: where it listens.
        token: its token.
        out: standard output.
        json: for programs.
        network: opens the connection.
    """

    __slots__ = ("_endpoint", "_network", "_token", "json", "out")

    def __init__(
        self, endpoint: Endpoint, token: SecretStr, *, out: TextIO, json: bool, network: Network | None = None
    ) -> None:
        self._endpoint = endpoint
        self._token = token
        self._network = SystemNetwork() if network is None else network
        self.out = out
        self.json = json

    def run(self, ask: Callable[[ControlClient], Awaitable[ExitCode]]) -> ExitCode:
        """Connect, let ``ask`` do its work, and return its exit code."""
        return trio.run(self._connected, ask)

    async def _connected(self, ask: Callable[[ControlClient], Awaitable[ExitCode]]) -> ExitCode:
        async with open_client(self._network, self._endpoint, self._token) as client:
            return await ask(client)

    def place(self, version: str) -> str:
        """Return which service answers, in words."""
        since = datetime.fromtimestamp(self._endpoint.started_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        return f"gridagent {shown(version, 64)}, process {self._endpoint.pid}, running since {since}"

    def print(self, words: str, value: object) -> None:
        """Print one answer: the words for a person, the value for a program."""
        self.out.write(printed(words, value, json=self.json))
        self.out.flush()


def printed(words: str, value: object, *, json: bool) -> str:
    """Return one answer as it is printed: the words for a person, the value for a program."""
    return (plain_json(_ENCODER.encode(value)) if json else words) + "\n"


def find_service(
    config: Path | None, runtime_dir: Path | None, environ: Mapping[str, str], *, out: TextIO, json: bool
) -> Reach:
    """Find the running service.

    Raises:
        NotRunning: none has announced itself.
        ConfigError: the configuration, which says where to look, cannot be used.
        OperatorError: what it left in its runtime directory cannot be used.
    """
    directory = runtime_dir
    if directory is None:
        try:
            directory = find_places(load_config(config, environ).paths).runtime_dir
        except ConfigError as error:
            raise OperatorError(
                f"the configuration cannot be used, so it is not known where the service runs; mend it "
                f"(gridagent check-config lists {len(error.problems)} problems) or name the place with --runtime-dir"
            ) from error
    found = find_endpoint(directory.absolute())
    if found is None:
        raise NotRunning(
            f"no service runs: there is no control endpoint in {shown(str(directory))}; start one with: gridagent run"
        )
    return Reach(*found, out=out, json=json)


# --- questions --------------------------------------------------------------------------------------


def show_status(reach: Reach, avatar: str | None) -> ExitCode:
    """Print the status of every avatar, or of one; the exit code tells the worst."""

    async def ask(client: ControlClient) -> ExitCode:
        key = None if avatar is None else AvatarKey(avatar)
        rows, doubts = await client.status(key), await client.in_doubt(key)
        if not reach.json:
            reach.print(reach.place(client.service_version), None)
        for row in rows:
            own = [each for each in doubts if each.avatar == row.status.key]
            value = msgspec.structs.asdict(row.status) | {"doubts": [_doubt_value(each) for each in own]}
            reach.print("\n".join(_status_lines(row, own)), value)
        return ExitCode.AVATAR_FAILED if any(row.status.agent is AgentState.FAILED for row in rows) else ExitCode.OK

    return reach.run(ask)


def _doubt_value(row: DoubtRow) -> dict[str, object]:
    told = ("effect", "action", "summary", "since", "nonce", "why", "look_at")
    return {name: getattr(row, name) for name in told}


def _vitals_in_words(vitals: Sequence[PartHealth]) -> str:
    """Say how the wire is; empty where there is none."""
    known = {(each.part, each.figure): each.value for each in vitals}
    told = (
        ("circuit", "ping_s", "ping {:.0f} ms", 1_000.0),
        ("circuit", "silent_s", "heard {:.0f} s ago", 1.0),
        ("wire", "loss_ratio", "{:.1f} % sent again", 100.0),
        ("event_queue", "silent_s", "event queue answered {:.0f} s ago", 1.0),
    )
    return ", ".join(
        words.format(known[part, figure] * times) for part, figure, words, times in told if (part, figure) in known
    )


def _status_lines(row: StatusRow, doubts: Sequence[DoubtRow]) -> list[str]:
    status = row.status
    lines = [summary(status)]
    if status.link is LinkState.AUTHENTICATION_BLOCKED:
        lines.append(f"  {what_helps(status.last_error)}")
    if status.profile is not None and (lacking := lacking_in_words(status.profile)):
        lines.append(f"  the grid {shown(status.profile.grid, 64)} has {lacking}: tools for it are not offered")
    if wire := _vitals_in_words(status.vitals):
        lines.append(f"  {wire}")
    if status.sick:
        lines.append(f"  sick: {', '.join(shown(part, 64) for part in status.sick)}; it mends itself or reconnects")
    if status.retry_in_s is not None:
        lines.append(f"  next attempt to connect in {status.retry_in_s:.0f} s; at once with: gridagent connect")
    if row.approvals:
        lines.append(f"  {row.approvals} approvals wait for an answer: gridagent approvals")
    if status.gateway.safe_mode:
        lines.append("  safe mode: storage failed; gridagent storage says why, gridagent storage retry leaves it")
    lines += [f"  {doubt_in_words(each)}" for each in doubts]
    lines += [f"  {each.name}: {each.used} of {each.limit} wait, {each.dropped} dropped" for each in status.queues]
    lines += [
        f"  budget {each.meter.value} ({each.per.value}, {each.window_s} s): {each.used} of {each.limit}"
        for each in status.gateway.budgets
        if each.used
    ]
    return lines


def show_approvals(reach: Reach, avatar: str | None) -> ExitCode:
    """Print every approval that waits."""

    async def ask(client: ControlClient) -> ExitCode:
        rows = await client.approvals(None if avatar is None else AvatarKey(avatar))
        for row in rows:
            words = (
                f"{row.approval_id}  {row.avatar}: {shown(row.summary)} for {shown(row.principal, 64)} "
                f"(rule {shown(row.rule, 64)}), {row.expires_in_s:.0f} s left"
            )
            reach.print(words, row)
        if not rows and not reach.json:
            reach.print("nothing waits for an answer", None)
        return ExitCode.OK

    return reach.run(ask)


def show_audit(reach: Reach, avatar: str | None, most: int) -> ExitCode:
    """Print the newest audit records, oldest first."""
    decoder = msgspec.json.Decoder(AuditRecord)

    async def ask(client: ControlClient) -> ExitCode:
        for row in await client.audit(None if avatar is None else AvatarKey(avatar), most=most):
            reach.print(audit_line(row.avatar, decoder.decode(row.record)), row)
        return ExitCode.OK

    return reach.run(ask)


def audit_line(avatar: str, record: AuditRecord, *, dated: bool = False) -> str:
    """Return one audit record on one line; stored ones are shown with their moment."""
    at = f"{moment_in_words(record.at)} " if dated else ""
    who = f" for {shown(record.who, 64)}" if record.who else ""
    what = f" {shown(record.action, 64)}" if record.action else ""
    rule = f" (rule {shown(record.rule, 64)})" if record.rule else ""
    by = "" if record.settled_by is None else f", was in doubt, by {record.settled_by.value}"
    proof = f" ({shown(record.proof, 64)})" if record.proof else ""
    code = shown(record.code, 64)
    return f"{at}{avatar} {record.seq:>5}  {record.kind.value:<14} {code}{what}{who}{rule}{by}{proof}"


# --- orders -----------------------------------------------------------------------------------------


def send_control(reach: Reach, name: str, argument: str, *, avatar: str | None, every: bool) -> ExitCode:
    """Send one control to one avatar or to all, and print the answers.

    Raises:
        UsageProblem: the argument is not valid, or not for several avatars.
    """
    control = build_control(name, argument)
    every = avatar is None and (every or name in _FOR_ALL)
    if every and isinstance(control, Connect) and control.code is not None:
        raise UsageProblem("connect: a one-time code belongs to one account; name it with --avatar")
    key = None if avatar is None else AvatarKey(avatar)
    return reach.run(partial(_send, reach=reach, control=control, name=name, avatar=key, every=every))


def send_built(reach: Reach, control: Control, *, name: str, avatar: str | None) -> ExitCode:
    """Send one control that was built already, to one avatar, and print the answer."""
    key = None if avatar is None else AvatarKey(avatar)
    return reach.run(partial(_send, reach=reach, control=control, name=name, avatar=key, every=False))


def answer_approval(reach: Reach, approval: str, *, allow: bool, avatar: str | None) -> ExitCode:
    """Answer one approval; without an avatar, of whichever has it."""
    control = build_control("allow" if allow else "deny", approval)

    async def ask(client: ControlClient) -> ExitCode:
        key = None if avatar is None else AvatarKey(avatar)
        if key is None:
            key = next((row.avatar for row in await client.approvals() if row.approval_id == approval), None)
        return await _send(client, reach=reach, control=control, name="approval", avatar=key, every=False)

    return reach.run(ask)


async def _send(
    client: ControlClient, *, reach: Reach, control: Control, name: str, avatar: AvatarKey | None, every: bool
) -> ExitCode:
    try:
        answers = await _answers(client, control=control, name=name, avatar=avatar, every=every)
    except LimitExceeded as error:
        raise OperatorError(
            f"{name}: it is too large to be sent ({error}); a running service also reloads its own file at SIGHUP"
        ) from error
    for key, answer in answers:
        words = _in_words(answer)
        value = {"avatar": key, **msgspec.to_builtins(answer)}
        reach.print(
            f"{key}: {words}" if answer.accepted else f"{key}: refused ({shown(answer.code, 64)}): {words}", value
        )
    return ExitCode.OK if all(answer.accepted for _, answer in answers) else ExitCode.REFUSED


def _in_words(answer: ControlReply) -> str:
    if answer.code == "authorized":
        return f"allowed ({shown(answer.message, 24)})"
    return shown(answer.message) or ("done" if answer.accepted else shown(answer.code, 64))


async def _answers(
    client: ControlClient, *, control: Control, name: str, avatar: AvatarKey | None, every: bool
) -> list[tuple[AvatarKey, ControlReply]]:
    if not every:
        return [await client.control(control, avatar)]
    if name == "hold":
        return list(await client.hold_all())
    return [await client.control(control, row.status.key) for row in await client.status()]


# --- watching ---------------------------------------------------------------------------------------


def watch(reach: Reach, avatar: str | None, *, for_s: float | None) -> ExitCode:
    """Print observations until the service stops, the time is up, or nobody reads them."""
    return reach.run(partial(_watch, reach, () if avatar is None else (AvatarKey(avatar),), for_s))


async def _watch(reach: Reach, avatars: tuple[AvatarKey, ...], for_s: float | None, client: ControlClient) -> ExitCode:
    out = Output(reach.out)
    printer = _Printer(json=reach.json, several=not avatars)
    with trio.CancelScope() as scope:
        if for_s is not None:
            scope.deadline = trio.current_time() + for_s
        async with aclosing(client.observe(avatars)) as stream:
            async for item in stream:
                await out.write(printer.text(item))
                if out.closed.is_set():
                    break
    return ExitCode.OK


class _Printer:
    """Puts what a stream says into lines."""

    __slots__ = ("_json", "_scene", "_several")

    def __init__(self, *, json: bool, several: bool) -> None:
        self._json = json
        self._several = several
        self._scene: Scene | None = None

    def text(self, item: StreamItem) -> str:
        """Return what is printed for one item; nothing for what has no line."""
        if self._json:
            return observation_line(item.observation) if isinstance(item, Observed) else ""
        words = self._words(item)
        return f"{words}\n" if words else ""

    def _words(self, item: StreamItem) -> str:
        match item:
            case StatusRow(status=status):
                return summary(status)
            case Observed(observation=observation):
                return self._line(observation.avatar, observation)
            case Missed(avatar=avatar, missed=missed):
                return self._line(avatar, Lagged(missed))
            case Omitted(avatar=avatar, kind=kind):
                return f"{avatar}: one {shown(kind, 64)} was too large to be sent"
            case Ended(avatar=avatar):
                return f"{avatar}: has stopped"
            case Refused(message=message):
                return shown(message)

    def _line(self, avatar: AvatarKey, item: Observation | Lagged) -> str:
        if self._scene is None:
            began = item.at if isinstance(item, Observation) else 0.0
            self._scene = Scene((), roles={}, began=began)
        stamped = self._scene.note(item, avatar)
        return "" if stamped is None else plain_line(stamped, several=self._several)
