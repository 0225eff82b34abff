"""Everything an operator or a front can tell a running avatar, as one tagged union (Spec: SUP-8).

Owns the operator's verbs. They are not tools: no model can be given one, and none is an action
(an avatar that could mute itself once muted itself for ever). May import only L0 below it.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.actions import Action
from gridagent.authority import Principal
from gridagent.ids import ApprovalId, AvatarId, GrantId
from gridagent.limits import Bounded, ChatText, Label, ShortText

__all__ = ("CONTROLS", "Control", "ControlReply", "control_name")


class _Control(Bounded, frozen=True, kw_only=True, tag_field="control", forbid_unknown_fields=True):
    """Base of the union."""


OneTimeCode = Annotated[str, Meta(pattern=r"^[0-9A-Za-z]{6,32}\Z", max_length=32)]
"""What an authenticator shows, without spaces: usually six digits. A secret."""


class Connect(_Control, frozen=True, kw_only=True, tag="connect", omit_defaults=True):
    """Connect now: ends a back-off, a stay-away or an authentication block."""

    code: OneTimeCode | None = None
    """Answers the grid's next challenge, once; a secret that is kept nowhere and shown by nothing."""

    def __repr__(self) -> str:
        return f"Connect(code={None if self.code is None else '***'})"


class Disconnect(_Control, frozen=True, kw_only=True, tag="disconnect"):
    """End the generation, log out, and stay away until `Connect`."""


class Pause(_Control, frozen=True, kw_only=True, tag="pause"):
    """End the generation, log out, stay away and be silent until `Resume`."""


class Resume(_Control, frozen=True, kw_only=True, tag="resume"):
    """Come back from `Pause`."""


class Hold(_Control, frozen=True, kw_only=True, tag="hold"):
    """The kill switch: stay in the world, hear, and cause nothing (Spec: POL-12)."""


class Release(_Control, frozen=True, kw_only=True, tag="release"):
    """Let the avatar act again after `Hold`."""


class ForceReconnect(_Control, frozen=True, kw_only=True, tag="force_reconnect"):
    """End this generation and begin the next at once."""


class ShutDown(_Control, frozen=True, kw_only=True, tag="shut_down"):
    """Stop this avatar in order."""


class SayAsOperator(_Control, frozen=True, kw_only=True, tag="say"):
    """Speak through the avatar; goes through the policy gateway like anything else."""

    text: Annotated[ChatText, Meta(min_length=1)]


class RequestAction(_Control, frozen=True, kw_only=True, tag="act"):
    """Ask for any action as the operator; decided by the gateway like anything else."""

    action: Action


class StopTurn(_Control, frozen=True, kw_only=True, tag="stop_turn"):
    """Cancel what the avatar is doing or thinking."""


class ForgetAvatar(_Control, frozen=True, kw_only=True, tag="forget"):
    """Remove everything remembered about an avatar (Spec: MEM-5)."""

    avatar_id: AvatarId


class AnswerApproval(_Control, frozen=True, kw_only=True, tag="answer_approval"):
    """Allow or deny one pending approval."""

    approval_id: ApprovalId
    allow: bool


class SettleEffect(_Control, frozen=True, kw_only=True, tag="settle_effect"):
    """Say by hand how an effect in doubt ended."""

    effect: Label
    happened: bool
    note: ShortText = ""


class GiveGrant(_Control, frozen=True, kw_only=True, tag="give_grant"):
    """Allow something to recur without being asked for again (Spec: POL-8)."""

    principal: Principal
    """On whose behalf the schedule acts."""
    actions: Annotated[tuple[Action, ...], Meta(min_length=1, max_length=32)]
    """Each exact action it allows, all of one verb."""
    times: Annotated[int, Meta(ge=1, le=10_000)]
    """At most so many uses within any ``window_s`` seconds."""
    window_s: Annotated[int, Meta(ge=1, le=31_622_400)]
    starts_in_s: Annotated[float, Meta(ge=0.0, le=31_622_400.0)] = 0.0
    """When it begins to count, from now on."""
    valid_s: Annotated[float, Meta(gt=0.0, le=31_622_400.0)]
    """How long it counts then, in seconds; a year at the most."""


class RevokeGrant(_Control, frozen=True, kw_only=True, tag="revoke_grant"):
    """Take a schedule grant back: from now on it admits nothing."""

    grant_id: GrantId


class ReloadConfig(_Control, frozen=True, kw_only=True, tag="reload"):
    """Take over what may change live; what may not is refused by name."""

    config_json: Annotated[bytes, Meta(max_length=64 * 1024)]


Control: TypeAlias = (
    Connect
    | Disconnect
    | Pause
    | Resume
    | Hold
    | Release
    | ForceReconnect
    | ShutDown
    | SayAsOperator
    | RequestAction
    | StopTurn
    | ForgetAvatar
    | AnswerApproval
    | SettleEffect
    | GiveGrant
    | RevokeGrant
    | ReloadConfig
)
"""Any control."""

CONTROLS: Final[tuple[type[Control], ...]] = Control.__args__
"""Every control class, in the order of the catalogue."""


class ControlReply(Bounded, frozen=True, kw_only=True):
    """What became of a control: accepted, or refused with one clear sentence."""

    accepted: bool
    code: Label
    """Stable: ``ok``, or why not."""
    message: ShortText = ""


def control_name(control: msgspec.Struct) -> str:
    """Return the stable tag of a control."""
    tag = type(control).__struct_config__.tag
    assert isinstance(tag, str)  # noqa: S101 - every class above declares a text tag
    return tag
