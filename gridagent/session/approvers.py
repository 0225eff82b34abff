"""Asking authorised avatars for a yes over IM, and hearing their answers (Spec: POL-7).

Owns who is asked, how often, and what becomes of an answer; decides nothing: both the question and the reply go
through the gateway like anything else, at the operator's door, as the client ``approvals``, and are written by the
session itself, so that no question needs an approval of its own. Called by the core. Pure.

Invariants: a nonce is in no request, ledger, observation or log: what is decided and kept has `MASK` in its place,
which `reveal` fills in when the IM is redeemed, for its receiver alone. An IM that is an answer in form reaches neither
mind nor observers. At most `IMS_MAX` of these IMs go out in `IMS_WINDOW_S`, and each approval is asked about once.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import msgspec

from gridagent.actions import SendIm
from gridagent.authority import ActionRequest, Origin, Principal, Provenance, Role
from gridagent.config.policy import Approvers
from gridagent.events import ImReceived, SpeakerKind
from gridagent.ids import ApprovalId, AvatarId, CorrelationId, EffectKey
from gridagent.observations import ApprovalClosed, Diagnostic
from gridagent.policy import Authorized, NeedsApproval
from gridagent.policy.approval_im import ImAnswer, approval_text, parse_answer
from gridagent.policy.ledger import EffectRecord

if TYPE_CHECKING:
    from gridagent.session.core import SessionCore

__all__ = ("MASK", "ApproverTalk", "answer_of")

MASK: Final = "****-****-****"
"""Stands for the nonce wherever anybody but its receiver can look."""
APPROVERS_ASKED_MAX: Final = 4
IMS_MAX: Final = 24
IMS_WINDOW_S: Final = 600.0
_ASKED_MAX: Final = 256
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


class ApproverTalk:
    """What one session says to its approvers.

    Args:
        core: whose gateway decides, and which performs.
    """

    __slots__ = ("_asked", "_core", "_sent", "_underway")

    def __init__(self, core: SessionCore) -> None:
        self._core = core
        self._asked: deque[ApprovalId] = deque(maxlen=_ASKED_MAX)
        self._sent: deque[float] = deque(maxlen=IMS_MAX)
        self._underway: dict[EffectKey, ApprovalId] = {}  # bounded by the gateway's open effects

    # --- asking -----------------------------------------------------------------------------------

    def ask(self, waits: NeedsApproval, request: ActionRequest) -> None:
        """Ask the configured approvers about an approval that waits; once, however often it is met."""
        if waits.approval_id in self._asked or self._core.gateway.nonce_of(waits.approval_id) is None:
            return
        self._asked.append(waits.approval_id)
        text = approval_text(
            summary=waits.summary,
            principal=request.principal.key,
            nonce=MASK,
            expires_in_s=waits.expires_at - self._core.now.monotonic,
        )
        for place, to in enumerate(self._approvers(request)):
            effect = self._send(to, text, cause=f"approval-{waits.approval_id}", ordinal=place)
            if effect is not None:
                self._underway[effect] = waits.approval_id

    def reveal(self, record: EffectRecord) -> EffectRecord:
        """Return a redeemed record as it is sent: of a question, with the nonce in place of its mask."""
        approval_id, action = self._underway.get(record.effect), record.action
        nonce = None if approval_id is None else self._core.gateway.nonce_of(approval_id)
        if nonce is None or not isinstance(action, SendIm):
            return record
        # The first two are the instructions; what follows are somebody's words, which get none.
        sent = msgspec.structs.replace(action, text=action.text.replace(MASK, nonce, 2))
        return msgspec.structs.replace(record, action=sent)

    def ended(self, effect: EffectKey) -> None:
        """Take note that an effect is over."""
        self._underway.pop(effect, None)

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

    def _send(self, to: AvatarId, text: str, *, cause: str, ordinal: int) -> EffectKey | None:
        """Have an IM decided on and sent; returns its effect if it is under way."""
        core = self._core
        now = core.now.monotonic
        if len(self._sent) == IMS_MAX and now - self._sent[0] < IMS_WINDOW_S:
            core.publish(Diagnostic(code="approver_not_told", fields=(("to", f"{to}"), ("why", "too_many"))))
            return None
        self._sent.append(now)
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
        return decision.effect if isinstance(decision, Authorized) and not decision.dry_run else None
