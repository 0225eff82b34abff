"""From whatever an asker holds to the one canonical form that is decided on, kept and sent.

Owns the strict round trip: the action is encoded, decoded against the catalogue and encoded again, so
that the ledger keeps a fresh copy nobody else has a reference to, and equal actions have equal bytes.
Called first by the gateway, before any rule. Its invariant: what comes out was checked by type
(an amount is an int and no bool, a UUID is one, a text has its bound), whatever went in (Fault: 24).
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Final

import msgspec

from gridagent.actions import Action
from gridagent.authority import ActionRequest, DenialCode
from gridagent.ids import NIL_UUID, EffectKey
from gridagent.policy.decisions import Denied
from gridagent.policy.verbs import VERBS, Verb

__all__ = ("Canonical", "canonicalise", "effect_key", "request_to_keep")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.Decoder(Action).decode
_decode_request: Final = msgspec.json.Decoder(ActionRequest).decode

_BROKEN: Final = (
    msgspec.MsgspecError,
    AttributeError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Whatever encoding something made by force may raise."""

UNKNOWN_KIND: Final = Denied(code=DenialCode.UNKNOWN_ACTION, rule="kind")
INVALID: Final = Denied(code=DenialCode.INVALID_ARGUMENTS, rule="arguments")
NOT_KEEPABLE: Final = Denied(code=DenialCode.INVALID_ARGUMENTS, rule="request")


class Canonical(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An action in canonical form."""

    action: Action
    """A copy for deciding on and for handing out; whoever sends decodes its own."""
    raw: bytes
    digest: str
    verb: Verb
    target: str | None
    """The argument that must come from somebody with authority, where the action has one."""

    def decode(self) -> Action:
        """Return another copy of the action, made from the bytes."""
        return _decode(self.raw)


def canonicalise(action: object) -> Canonical | Denied:
    """Bring an action into canonical form, or say why it has none.

    Args:
        action: anything; a subclass of an action, a mock or a mutated struct is refused.
    """
    verb = VERBS.get(type(action))
    if verb is None:
        return UNKNOWN_KIND
    try:
        # Encoded again after decoding: `5` and `5.0` are one heading and must be one effect.
        fresh = _decode(_encode(action))
        raw = _encode(fresh)
    except _BROKEN:
        return INVALID
    target: str | None = getattr(fresh, verb.target) if verb.target else None
    if target == NIL_UUID:
        return INVALID
    return Canonical(fresh, raw, sha256(raw).hexdigest(), verb, target)


def request_to_keep(request: ActionRequest, canonical: Canonical) -> ActionRequest | Denied:
    """Return a copy of a request that can be written down and read back, or say that there is none.

    What is kept of a request is read by a later run; one that it could not read would refuse its start.
    """
    travel_m = request.travel_m
    if travel_m is not None and not (math.isfinite(travel_m) and travel_m >= 0.0):
        travel_m = None  # unknown, as it is charged
    try:
        plain = msgspec.structs.replace(request, action=canonical.action, travel_m=travel_m)
        return _decode_request(_encode(plain))
    except _BROKEN:
        return NOT_KEEPABLE


def effect_key(request: ActionRequest, canonical: Canonical) -> EffectKey:
    """Hash what an effect is: the action, on whose behalf, for which cause, as which of its actions (Spec: EFX-2)."""
    who = _encode((request.principal.key, request.cause, request.ordinal))
    return EffectKey(sha256(who + b"\n" + canonical.raw).hexdigest())
