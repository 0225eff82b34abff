"""What was authorised and what became of it: handles, open effects, and the remembered ends.

Owns the effect table and every live handle; decides nothing about policy. Only the gateway calls it.
Its invariants: a handle is honoured at most once and recognised by identity alone; an effect moves only
along `EFFECT`; arguments are read from the bytes kept here and from nowhere else (Spec: POL-1, EFX-2);
an effect that may have cost something is never forgotten while it is in doubt (Spec: BND-16).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum
from typing import Final

import msgspec

from gridagent.actions import Action, Capability, Confirmed, EffectClass, InDoubt, Outcome, Refused, Resource
from gridagent.authority import ActionRequest, Role
from gridagent.ids import CorrelationId, EffectKey, Generation
from gridagent.limits import OPEN_EFFECTS_MAX, SETTLED_EFFECTS_MAX
from gridagent.policy.authorized import AuthorizedAction
from gridagent.policy.canonical import Canonical
from gridagent.policy.decisions import RedeemRefusal
from gridagent.state_table import StateTable

__all__ = ("EFFECT", "END_INPUTS", "EffectInput", "EffectRecord", "EffectState", "Entry", "Ledger")


class EffectState(Enum):
    """How far an effect has come (Spec: EFX-2)."""

    RESERVED = "reserved"
    """Authorised and charged; nothing was sent."""
    SENT = "sent"
    """Redeemed; it may happen."""
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    IN_DOUBT = "in_doubt"
    """It may have happened; only evidence or a person settles it."""


class EffectInput(Enum):
    """What moves an effect."""

    SEND = "send"
    CONFIRM = "confirm"
    REFUSE = "refuse"
    DOUBT = "doubt"


EFFECT: Final = StateTable(
    "effect",
    initial=EffectState.RESERVED,
    transitions={
        (EffectState.RESERVED, EffectInput.SEND): EffectState.SENT,
        # Nothing was sent, so nothing can have happened: never confirmed, never in doubt.
        (EffectState.RESERVED, EffectInput.REFUSE): EffectState.REFUSED,
        (EffectState.SENT, EffectInput.CONFIRM): EffectState.CONFIRMED,
        (EffectState.SENT, EffectInput.REFUSE): EffectState.REFUSED,
        (EffectState.SENT, EffectInput.DOUBT): EffectState.IN_DOUBT,
        # By late evidence, or by hand.
        (EffectState.IN_DOUBT, EffectInput.CONFIRM): EffectState.CONFIRMED,
        (EffectState.IN_DOUBT, EffectInput.REFUSE): EffectState.REFUSED,
    },
    terminal=frozenset({EffectState.CONFIRMED, EffectState.REFUSED}),
)

END_INPUTS: Final[dict[type, EffectInput]] = {
    Confirmed: EffectInput.CONFIRM,
    Refused: EffectInput.REFUSE,
    InDoubt: EffectInput.DOUBT,
}
"""What each outcome moves an effect by."""


class EffectRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a redeemed handle stood for; handed out once."""

    effect: EffectKey
    action: Action
    """Decoded from the ledger's own bytes; nobody else holds a reference to it."""
    capability: Capability
    generation: Generation
    deadline_s: float
    """How long evidence is waited for, in seconds."""
    correlation: CorrelationId
    cause: str


class Entry(msgspec.Struct, kw_only=True, eq=False, gc=False):
    """One effect while it is remembered."""

    effect: EffectKey
    canonical: Canonical
    request: ActionRequest
    generation: Generation
    """As it was asked; the asker's request is not asked again."""
    role: Role
    rule: str
    handle: AuthorizedAction | None
    """None for what was authorised before a restart: its handle died with that process."""
    at: float
    """When it was authorised, by the wall clock."""
    expires_at: float
    """Monotonic seconds."""
    state: EffectState = EFFECT.initial
    intended: bool = False
    """It was said to be about to be redeemed, so whoever keeps changes takes it for sent."""

    @property
    def once(self) -> bool:
        """Whether doing it twice would cost something."""
        return self.canonical.verb.effect is EffectClass.ONCE

    def record(self) -> EffectRecord:
        """Return the record for whoever sends it, with arguments of its own."""
        return EffectRecord(
            effect=self.effect,
            action=self.canonical.decode(),
            capability=self.canonical.verb.capability,
            generation=self.generation,
            deadline_s=self.canonical.verb.deadline_s,
            correlation=self.request.correlation,
            cause=self.request.cause,
        )


class Ledger:
    """All effects of one avatar.

    Bounds: `OPEN_EFFECTS_MAX` reserved or sent; as many that cost something and are in doubt;
    `SETTLED_EFFECTS_MAX` remembered ends, half of them kept for what costs something, so that chatter
    can't push a payment out of memory; `OPEN_EFFECTS_MAX` handles of which it is known how they died.
    """

    __slots__ = ("_dead", "_doubtful", "_ends_light", "_ends_once", "_handles", "_open", "_paying")

    def __init__(self) -> None:
        self._handles: OrderedDict[AuthorizedAction | None, Entry] = OrderedDict()  # never None: nobody's handle
        self._open: dict[EffectKey, Entry] = {}
        self._doubtful: dict[EffectKey, Entry] = {}
        # Nothing but its key is known of what ended before a restart.
        self._ends_once: OrderedDict[EffectKey, Entry | None] = OrderedDict()
        self._ends_light: OrderedDict[EffectKey, Entry | None] = OrderedDict()
        self._dead: OrderedDict[AuthorizedAction | None, RedeemRefusal] = OrderedDict()
        self._paying: EffectKey | None = None

    # --- questions --------------------------------------------------------------------------------

    def knows(self, effect: EffectKey) -> bool:
        """Tell whether this very effect was authorised before, as far as is remembered."""
        return (
            effect in self._open or effect in self._doubtful or effect in self._ends_once or effect in self._ends_light
        )

    def full(self, effect_class: EffectClass) -> bool:
        """Tell whether one more effect of a class has no room."""
        if len(self._open) >= OPEN_EFFECTS_MAX:
            return True
        return effect_class is EffectClass.ONCE and len(self._doubtful) >= OPEN_EFFECTS_MAX

    def occupies(self, resource: Resource) -> bool:
        """Tell whether the payment slot is taken; the body is the session's to know (Spec: EFX-5)."""
        return resource is Resource.PAYMENT and self._paying is not None

    def find(self, effect: EffectKey) -> Entry | None:
        """Return what is remembered of an effect."""
        return (
            self._open.get(effect)
            or self._doubtful.get(effect)
            or self._ends_once.get(effect)
            or self._ends_light.get(effect)
        )

    def unredeemed(self) -> tuple[Entry, ...]:
        """Return every effect whose handle is alive, the first to expire first."""
        return tuple(self._handles.values())

    def next_deadline(self) -> float | None:
        """Return when the next handle expires, in monotonic seconds."""
        first = next(iter(self._handles.values()), None)
        return None if first is None else first.expires_at

    def open_count(self) -> int:
        """Return how many effects are reserved or sent."""
        return len(self._open)

    def in_doubt(self) -> tuple[EffectKey, ...]:
        """Return every effect that may have cost something and is not known to have happened."""
        return tuple(self._doubtful)

    def doubtful(self) -> tuple[Entry, ...]:
        """Return every effect of `in_doubt` with what is known of it."""
        return tuple(self._doubtful.values())

    def unsettled(self) -> tuple[Entry, ...]:
        """Return every effect that is reserved, sent or in doubt and may have cost something."""
        return (*self._doubtful.values(), *self._open.values())

    def ended(self, *, once: bool) -> tuple[EffectKey, ...]:
        """Return the remembered ends of what costs something, or of everything else; the oldest first."""
        return tuple(self._ends_once if once else self._ends_light)

    # --- changes ----------------------------------------------------------------------------------

    def recall(self, entry: Entry) -> None:
        """Take in an effect that was in doubt before a restart; whatever else was open is settled instead."""
        self._doubtful[entry.effect] = entry

    def recall_end(self, effect: EffectKey, *, once: bool) -> None:
        """Remember that an effect ended before a restart."""
        self._keep_end(effect, None, once=once)

    def reserve(self, entry: Entry) -> None:
        """Take an effect in; its handle is alive from now on."""
        self._handles[entry.handle] = entry
        self._open[entry.effect] = entry
        if entry.canonical.verb.resource is Resource.PAYMENT:
            self._paying = entry.effect

    def remember_dry(self, entry: Entry) -> None:
        """Take in an effect that is settled at once and whose handle was never alive."""
        self._bury(entry.handle, RedeemRefusal.DRY_RUN)
        entry.state = EFFECT.step(entry.state, EffectInput.REFUSE)
        self._keep_end(entry.effect, entry, once=entry.once)

    def alive(self, handle: AuthorizedAction) -> Entry | None:
        """Return the effect of a live handle."""
        return self._handles.get(handle)

    def epitaph(self, handle: AuthorizedAction) -> RedeemRefusal:
        """Tell how a handle that isn't alive died."""
        return self._dead.get(handle, RedeemRefusal.UNKNOWN)

    def send(self, entry: Entry) -> None:
        """Use a live handle up: from now on the effect may happen."""
        del self._handles[entry.handle]
        self._bury(entry.handle, RedeemRefusal.REPLAYED)
        entry.state = EFFECT.step(entry.state, EffectInput.SEND)

    def kill(self, entry: Entry, refusal: RedeemRefusal) -> Refused:
        """End an effect whose handle is alive: nothing was sent and nothing will be."""
        del self._handles[entry.handle]
        self._bury(entry.handle, refusal)
        outcome = Refused(reason=refusal.value)
        self._end(entry, EffectInput.REFUSE)
        return outcome

    def strike(self, entries: Iterable[Entry], refusal: RedeemRefusal) -> tuple[tuple[Entry, Refused], ...]:
        """End several at once; whoever records it does so afterwards, so that a failing sink leaves none alive."""
        return tuple((entry, self.kill(entry, refusal)) for entry in entries)

    def settle(self, entry: Entry, outcome: Outcome) -> bool:
        """Move an effect to its end, or into doubt.

        Returns:
            False when the table does not allow it; then nothing changed.
        """
        given = END_INPUTS[type(outcome)]
        if not EFFECT.allows(entry.state, given):
            return False
        if self._handles.pop(entry.handle, None) is not None:
            self._bury(entry.handle, RedeemRefusal.SETTLED)
        self._end(entry, given)
        return True

    def _end(self, entry: Entry, given: EffectInput) -> None:
        entry.state = EFFECT.step(entry.state, given)
        if self._paying == entry.effect:
            self._paying = None  # in doubt is no longer in flight; its budget stays spent
        self._open.pop(entry.effect, None)
        self._doubtful.pop(entry.effect, None)
        if entry.state is EffectState.IN_DOUBT and entry.once:
            self._doubtful[entry.effect] = entry
        else:
            self._keep_end(entry.effect, entry, once=entry.once)

    def _keep_end(self, effect: EffectKey, entry: Entry | None, *, once: bool) -> None:
        ends = self._ends_once if once else self._ends_light
        ends[effect] = entry
        if len(ends) > SETTLED_EFFECTS_MAX // 2:
            ends.popitem(last=False)

    def _bury(self, handle: AuthorizedAction | None, refusal: RedeemRefusal) -> None:
        self._dead[handle] = refusal
        if len(self._dead) > OPEN_EFFECTS_MAX:
            self._dead.popitem(last=False)
