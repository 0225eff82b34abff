"""Effects as they are stored: reserved, sent, and how they ended (Spec: EFX-2).

Owns the SQL of the table ``effect``. Decides nothing: an effect moves along `gridagent.policy.ledger.EFFECT`,
and the rule that only its own run settles it keeps a turned-away re-run from ending the effect it repeats.
Called inside transactions. Invariant: a key is reserved once, and an unsettled row never goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import apsw
import msgspec

from gridagent.actions import Capability, Confirmed, EffectClass, InDoubt, Outcome, Refused
from gridagent.authority import ActionRequest, Role
from gridagent.config.policy import Meter
from gridagent.ids import AvatarKey, EffectKey
from gridagent.limits import SETTLED_EFFECTS_MAX
from gridagent.policy.ledger import EFFECT, EffectInput, EffectState
from gridagent.storage.records import EffectReserved, EffectRow, EffectSent, EffectSettled
from gridagent.storage.rows import each, one

__all__ = (
    "CRASHED",
    "END_STATE",
    "NOT_SENT",
    "close_open",
    "doubtful",
    "drop_settled",
    "find",
    "known_ends",
    "reserve",
    "send",
    "settle",
)

NOT_SENT: Final = Refused(reason="not_sent")
"""The last run ended before it was sent."""
CRASHED: Final = InDoubt(reason="crashed")
"""The last run ended after it was sent and before evidence came."""

END_STATE: Final[dict[type, EffectState]] = {
    Confirmed: EffectState.CONFIRMED,
    Refused: EffectState.REFUSED,
    InDoubt: EffectState.IN_DOUBT,
}
_GIVEN: Final = {Confirmed: EffectInput.CONFIRM, Refused: EffectInput.REFUSE, InDoubt: EffectInput.DOUBT}

encode: Final = msgspec.json.Encoder(order="deterministic").encode
_request: Final = msgspec.json.Decoder(ActionRequest).decode
_outcome: Final[msgspec.json.Decoder[Outcome]] = msgspec.json.Decoder(Outcome)
_charge: Final[msgspec.json.Decoder[tuple[tuple[Meter, int], ...]]] = msgspec.json.Decoder(
    tuple[tuple[Meter, int], ...]
)

_COLUMNS: Final = (
    "effect, avatar, run, state, action, capability, effect_class, canonical, request, role, rule, charge,"
    " reserved_at, sent_at, settled_at, outcome"
)
_FROM: Final = {
    kind: ", ".join(f"'{state.value}'" for state, with_, _ in EFFECT.rows() if with_ is given)
    for kind, given in _GIVEN.items()
}
"""The states that each end may be reached from, as SQL."""


def reserve(connection: apsw.Connection, record: EffectReserved) -> bool:
    """Take a reservation in; False when the key is known from another one."""
    connection.execute(
        f"INSERT INTO effect ({_COLUMNS}) VALUES"  # noqa: S608 - names of our own
        " (?, ?, ?, 'reserved', ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL) ON CONFLICT DO NOTHING",
        (
            record.effect,
            record.avatar,
            record.run,
            record.action,
            record.capability.value,
            record.effect_class.value,
            record.canonical,
            encode(record.request),
            record.role.value,
            record.rule,
            encode(record.charge),
            record.at,
        ),
    )
    if connection.changes():
        return True
    known = one(connection, tuple[int, float], "SELECT run, reserved_at FROM effect WHERE effect = ?", (record.effect,))
    return known == (record.run, record.at)


def send(connection: apsw.Connection, record: EffectSent) -> bool:
    """Note that an effect may happen from now on; False when this run did not reserve it, or it has ended."""
    connection.execute(
        "UPDATE effect SET state = 'sent', sent_at = ? WHERE effect = ? AND run = ? AND state = 'reserved'",
        (record.at, record.effect, record.run),
    )
    if connection.changes():
        return True
    known = one(connection, tuple[int, str], "SELECT run, state FROM effect WHERE effect = ?", (record.effect,))
    return known == (record.run, EffectState.SENT.value)


def settle(connection: apsw.Connection, record: EffectSettled) -> bool:
    """Note how an effect ended; False when it is not this run's, or its table does not allow it."""
    kind = type(record.outcome)
    whose = "state = 'in_doubt'" if record.run is None else "run = ?"
    connection.execute(
        f"UPDATE effect SET state = ?, settled_at = ?, outcome = ? WHERE effect = ? AND {whose}"  # noqa: S608 - names of our own
        f" AND state IN ({_FROM[kind]})",
        (
            END_STATE[kind].value,
            record.at,
            encode(record.outcome),
            record.effect,
            *(() if record.run is None else (record.run,)),
        ),
    )
    return connection.changes() > 0


def find(connection: apsw.Connection, effect: EffectKey) -> EffectRow | None:
    """Return one effect."""
    return next(iter(_rows(connection, "effect = ?", (effect,))), None)


def doubtful(connection: apsw.Connection, avatar: AvatarKey | None) -> tuple[EffectRow, ...]:
    """Return every effect in doubt, the oldest first."""
    if avatar is None:
        return _rows(connection, "state = 'in_doubt' ORDER BY settled_at, effect", ())
    return _rows(connection, "state = 'in_doubt' AND avatar = ? ORDER BY settled_at, effect", (avatar,))


def close_open(connection: apsw.Connection, avatar: AvatarKey, at: float) -> tuple[EffectRow, ...]:
    """End what the last run left open: sent comes into doubt, reserved is refused.

    Returns:
        What was only reserved.
    """
    reserved = _rows(connection, "state IN ('reserved', 'sent') AND state = 'reserved' AND avatar = ?", (avatar,))
    for state, outcome in ((EffectState.SENT, CRASHED), (EffectState.RESERVED, NOT_SENT)):
        connection.execute(
            "UPDATE effect SET state = ?, settled_at = ?, outcome = ?"
            " WHERE state IN ('reserved', 'sent') AND state = ? AND avatar = ?",
            (END_STATE[type(outcome)].value, at, encode(outcome), state.value, avatar),
        )
    return tuple(
        msgspec.structs.replace(row, state=EffectState.REFUSED, settled_at=at, outcome=NOT_SENT) for row in reserved
    )


def known_ends(connection: apsw.Connection, avatar: AvatarKey) -> tuple[EffectKey, ...]:
    """Return the keys of the newest ends, newest first, as many as the gateway remembers."""
    rows = each(
        connection,
        tuple[EffectKey],
        "SELECT effect FROM effect WHERE avatar = ? AND state IN ('confirmed', 'refused')"
        " ORDER BY settled_at DESC, effect LIMIT ?",
        (avatar, SETTLED_EFFECTS_MAX),
    )
    return tuple(effect for (effect,) in rows)


def drop_settled(connection: apsw.Connection, *, before: float, light_before: float, keep: int, most: int) -> int:
    """Let the oldest settled effects go: those settled before a moment, and those beyond ``keep`` rows.

    Args:
        connection: in a transaction.
        before: wall clock; what would cost something twice and was settled earlier goes.
        light_before: the same for everything else.
        keep: rows that may stay, however young; beyond it, what costs nothing goes first.
        most: rows that go at once, so that a transaction stays short.

    Returns:
        How many went.
    """
    ends = "state IN ('confirmed', 'refused')"
    (count,) = one(connection, tuple[int], f"SELECT count(*) FROM effect WHERE {ends}") or (0,)  # noqa: S608 - our own
    excess = min(count - keep, most)
    bound: tuple[float, ...] = (before, light_before, most)
    where = "AND settled_at < CASE effect_class WHEN 'once' THEN ? ELSE ? END ORDER BY settled_at"
    if excess > 0:
        bound = (excess,)
        where = "ORDER BY effect_class = 'once', settled_at"
    connection.execute(
        f"DELETE FROM effect WHERE effect IN (SELECT effect FROM effect WHERE {ends} {where} LIMIT ?)",  # noqa: S608 - our own
        bound,
    )
    return connection.changes()


def _rows(connection: apsw.Connection, where: str, bound: Iterable[apsw.SQLiteValue]) -> tuple[EffectRow, ...]:
    found = each(connection, _Row, f"SELECT {_COLUMNS} FROM effect WHERE {where}", bound)  # noqa: S608 - our own
    return tuple(row.value() for row in found)


class _Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One row in the order of `_COLUMNS`."""

    effect: str
    avatar: str
    run: int
    state: str
    action: str
    capability: str
    effect_class: str
    canonical: bytes
    request: bytes
    role: str
    rule: str
    charge: bytes
    reserved_at: float
    sent_at: float | None
    settled_at: float | None
    outcome: bytes | None

    def value(self) -> EffectRow:
        """Return it as it is handed out."""
        return EffectRow(
            reserved=EffectReserved(
                effect=EffectKey(self.effect),
                avatar=AvatarKey(self.avatar),
                run=self.run,
                action=self.action,
                capability=Capability(self.capability),
                effect_class=EffectClass(self.effect_class),
                canonical=self.canonical,
                request=_request(self.request),
                role=Role(self.role),
                rule=self.rule,
                charge=_charge.decode(self.charge),
                at=self.reserved_at,
            ),
            state=EffectState(self.state),
            sent_at=self.sent_at,
            settled_at=self.settled_at,
            outcome=None if self.outcome is None else _outcome.decode(self.outcome),
        )
