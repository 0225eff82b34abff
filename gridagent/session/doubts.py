"""Finding out what became of effects in doubt: by evidence that comes late, and by looking after coming back.

Owns the cases of one session, when they are looked at, and what is said of them; what counts as proof is
`gridagent.grid.reconciliation`, and settling is the gateway's. Called by the core. Pure.

Invariants (Spec: EFX-2, EFX-3): nothing is ever sent or refunded; only what is in doubt is settled, once, with who and
by what proof in the audit; what is not found out stays in doubt, and a person is told why and where to look. What costs
nothing is followed on its own connection only: it leaves no trace behind it.

Bounds: one case an effect that is open or in doubt; `LIGHT_MAX` in doubt that cost nothing; `DEEDS_MAX` deeds that
are remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Final

import attrs

from gridagent import actions as asked
from gridagent.actions import Action, EffectClass, InDoubt, Outcome, Resource, SettledBy, action_name
from gridagent.events import ChatHeard, GridEvent, SpeakerKind
from gridagent.grid.base import REFERENCE_CHARS, Traces
from gridagent.grid.reconciliation import Finding, Look, Seen, advice, hear, look_up, nonce_of
from gridagent.ids import AvatarId, EffectKey, ObjectId
from gridagent.limits import Label
from gridagent.observations import Diagnostic, DoubtSettled
from gridagent.policy.summary import summarise_for_approval

if TYPE_CHECKING:
    from gridagent.session.core import SessionCore

__all__ = ("DEEDS_MAX", "LIGHT_MAX", "Doubts")

LIGHT_MAX: Final = 256
DEEDS_MAX: Final = 512
_NOTHING: Final[frozenset[ObjectId]] = frozenset()


@attrs.define(eq=False, kw_only=True)
class _Case:
    """One effect that is under way or in doubt."""

    effect: EffectKey
    action: Action
    generation: int
    sent_at: float
    """Not before, by the wall clock."""
    alone: bool
    """On its own connection, and nothing else was done there that leads to the same."""
    in_doubt: bool = False
    told: bool = False

    @property
    def reference(self) -> Label:
        return self.effect[:REFERENCE_CHARS]

    @property
    def once(self) -> bool:
        return self.action.spec.effect is EffectClass.ONCE


class Doubts:
    """The effects in doubt of one session.

    Args:
        core: whose gateway settles, and which publishes.
        settle_s: seconds on a later connection after which nothing of an earlier one is on its way any more.
    """

    __slots__ = ("_alone", "_by_reference", "_cases", "_core", "_deeds", "_settle_s", "due")

    def __init__(self, core: SessionCore, settle_s: float) -> None:
        self._core = core
        self._settle_s = settle_s
        self._cases: dict[EffectKey, _Case] = {}
        self._by_reference: dict[Label, _Case] = {}
        """In doubt."""
        self._alone: dict[EffectKey, _Case] = {}
        """In doubt, and to be proved without a nonce."""
        self._deeds: OrderedDict[Hashable, None] = OrderedDict()
        """What was done on this connection: an event may be told twice, or late."""
        self.due: float | None = None
        """When `on_timer` wants to be called, in monotonic seconds."""

    # --- what the core tells ------------------------------------------------------------------------

    def began(self, effect: EffectKey, action: Action) -> None:
        """Take note of an effect that is about to be sent."""
        alone = True
        leads_to = _leads_to(action)
        if leads_to is not None:
            for case in self._cases.values():
                if _leads_to(case.action) == leads_to:
                    alone = case.alone = False
                    self._alone.pop(case.effect, None)
            deed = action if leads_to == _BODY else leads_to
            alone = alone and deed not in self._deeds
            self._deeds[deed] = None
            if len(self._deeds) > DEEDS_MAX:
                self._deeds.popitem(last=False)
        core = self._core
        self._cases[effect] = _Case(
            effect=effect, action=action, generation=core.generation, sent_at=core.now.wall, alone=alone
        )

    def ended(self, effect: EffectKey, outcome: Outcome) -> None:
        """Take note of how an effect ended; one that is in doubt is looked for at once."""
        case = self._cases.get(effect)
        if case is None:
            return
        if not isinstance(outcome, InDoubt):
            self._drop(case)
            return
        self._open(case)
        self._look(case, settled=False)

    def connected(self) -> None:
        """Look for everything in doubt: the avatar is in the world again."""
        now = self._core.generation
        for doubt in self._core.gateway.doubts():
            if doubt.effect not in self._cases:
                case = _Case(
                    effect=doubt.effect,
                    action=doubt.action,
                    generation=doubt.generation,
                    sent_at=doubt.at,
                    alone=False,
                )
                self._cases[doubt.effect] = case
                self._open(case)
        for case in self._doubtful():
            self._look(case, settled=False)
        if any(case.generation < now for case in self._doubtful()):
            self.due = self._core.now.monotonic + self._settle_s

    def disconnected(self) -> None:
        """Give up what leaves no trace; the rest is looked for on the next connection."""
        self.due = None
        self._deeds.clear()
        self._alone.clear()
        for case in tuple(self._cases.values()):
            case.alone = False
            if not (case.once and case.in_doubt):
                self._drop(case)

    def on_timer(self) -> None:
        """Look once more, now that nothing is on its way; tell of what stays in doubt, once."""
        if self.due is None or self._core.now.monotonic < self.due:
            return
        self.due = None
        for case in self._doubtful():
            if case.generation < self._core.generation and not self._look(case, settled=True) and not case.told:
                case.told = True
                self._tell(case)

    def hear(self, event: GridEvent) -> None:
        """Judge one event of the live connection."""
        if not self._by_reference:
            return
        nonce = nonce_of(event)
        if nonce:
            case = self._by_reference.get(nonce)
            if case is not None:
                self._judge(case, event)
        elif self._alone and not (isinstance(event, ChatHeard) and event.source.kind is not SpeakerKind.SELF):
            for case in tuple(self._alone.values()):
                if self._judge(case, event):
                    break  # one piece of evidence settles one effect

    # --- cases ------------------------------------------------------------------------------------

    def _doubtful(self) -> tuple[_Case, ...]:
        return tuple(self._by_reference.values())

    def _open(self, case: _Case) -> None:
        case.in_doubt = True
        if not case.once:
            light = [each for each in self._by_reference.values() if not each.once]
            if len(light) >= LIGHT_MAX:
                self._drop(light[0])
        self._by_reference[case.reference] = case
        if case.alone:
            self._alone[case.effect] = case

    def _drop(self, case: _Case) -> None:
        self._cases.pop(case.effect, None)
        self._by_reference.pop(case.reference, None)
        self._alone.pop(case.effect, None)

    def _judge(self, case: _Case, event: GridEvent) -> bool:
        finding = hear(case.action, case.reference, event, me=self._me(), alone=case.alone)
        return finding is not None and self._settle(case, finding)

    def _look(self, case: _Case, *, settled: bool) -> bool:
        """Look for one effect; True when it is in doubt no longer."""
        look, backend = advice(case.action).look, self._core.where.backend
        if look is Look.NOTHING or backend is None:
            return False
        there = look is Look.THERE
        seen = Seen(
            traces=Traces() if there else backend.traces(case.reference),
            things=frozenset(each.object_id for each in backend.objects()) if there else _NOTHING,
            sent_at=case.sent_at,
            settled=settled,
        )
        finding = look_up(case.action, case.reference, seen, me=self._me())
        return finding is not None and self._settle(case, finding)

    def _settle(self, case: _Case, finding: Finding) -> bool:
        core, outcome = self._core, finding.outcome
        self._drop(case)
        by, proof = SettledBy.RECONCILIATION, finding.proof.value
        if core.gateway.settle_doubt(case.effect, outcome, core.now, by=by, proof=proof):
            name = action_name(case.action)
            core.publish(DoubtSettled(action=name, effect=case.effect, outcome=outcome, by=by, proof=proof))
        return True

    def _tell(self, case: _Case) -> None:
        rule = advice(case.action)
        self._core.publish(
            Diagnostic(
                code="effect_stays_in_doubt",
                fields=(
                    ("effect", case.effect),
                    ("action", summarise_for_approval(case.action)),
                    ("why", rule.why),
                    ("look_at", rule.look_at),
                ),
            )
        )

    def _me(self) -> AvatarId:
        return self._core.where.self_id or AvatarId("")


_BODY: Final = "body"


def _leads_to(action: Action) -> Hashable | None:
    """Name what an action brings about, where another one can bring about the same; None where none can."""
    match action:
        case asked.Say():
            return "words", action.text
        case asked.Emote():
            return "words", f"/me {action.text}"
        case asked.PlayAnimation() | asked.StopAnimation():
            return "animation", action.animation_id
        case asked.AnswerDialog() | asked.AnswerPermission() | asked.AnswerFriendship() | asked.AnswerInventoryOffer():
            return "offer", action.offer_id
        case _:
            return _BODY if action.spec.resource is Resource.BODY else None
