"""Who is who: roles by avatar UUID and by door, never by name (Spec: POL-4).

Owns the one function that turns a principal into a role; reads nothing but the configuration it was
built from. The rules and the approvals ask it. Its invariant: no text that came through a door can
change what it answers, because only canonical UUIDs are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gridagent.authority import Origin, Principal, Role
from gridagent.ids import AvatarId, parse_avatar_id

__all__ = ("OPERATOR_CLIENT", "RoleBook")

OPERATOR_CLIENT: Final = "operator"
"""Client name of whoever holds the control endpoint; a front that uses it is nobody."""

_OPERATOR_KEY: Final = Principal(client=OPERATOR_CLIENT).key
_FRONTS: Final = frozenset({Origin.AG_UI, Origin.A2A, Origin.MCP})
_DELEGATED: Final = frozenset({Origin.SCHEDULE, Origin.GOAL})


class RoleBook:
    """The configured avatars.

    Args:
        owners: UUIDs of owners.
        trusted: UUIDs of other authorised avatars; an owner among them stays an owner.

    Raises:
        ValueError: a UUID is not canonical, or nil.
    """

    __slots__ = ("_avatars",)

    def __init__(self, *, owners: Iterable[str] = (), trusted: Iterable[str] = ()) -> None:
        self._avatars: dict[AvatarId, Role] = {parse_avatar_id(text): Role.TRUSTED for text in trusted}
        self._avatars.update({parse_avatar_id(text): Role.OWNER for text in owners})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RoleBook) and self._avatars == other._avatars

    __hash__ = None  # type: ignore[assignment]

    def members(self) -> dict[AvatarId, Role]:
        """Return a copy of the book."""
        return dict(self._avatars)

    def avatar(self, avatar_id: AvatarId) -> Role:
        """Return the role of an avatar; whoever isn't listed is a stranger."""
        return self._avatars.get(avatar_id, Role.STRANGER)

    def pool(self, key: str) -> int:
        """Return which pool of budget accounts a principal's key belongs to.

        Returns:
            0 for configured avatars and the operator, 1 for fronts and schedules, 2 for everybody else.
        """
        if key in self._avatars or key == _OPERATOR_KEY:
            return 0
        return 1 if key.startswith("client:") else 2

    def role(self, principal: Principal, origin: Origin) -> Role:
        """Return the role in which a principal comes through a door.

        A principal that does not fit its door (an object that claims an avatar, a front that claims
        an avatar or to be the operator) never gains by it.
        """
        if origin is Origin.OBJECT_TEXT:
            return Role.OBJECT
        avatar_id = principal.avatar_id
        if origin in _FRONTS:
            fits = avatar_id is None and principal.client != OPERATOR_CLIENT
            return Role.FRONT if fits else Role.OBJECT
        if avatar_id is not None:
            return self._avatars.get(avatar_id, Role.STRANGER)
        if origin is Origin.OPERATOR_CONSOLE:
            return Role.OPERATOR
        if origin in _DELEGATED:
            return Role.OPERATOR if principal.client == OPERATOR_CLIENT else Role.FRONT
        return Role.OBJECT  # words in the world without an avatar behind them
