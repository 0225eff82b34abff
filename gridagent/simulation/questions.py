"""Approvals as the oracle sees them: what waits, who may say yes, who did, and that no nonce leaks (Spec: POL-7).

Owns the account of every request that was parked, of the questions that the session sends over IM, and of the
nonces in them, which it learns from the world's own record of what was sent. Shares no code with the desk
it judges. Used by `gridagent.simulation.account`.

Invariant: a yes counts here only when it came in time, from somebody who may give it, with the right nonce.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from gridagent.actions import Action, SendIm
from gridagent.events import ImReceived
from gridagent.simulation.rulebook import Rulebook
from gridagent.simulation.views import AuditView

__all__ = ("ASKING", "Questions")

ASKING: Final = "client:approvals"
"""In whose name the session itself asks people for a yes, over IM."""
NONCES_KEPT: Final = 256
OVER_KEPT: Final = 4_096
_WAITING: Final = ("pending", "allowed")
_MESSAGES_KEPT: Final = 512
_ABOUT: Final = "approval-"
_NONCE: Final = r"[0-9A-Z]{4}(?:-[0-9A-Z]{4}){2}"
_LINE: Final = re.compile(rf"^(allow|deny) ({_NONCE})$", re.MULTILINE)
_ANSWER: Final = re.compile(rf"\s*(allow|deny)\s+({_NONCE})\s*", re.IGNORECASE)
_MASK: Final = "****-****-****"


class Parked(msgspec.Struct, kw_only=True):
    """One approval that was asked for."""

    effect: str
    digest: str
    who: str
    book: Rulebook
    until: float
    allowed_at: float | None = None
    used: bool = False
    survived: bool = False
    """It waited through an end of the service."""


class Questions:
    """Everything one avatar has to ask people for.

    Args:
        breach: takes a rule that was broken, and how.
        now: simulated seconds.
    """

    __slots__ = ("_breach", "_messages", "_nonces", "_now", "_over", "_parked", "used_later")

    def __init__(self, breach: Callable[[str, str], None], now: Callable[[], float]) -> None:
        self._breach = breach
        self._now = now
        self.used_later = 0
        """Yeses that were used in a later life than the one that asked."""
        self._parked: dict[str, Parked] = {}  # one an approval of this life
        self._over: dict[str, None] = {}  # approvals that ended in an earlier life, at most OVER_KEPT
        self._messages: deque[str] = deque(maxlen=_MESSAGES_KEPT)
        self._nonces: dict[str, str] = {}  # the approval of each, at most NONCES_KEPT

    def park(self, row: AuditView, book: Rulebook) -> None:
        """Take note of a request that waits for a person."""
        assert row.approval_id is not None  # noqa: S101 - a row without one is a broken promise and fails the run
        until = self._now() + book.policy.approval_ttl_s
        parked = Parked(effect=row.effect or "", digest=row.digest, who=row.who, book=book, until=until)
        self._parked.setdefault(row.approval_id, parked)

    def allow(self, approval_id: str) -> None:
        """Take note that somebody who may do so says yes."""
        parked = self._parked.get(approval_id)
        if parked is not None and parked.allowed_at is None:
            parked.allowed_at = self._now()

    def use_up(self, row: AuditView) -> None:
        """Judge an authorisation that rests on a yes."""
        parked = self._parked.get(row.approval_id or "")
        if row.approval_id in self._over:
            self._breach("an approval is used once", f"{row.action} {row.approval_id}, which was over")
        elif parked is None or (parked.effect, parked.digest) != (row.effect, row.digest):
            self._breach("an approval is for the very action asked", f"{row.action} {row.approval_id}")
        elif parked.allowed_at is None or parked.allowed_at >= parked.until or self._now() >= parked.until:
            self._breach("an approval was given in time", f"{row.action} {row.approval_id}")
        elif parked.used:
            self._breach("an approval is used once", f"{row.action} {row.approval_id}")
        else:
            parked.used = True
            self.used_later += parked.survived

    # --- over an end of the service ------------------------------------------------------------------

    def confront(self, found: Mapping[str, str], effects: AbstractSet[str], *, crashed: bool) -> None:
        """Judge what the disk still knows of approvals, and go on from that.

        Args:
            found: state of each.
            effects: keys of those that are known.
            crashed: whether the service was cut off; an orderly end loses nothing.
        """
        for approval_id, parked in tuple(self._parked.items()):
            state = found.get(approval_id)
            if state is None and not crashed:
                self._breach("an orderly end loses nothing", f"approval {approval_id}")
            if state not in {None, "claimed"} and parked.used and parked.effect in effects:
                self._breach("a yes that was used is used up", f"approval {approval_id} is {state}")
            if state == "allowed" and parked.allowed_at is None:
                self._breach("an approval was given in time", f"approval {approval_id} is {state}")
            if state not in _WAITING:
                self._over[approval_id] = None
                del self._parked[approval_id]
                continue
            parked.used, parked.survived = False, True
            if state == "pending":
                parked.allowed_at = None  # a yes that was lost is no yes
        while len(self._over) > OVER_KEPT:
            del self._over[next(iter(self._over))]

    # --- over IM ------------------------------------------------------------------------------------

    def caused(self, row: AuditView) -> bool:
        """Tell whether the session had cause to write to somebody: an approval that waits, or an answer to one."""
        if row.who != ASKING or row.origin != "operator_console" or row.action != "send_im":
            return False
        return row.cause.removeprefix(_ABOUT) in self._parked or any(
            row.cause.endswith(f".answer-{utterance}") for utterance in self._messages
        )

    def as_decided(self, row: AuditView, action: Action) -> Action:
        """Return a question as it was decided on, with a mask for the nonce that only its receiver may see."""
        if row.who != ASKING or not isinstance(action, SendIm) or not row.cause.startswith(_ABOUT):
            return action
        approval_id = row.cause.removeprefix(_ABOUT)
        parked = self._parked.get(approval_id)
        if parked is None or not parked.book.may_answer(action.to, parked.who):
            self._breach("only who may answer is asked", f"{row.cause} to {action.to}")
        found = _LINE.search(action.text)
        if found is not None:
            self._nonces[found[2]] = approval_id
            if len(self._nonces) > NONCES_KEPT:
                del self._nonces[next(iter(self._nonces))]
        return msgspec.structs.replace(action, text=_LINE.sub(rf"\1 {_MASK}", action.text, count=2))

    def on_message(self, event: ImReceived) -> None:
        """Take note of an IM, and of a yes in it from somebody who may give it."""
        self._messages.append(event.utterance_id)
        answer = _ANSWER.fullmatch(event.text)
        if answer is None or answer[1].lower() != "allow":
            return
        approval_id = self._nonces.get(answer[2], "")
        parked = self._parked.get(approval_id)
        if parked is not None and parked.book.may_answer(event.source.id, parked.who):
            self.allow(approval_id)

    @property
    def keep_secrets(self) -> bool:
        """Whether there is a nonce that nobody but its receiver may see."""
        return bool(self._nonces)

    def on_text(self, text: bytes, where: str) -> None:
        """Judge what somebody may read: no nonce of an approval is in it."""
        for nonce in self._nonces:
            if nonce.encode() in text:
                self._breach("a nonce is for its receiver alone", where)
