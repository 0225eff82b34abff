"""What ``gridagent chat`` prints: a line for people, or one JSON line an event for programs.

Owns the wording of both, from the avatar's own observations and from what the visitors perceive; causes nothing.
With JSON there is nothing but events; ``kind`` is one of `KINDS`.

Invariant: text from outside has passed `gridagent.cli.safe_text` before it is printed (Spec: OPS-7).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

import msgspec

from gridagent import observations as told
from gridagent.actions import Confirmed
from gridagent.cli.safe_text import plain_json, shown
from gridagent.cli.scene import Stamped
from gridagent.cli.wording import Line, People, Tone, in_words
from gridagent.events import (
    BalanceChanged,
    ChatHeard,
    FriendshipOffered,
    GridEvent,
    ImReceived,
    InventoryOffered,
    SpeakerKind,
    TeleportOffered,
)
from gridagent.limits import clip

__all__ = ("KINDS", "ChatEvent", "ChatView")

KINDS: Final = (
    "typed",
    "heard",
    "decided",
    "action",
    "denied",
    "asks",
    "outcome",
    "said",
    "im",
    "turn",
    "tool",
    "reply",
    "seen",
    "state",
    "note",
)
"""Every kind of JSON line."""
_KEPT_MAX: Final = 1_000
_TYPING: Final = "set_typing"
"""A sign of life, and no line of its own."""
_COLOURS: Final = {
    Tone.HEARD: "36",
    Tone.SPOKE: "1;32",
    Tone.DECIDED: "32",
    Tone.REFUSED: "31",
    Tone.ASKS: "1;33",
    Tone.DONE: "32",
    Tone.DOUBT: "1;35",
    Tone.STATE: "1",
    Tone.WORLD: "34",
    Tone.NOTE: "2",
    Tone.HELP: "1",
}
_ENCODER: Final = msgspec.json.Encoder()


class ChatEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One JSON line."""

    kind: str
    t: float
    """Seconds since the chat began."""
    who: str = ""
    """Of a line typed or heard, its speaker; of an IM, its receiver; of an action, on whose words."""
    role: str = ""
    text: str = ""
    channel: str = ""
    """``public`` or ``im``."""
    utterance: str = ""
    answers: bool | None = None
    code: str = ""
    action: str = ""
    rule: str = ""
    outcome: str = ""
    tool: str = ""
    ok: bool | None = None
    correlation: str = ""
    approval: str = ""


class ChatView:
    """Turns what happens into lines; whoever prints takes them with `take`.

    Args:
        json: lines for programs.
        colour: colours for people.
        roles: UUID to the word shown behind a name.
        began: monotonic seconds of the chat's beginning.

    Bounds: `_KEPT_MAX` lines wait or are kept for the history; the oldest go.
    """

    def __init__(self, *, json: bool, colour: bool, roles: Mapping[str, str], began: float) -> None:
        self._json = json
        self._colour = colour
        self._roles = dict(roles)
        self._began = began
        self._people = People(roles)
        self._waiting: deque[str] = deque(maxlen=_KEPT_MAX)
        self._history: deque[str] = deque(maxlen=_KEPT_MAX)

    def take(self) -> str:
        """Return what is to be printed, and forget it."""
        text = "".join(self._waiting)
        self._waiting.clear()
        return text

    def history(self, lines: int) -> tuple[str, ...]:
        """Return the latest lines of the conversation."""
        return tuple(self._history)[-lines:]

    # --- what happens -----------------------------------------------------------------------------

    def observed(self, at: float, body: told.ObservationBody) -> bool:
        """Take one of the avatar's observations; tells whether it shows that something is going on."""
        if isinstance(body, told.ActionDecided | told.ActionSettled) and body.action == _TYPING:
            return True
        event = self._event_of(at - self._began, body)
        if event is not None:
            self._put(event, in_words(body, self._people))
        return event is not None

    def perceived(self, at: float, name: str, event: GridEvent, agent: str) -> bool:
        """Take what a visitor perceives of the avatar; tells whether it shows that something is going on."""
        t = at - self._began
        match event:
            case ImReceived(source=source) if source.id == agent:
                line = Line(Tone.SPOKE, f"IM to {shown(name)}: {shown(event.text, 1_023)}")
                self._put(ChatEvent(kind="im", t=_rounded(t), who=name, text=event.text, channel="im"), line)
            case (
                FriendshipOffered(source=source) | InventoryOffered(source=source) | TeleportOffered(source=source)
            ) if source.id == agent:
                what = type(event).__struct_config__.tag
                line = Line(Tone.ASKS, f"{shown(name)} is offered something ({what}); /accept or /decline answers")
                self._put(ChatEvent(kind="seen", t=_rounded(t), who=name, code=str(what)), line)
            case BalanceChanged(change=change) if change:
                line = Line(Tone.WORLD, f"{shown(name)}: L${change:+d}, L${event.balance} now")
                self._put(ChatEvent(kind="seen", t=_rounded(t), who=name, code="balance", text=f"{change:+d}"), line)
            case _:
                return False
        return True

    def typed(self, at: float, name: str, avatar_id: str, line: str) -> None:
        """Take what was typed; on a terminal it stands there already."""
        role = self._roles.get(avatar_id, "stranger")
        self._history.append(f"{shown(name)}: {shown(line, 1_023)}\n")
        if self._json:
            self._emit(ChatEvent(kind="typed", t=_rounded(at - self._began), who=name, role=role, text=line))

    def say(self, at: float, tone: Tone, text: str) -> None:
        """Add a line of the command's own; ``text`` is safe to show."""
        self._put(ChatEvent(kind="note", t=_rounded(at - self._began), text=text), Line(tone, text))

    # --- inside -----------------------------------------------------------------------------------

    def _put(self, event: ChatEvent, line: Line | None) -> None:
        if event.kind in {"said", "im"}:
            to = f" (IM to {shown(event.who)})" if event.kind == "im" else ""
            self._history.append(f"the avatar{to}: {shown(event.text, 1_023)}\n")
        if self._json:
            self._emit(event)
        elif line is not None:
            stamped = Stamped(event.t, "", line)
            text = f"{stamped.at:7.1f}  {line.tone.value:<8} {line.text}"
            self._waiting.append(f"\x1b[{_COLOURS[line.tone]}m{text}\x1b[0m\n" if self._colour else f"{text}\n")

    def _emit(self, event: ChatEvent) -> None:
        self._waiting.append(plain_json(_ENCODER.encode(event)) + "\n")

    def _role(self, uuid: str) -> str:
        return self._roles.get(uuid, "stranger")

    def _event_of(self, t: float, body: told.ObservationBody) -> ChatEvent | None:  # noqa: C901, PLR0911, PLR0912 - a row a return
        t = _rounded(t)
        match body:
            case told.EventSeen(event=ChatHeard() | ImReceived() as event):
                return self._heard(t, event)
            case told.AttentionDecided():
                return ChatEvent(kind="decided", t=t, utterance=body.utterance_id, answers=body.answers, code=body.code)
            case told.ActionDecided():
                return self._decided(t, body)
            case told.ApprovalOpened():
                return ChatEvent(
                    kind="asks", t=t, action=body.action, text=body.summary, approval=str(body.approval_id)
                )
            case told.ActionSettled(outcome=outcome):
                code = outcome.evidence.value if isinstance(outcome, Confirmed) else outcome.reason
                return ChatEvent(
                    kind="outcome",
                    t=t,
                    action=body.action,
                    outcome=str(type(outcome).__struct_config__.tag),
                    code=code,
                    correlation=body.correlation,
                )
            case told.TurnStarted():
                return ChatEvent(kind="turn", t=t, code="started", text=body.mode, correlation=body.correlation)
            case told.TurnEnded():
                return ChatEvent(kind="turn", t=t, code="ended", text=body.stop, correlation=body.correlation)
            case told.ToolEnded():
                return ChatEvent(
                    kind="tool", t=t, tool=body.tool, ok=body.ok, code=body.code, correlation=body.correlation
                )
            case told.ReplyComposed():
                return ChatEvent(kind="reply", t=t, text=body.text, correlation=body.correlation)
            case told.HoldChanged():
                return ChatEvent(kind="state", t=t, code="held" if body.held else "released")
            case told.AgentStateChanged():
                return ChatEvent(kind="state", t=t, code=body.state.value)
            case told.ControlAnswered():
                return ChatEvent(
                    kind="state", t=t, action=body.control, ok=body.reply.accepted, code=body.reply.code,
                    text=body.reply.message,
                )  # fmt: skip
            case told.Diagnostic():
                return ChatEvent(kind="note", t=t, code=body.code)
            case _:
                return None

    def _heard(self, t: float, event: ChatHeard | ImReceived) -> ChatEvent:
        public = isinstance(event, ChatHeard)
        channel = "public" if public else "im"
        if event.source.kind is SpeakerKind.SELF:
            return ChatEvent(kind="said", t=t, text=event.text, channel=channel)
        role = self._role(event.source.id) if event.source.kind is SpeakerKind.AVATAR else event.source.kind.value
        return ChatEvent(
            kind="heard",
            t=t,
            who=event.source.name,
            role=role,
            text=event.text,
            channel=channel,
            utterance=event.utterance_id,
        )

    def _decided(self, t: float, body: told.ActionDecided) -> ChatEvent:
        kinds = {told.Verdict.DENIED: "denied", told.Verdict.AUTHORIZED: "action", told.Verdict.NEEDS_APPROVAL: "asks"}
        return ChatEvent(
            kind=kinds[body.verdict],
            t=t,
            who=self._people.named(body.principal),
            role=self._role(body.principal),
            action=body.action,
            text=clip(body.summary, 256),
            code="" if body.code is None else body.code.value,
            rule=body.rule,
            correlation=body.correlation,
        )


def _rounded(t: float) -> float:
    return round(max(0.0, t), 2)
