"""What becomes of what was authorised: the live connection, the kill switch, redemption and settlement.

Owns the handles' way from the mint to their end; mints none and decides nothing. `gridagent.policy.gateway`
builds on it and is the only one that does; sessions and backends know the gateway alone. Synchronous
throughout, so nothing can come between a check and what it allows.

Its invariant: a handle is honoured at most once, for the connection it was made for, in its time, and never
while held. Whatever ends handles ends all of them before anything is recorded, so a sink that fails leaves
none alive (Spec: POL-1, POL-12, SUP-5, EFX-4).
"""

from __future__ import annotations

from typing import NoReturn

from gridagent.actions import Action, Confirmed, InDoubt, Outcome, Refused, SettledBy
from gridagent.errors import AuthorityRefused, InternalError
from gridagent.ids import EffectKey, Generation
from gridagent.policy.audit import AuditKind
from gridagent.policy.authorized import AuthorizedAction
from gridagent.policy.changes import GenerationOpened, HoldChanged
from gridagent.policy.decisions import Doubt, Ended, Instant, RedeemRefusal
from gridagent.policy.journal import Journal
from gridagent.policy.ledger import EffectRecord, EffectState, Entry, Ledger

__all__ = ("Custody",)


class Custody:
    """The effects of one avatar, from their authorisation on.

    Args:
        journal: takes a row and a change for every step.
        intents: honour a handle of what costs something only after `intend` was called for it.
    """

    __slots__ = ("_generation", "_held", "_intents", "_journal", "_last_generation", "_ledger", "_safe_mode")

    def __init__(self, journal: Journal, *, intents: bool) -> None:
        self._journal = journal
        self._intents = intents
        self._ledger = Ledger()
        self._generation: Generation | None = None
        self._last_generation = Generation(0)
        self._held = False
        self._safe_mode = False

    # --- generations ------------------------------------------------------------------------------

    def open_generation(self, generation: Generation) -> None:
        """Let actions of this connection through from now on (Spec: SUP-5).

        Raises:
            InternalError: another one is live, or this one isn't newer than the last.
        """
        if self._generation is not None or generation <= self._last_generation:
            raise InternalError(
                f"generation {generation} opened after {self._last_generation}, with {self._generation} live"
            )
        self._journal.keep(GenerationOpened(generation=generation))
        self._generation = self._last_generation = generation

    def close_generation(self, generation: Generation, now: Instant) -> tuple[Ended, ...]:
        """Let nothing through any more; unredeemed authorisations die. Waiting approvals stay.

        Returns:
            What was settled by it. Closing a generation that isn't live changes nothing.
        """
        if self._generation != generation:
            return ()
        self._generation = None
        return self._journal.deaths(self._ledger.strike(self._ledger.unredeemed(), RedeemRefusal.STALE_GENERATION), now)

    # --- redeem and settle ------------------------------------------------------------------------

    def intend(self, handle: AuthorizedAction, *, generation: Generation, now: Instant) -> None:
        """Say that a handle is about to be redeemed, so that this can be made durable first (Spec: EFX-2).

        From here on whoever keeps changes takes the effect for sent: cut off between here and `redeem`, it is
        in doubt. The handle stays alive. If it isn't redeemed after all, its effect is settled as refused.

        Raises:
            AuthorityRefused: as for `redeem`.
        """
        entry = self._live(handle, generation, now)
        self._journal.sent(entry, now)
        entry.intended = True

    def redeem(self, handle: AuthorizedAction, *, generation: Generation, now: Instant) -> EffectRecord:
        """Use a handle up and return what it stands for; the caller encodes and sends without an await.

        Args:
            handle: recognised by identity; anything but the very object that was minted is refused.
            generation: the connection of the backend that asks.
            now: both clocks.

        Raises:
            AuthorityRefused: with a `RedeemRefusal`. A live handle that is refused dies of it, and its
                effect is settled as refused: nothing was sent.
        """
        entry = self._live(handle, generation, now)
        if self._intents and entry.once and not entry.intended:
            self._refuse(RedeemRefusal.NOT_INTENDED, generation, now, entry)
        record = entry.record()
        self._journal.sent(entry, now)
        self._ledger.send(entry)
        return record

    def _live(self, handle: AuthorizedAction, generation: Generation, now: Instant) -> Entry:
        """Return what a handle stands for that may be redeemed now."""
        if type(handle) is not AuthorizedAction:
            self._refuse(RedeemRefusal.FORGED, generation, now)
        entry = self._ledger.alive(handle)
        if entry is None:
            self._refuse(self._ledger.epitaph(handle), generation, now)
        # Hold, safe mode, close and a new policy kill their handles at once, so none of them need be asked here.
        if generation != entry.generation:
            self._refuse(RedeemRefusal.STALE_GENERATION, generation, now, entry)
        if now.monotonic >= entry.expires_at:
            self._refuse(RedeemRefusal.EXPIRED, generation, now, entry)
        return entry

    def _refuse(
        self, refusal: RedeemRefusal, generation: Generation, now: Instant, entry: Entry | None = None
    ) -> NoReturn:
        dead = self._ledger.strike(() if entry is None else (entry,), refusal)
        self._journal.refusal(refusal, now, generation=generation, entry=entry)
        self._journal.deaths(dead, now)
        raise AuthorityRefused(refusal.value)

    def settle(self, effect: EffectKey, outcome: Outcome, now: Instant) -> bool:
        """Take note of how an effect ended; whoever knows better of one in doubt uses `settle_doubt`.

        Returns:
            Whether it counted. An unknown effect, one that has ended, and a confirmation or doubt of one
            that was never sent change nothing.
        """
        entry = self._ledger.find(effect)
        if entry is None or not self._ledger.settle(entry, outcome):
            return False
        self._journal.settlement(entry, outcome, now)
        return True

    def settle_doubt(
        self, effect: EffectKey, outcome: Confirmed | Refused, now: Instant, *, by: SettledBy, proof: str = ""
    ) -> bool:
        """End an effect that is in doubt, by evidence or by hand (Spec: EFX-2).

        Nothing is sent by it and nothing is refunded: what may have been spent stays spent.

        Args:
            effect: one that is in doubt.
            outcome: what is known of it now.
            now: both clocks.
            by: who knows it.
            proof: code of the evidence, at most 64 characters.

        Returns:
            Whether it counted; an effect that is not in doubt, or not any more, stays as it is.
        """
        entry = self._ledger.find(effect)
        if entry is None or entry.state is not EffectState.IN_DOUBT:
            return False
        self._ledger.settle(entry, outcome)
        self._journal.settlement(entry, outcome, now, by=by, proof=proof)
        return True

    def abandon(self, effect: EffectKey, reason: str, now: Instant) -> Outcome | None:
        """Settle an effect nobody waits for any more, by what the ledger knows of it (Fault: 28).

        Args:
            effect: the effect whose worker was cancelled or failed.
            reason: stable code, at most 64 characters.
            now: both clocks.

        Returns:
            Refused when nothing was sent, in doubt when it was; None when it had ended already. What was
            charged stays charged.
        """
        entry = self._ledger.find(effect)
        if entry is None or entry.state not in {EffectState.RESERVED, EffectState.SENT}:
            return None
        outcome: Outcome = Refused(reason=reason) if entry.state is EffectState.RESERVED else InDoubt(reason=reason)
        self.settle(effect, outcome, now)
        return outcome

    def action_in_doubt(self, effect: EffectKey) -> Action | None:
        """Return the action of an effect that is in doubt; None for any other."""
        entry = self._ledger.find(effect)
        return entry.canonical.decode() if entry is not None and entry.state is EffectState.IN_DOUBT else None

    def doubts(self) -> tuple[Doubt, ...]:
        """Return every effect that may have cost something and is in doubt, the oldest first."""
        return tuple(
            Doubt(effect=entry.effect, action=entry.canonical.decode(), generation=entry.generation, at=entry.at)
            for entry in self._ledger.doubtful()
        )

    # --- kill switch and safe mode ----------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether the kill switch is on."""
        return self._held

    def hold(self, now: Instant) -> tuple[Ended, ...]:
        """Throw the kill switch: nothing passes, and nothing authorised is honoured (Spec: POL-12).

        Returns:
            The authorisations that died of it. Approvals go on waiting.
        """
        news, self._held = not self._held, True
        dead = self._ledger.strike(self._ledger.unredeemed(), RedeemRefusal.HELD)
        if news:
            self._journal.keep(HoldChanged(held=True, at=now.wall))
            self._journal.note(AuditKind.HOLD, "held", now)
        return self._journal.deaths(dead, now)

    def release(self, now: Instant) -> None:
        """Let the avatar act again; what died of the hold stays dead."""
        if self._held:
            self._journal.note(AuditKind.HOLD, "released", now)
            self._journal.keep(HoldChanged(held=False, at=now.wall))
            self._held = False

    def enter_safe_mode(self, now: Instant) -> tuple[Ended, ...]:
        """Do nothing any more that costs something: storage can't promise to remember it (Spec: EFX-4).

        Returns:
            The authorisations that died of it.
        """
        news, self._safe_mode = not self._safe_mode, True
        costly = [entry for entry in self._ledger.unredeemed() if entry.once]
        dead = self._ledger.strike(costly, RedeemRefusal.SAFE_MODE)
        if news:
            self._journal.note(AuditKind.SAFE_MODE, "entered", now)
        return self._journal.deaths(dead, now)

    def leave_safe_mode(self, now: Instant) -> None:
        """Let what costs something be done again: storage was found to work, on an operator's word."""
        if self._safe_mode:
            self._journal.note(AuditKind.SAFE_MODE, "left", now)
            self._safe_mode = False
