"""What one avatar did in one life of the service, and every invariant that is held over it (Spec: SIM-3).

Owns the account: what was asked for, decided, redeemed, done, told, said and answered, in the one order in
which it happened. Its sources are the world (what was really done and told), audit rows and observations as
JSON text, the raw policy, and what the simulated operator and mind say they are going to ask for. Shares no
code with what it judges, and changes nothing. What outlives a life is in `gridagent.simulation.history`.

Invariant: whatever this account cannot explain is a breach.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from gridagent.actions import Action, Say, action_name
from gridagent.events import GridEvent, ImReceived, event_name
from gridagent.simulation.evidence import MONEY, REFERENCE_CHARS, Grant, unproved
from gridagent.simulation.history import ENDS, History
from gridagent.simulation.questions import Questions
from gridagent.simulation.rulebook import Ask, Rulebook
from gridagent.simulation.views import AuditView, BodyView, ObservationView

if TYPE_CHECKING:
    from gridagent.simulation.oracle import Oracle

__all__ = ("Account", "digest_of")

PROPOSALS_KEPT: Final = 20_000
_HEARD: Final = ("public_chat", "direct_im")
_CAUSE_CHARS: Final = 48
"""Compared of a cause: what is certainly left of it when it was lengthened and cut."""
_CONNECTED: Final = ("connecting", "degraded", "online", "")
_AFTER_A_CRASH: Final = (("reserved", "refused"), ("sent", "in_doubt"))  # what becomes of what was cut off

_decode_action: Final = msgspec.json.Decoder(Action).decode
_encode_canonical: Final = msgspec.json.Encoder(order="deterministic").encode


def _as_proposed(row: AuditView) -> str:
    """Return a row's cause as the mind named it: the session puts the connection before what was heard."""
    connection, _, cause = row.cause.partition(".")
    heard = row.origin in _HEARD and connection.isdigit()
    return (cause if heard else row.cause)[:_CAUSE_CHARS]


def digest_of(action: Action) -> str:
    """Return the SHA-256 of an action's canonical JSON; empty when it has none."""
    try:
        fresh = _decode_action(msgspec.json.encode(action))
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, AttributeError):
        return ""
    return hashlib.sha256(_encode_canonical(fresh)).hexdigest()


class Account:
    """What one avatar did in one life of the service.

    Args:
        history: what is true over all its lives.
        avatar: its key.
    """

    def __init__(self, history: History, avatar: str) -> None:
        self._past = history
        self._avatar = avatar
        self._waiting: dict[int, str] = {}
        self._release = 0  # number of the newest order to release
        self._answered: Counter[str] = Counter()
        self._seen_answers: Counter[str] = Counter()
        self._closed: Counter[int] = Counter()
        self._logouts: Counter[int] = Counter()
        self._settled_seen: Counter[str] = Counter()
        self._lossless = True
        self._link = "stopped"
        """State of the link, as observed; empty while unknown."""
        history.begin_life()

    @property
    def generation(self) -> int:
        """Newest generation that was given a backend."""
        return self._past.generation

    @property
    def questions(self) -> Questions:
        """What the avatar has to ask people for."""
        return self._past.questions

    @property
    def _now(self) -> float:
        return self._past.oracle.now

    def die(self, nobody: Oracle) -> None:
        """The process is gone: what its remains still say is told to nobody."""
        self._past = self._past.apart(nobody)

    def _note(self, what: str, detail: str = "") -> None:
        self._past.oracle.note(self._avatar, what, detail)

    def breach(self, rule: str, detail: str) -> None:
        """Record a violation of this avatar's."""
        self._past.oracle.breach(self._avatar, rule, detail)

    # --- what was asked for -----------------------------------------------------------------------

    def knows_policy(self, version: str, book: Rulebook) -> None:
        """Take note of a policy that is, or may come, into force."""
        self._past.books[version] = book

    def on_proposed(self, *, who: str, cause: str, ordinal: int, action: Action, provenance: str) -> None:
        """Take note of what the mind wants, before it is decided."""
        self._past.proposed[who, cause[:_CAUSE_CHARS], ordinal, digest_of(action)] = provenance
        if len(self._past.proposed) > PROPOSALS_KEPT:
            del self._past.proposed[next(iter(self._past.proposed))]

    def on_order(self, number: int, name: str, *, action: Action | None = None, effect: str = "") -> None:
        """Take note of a control before it is sent."""
        self._note("control", name)
        self._waiting[number] = name
        if name == "release":
            self._release, self._past.hold_promised = number, False
        if action is not None:
            self._past.ordered[digest_of(action)] += 1
        if effect:
            self._past.settling.add(effect)
            self._past.by_hand.add(effect)

    def on_said_by_operator(self, text: str) -> None:
        """Take note of words an operator wants spoken, before they are sent."""
        self._past.ordered[digest_of(Say(text=text))] += 1

    def on_reply(self, number: int, code: str | None) -> None:
        """Take note of a control's reply; None means that the avatar was gone before it was taken."""
        name = self._waiting.pop(number, None)
        if name == "hold" and code == "ok" and number > self._release and "release" not in self._waiting.values():
            self._past.hold_promised = True
        if name is None:
            self.breach("one reply a control", f"control {number} was answered twice")
        elif code is not None and code != "stopped":
            self._answered[name] += 1

    def on_allowed(self, approval_id: str) -> None:
        """Take note that the operator says yes to an approval, before it is sent."""
        self.questions.allow(approval_id)

    # --- what was decided -------------------------------------------------------------------------

    def on_row(self, row: AuditView) -> None:
        """Judge one audit row."""
        rows = self._past.rows
        rows.append(row)
        if row.seq != len(rows):
            self.breach("audit rows without a gap", f"row {row.seq} came as number {len(rows)}")
        self._note(row.kind, f"{row.code} {row.action} {(row.effect or '')[:8]} gen {row.generation}")
        if row.kind == "hold":
            self._past.held = row.code == "held"
        elif row.kind == "settlement":
            self._on_settlement(row)
        elif row.kind == "decision" and row.code == "authorized":
            self._on_authorized(row)
        elif row.kind == "decision" and row.code == "needs_approval":
            self.questions.park(row, self._past.books[row.policy])

    def _on_authorized(self, row: AuditView) -> None:
        effect = row.effect or ""
        if self._past.held:
            self.breach("nothing is authorised while held", f"{row.action} {effect[:8]}")
        if row.generation < self.generation:
            self.breach("no authority for an old generation", f"{row.action} of {row.generation}")
        if effect in self._past.grants or effect in self._past.over:
            self.breach("one authorisation an effect", f"{row.action} {effect[:8]}")
        cause = _as_proposed(row)
        if cause in self._past.object_words:
            self.breach("object text never causes anything", f"{row.action} because of {cause}")
        book = self._past.books[row.policy]
        provenance = self._past.proposed.get((row.who, cause, row.ordinal, row.digest))
        console = row.who == "client:operator" and row.origin == "operator_console"
        own = console and self._past.ordered[row.digest] > 0
        if own:
            self._past.ordered[row.digest] -= 1
        elif provenance is None and self.questions.caused(row):
            own, provenance = True, "configuration"
        elif provenance is None:
            self.breach("somebody asked for it", f"{row.action} {row.who} {row.cause} {row.ordinal}")
        if row.approval_id is not None:
            self.questions.use_up(row)
        self._past.grants[effect] = Grant(
            row=row, book=book, at=self._now, operators_own=own, provenance=provenance or "model"
        )
        self._past.by_reference[effect[:REFERENCE_CHARS]] = effect

    def _on_settlement(self, row: AuditView) -> None:
        grant = self._past.grants.get(row.effect or "")
        if grant is None or row.code not in ENDS:
            self.breach("only what was authorised ends", f"{row.code} {row.action}")
            return
        by_hand = grant.outcome == "in_doubt" and row.effect in self._past.settling
        found_out = grant.outcome == "in_doubt" and row.settled_by == "reconciliation"
        cut_off, grant.cut_off = grant.cut_off, ""
        if cut_off and (cut_off, row.code) not in _AFTER_A_CRASH:
            self.breach("a restart guesses nothing", f"{row.action} was {cut_off}, and is {row.code}")
        if grant.outcome and not (by_hand or found_out):
            self.breach("one outcome an effect", f"{row.action}: {grant.outcome}, then {row.code}")
        grant.outcome = row.code
        if found_out:
            self._past.settling.add(row.effect or "")  # what was said of its doubt is no lie
        elif by_hand:
            return
        if row.code == "confirmed":
            reason = unproved(grant, self._past.told, self._past.references)
            if reason:
                self.breach("confirmed means happened", reason)
        elif row.code == "refused" and row.action in MONEY and grant.balance:
            self.breach("refused money did not move", f"{row.action}: L$ {grant.balance}")
        elif row.code == "in_doubt" and grant.redeemed_at is None and not cut_off:
            self.breach("doubt only about what was sent", row.action)

    # --- what was done ----------------------------------------------------------------------------

    def on_backend(self, generation: int) -> None:
        """Take note of a new generation's backend."""
        self._note("generation", str(generation))
        if generation <= self.generation:
            self.breach("generations count up", f"{generation} after {self.generation}")
        self._past.generation = generation

    def on_connecting(self, generation: int) -> None:
        """Take note that a generation's backend goes on its way to the grid."""
        self._past.connected = max(self._past.connected, generation)

    def on_redeemed(self, generation: int, effect: str) -> None:
        """Judge a handle that was honoured."""
        self._note("redeemed", effect[:8])
        grant = self._past.grants.get(effect)
        if grant is None:
            self.breach("only what was authorised is honoured", effect[:8])
            return
        if grant.redeemed_at is not None:
            self.breach("a handle is honoured once", f"{grant.row.action} {effect[:8]}")
        if grant.outcome:
            self.breach("what has ended is not honoured", f"{grant.row.action}: {grant.outcome}")
        if not grant.row.generation == generation == self.generation:
            self.breach(
                "nothing of an old generation",
                f"{grant.row.action} of {grant.row.generation} by a backend of {generation}, newest {self.generation}",
            )
        if self._now >= grant.at + grant.book.policy.handle_ttl_s:
            self.breach("a handle is honoured in time", f"{grant.row.action} after {self._now - grant.at:.1f} s")
        grant.redeemed_at = self._now

    def on_dishonest(self, trick: str) -> None:
        """Take note that a hostile backend's trick worked."""
        self.breach("no trick makes a handle", trick)

    def on_performed(self, action: Action, reference: str, *, balance: int, items: int) -> None:
        """Judge what the world did for the avatar."""
        name = action_name(action)
        self._note("performed", f"{name} {reference[:8]}")
        grant = self._past.grants.get(self._past.by_reference.get(reference, ""))
        if grant is None:
            self.breach("only what was authorised is done", f"{name} {reference}")
            return
        if grant.performed_at is not None:
            self.breach("an effect is done at most once", f"{name} {reference}")
        if grant.redeemed_at is None:
            self.breach("only what was redeemed is done", f"{name} {reference}")
        if self._past.held:
            self.breach("nothing is done while held", f"{name} {reference}")
        if grant.row.generation != self.generation:
            self.breach("nothing of an old generation", f"{name} of {grant.row.generation}, newest {self.generation}")
        asked = self.questions.as_decided(grant.row, action)
        if digest_of(asked) != grant.row.digest:
            self.breach("what was authorised is what is done", f"{name} {reference}")
        grant.performed_at = self._now
        grant.balance, grant.items = balance, items
        if balance < 0:
            self._past.note_paid(grant.row.effect or "", -balance)
        self._check_policy(grant, asked, name)

    def _check_policy(self, grant: Grant, action: Action, name: str) -> None:
        row, book = grant.row, grant.book
        ask = Ask(who=row.who, origin=row.origin or "", capability=action.spec.capability.value, tainted=row.tainted)
        for reason in book.before_arguments(ask):
            self.breach("the matrix holds", f"{name} {row.who} {row.origin}: {reason}")
        own = grant.operators_own
        for reason in book.with_arguments(ask, name, action, grant.provenance, operators_own=own):
            self.breach("the rules over arguments hold", f"{name} {row.who} {row.origin}: {reason}")
        if row.approval_id is None and book.asks(ask, name, action, operators_own=own):
            self.breach("a person was asked", f"{name} {row.who} {row.origin}")
        if book.policy.dry_run:
            self.breach("a dry run does nothing", name)
        overrun = self._past.sums.overrun(book, ask, name, action, grant.at, row.effect or "")
        if overrun is not None:
            self.breach("no budget is overrun", f"{name} {row.who}: {overrun}")

    def on_told(self, event: GridEvent) -> None:
        """Take note of what the world truly told."""
        name = event_name(event)
        self._past.told[name] = self._now
        if isinstance(event, ImReceived):
            self.questions.on_message(event)
        if name in {"delivered", "chat_heard", "im_received"}:
            reference: str = getattr(event, "reference", "")
            if reference:
                self._past.references[reference] = self._now
                if len(self._past.references) > PROPOSALS_KEPT:
                    del self._past.references[next(iter(self._past.references))]
            elif getattr(event, "source").kind.value == "object":  # noqa: B009 - only words have a source here
                self._past.object_words.append(getattr(event, "utterance_id"))  # noqa: B009 - as above

    def on_logout(self, generation: int) -> None:
        """Take note that a backend was told to log out."""
        self._logouts[generation] += 1
        if self._logouts[generation] > 1:
            self.breach("one logout a generation", f"generation {generation}")

    # --- what was said ----------------------------------------------------------------------------

    def on_observed(self, seen: ObservationView) -> None:
        """Judge one observation of the subscriber that reads at once."""
        body = seen.body
        handler = _SAID.get(body.kind)
        if handler is not None:
            handler(self, seen, body)

    def on_plain_event(self) -> None:
        """Judge an observed event of which nothing matters but that it was seen."""
        if self._link not in _CONNECTED:
            self.breach("no event without a connection", f"seen while the link was {self._link}")

    def on_lag(self) -> None:
        """The subscriber that reads at once has lost something: what is counted is not exact any more."""
        self._lossless = False
        self._link = ""

    def _said_outcome(self, _: ObservationView, body: BodyView) -> None:
        grant = self._past.grants.get(body.effect)
        said = "" if body.outcome is None else body.outcome.outcome
        if grant is None:
            self.breach("only what was authorised ends", f"observed {said} of {body.effect[:8]}")
            return
        self._settled_seen[body.effect] += 1
        if self._settled_seen[body.effect] > 1:
            self.breach("one outcome an effect", f"{grant.row.action} was observed to end twice")
        if grant.outcome != said and body.effect not in self._past.settling:
            self.breach("what is said is what is recorded", f"{grant.row.action}: {said}, recorded {grant.outcome}")

    def _said_control(self, _: ObservationView, body: BodyView) -> None:
        self._seen_answers[body.control] += 1

    def _said_link(self, _: ObservationView, body: BodyView) -> None:
        self._link = body.state

    def _said_event(self, seen: ObservationView, body: BodyView) -> None:
        event = body.event
        self.on_plain_event()
        if event is None or not event.text.startswith("canary "):
            return
        self._past.oracle.checked += 1
        if event.text.split()[1] != str(seen.generation):
            self.breach("no event of an old generation", f"{event.text} observed in generation {seen.generation}")

    def _said_closed(self, seen: ObservationView, body: BodyView) -> None:
        self._note("closed", f"gen {seen.generation} {body.cause} logged_out {body.logged_out}")
        self._closed[seen.generation] += 1
        if self._closed[seen.generation] > 1:
            self.breach("a generation ends once", f"generation {seen.generation}")
        if self._logouts[seen.generation] != int(body.logged_out):
            self.breach(
                "a logout that is reported was made",
                f"generation {seen.generation}: {self._logouts[seen.generation]}, said {body.logged_out}",
            )

    # --- the end ----------------------------------------------------------------------------------

    def end(self) -> None:
        """Judge what is left when the service is gone."""
        for number, name in self._waiting.items():
            self.breach("one reply a control", f"{name} ({number}) was never answered")
        open_ = [grant.row.action for grant in self._past.grants.values() if not grant.outcome]
        if open_:
            self.breach("every effect ends", f"{len(open_)} have no outcome: {', '.join(open_[:5])}")
        for answers in (self._seen_answers, self._answered):
            del answers["shut_down"]  # the service asks for it on its own, too
        if self._lossless and self._seen_answers != self._answered:
            said = {**(self._answered - self._seen_answers), **(self._seen_answers - self._answered)}
            self.breach("one reply a control", f"replies and observations differ: {said}")


_SAID: Final[dict[str, Callable[[Account, ObservationView, BodyView], None]]] = {
    "outcome": Account._said_outcome,  # noqa: SLF001 - the table belongs to the class
    "control": Account._said_control,  # noqa: SLF001
    "event": Account._said_event,  # noqa: SLF001
    "link_state": Account._said_link,  # noqa: SLF001
    "generation_closed": Account._said_closed,  # noqa: SLF001
}
