"""Asking authorised avatars for a yes over IM, and hearing their answers (Spec: POL-7).

Owns who is asked, how often, and what becomes of an answer; decides nothing: both the question and the reply go
through the gateway like anything else, at the operator's door, as the client ``approvals``, and are written by the
session itself, so that no question needs an approval of its own. Called by the core. Pure.

Invariants: a nonce is in no request, ledger, observation or log: what is decided and kept has `MASK` in its place,
which `reveal` fills in when the IM is redeemed, for its receiver alone. An IM that is an answer in form reaches neither
mind nor observers, and a nonce that somebody quotes is masked for both. At most `IMS_MAX` of these IMs go out in
`IMS_WINDOW_S`, and each approval is asked about once: later, if no IM could go out when it opened.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from gridagent.actions import Outcome, Refused, SendIm
from gridagent.authority import ActionRequest, DenialCode, Origin, Principal, Provenance, Role
from gridagent.config.policy import Approvers
from gridagent.events import ChatHeard, GridEvent, ImReceived, SpeakerKind
from gridagent.ids import ApprovalId, AvatarId, CorrelationId, EffectKey
from gridagent.observations import ApprovalClosed, Diagnostic
from gridagent.policy import Authorized, Denied, NeedsApproval
from gridagent.policy.approval_im import ImAnswer, approval_text, mask_nonces, parse_answer
from gridagent.policy.ledger import EffectRecord

if TYPE_CHECKING:
    from gridagent.session.core import SessionCore

__all__ = ("MASK", "ApproverTalk", "answer_of")

MASK: Final = "****-****-****"
"""Stands for the nonce wherever anybody but its receiver can look."""
APPROVERS_ASKED_MAX: Final = 4
IMS_MAX: Final = 24
IMS_WINDOW_S: Final = 600.0
ASK_AGAIN_S: Final = 60.0
"""How often what nobody could be asked about is tried, besides whenever IM begins to work again."""
_ASKED_MAX: Final = 256
_UNTOLD_MAX: Final = 64
_PASSING: Final = frozenset(
    {
        DenialCode.HELD,
        DenialCode.NOT_READY,
        DenialCode.STALE_GENERATION,
        DenialCode.LEDGER_FULL,
        DenialCode.BUDGET_SPENT,
    }
)
"""Why an IM may not go out now and may later."""
_CLIENT: Final = Principal(client="approvals")
_HIDDEN: Final = "(an answer to an approval)"


def answer_of(event: object) -> ImAnswer | None:
    """Return the answer that an event is, if it is one: an IM of an avatar, from its first letter to its last."""
    if isinstance(event, ImReceived) and event.source.kind is SpeakerKind.AVATAR:
        return parse_answer(event.text)
    return None


def without_nonce(event: ImReceived) -> ImReceived:
    """Return an answer as observers may see it."""
    return msgspec.structs.replace(event, text=_HIDDEN)


class _Question(msgspec.Struct, kw_only=True, eq=False):
    """One approval that approvers are asked about."""

    waits: NeedsApproval
    request: ActionRequest
    attempt: int = 0
    told: bool = False
    """Some IM of it went out, as far as is known."""
    underway: int = 0
    """IMs of it that have not ended."""


class _Never(msgspec.Struct, frozen=True):
    """An IM did not go out, and another try would not either."""


class _NotNow(msgspec.Struct, frozen=True):
    """An IM did not go out, for a reason that goes away."""


_NEVER: Final = _Never()
_NOT_NOW: Final = _NotNow()


class ApproverTalk:
    """What one session says to its approvers.

    Args:
        core: whose gateway decides, and which performs.
    """

    __slots__ = ("_asked", "_core", "_sent", "_underway", "_untold", "due")

    def __init__(self, core: SessionCore) -> None:
        self._core = core
        self._asked: deque[ApprovalId] = deque(maxlen=_ASKED_MAX)
        self._sent: deque[float] = deque(maxlen=IMS_MAX)
        self._underway: dict[EffectKey, _Question] = {}  # bounded by the gateway's open effects
        self._untold: dict[ApprovalId, _Question] = {}  # at most _UNTOLD_MAX
        self.due: float | None = None
        """When `ask_again` wants to be called, in monotonic seconds."""

    # --- asking -----------------------------------------------------------------------------------

    def ask(self, waits: NeedsApproval, request: ActionRequest) -> None:
        """Ask the configured approvers about an approval that waits; once, however often it is met."""
        if waits.approval_id in self._asked:
            return
        self._asked.append(waits.approval_id)
        self._put(_Question(waits=waits, request=request))

    def ask_again(self) -> None:
        """Ask about what nobody could be asked about when it opened; while IM doesn't work, it goes on waiting."""
        core = self._core
        if self.due is None or core.gateway.held or not core.link.ever_ready or not core.link.connected:
            return
        self.due = None
        again, self._untold = self._untold, {}
        for question in again.values():
            question.attempt += 1
            self._put(question)

    def on_timer(self) -> None:
        """Ask again what is due, and forget what is over."""
        now = self._core.now.monotonic
        if self.due is None or now < self.due:
            return
        self._untold = {key: each for key, each in self._untold.items() if each.waits.expires_at > now}
        self.due = now + ASK_AGAIN_S if self._untold else None
        self.ask_again()

    def _put(self, question: _Question) -> None:
        waits = question.waits
        left = waits.expires_at - self._core.now.monotonic
        if left <= 0 or self._core.gateway.nonce_of(waits.approval_id) is None:
            return
        text = approval_text(
            summary=waits.summary, principal=question.request.principal.key, nonce=MASK, expires_in_s=left
        )
        later = False
        for place, to in enumerate(self._approvers(question.request)):
            ordinal = place + question.attempt * APPROVERS_ASKED_MAX
            effect = self._send(to, text, cause=f"approval-{waits.approval_id}", ordinal=ordinal)
            if isinstance(effect, _Never | _NotNow):
                later = later or effect is _NOT_NOW
            else:
                self._underway[effect] = question
                question.underway += 1
        if later and not question.underway:
            self._keep(question)

    def _keep(self, question: _Question) -> None:
        if len(self._untold) < _UNTOLD_MAX:
            self._untold[question.waits.approval_id] = question
            self.due = self._core.now.monotonic + ASK_AGAIN_S

    def reveal(self, record: EffectRecord) -> EffectRecord:
        """Return a redeemed record as it is sent: of a question, with the nonce in place of its mask."""
        question, action = self._underway.get(record.effect), record.action
        nonce = None if question is None else self._core.gateway.nonce_of(question.waits.approval_id)
        if nonce is None or not isinstance(action, SendIm):
            return record
        # The first two are the instructions; what follows are somebody's words, which get none.
        sent = msgspec.structs.replace(action, text=action.text.replace(MASK, nonce, 2))
        return msgspec.structs.replace(record, action=sent)

    def ended(self, effect: EffectKey, outcome: Outcome) -> None:
        """Take note that an effect is over; a question of which no IM went out is asked again."""
        question = self._underway.pop(effect, None)
        if question is None:
            return
        question.underway -= 1
        question.told = question.told or not isinstance(outcome, Refused)
        if not question.underway and not question.told:
            self._keep(question)

    def masked(self, event: GridEvent) -> GridEvent:
        """Return an event as observers and the mind may have it: a waiting nonce that it quotes is for neither."""
        if not isinstance(event, ImReceived | ChatHeard):
            return event
        text = mask_nonces(event.text, is_nonce=self._core.gateway.is_nonce, mask=MASK)
        return event if text == event.text else msgspec.structs.replace(event, text=text)

    def _approvers(self, request: ActionRequest) -> list[AvatarId]:
        policy = self._core.gateway.policy
        members = policy.roles.members()
        owners = sorted(each for each, role in members.items() if role is Role.OWNER)
        trusted: list[AvatarId] = []
        if policy.approvers is Approvers.TRUSTED:
            others = (each for each, role in members.items() if role is Role.TRUSTED)
            trusted = sorted(each for each in others if each != request.principal.avatar_id)
        return [*owners, *trusted][:APPROVERS_ASKED_MAX]

    # --- answers ----------------------------------------------------------------------------------

    def answer(self, event: ImReceived, given: ImAnswer) -> None:
        """Put an answer to the gateway, and say what became of it."""
        core = self._core
        who = Principal(avatar_id=AvatarId(event.source.id))
        answer = core.gateway.answer_im(given, by=who, now=core.now, busy=core.busy())
        code = answer.code.value
        if answer.accepted:
            core.publish(ApprovalClosed(approval_id=answer.approval_id, how=code[:64]))
            if given.allow and answer.decision is not None and answer.request is not None:
                core.dispose(answer.decision, answer.request, None)
        else:
            core.publish(Diagnostic(code="approval_answer", fields=(("said", code), ("by", f"{who.avatar_id}"))))
        if core.gateway.policy.roles.avatar(AvatarId(event.source.id)) is not Role.STRANGER:
            # Strangers get no reply: it would tell them that they were close.
            did = "counted" if answer.accepted else "did nothing"
            words = f"Your answer {did}: {code.replace('_', ' ')}."
            self._send(
                AvatarId(event.source.id), words, cause=f"{core.generation}.answer-{event.utterance_id}", ordinal=0
            )

    def _send(self, to: AvatarId, text: str, *, cause: str, ordinal: int) -> EffectKey | _Never | _NotNow:
        """Have an IM decided on and sent; returns its effect if it is under way."""
        core = self._core
        now = core.now.monotonic
        if len(self._sent) == IMS_MAX and now - self._sent[0] < IMS_WINDOW_S:
            core.publish(Diagnostic(code="approver_not_told", fields=(("to", f"{to}"), ("why", "too_many"))))
            return _NOT_NOW
        request = ActionRequest(
            action=SendIm(to=to, text=text),
            principal=_CLIENT,
            origin=Origin.OPERATOR_CONSOLE,
            generation=core.generation,
            correlation=CorrelationId(cause[:64]),
            cause=cause[:64],
            ordinal=ordinal,
            target_provenance=Provenance.CONFIGURATION,
            verbatim=True,
        )
        decision = core.gateway.decide(request, core.now)
        core.dispose(decision, request, None)
        if isinstance(decision, Authorized) and not decision.dry_run:
            self._sent.append(now)
            return decision.effect
        passing = isinstance(decision, Denied) and decision.code in _PASSING
        return _NOT_NOW if passing else _NEVER
