"""Effects as they are stored: reserved, sent, and how they ended (Spec: EFX-2).

Owns the SQL of the table ``effect``. Decides nothing: an effect moves along `gridagent.policy.ledger.EFFECT`. Called
inside transactions.

Invariants: a key is reserved once for an avatar, and only the run that reserved it sends it; what costs something is
never let go while it is open or in doubt (Spec: BND-16); what costs nothing leaves only its key behind, no words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import apsw
import msgspec

from gridagent.actions import EffectClass, Outcome
from gridagent.ids import AvatarKey, EffectKey
from gridagent.limits import SETTLED_EFFECTS_MAX
from gridagent.policy.changes import EffectReserved, EffectSent, EffectSettled, StoredEffect
from gridagent.policy.ledger import EFFECT, END_INPUTS, EffectState
from gridagent.storage.records import EffectRow, Kept
from gridagent.storage.rows import each, one, select

__all__ = ("doubtful", "drop_ended", "find", "known_ends", "open_effects", "reserve", "send", "settle")

KNOWN_ENDS: Final = SETTLED_EFFECTS_MAX // 2
"""Ends of each class that the gateway remembers."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode
_reserved: Final = msgspec.json.Decoder(EffectReserved).decode
_outcome: Final[msgspec.json.Decoder[Outcome]] = msgspec.json.Decoder(Outcome)
_COLUMNS: Final = "avatar, effect, run, state, reserved_at, sent_at, settled_at, outcome, body"


def reserve(connection: apsw.Connection, kept: Kept, change: EffectReserved, number: int) -> bool | None:
    """Take a reservation in.

    Returns:
        None when it is new: what goes along with it is to be taken in too. True when this very one is known, False
        when its key is known from another.
    """
    connection.execute(
        "INSERT INTO effect (number, avatar, effect, run, state, once, reserved_at, body)"
        " VALUES (?, ?, ?, ?, 'reserved', ?, ?, ?) ON CONFLICT (avatar, effect) DO NOTHING",
        (
            number,
            kept.avatar,
            change.effect,
            kept.run,
            change.effect_class is EffectClass.ONCE,
            change.at,
            _encode(change),
        ),
    )
    if connection.changes():
        return None
    known = one(
        connection,
        tuple[int, float],
        "SELECT run, reserved_at FROM effect WHERE avatar = ? AND effect = ?",
        (kept.avatar, change.effect),
    )
    return known == (kept.run, change.at)


def send(connection: apsw.Connection, kept: Kept, change: EffectSent, number: int) -> bool:  # noqa: ARG001 - one shape
    """Note that an effect may happen from now on; False when this run did not reserve it, or it has ended."""
    whose = (kept.avatar, change.effect, kept.run)
    connection.execute(
        "UPDATE effect SET state = 'sent', sent_at = ?"
        " WHERE avatar = ? AND effect = ? AND run = ? AND state = 'reserved'",
        (change.at, *whose),
    )
    if connection.changes():
        return True
    known = one(connection, tuple[str], "SELECT state FROM effect WHERE avatar = ? AND effect = ? AND run = ?", whose)
    return known == (EffectState.SENT.value,)


def settle(connection: apsw.Connection, kept: Kept, change: EffectSettled, number: int) -> bool:
    """Note how an effect ended; False when it is unknown or its table does not allow it."""
    known = one(
        connection,
        tuple[EffectState, int],
        "SELECT state, once FROM effect WHERE avatar = ? AND effect = ?",
        (kept.avatar, change.effect),
    )
    if known is None:
        return False
    given = END_INPUTS[type(change.outcome)]
    if not EFFECT.allows(known[0], given):
        return False
    state, once = EFFECT.step(known[0], given), known[1]
    ended = None if once and state is EffectState.IN_DOUBT else number
    connection.execute(
        "UPDATE effect SET state = ?, settled_at = ?, outcome = ?, ended = coalesce(ended, ?),"
        " body = iif(once, body, NULL) WHERE avatar = ? AND effect = ?",
        (state.value, change.at, _encode(change.outcome), ended, kept.avatar, change.effect),
    )
    return True


def open_effects(connection: apsw.Connection, avatar: AvatarKey) -> tuple[StoredEffect, ...]:
    """Return every effect that has not ended, the oldest first."""
    rows = each(
        connection,
        tuple[EffectState, bytes],
        "SELECT state, body FROM effect WHERE ended IS NULL AND avatar = ? ORDER BY number",
        (avatar,),
    )
    return tuple(_stored(_reserved(body), state) for state, body in rows)


def _stored(reserved: EffectReserved, state: EffectState) -> StoredEffect:
    return StoredEffect(
        effect=reserved.effect,
        effect_class=reserved.effect_class,
        canonical=reserved.canonical,
        request=reserved.request,
        generation=reserved.generation,
        role=reserved.role,
        rule=reserved.rule,
        at=reserved.at,
        state=state,
    )


def known_ends(connection: apsw.Connection, avatar: AvatarKey, *, once: bool) -> tuple[EffectKey, ...]:
    """Return the keys of the newest ends of one class, the oldest first, as many as the gateway remembers."""
    rows = each(
        connection,
        tuple[EffectKey],
        "SELECT effect FROM (SELECT effect, ended FROM effect WHERE ended IS NOT NULL AND avatar = ? AND once = ?"
        " ORDER BY ended DESC LIMIT ?) ORDER BY ended",
        (avatar, once, KNOWN_ENDS),
    )
    return tuple(effect for (effect,) in rows)


def find(connection: apsw.Connection, avatar: AvatarKey, effect: EffectKey) -> EffectRow | None:
    """Return one effect."""
    return next(iter(_rows(connection, "avatar = ? AND effect = ?", (avatar, effect))), None)


def doubtful(connection: apsw.Connection, avatar: AvatarKey | None) -> tuple[EffectRow, ...]:
    """Return every effect in doubt that may have cost something, the oldest first."""
    where = "ended IS NULL AND state = 'in_doubt'"
    if avatar is None:
        return _rows(connection, f"{where} ORDER BY number", ())
    return _rows(connection, f"{where} AND avatar = ? ORDER BY number", (avatar,))


def drop_ended(connection: apsw.Connection, *, before: float, light_before: float, keep: int, most: int) -> int:
    """Let the oldest ended effects go: those that ended before a moment, and those beyond ``keep`` rows.

    Args:
        connection: in a transaction.
        before: wall clock; what costs something and ended earlier goes.
        light_before: the same for everything else.
        keep: rows that may stay, however young; beyond it, what costs nothing goes first.
        most: rows that go at once, so that a transaction stays short.

    Returns:
        How many went.
    """
    (count,) = one(connection, tuple[int], "SELECT count(*) FROM effect WHERE ended IS NOT NULL") or (0,)
    if count > keep:
        connection.execute(
            "DELETE FROM effect WHERE number IN"
            " (SELECT number FROM effect WHERE ended IS NOT NULL ORDER BY once, ended LIMIT ?)",
            (min(count - keep, most),),
        )
        return connection.changes()
    return sum(
        _drop_oldest(connection, avatar, once=once, before=moment, most=most)
        for (avatar,) in select(connection, tuple[AvatarKey], "SELECT avatar FROM avatar")
        for once, moment in ((True, before), (False, light_before))
    )


def _drop_oldest(connection: apsw.Connection, avatar: AvatarKey, *, once: bool, before: float, most: int) -> int:
    connection.execute(
        "DELETE FROM effect WHERE settled_at < ? AND number IN (SELECT number FROM effect"
        " WHERE ended IS NOT NULL AND avatar = ? AND once = ? ORDER BY ended LIMIT ?)",
        (before, avatar, once, most),
    )
    return connection.changes()


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row in the order of `_COLUMNS`."""

    avatar: AvatarKey
    effect: EffectKey
    run: int
    state: EffectState
    reserved_at: float
    sent_at: float | None
    settled_at: float | None
    outcome: bytes | None
    body: bytes | None

    def value(self) -> EffectRow:
        """Return it as it is handed out."""
        return EffectRow(
            avatar=self.avatar,
            run=self.run,
            effect=self.effect,
            state=self.state,
            reserved=None if self.body is None else _reserved(self.body),
            reserved_at=self.reserved_at,
            sent_at=self.sent_at,
            settled_at=self.settled_at,
            outcome=None if self.outcome is None else _outcome.decode(self.outcome),
        )


def _rows(connection: apsw.Connection, where: str, bound: Iterable[apsw.SQLiteValue]) -> tuple[EffectRow, ...]:
    found = each(connection, _Row, f"SELECT {_COLUMNS} FROM effect WHERE {where}", bound)  # noqa: S608 - our own
    return tuple(row.value() for row in found)
