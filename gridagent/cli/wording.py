"""Observations in words: what a person reads in the live view, in ``watch`` and in plain lines.

Owns the wording of every event, decision, outcome and state; decides nothing and writes nothing. Both
tables are total (a test holds them so): a new observation or event cannot be forgotten here. Names from
the grid are display text: who somebody is shows as the role of their UUID.

Invariant: every text that came from outside has passed `gridagent.cli.terminal.shown`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import msgspec

from gridagent import events as seen
from gridagent import observations as told
from gridagent.actions import Confirmed, InDoubt, Outcome, Refused, SettledBy
from gridagent.authority import DenialCode, Origin
from gridagent.cli.blocked import what_helps
from gridagent.cli.safe_text import shown
from gridagent.fronts.control.words import DoubtRow, StorageRow
from gridagent.ids import NIL_UUID
from gridagent.limits import clip

__all__ = (
    "Line",
    "People",
    "Tone",
    "denial_in_words",
    "doubt_in_words",
    "fault_in_words",
    "in_words",
    "lacking_in_words",
    "moment_in_words",
    "rule_in_words",
    "seconds_in_words",
)

_TYPING: Final = "set_typing"
"""The sign beside each answer: a line only where it is refused."""
_PEOPLE_MAX: Final = 512
_NAME_MAX: Final = 40


class Tone(StrEnum):
    """What kind of line it is; the view gives each its colour."""

    HEARD = "heard"
    SPOKE = "spoke"
    """The avatar's own words came back."""
    DECIDED = "decided"
    REFUSED = "refused"
    ASKS = "asks"
    """Somebody must answer."""
    DONE = "done"
    DOUBT = "doubt"
    STATE = "state"
    WORLD = "world"
    NOTE = "note"
    """Worth a look only for who wonders why something happened, or didn't."""
    HELP = "help"
    """An answer to the person at the keyboard."""


class Line(msgspec.Struct, frozen=True):
    """One line: its kind and its text, safe to show."""

    tone: Tone
    text: str


class People:
    """Names by UUID, as far as they were seen, and the roles the configuration gives.

    Args:
        roles: UUID to the word shown behind the name, such as ``owner``.

    Bounds: the 512 people seen last.
    """

    __slots__ = ("_names", "_roles")

    def __init__(self, roles: Mapping[str, str] | None = None) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()
        self._roles = dict(roles or {})

    def meet(self, uuid: str, name: str) -> None:
        """Remember a name."""
        if uuid == NIL_UUID or not name:
            return
        self._names[uuid] = _unmarked(name)
        self._names.move_to_end(uuid)
        while len(self._names) > _PEOPLE_MAX:
            self._names.popitem(last=False)

    def named(self, uuid: str, most: int = _NAME_MAX) -> str:
        """Return how somebody is shown: name, then role; of a stranger without a name, the UUID's beginning."""
        if uuid.startswith("client:"):
            return f"the {_unmarked(uuid.removeprefix('client:'))}"
        name = clip(self._names.get(uuid) or f"somebody ({shown(uuid, 8)})", most)
        role = self._roles.get(uuid)
        return name if role is None else f"{name} [{role}]"

    def speaker(self, source: seen.Speaker) -> str:
        """Return how a speaker is shown; an object is called one, whatever its name says."""
        if source.kind is seen.SpeakerKind.OBJECT:
            return f"object '{_unmarked(source.name)}'"
        if source.kind is seen.SpeakerKind.SYSTEM:
            return "the grid"
        self.meet(source.id, source.name)
        return self.named(source.id)


def _unmarked(name: str) -> str:
    """Return a name without square brackets: they are what the role of a UUID is shown in (Fault: 14)."""
    return shown(name, _NAME_MAX).replace("[", "(").replace("]", ")")


def seconds_in_words(seconds: float) -> str:
    """Return a span of time as a person says it."""
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{seconds:.0f} s" if seconds >= 10 or seconds == int(seconds) else f"{seconds:.1f} s"  # noqa: PLR2004
    if seconds < 7200:  # noqa: PLR2004 - two hours
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


# --- storage --------------------------------------------------------------------------------------

_FAULTS: Final[Mapping[str, str]] = {
    "disk_full": "the disk is full",
    "io_error": "the disk failed",
    "corrupt": "the database is damaged",
    "stuck": "the disk did not answer in time",
    "backlog": "the disk did not keep up",
    "unusable": "the database could not be used",
}


def moment_in_words(wall: float) -> str:
    """Return a moment of the wall clock as a person reads it."""
    return datetime.fromtimestamp(wall, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def doubt_in_words(row: DoubtRow) -> str:
    """Return one effect in doubt: what, since when, why it is not found out, where to look, and how it is settled."""
    since = "" if row.since is None else f" since {moment_in_words(row.since)}"
    why = f" ({shown(row.why)})" if row.why else ""
    where = f" at {shown(row.look_at)}" if row.look_at else ""
    nonce = f" (its nonce is {shown(row.nonce, 64)})" if row.nonce else ""
    return (
        f"in doubt{since}: {shown(row.summary)} (avatar {row.avatar}); it may have happened, and is not done again"
        f"{why}: look{where}{nonce}, then say: settle {shown(row.effect, 64)} happened, or: failed"
    )


def fault_in_words(row: StorageRow) -> str:
    """Return why safe mode is on, since when, and what it means."""
    why = _FAULTS.get(row.fault, shown(row.fault, 64))
    since = "" if row.since is None else f" since {moment_in_words(row.since)}"
    lost = f"; {row.lost} records found no room" if row.lost else ""
    return f"safe mode{since}: {why} ({shown(row.file)}), so nothing that costs anything is done{lost}"


# --- decisions ------------------------------------------------------------------------------------

_DENIALS: Final[Mapping[DenialCode, str]] = {
    DenialCode.ORIGIN_MAY_NOT: "nobody may ask for that in this way",
    DenialCode.ROLE_TOO_LOW: "that person may not ask for it",
    DenialCode.TAINTED: "a stranger's words were part of it",
    DenialCode.TARGET_NOT_AUTHORISED: "the target was not named by somebody with the right to",
    DenialCode.PATTERN_DENIED: "a pattern of the policy forbids it",
    DenialCode.BUDGET_SPENT: "its budget is spent, or zero",
    DenialCode.BUDGET_UNAVAILABLE: "too many people use budgets just now",
    DenialCode.INVALID_ARGUMENTS: "its arguments are not valid",
    DenialCode.UNKNOWN_ACTION: "there is no such action",
    DenialCode.NOT_READY: "the avatar is not in the world",
    DenialCode.STALE_GENERATION: "it belongs to an earlier connection",
    DenialCode.HELD: "the kill switch is on",
    DenialCode.DUPLICATE: "it was asked for already",
    DenialCode.LEDGER_FULL: "too many actions are open",
    DenialCode.APPROVALS_FULL: "too many approvals are open",
    DenialCode.APPROVAL_DENIED: "the approval was denied",
    DenialCode.APPROVAL_EXPIRED: "nobody answered the approval in time",
    DenialCode.APPROVAL_CANCELLED: "the approval was cancelled",
    DenialCode.RESOURCE_BUSY: "another action is using the body, or paying",
    DenialCode.GRANT_REFUSED: "the schedule grant does not allow it",
    DenialCode.GRANT_SPENT: "the schedule grant is used up for now",
    DenialCode.SAFE_MODE: "storage failed, so nothing that costs anything is done",
}

_ORIGINS: Final[Mapping[Origin, str]] = {
    Origin.PUBLIC_CHAT: "in chat",
    Origin.DIRECT_IM: "by IM",
    Origin.OBJECT_TEXT: "through an object",
    Origin.OPERATOR_CONSOLE: "at the console",
    Origin.SCHEDULE: "by schedule",
    Origin.GOAL: "for a goal",
    Origin.AG_UI: "over AG-UI",
    Origin.A2A: "over A2A",
    Origin.MCP: "over MCP",
}

_ORIGIN_BY_NAME: Final = {origin.value: words for origin, words in _ORIGINS.items()}

_QUIET: Final[Mapping[str, str]] = {
    "addressed": "it was spoken to",
    "addressed:reply": "it was a reply",
    "addressed:one_on_one": "they are alone",
    "ambient": "it joins in",
    "quiet:own_echo": "it said that itself",
    "quiet:duplicate": "it was heard already",
    "quiet:not_a_person": "no person said it",
    "quiet:other_channel": "it was on another channel",
    "quiet:offline_message": "it was said while the avatar was away",
    "quiet:nothing_said": "there was no word in it",
    "quiet:muted": "the speaker is muted",
    "quiet:flood": "the speaker says too much",
    "quiet:blocked_phrase": "a blocked phrase stands in it",
    "quiet:hushed": "it was asked to be quiet",
    "quiet:asked_to_be_quiet": "it was asked to be quiet before",
    "quiet:quiet_hours": "these are quiet hours",
    "quiet:bots_not_allowed": "bots may not be here",
    "quiet:too_far": "it was said too far away",
    "quiet:to_another": "somebody else was spoken to",
    "quiet:not_addressed": "it was not spoken to",
    "quiet:moderation": "it was only looked at as a moderator",
    "quiet:scripted_agent": "a bot said it",
    "quiet:repeated": "the same words came again",
    "quiet:echo": "its own words came back from somebody",
    "quiet:turn_ceiling": "the speaker had enough answers for now",
    "quiet:crowded": "there were enough answers for now",
    "quiet:held": "it is held",
    "quiet:too_many_wait": "too much waits for the model",
}


_RULES: Final[Mapping[str, str]] = {
    "matrix": "who may {1} {0}",
    "budget": "the budget of {0}",
    "approval": "{0} needs a yes",
    "taint": "{0} after a stranger's words",
    "target": "whom {0} may aim at",
    "pattern": "the pattern '{0}'",
    "resource": "one action at a time uses the {0}",
    "grant": "the schedule grant: {0}",
}
"""By the first part of a rule's name; the parts behind it fill the places."""


def rule_in_words(rule: str) -> str:
    """Return what a rule is about, and its name for who wants to look it up."""
    head, *rest = shown(rule, 64).split(".")
    words = _RULES.get(head)
    if words is None or not rest:
        return f"rule {shown(rule, 64)}"
    if head == "matrix" and len(rest) > 1:
        rest = [_ORIGIN_BY_NAME.get(rest[0], rest[0]), rest[1]]
    elif head == "budget":
        rest = [" ".join(rest)]
    else:
        rest = [".".join(rest)]
    return f"{words.format(*rest, '')}, rule {shown(rule, 64)}"


def denial_in_words(code: DenialCode | None, rule: str) -> str:
    """Return why the gateway said no, with the rule's name for who wants to look it up."""
    words = "it is not allowed" if code is None else _DENIALS[code]
    return f"{words} ({rule_in_words(rule)})" if rule else words


def _outcome(outcome: Outcome) -> tuple[Tone, str]:
    match outcome:
        case Confirmed(evidence=evidence):
            return Tone.DONE, f"done, proved by {evidence.value.replace('_', ' ')}"
        case Refused(reason=reason):
            return Tone.REFUSED, f"not done: {shown(reason, 64)}"
        case InDoubt(reason=reason):
            return Tone.DOUBT, f"in doubt, it may have happened: {shown(reason, 64)}"


# --- observations -----------------------------------------------------------------------------------


def in_words(body: told.ObservationBody, people: People) -> Line | None:
    """Return the line for an observation; None for what only a machine wants to know."""
    return _BODIES[type(body)](body, people)


def _agent(body: told.AgentStateChanged, _: People) -> Line:
    why = f" ({shown(body.code, 64)})" if body.code else ""
    return Line(Tone.STATE, f"the avatar is {body.state.value}{why}")


def _link(body: told.LinkStateChanged, _: People) -> Line:
    cause = f", because of {body.cause.value.replace('_', ' ')}" if body.cause is not None else ""
    again = f"; next try in {seconds_in_words(body.retry_in_s)}" if body.retry_in_s is not None else ""
    return Line(Tone.STATE, f"the connection is {body.state.value}{cause}{again}")


def _event(body: told.EventSeen, people: People) -> Line | None:
    return _EVENTS[type(body.event)](body.event, people)


def _attention(body: told.AttentionDecided, _: People) -> Line:
    why = _QUIET.get(body.code, shown(body.code, 64))
    return Line(Tone.NOTE, f"{'answers' if body.answers else 'stays quiet'}: {why}")


def _decided(body: told.ActionDecided, people: People) -> Line | None:
    if body.action == _TYPING and body.verdict is told.Verdict.AUTHORIZED:
        return None
    asked = f"{shown(body.summary)} for {people.named(body.principal)} {_ORIGINS[body.origin]}"
    match body.verdict:
        case told.Verdict.AUTHORIZED:
            return Line(Tone.DECIDED, f"allowed: {asked} ({rule_in_words(body.rule)})")
        case told.Verdict.NEEDS_APPROVAL:
            return Line(Tone.ASKS, f"must be asked: {asked} ({rule_in_words(body.rule)})")
        case told.Verdict.DENIED:
            return Line(Tone.REFUSED, f"refused: {asked}, because {denial_in_words(body.code, body.rule)}")


def _settled(body: told.ActionSettled, _: People) -> Line | None:
    if body.action == _TYPING and isinstance(body.outcome, Confirmed):
        return None
    if body.dry_run:
        return Line(Tone.NOTE, f"{shown(body.action, 64)}: dry run, nothing was sent")
    tone, words = _outcome(body.outcome)
    return Line(tone, f"{shown(body.action, 64)}: {words}")


def _doubt_settled(body: told.DoubtSettled, _: People) -> Line:
    tone, words = _outcome(body.outcome)
    how = "as the operator says" if body.by is SettledBy.OPERATOR else f"found out later ({shown(body.proof, 64)})"
    return Line(tone, f"{shown(body.action, 64)} was in doubt, {how}: {words}")


def _approval(body: told.ApprovalOpened, people: People) -> Line:
    return Line(
        Tone.ASKS,
        f"approval {shown(body.approval_id, 64)}: {shown(body.summary)} for {people.named(body.principal)}; "
        f"answer with allow or deny within {seconds_in_words(body.expires_in_s)}",
    )


def _answered(body: told.ControlAnswered, _: People) -> Line:
    reply = body.reply
    words = shown(reply.message) or shown(reply.code, 64)
    return Line(Tone.STATE if reply.accepted else Tone.REFUSED, f"{shown(body.control, 64)}: {words}")


def _diagnostic(body: told.Diagnostic, _: People) -> Line:
    fields = " ".join(f"{shown(name, 64)}={shown(value, 64)}" for name, value in body.fields)
    helps = f": {what_helps(dict(body.fields).get('cause', ''))}" if body.code == "authentication_blocked" else ""
    return Line(Tone.STATE, f"note: {shown(body.code, 64)} {fields}".rstrip() + helps)


def _fenced(body: told.WorkFenced, _: People) -> Line:
    return Line(Tone.NOTE, f"{body.count} late {shown(body.what, 64)} of connection {body.of_generation} dropped")


def _nothing(_: msgspec.Struct, __: People) -> None:
    """Say nothing."""


_BODIES: Final[Mapping[type[told.ObservationBody], Callable[..., Line | None]]] = {
    told.AgentStateChanged: _agent,
    told.LinkStateChanged: _link,
    told.GenerationOpened: _nothing,
    told.GenerationClosed: lambda body, _: Line(
        Tone.STATE, f"connection over ({body.cause.value.replace('_', ' ')}){', logged out' * body.logged_out}"
    ),
    told.EventSeen: _event,
    told.AttentionDecided: _attention,
    told.ActionDecided: _decided,
    told.ActionSettled: _settled,
    told.DoubtSettled: _doubt_settled,
    told.ApprovalOpened: _approval,
    told.ApprovalClosed: lambda body, _: Line(
        Tone.STATE, f"approval {shown(body.approval_id, 64)} {shown(body.how, 64)}"
    ),
    told.HoldChanged: lambda body, _: Line(
        Tone.STATE, "HELD: the avatar hears and causes nothing" if body.held else "released: the avatar may act again"
    ),
    told.ControlAnswered: _answered,
    told.WorkFenced: _fenced,
    told.Diagnostic: _diagnostic,
    told.TurnStarted: lambda body, _: Line(Tone.NOTE, f"thinks ({shown(body.mode, 64)})"),
    told.TurnEnded: lambda body, _: Line(Tone.NOTE, f"has thought: {shown(body.stop, 64)}"),
    told.ToolEnded: lambda body, _: Line(
        Tone.NOTE, f"used {shown(body.tool, 64)}: {'ok' if body.ok else shown(body.code, 64) or 'failed'}"
    ),
    told.ReplyComposed: lambda body, _: Line(Tone.NOTE, f"wants to say: {shown(body.text)}"),
    told.GoalChanged: lambda body, _: Line(Tone.STATE, f"goal {shown(body.goal, 64)}: {shown(body.state, 64)}"),
    told.SafeModeChanged: lambda body, _: Line(
        Tone.STATE,
        f"SAFE MODE ({shown(body.code, 64)}): talk yes, pay and give no" if body.active else "safe mode is over",
    ),
}


# --- events -----------------------------------------------------------------------------------------


def _chat(event: seen.ChatHeard, people: People) -> Line:
    own = event.source.kind is seen.SpeakerKind.SELF
    tone = Tone.SPOKE if own else Tone.HEARD
    if event.text.startswith("/me "):
        return Line(tone, f"* {people.speaker(event.source)} {shown(event.text[4:])}")
    verb = {"whisper": "whispers", "say": "says", "shout": "shouts"}[event.volume.value]
    return Line(tone, f"{people.speaker(event.source)} {verb}: {shown(event.text)}")


def _im(event: seen.ImReceived, people: People) -> Line:
    when = " (while away)" if event.offline else ""
    return Line(Tone.HEARD, f"IM from {people.speaker(event.source)}{when}: {shown(event.text)}")


def _avatar(event: seen.AvatarSeen, people: People) -> None:
    people.meet(event.avatar.avatar_id, event.avatar.name)


def _entered(event: seen.RegionEntered, _: People) -> Line:
    return Line(Tone.WORLD, f"is in {shown(event.region, _NAME_MAX)}")


def _ready(event: seen.BackendReady, people: People) -> Line:
    people.meet(event.avatar_id, event.name)
    grid, region = shown(event.profile.grid, _NAME_MAX), shown(event.region, _NAME_MAX)
    lacks = f"; {lacking}" if (lacking := lacking_in_words(event.profile)) else ""
    return Line(Tone.WORLD, f"{shown(event.name, _NAME_MAX)} is in world: {region} of {grid}{lacks}")


def lacking_in_words(profile: seen.GridProfile) -> str:
    """Return what a grid cannot do, and so which tools a mind is not offered there; empty where it can do all."""
    parts = (("money", profile.has_money), ("inventory", profile.has_inventory), ("building", profile.has_build))
    lacks = [f"no {name}" for name, there in parts if not there]
    return ", ".join(lacks + ["no bots allowed in public"] * (not profile.bots_allowed))


def _dialog(event: seen.DialogOpened, _: People) -> Line:
    buttons = " | ".join(shown(button, 24) for button in event.buttons)
    return Line(Tone.ASKS, f"object '{shown(event.object_name, _NAME_MAX)}' asks: {shown(event.text)} [{buttons}]")


def _permission(event: seen.PermissionAsked, _: People) -> Line:
    wanted = ", ".join(shown(each, 24) for each in event.permissions)
    return Line(Tone.ASKS, f"object '{shown(event.object_name, _NAME_MAX)}' wants the permission to {wanted}")


def _offer(what: str) -> Callable[..., Line]:
    def said(event: seen.FriendshipOffered | seen.TeleportOffered | seen.TeleportAsked, people: People) -> Line:
        words = f": {shown(event.message)}" if event.message else ""
        return Line(Tone.ASKS, f"{people.speaker(event.source)} {what}{words}")

    return said


def _balance(event: seen.BalanceChanged, people: People) -> Line | None:
    if not event.change:
        return None
    other = "" if event.counterpart_id == NIL_UUID else f" ({people.named(event.counterpart_id)})"
    verb = "received" if event.change > 0 else "paid"
    return Line(Tone.WORLD, f"{verb} L${abs(event.change)}{other}; balance L${event.balance}")


_REMEDIES: Final[Mapping[str, str]] = {
    "renewed": "it is begun anew",
    "asked_again": "the region is asked again",
    "reconnect": "the connection is given up and made anew",
}
"""What is done about a sick part, in words."""


def _remedy(event: seen.PartDegraded) -> str:
    return f"; {_REMEDIES.get(event.remedy, shown(event.remedy, 64))}" if event.remedy else ""


def _world(words: Callable[..., str]) -> Callable[..., Line]:
    return lambda event, _: Line(Tone.WORLD, words(event))


_EVENTS: Final[Mapping[type[seen.GridEvent], Callable[..., Line | None]]] = {
    seen.TransportUp: _nothing,
    seen.BackendReady: _ready,
    seen.PartDegraded: _world(lambda event: f"the {shown(event.part, 64)} of the connection is sick{_remedy(event)}"),
    seen.PartRecovered: _world(lambda event: f"the {shown(event.part, 64)} of the connection is well again"),
    seen.RegionEntered: _entered,
    seen.RegionRestarting: _world(
        lambda event: f"{shown(event.region, _NAME_MAX)} restarts in {seconds_in_words(event.seconds)}"
    ),
    seen.Kicked: _world(lambda event: f"was sent off the grid: {shown(event.reason)}"),
    seen.AlertShown: _world(lambda event: f"the grid says: {shown(event.text)}"),
    seen.EventsShed: _world(lambda event: f"{event.count} events of kind {shown(event.kind, 64)} were dropped"),
    seen.ChatHeard: _chat,
    seen.ImReceived: _im,
    seen.GroupImSeen: _nothing,
    seen.TypingSeen: _nothing,
    seen.AvatarSeen: _avatar,
    seen.AvatarLeft: lambda event, people: Line(Tone.NOTE, f"{people.named(event.avatar_id)} left"),
    seen.ObjectSeen: _nothing,
    seen.ObjectGone: _nothing,
    seen.ParcelSeen: _world(lambda event: f"stands on {shown(event.parcel.name, _NAME_MAX)}"),
    seen.SelfMoved: _nothing,
    seen.PostureChanged: _world(lambda event: f"is {event.posture.value.replace('_', ' ')}"),
    seen.AnimationChanged: _nothing,
    seen.TeleportFinished: _world(lambda event: f"arrived in {shown(event.region, _NAME_MAX)}"),
    seen.TeleportFailed: _world(lambda event: f"the teleport failed: {shown(event.reason, 64)}"),
    seen.DialogOpened: _dialog,
    seen.PermissionAsked: _permission,
    seen.UrlShown: _world(
        lambda event: (
            f"object '{shown(event.object_name, _NAME_MAX)}' shows a link, which is not opened: {shown(event.url)}"
        )
    ),
    seen.FriendshipOffered: _offer("offers friendship"),
    seen.TeleportOffered: _offer("offers a teleport"),
    seen.TeleportAsked: _offer("asks for a teleport"),
    seen.InventoryOffered: lambda event, people: Line(
        Tone.ASKS, f"{people.speaker(event.source)} offers '{shown(event.name, _NAME_MAX)}'"
    ),
    seen.OfferClosed: _nothing,
    seen.FriendChanged: lambda event, people: Line(
        Tone.WORLD, f"{people.named(event.avatar_id)} is {'' if event.friend else 'no longer '}a friend"
    ),
    seen.InventoryChanged: _world(lambda event: f"has '{shown(event.item.name, _NAME_MAX)}' now"),
    seen.InventoryRemoved: _nothing,
    seen.GiftAnswered: lambda event, people: Line(
        Tone.WORLD, f"{people.named(event.to)} {'took' if event.accepted else 'declined'} the gift"
    ),
    seen.BalanceChanged: _balance,
    seen.Delivered: _nothing,
    seen.ActionRefused: _nothing,
    seen.NotecardRead: _nothing,
}
