"""How a turn is begun: from an utterance to what is asked, and from what is asked to a turn with all it may see.

Owns who speaks to whom in which conversation and with which authority: all of it from UUIDs, the door and the
operator's configuration. Used by `gridagent.thinking.thinker`. Pure.

Invariant: no text changes who the principal is, the origin, the tools or the system prompt (Spec: MND-4, POL-4).
"""

from __future__ import annotations

from collections.abc import Callable

from gridagent.authority import Origin, Principal, TextSource
from gridagent.conversation.entries import Entry, Heard
from gridagent.conversation.keys import Channel, ConversationKey, PersonKey
from gridagent.events import ChatHeard, ImReceived, ParcelView
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.limits import clip
from gridagent.mind import Moment, Surroundings
from gridagent.presence.decision import PresenceDecision
from gridagent.presence.persona import Persona
from gridagent.thinking.lanes import Asked, Batch
from gridagent.thinking.running import LABELS, Running
from gridagent.thinking.sight import Sight
from gridagent.tools.access import Access, TurnMode
from gridagent.tools.descriptor import Port
from gridagent.tools.registry import Registry
from gridagent.turn import Brief, TurnLimits
from gridagent.turn.loop import Turn

__all__ = ("begin", "heard_as")


def heard_as(
    event: ChatHeard | ImReceived,
    decision: PresenceDecision,
    *,
    avatar: AvatarKey,
    around: Surroundings,
    now: Moment,
) -> tuple[PersonKey, Asked]:
    """Return the conversation that an utterance belongs to, and what it asks.

    Args:
        event: of a person, as presence has made sure.
        decision: with a mode.
        avatar: whose mind it is.
        around: the policy says who speaks, the profile on which grid.
        now: the moment.
    """
    assert decision.mode is not None  # noqa: S101 - the caller has looked
    peer = AvatarId(event.source.id)
    role = around.policy.roles.avatar(peer)
    heard = Heard(
        who=event.source.name,
        avatar_id=peer,
        source=LABELS.get(role, TextSource.STRANGER),
        text=event.text,
        utterance_id=f"{around.generation}.{event.utterance_id}"[:64],
        at=now.wall,
        tainted=role not in LABELS,
    )
    key = PersonKey(
        avatar=avatar,
        grid="" if around.profile is None else clip(around.profile.grid, 64),
        peer=peer,
        channel=Channel.PUBLIC if decision.origin is Origin.PUBLIC_CHAT else Channel.IM,
    )
    mode = TurnMode(decision.mode.value)
    asked = Asked(
        heard=heard,
        cause=event.utterance_id,
        peer=peer,
        mode=mode,
        origin=decision.origin,
        disclose=decision.disclose,
    )
    return key, asked


def begin(
    batch: Batch,
    *,
    key: ConversationKey,
    around: Surroundings,
    now: Moment,
    persona: Persona,
    limits: TurnLimits,
    registry: Registry,
    ports: frozenset[Port],
    parcel: Callable[[], ParcelView | None],
    read: Callable[[], tuple[Entry, ...]],
) -> Running:
    """Begin a turn that answers some messages; the newest of them is its cause.

    Args:
        batch: at least one message, all of one conversation.
        key: that conversation.
        around: where the avatar is.
        now: the moment.
        persona: who it is.
        limits: what the turn may take.
        registry: the tools there are.
        ports: what can answer questions.
        parcel: where it stands, once known.
        read: returns what is kept of the conversation.
    """
    newest = batch[-1]
    principal = Principal(avatar_id=newest.peer)
    role = around.policy.roles.avatar(newest.peer)
    # Whoever was addressed stays so, whatever is overheard meanwhile.
    mode = TurnMode.ADDRESSED if any(each.mode is TurnMode.ADDRESSED for each in batch) else newest.mode
    correlation = CorrelationId(newest.heard.utterance_id)  # what the session calls everything of this cause
    brief = Brief(
        correlation=correlation,
        cause=newest.cause,
        mode=mode,
        key=key,
        principal=principal,
        origin=newest.origin,
        role=role,
        persona=persona,
        self_name=around.name,
        self_id=around.self_id,
        history=read(),
        now_said=tuple(each.heard for each in batch),
        access=Access(
            registry,
            mode=mode,
            origin=newest.origin,
            role=role,
            policy=around.policy,
            profile=around.profile,
            ports=ports,
        ),
        tainted=role not in LABELS,
        wall=now.wall,
        surroundings_line=_where(around),
    )
    return Running(
        turn=Turn(brief, limits),
        key=key,
        batch=batch,
        mode=mode,
        correlation=correlation,
        cause=newest.cause,
        origin=newest.origin,
        principal=principal,
        role=role,
        sight=Sight(
            around=around,
            parcel=parcel,
            key=key,
            read=read,
            source=newest.heard.source,
            told_by=newest.peer,
        ),
        ends_at=now.monotonic + limits.deadline_s,
    )


def _where(around: Surroundings) -> str:
    """Return where the avatar is, in a sentence without anybody's words but the region's name."""
    here = around.position
    if here is None:
        return ""
    held = "" if around.posture is None else f", {around.posture.value.replace('_', ' ')}"
    return f"You are in the region {around.region} at ({here.x:.0f}, {here.y:.0f}, {here.z:.0f}){held}."
