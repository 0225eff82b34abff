"""What becomes of what the reference gateway authorised: connection, switches, redemption, settlement.

Owns the list of effects and the ends that are remembered. Its invariant: a handle is in the list once, and
leaves it when it is used or dies.
"""

from __future__ import annotations

from collections.abc import Callable

from gridagent.actions import Action, Confirmed, InDoubt, Outcome, Refused, SettledBy
from gridagent.errors import AuthorityRefused, InternalError
from gridagent.ids import EffectKey, Generation
from gridagent.policy.audit import AuditKind
from gridagent.policy.decisions import Doubt, Ended, Instant, RedeemRefusal
from gridagent.policy.reference.books import Books, Effect, Handle

__all__ = ("Effects",)


class Effects(Books):
    """The effects of one avatar."""

    # --- effects ----------------------------------------------------------------------------------

    def _find(self, key: EffectKey) -> Effect | None:
        return next((each for each in [*self.effects, *self.loose] if each.key == key), None)

    def _bury(self, handle: Handle | None, refusal: RedeemRefusal) -> None:
        self._dead.append((handle, refusal))
        del self._dead[: -self.sizes.open_effects]

    def _end_effect(self, effect: Effect, state: str, refusal: RedeemRefusal) -> None:
        if effect.state == "reserved":
            self._bury(effect.handle, refusal)
        effect.state = state
        if state == "in_doubt" and effect.once:
            return
        if effect in self.effects:
            self.effects.remove(effect)
            self.ends[effect.once].append(effect.key)
            if state == "in_doubt":
                self.loose.append(effect)
        else:
            self.loose.remove(effect)
        gone = self.ends[effect.once][: -self.sizes.ends_each]
        del self.ends[effect.once][: -self.sizes.ends_each]
        self.loose = [each for each in self.loose if each.key not in gone]

    def _kill(self, wanted: Callable[[Effect], bool], refusal: RedeemRefusal) -> list[Effect]:
        killed = [each for each in self.effects if each.state == "reserved" and wanted(each)]
        for each in killed:
            self._end_effect(each, "refused", refusal)
        return killed

    def _tell(self, killed: list[Effect], why: str, now: Instant) -> list[Ended]:
        for each in killed:
            self._settled(each, now)
        return [
            Ended(
                how=why,
                correlation=each.request.correlation,
                effect=each.key,
                action=each.form.action,
                outcome=Refused(reason=why) if each.state == "refused" else InDoubt(reason=why),
            )
            for each in killed
        ]

    def open_generation(self, generation: Generation) -> None:
        """Let a connection through."""
        if self.generation is not None or generation <= self.last_generation:
            raise InternalError("generations count up, one at a time")
        self.generation = self.last_generation = generation

    def close_generation(self, generation: Generation, now: Instant) -> list[Ended]:
        """Let nothing through any more."""
        if self.generation != generation:
            return []
        self.generation = None
        return self._tell(self._kill(lambda _: True, RedeemRefusal.STALE_GENERATION), "stale_generation", now)

    def _live(self, handle: object, generation: Generation, now: Instant) -> Effect:
        if type(handle) is not Handle:
            self._row(AuditKind.REDEEM_REFUSED, "forged", now, generation=generation)
            raise AuthorityRefused("forged")
        for effect in self.effects:
            if effect.handle is handle and effect.state == "reserved":
                refusal = RedeemRefusal.STALE_GENERATION
                if generation == effect.request.generation:
                    if now.monotonic < effect.expires_at:
                        return effect
                    refusal = RedeemRefusal.EXPIRED
                self._end_effect(effect, "refused", refusal)
                self._settled(effect, now, AuditKind.REDEEM_REFUSED, refusal.value)
                self._settled(effect, now)
                raise AuthorityRefused(refusal.value)
        why = next((said for dead, said in self._dead if dead is handle), RedeemRefusal.UNKNOWN)
        self._row(AuditKind.REDEEM_REFUSED, why.value, now, generation=generation)
        raise AuthorityRefused(why.value)

    def intend(self, handle: object, *, generation: Generation, now: Instant) -> None:
        """Say that a handle is about to be redeemed."""
        self._live(handle, generation, now).intended = True

    def redeem(self, handle: object, *, generation: Generation, now: Instant) -> Action:
        """Use a handle up and return its action."""
        effect = self._live(handle, generation, now)
        self._bury(effect.handle, RedeemRefusal.REPLAYED)
        effect.state = "sent"
        return effect.form.action

    def settle(self, key: EffectKey, outcome: Outcome, now: Instant) -> bool:
        """Take note of how an effect ended."""
        effect = self._find(key)
        state = {Confirmed: "confirmed", Refused: "refused", InDoubt: "in_doubt"}[type(outcome)]
        legal = {
            "reserved": ("refused",),
            "sent": ("confirmed", "refused", "in_doubt"),
            "in_doubt": ("confirmed", "refused"),
        }
        if effect is None or state not in legal[effect.state]:
            return False
        self._end_effect(effect, state, RedeemRefusal.SETTLED)
        self._settled(effect, now)
        return True

    def settle_doubt(self, key: EffectKey, outcome: Outcome, now: Instant, *, by: SettledBy, proof: str = "") -> bool:
        """End an effect that is in doubt."""
        effect = self._find(key)
        if effect is None or effect.state != "in_doubt":
            return False
        self._end_effect(effect, "confirmed" if isinstance(outcome, Confirmed) else "refused", RedeemRefusal.SETTLED)
        self._settled(effect, now, settled_by=by, proof=proof)
        return True

    def abandon(self, key: EffectKey, reason: str, now: Instant) -> Outcome | None:
        """Settle an effect that nobody waits for."""
        effect = self._find(key)
        if effect is None or effect.state == "in_doubt":
            return None
        outcome = Refused(reason=reason) if effect.state == "reserved" else InDoubt(reason=reason)
        self.settle(key, outcome, now)
        return outcome

    def doubts(self) -> tuple[Doubt, ...]:
        """Return every effect that costs something and is in doubt."""
        return tuple(
            Doubt(effect=each.key, action=each.form.action, generation=each.request.generation, at=each.at)
            for each in self.effects
            if each.state == "in_doubt" and each.once
        )

    def action_in_doubt(self, key: EffectKey) -> Action | None:
        """Return the action of an effect in doubt."""
        effect = self._find(key)
        return effect.form.action if effect is not None and effect.state == "in_doubt" else None

    def hold(self, now: Instant) -> list[Ended]:
        """Throw the kill switch."""
        killed = self._kill(lambda _: True, RedeemRefusal.HELD)
        if not self.held:
            self.held = True
            self._row(AuditKind.HOLD, "held", now)
        return self._tell(killed, "held", now)

    def release(self, now: Instant) -> None:
        """Let the avatar act again."""
        if self.held:
            self.held = False
            self._row(AuditKind.HOLD, "released", now)

    def enter_safe_mode(self, now: Instant) -> list[Ended]:
        """Do nothing that costs something."""
        killed = self._kill(lambda each: each.once, RedeemRefusal.SAFE_MODE)
        if not self.safe_mode:
            self.safe_mode = True
            self._row(AuditKind.SAFE_MODE, "entered", now)
        return self._tell(killed, "safe_mode", now)

    def leave_safe_mode(self, now: Instant) -> None:
        """Let it be done again."""
        if self.safe_mode:
            self.safe_mode = False
            self._row(AuditKind.SAFE_MODE, "left", now)
