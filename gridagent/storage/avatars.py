"""What there is exactly one of for an avatar: its runs, its last connection, and whether it is held.

Owns the SQL of these columns of the table ``avatar``, and the reading of all that was kept of an avatar. Called
inside transactions. Invariants: numbers only grow (Spec: SUP-5); a restart does not release what was held (Spec:
POL-12).
"""

from __future__ import annotations

import apsw

from gridagent.ids import AvatarKey, Generation
from gridagent.policy.changes import GatewaySnapshot, GenerationOpened, HoldChanged
from gridagent.storage import approvals, budgets, effects, grants
from gridagent.storage.records import Kept
from gridagent.storage.rows import one, select

__all__ = ("begin_run", "hold", "open_generation", "snapshot")


def begin_run(connection: apsw.Connection, avatar: AvatarKey) -> int:
    """Count one more run; return its number."""
    ((run,),) = select(
        connection,
        tuple[int],
        "INSERT INTO avatar (avatar, run) VALUES (?, 1) ON CONFLICT DO UPDATE SET run = run + 1 RETURNING run",
        (avatar,),
    )
    return run


def open_generation(connection: apsw.Connection, kept: Kept, change: GenerationOpened, number: int) -> bool:  # noqa: ARG001 - one shape
    """Note that a connection begins; False when one with this or a higher number was before."""
    connection.execute(
        "INSERT INTO avatar (avatar, generation) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET generation = ?2"
        " WHERE generation < ?2",
        (kept.avatar, change.generation),
    )
    return connection.changes() > 0


def hold(connection: apsw.Connection, kept: Kept, change: HoldChanged, number: int) -> bool:  # noqa: ARG001 - one shape
    """Note that the kill switch was thrown or released."""
    connection.execute(
        "INSERT INTO avatar (avatar, held) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET held = ?2",
        (kept.avatar, change.held),
    )
    return True


def snapshot(connection: apsw.Connection, avatar: AvatarKey) -> GatewaySnapshot:
    """Return what all changes of an avatar come to."""
    generation, held = one(
        connection, tuple[Generation, int], "SELECT generation, held FROM avatar WHERE avatar = ?", (avatar,)
    ) or (Generation(0), 0)
    return GatewaySnapshot(
        generation=generation,
        held=bool(held),
        budgets=budgets.load(connection, avatar),
        open_effects=effects.open_effects(connection, avatar),
        ended_once=effects.known_ends(connection, avatar, once=True),
        ended_light=effects.known_ends(connection, avatar, once=False),
        approvals=approvals.load(connection, avatar),
        grants=grants.load(connection, avatar),
    )
