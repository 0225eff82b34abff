"""What the reference gateway reads off a request: canonical form, role, draws, targets, matching patterns.

Owns a second, literal reading of the catalogue; shares no table and no function with the gateway's own
(`gridagent.policy.verbs`, `roles`, `patterns`, `canonical`). Only this folder calls it. Its
invariant: plain conditions over the action in hand, one after the other.
"""

from __future__ import annotations

import math
import unicodedata
from hashlib import sha256
from typing import Final

import msgspec

from gridagent import actions as verbs
from gridagent.actions import ACTIONS, Action, EffectClass
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Role
from gridagent.config.policy import Meter, Pattern, RolesSection
from gridagent.ids import NIL_UUID, EffectKey

__all__ = ("Form", "draws", "form_of", "keepable", "key_of", "matches", "peer_of", "role_of", "withdraws")

_ENCODE: Final = msgspec.json.Encoder(order="deterministic").encode
_DECODE: Final = msgspec.json.Decoder(Action).decode


class Form(msgspec.Struct, frozen=True):
    """An action in canonical form."""

    raw: bytes
    digest: str
    action: Action
    name: str
    target: str | None


def form_of(action: object) -> Form | DenialCode:
    """Bring an action into canonical form, or say why it has none."""
    if type(action) not in ACTIONS:
        return DenialCode.UNKNOWN_ACTION
    try:
        raw = _ENCODE(_DECODE(_ENCODE(action)))
        fresh = _DECODE(raw)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it has no canonical form
        return DenialCode.INVALID_ARGUMENTS
    target = _target(fresh)
    if target == NIL_UUID:
        return DenialCode.INVALID_ARGUMENTS
    return Form(raw, sha256(raw).hexdigest(), fresh, str(type(fresh).__struct_config__.tag), target)


def keepable(request: ActionRequest, form: Form) -> bool:
    """Tell whether a request can be written down and read back, a way that is no way left out."""
    way = request.travel_m
    known = way is not None and way >= 0 and math.isfinite(way)
    try:
        plain = msgspec.structs.replace(request, action=form.action, travel_m=way if known else None)
        msgspec.json.decode(_ENCODE(plain), type=ActionRequest)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it can't be kept
        return False
    return True


def key_of(request: ActionRequest, form: Form) -> EffectKey:
    """Hash action, principal, cause and ordinal."""
    who = _ENCODE([request.principal.key, request.cause, request.ordinal])
    return EffectKey(sha256(who + b"\n" + form.raw).hexdigest())


def _target(action: Action) -> str | None:  # noqa: PLR0911 - one line a kind
    match action:
        case verbs.SendIm() | verbs.OfferTeleport() | verbs.RequestTeleport() | verbs.OfferFriendship():
            return action.to
        case verbs.GiveItem() | verbs.PayAvatar():
            return action.to
        case verbs.FollowAvatar() | verbs.EndFriendship() | verbs.EjectAvatar():
            return action.avatar_id
        case verbs.SitOn() | verbs.Touch() | verbs.PayObject() | verbs.ReturnObject():
            return action.object_id
        case verbs.TeleportTo():
            return action.region
        case verbs.AnswerTeleportOffer():
            return action.offer_id
    return None


def peer_of(action: Action) -> str | None:
    """Return whom an action is done to, where budgets can count that."""
    match action:
        case verbs.SendIm() | verbs.OfferTeleport() | verbs.RequestTeleport() | verbs.OfferFriendship():
            return action.to
        case verbs.GiveItem() | verbs.PayAvatar():
            return action.to
        case verbs.EndFriendship():
            return action.avatar_id
        case verbs.PayObject():
            return action.object_id
    return None


def withdraws(action: Action) -> bool:
    """Tell whether an action only ends or declines something."""
    match action:
        case verbs.AnswerTeleportOffer() | verbs.AnswerFriendship() | verbs.AnswerInventoryOffer():
            return not action.accept
        case verbs.AnswerPermission():
            return not action.grant
    return action.spec.effect is EffectClass.REPEATABLE


def draws(action: Action, travel_m: float | None) -> list[tuple[Meter, int]]:  # noqa: C901 - one line a kind
    """Return how much of which meter an action draws."""
    if withdraws(action):
        return [(Meter.WITHDRAWALS, 1)]
    drawn = [(Meter("calls." + action.spec.capability.value), 1)]
    match action:
        case verbs.SendIm():
            drawn.append((Meter.IMS, 1))
        case verbs.TeleportTo() | verbs.TeleportHome() | verbs.AnswerTeleportOffer():
            drawn.append((Meter.TELEPORTS, 1))
        case verbs.GiveItem() | verbs.AnswerInventoryOffer() | verbs.CreateNotecard() | verbs.CreateLandmark():
            drawn.append((Meter.ITEMS, 1))
        case verbs.UploadAsset():
            drawn.append((Meter.UPLOADS, 1))
        case verbs.RezObject():
            drawn.append((Meter.PRIMS, 1))
    said = sum(len(text.encode()) for text in _read_by_others(action))
    if said:
        drawn.append((Meter.SPEECH_BYTES, said))
    match action:
        case verbs.PayAvatar() | verbs.PayObject():
            drawn.append((Meter.LINDEN, action.amount))
        case verbs.UploadAsset() if action.price:
            drawn.append((Meter.LINDEN, action.price))
        case verbs.WalkTo():
            drawn.append((Meter.METRES, _metres(travel_m, least=1)))
        case verbs.FollowAvatar():
            drawn.append((Meter.METRES, _metres(travel_m, least=256)))
    return drawn


def _read_by_others(action: Action) -> list[str]:  # noqa: PLR0911 - one line a kind
    match action:
        case verbs.Say() | verbs.Emote() | verbs.SendIm():
            return [action.text]
        case verbs.OfferTeleport() | verbs.RequestTeleport() | verbs.OfferFriendship():
            return [action.message]
        case verbs.AnswerDialog():
            return [action.button]
        case verbs.CreateNotecard():
            return [action.name, action.text]
        case verbs.PayAvatar():
            return [action.description]
        case verbs.RezObject():
            return [action.name]
        case verbs.EditObject():
            return [action.name or "", action.description or ""]
    return []


def _metres(travel_m: float | None, *, least: int) -> int:
    if travel_m is None or math.isnan(travel_m) or travel_m < 0:
        return 256
    if travel_m > 10_000_000:  # noqa: PLR2004 - the ceiling of every budget of metres
        return 10_000_001
    return max(math.ceil(travel_m), least)


def role_of(principal: Principal, origin: Origin, roles: RolesSection) -> Role:  # noqa: PLR0911 - one line a door
    """Return the role in which a principal comes through a door."""
    operator = principal.avatar_id is None and principal.client == "operator"
    if origin is Origin.OBJECT_TEXT:
        return Role.OBJECT
    if origin in {Origin.AG_UI, Origin.A2A, Origin.MCP}:
        return Role.OBJECT if operator or principal.avatar_id is not None else Role.FRONT
    if principal.avatar_id is not None:
        if principal.avatar_id in roles.owners:
            return Role.OWNER
        return Role.TRUSTED if principal.avatar_id in roles.trusted else Role.STRANGER
    if origin is Origin.OPERATOR_CONSOLE:
        return Role.OPERATOR
    if origin in {Origin.GOAL, Origin.SCHEDULE}:
        return Role.OPERATOR if operator else Role.FRONT
    return Role.OBJECT


def matches(pattern: Pattern, form: Form) -> bool:  # noqa: PLR0911 - one line a matcher
    """Tell whether a pattern is about this action and its test holds."""
    if pattern.action != form.name:
        return False
    value = getattr(form.action, pattern.argument)
    if pattern.over is not None or pattern.under is not None:
        return (pattern.over is not None and value > pattern.over) or (
            pattern.under is not None and value < pattern.under
        )
    texts = [""] if value is None else list(value) if isinstance(value, tuple) else [str(value)]
    for text in texts:
        if pattern.longer_than is not None and len(text.encode()) > pattern.longer_than:
            return True
        if any(_plain(part) in _plain(text) for part in pattern.contains or ()):
            return True
        if any(_plain(each) == _plain(text) for each in pattern.any_of or ()):
            return True
        if pattern.none_of is not None and text not in pattern.none_of:
            return True
    return False


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text)
    seen = [part for part in parts if unicodedata.category(part) not in {"Cc", "Cf", "Mn"}]
    return unicodedata.normalize("NFKC", "".join(seen)).casefold()
