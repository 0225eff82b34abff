"""What is true of one avatar over all lives of the service, and what a database must still know after each of them.

Owns the facts that outlive a crash: what was authorised, performed, paid, asked for and told, and the sums of every
budget. After each end of the service it is confronted with what the examiner found on the disk: what an orderly end
may lose (nothing), and what a crash may lose (what nobody was told and nothing depends on). The account of a life
adds to it; it shares no code with what it judges (Spec: EFX-2, POL-6, POL-7; Fault: 38).

Invariant: what was done in the world is never forgotten here, whatever a disk forgets.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from gridagent.simulation.evidence import MONEY, REFERENCE_CHARS, Grant
from gridagent.simulation.examination import FoundAvatar
from gridagent.simulation.questions import Questions
from gridagent.simulation.rulebook import Rulebook, Sums
from gridagent.simulation.views import AuditView

if TYPE_CHECKING:
    from gridagent.simulation.oracle import Oracle

__all__ = ("COSTLY", "ENDS", "History")

ENDS: Final = ("confirmed", "refused", "in_doubt")
COSTLY: Final = frozenset(
    {
        *MONEY,
        *("answer_dialog", "answer_permission", "answer_friendship", "end_friendship"),
        *("give_item", "answer_inventory_offer", "create_notecard", "create_landmark", "upload_asset"),
        *("rez_object", "edit_object", "delete_object", "return_object", "eject_avatar"),
    }
)
"""What must be on the disk before it is sent."""
_OPEN: Final = ("reserved", "sent")
_PAID_KEPT: Final = 1_000
"""Payments that are looked for after every reboot."""
_ORDERS_KEPT: Final = 4_096
"""Orders that nothing came of yet."""
_OLD_S: Final = 3_600.0
"""What ended so long ago is remembered by its key alone."""


class History:
    """What is true of one avatar over all lives of the service.

    Args:
        oracle: where breaches go.
        avatar: its key.
        generation: number of the last generation before.
    """

    def __init__(self, oracle: Oracle, avatar: str, generation: int) -> None:
        self.oracle = oracle
        self.generation = generation
        """Newest generation that was given a backend."""
        self.connected = generation
        """Newest generation that went on its way to the grid: from then on it must be on the disk."""
        self.books: dict[str, Rulebook] = {}  # one a policy that was in force or offered in this life
        self.held = False
        self.hold_promised = False
        """Somebody was told that the avatar is held, and nobody asked for its release since."""
        self.grants: dict[str, Grant] = {}  # by effect; those that ended long ago go
        self.by_reference: dict[str, str] = {}
        self.over: set[str] = set()  # effects that ended long ago, by key alone
        self.paid: dict[str, int] = {}  # L$ of each payment, at most `_PAID_KEPT`
        self.questions = Questions(self.breach, lambda: self.oracle.now)
        self.proposed: dict[tuple[str, str, int, str], str] = {}
        self.ordered: Counter[str] = Counter()
        self.settling: set[str] = set()  # effects of which more than one end may be heard
        self.by_hand: set[str] = set()  # effects that an operator has said something about
        self.sums = Sums()
        self.told: dict[str, float] = {}
        self.references: dict[str, float] = {}
        self.object_words: deque[str] = deque(maxlen=512)
        self.lives = 0
        self.rows: list[AuditView] = []  # the audit rows of the present life
        self._avatar = avatar

    def breach(self, rule: str, detail: str) -> None:
        """Record a violation of this avatar's."""
        self.oracle.breach(self._avatar, rule, detail)

    def apart(self, oracle: Oracle) -> History:
        """Return a history that begins with what a dead process may still refer to, and that nobody reads."""
        other = History(oracle, self._avatar, self.generation)
        other.books = self.books
        return other

    def note_paid(self, effect: str, amount: int) -> None:
        """Take note of L$ that the world moved."""
        self.paid[effect] = amount
        if len(self.paid) > _PAID_KEPT:
            del self.paid[next(iter(self.paid))]

    # --- after an end -----------------------------------------------------------------------------

    def begin_life(self) -> None:
        """Take note that the service starts again."""
        self.lives += 1
        self.rows = []
        self.books = {}  # whoever waits under an older one has it

    def confront(self, found: FoundAvatar, *, crashed: bool) -> Reckoning:
        """Judge what the disk still knows, and go on from that.

        Args:
            found: what the examiner read.
            crashed: whether it was cut off; an orderly end loses nothing.

        Returns:
            What happened, for the counters.
        """
        reckoning = Reckoning()
        for effect, grant in tuple(self.grants.items()):
            state = found.effects.get(effect)
            if state is None:
                self._forgotten(effect, grant, crashed=crashed)
                reckoning.lost += 1
            else:
                self._kept(effect, grant, state, crashed=crashed)
                reckoning.sent += state == "sent"
        for effect, amount in self.paid.items():
            state = found.effects.get(effect, "missing")
            if state not in {"sent", "confirmed", "in_doubt"} and effect not in self.by_hand:
                self.breach("what was paid is known", f"L$ {amount}, {effect[:8]}: {state}")
        self._confront_rows(found, reckoning, crashed=crashed)
        if found.generation < self.connected:
            self.breach("a generation is never used again", f"{self.connected} began, {found.generation} is known")
        self.generation = found.generation
        if self.hold_promised and not found.held:
            self.breach("who was told of a hold is not deceived", "it is not held after the restart")
        self.held = found.held
        self.hold_promised = self.hold_promised and found.held
        self.questions.confront(found.approvals, found.effects.keys(), crashed=crashed)
        self._let_go()
        return reckoning

    def _forgotten(self, effect: str, grant: Grant, *, crashed: bool) -> None:
        """Judge an effect that the disk does not know: it may be nothing that costs, and only a crash loses it."""
        row = grant.row
        if not crashed:
            self.breach("an orderly end loses nothing", f"{row.action} {effect[:8]}: {grant.outcome}")
        elif row.action in COSTLY and grant.redeemed_at is not None:
            self.breach("what may have cost something is remembered", f"{row.action} {effect[:8]}")
        self.sums.take_back(effect)
        del self.grants[effect]
        self.by_reference.pop(effect[:REFERENCE_CHARS], None)

    def _kept(self, effect: str, grant: Grant, state: str, *, crashed: bool) -> None:
        action, costly = grant.row.action, grant.row.action in COSTLY
        if state == "reserved" and costly and grant.redeemed_at is not None:
            self.breach("what may have cost something is remembered", f"{action} {effect[:8]} was sent, and is {state}")
        if not crashed and state != grant.outcome:
            self.breach("an orderly end loses nothing", f"{action} {effect[:8]}: {grant.outcome}, found {state}")
        if state in ENDS and grant.outcome in ENDS and state not in {grant.outcome, "in_doubt"}:
            self.breach("what was recorded is what was said", f"{action} {effect[:8]}: {grant.outcome}, found {state}")
        grant.outcome = state if state in ENDS else ""
        grant.cut_off = state if state in _OPEN else ""

    def _confront_rows(self, found: FoundAvatar, reckoning: Reckoning, *, crashed: bool) -> None:
        told = self.rows
        if not told:
            return
        kept = found.rows if found.rows and found.rows[0].at >= told[0].at else []
        reckoning.rows_lost = len(told) - len(kept)
        # Retention lets the oldest go, a crash the newest; what is between them is what was told.
        first = kept[0].seq - 1 if kept else 0
        if kept != told[first : first + len(kept)]:
            self.breach("the audit trail is what happened", f"{len(kept)} rows from number {first + 1} differ")
        elif not crashed and (not kept or kept[-1] != told[-1]):
            self.breach("an orderly end loses nothing", f"{len(told)} audit rows, found {len(kept)}")

    def _let_go(self) -> None:
        """Remember what ended long ago by its key alone, and nothing of what was said about it."""
        before = self.oracle.now - _OLD_S
        for effect, grant in tuple(self.grants.items()):
            # What costs stays in doubt until it is settled; of anything else a doubt is an end like another.
            costly = grant.row.action in COSTLY
            if grant.at < before and grant.outcome in ENDS and not (costly and grant.outcome == "in_doubt"):
                self.over.add(effect)
                del self.grants[effect]
                self.by_reference.pop(effect[:REFERENCE_CHARS], None)
        self.settling &= self.grants.keys()
        self.by_hand &= self.grants.keys() | self.paid.keys()
        self.ordered = +self.ordered
        while len(self.ordered) > _ORDERS_KEPT:
            del self.ordered[next(iter(self.ordered))]


class Reckoning:
    """What an end of the service came to."""

    __slots__ = ("lost", "rows_lost", "sent")

    def __init__(self) -> None:
        self.lost = 0
        """Effects that nobody knows any more."""
        self.rows_lost = 0
        self.sent = 0
        """Effects that were sent, and nothing says how they ended."""
