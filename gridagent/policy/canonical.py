"""From whatever an asker holds to the one canonical form that is decided on, kept and sent.

Owns the strict round trip: the action is encoded, decoded against the catalogue and encoded again, so
that the ledger keeps a fresh copy nobody else has a reference to, and equal actions have equal bytes.
Called first by the gateway, before any rule. Its invariant: what comes out was checked by type
(an amount is an int and no bool, a UUID is one, a text has its bound), whatever went in (Fault: 24).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import msgspec

from gridagent.actions import Action
from gridagent.authority import ActionRequest, DenialCode
from gridagent.ids import NIL_UUID, EffectKey
from gridagent.policy.decisions import Denied
from gridagent.policy.verbs import VERBS, Verb

__all__ = ("Canonical", "canonicalise", "effect_key")

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_decode: Final = msgspec.json.Decoder(Action).decode

UNKNOWN_KIND: Final = Denied(code=DenialCode.UNKNOWN_ACTION, rule="kind")
INVALID: Final = Denied(code=DenialCode.INVALID_ARGUMENTS, rule="arguments")


class Canonical:
    """An action in canonical form."""

    __slots__ = ("action", "digest", "raw", "target", "verb")

    def __init__(self, action: Action, raw: bytes, verb: Verb) -> None:
        self.action = action
        self.raw = raw
        self.digest = sha256(raw).hexdigest()
        self.verb = verb
        self.target: str | None = getattr(action, verb.target) if verb.target else None

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
        canonical = Canonical(fresh, _encode(fresh), verb)
    except (msgspec.MsgspecError, AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        return INVALID
    return INVALID if canonical.target == NIL_UUID else canonical


def effect_key(request: ActionRequest, canonical: Canonical) -> EffectKey:
    """Hash what an effect is: the action, on whose behalf, for which cause, as which of its actions (Spec: EFX-2)."""
    who = _encode((request.principal.key, request.cause, request.ordinal))
    return EffectKey(sha256(who + b"\n" + canonical.raw).hexdigest())
