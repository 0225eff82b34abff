"""Who may log in over the wire, and by which password.

Owns the names and the comparison of passwords; the world knows no passwords. A name is compared without regard to case,
as grids do. An avatar that a character of the world lives in is nobody's to log in as. Called by the login service.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Final

from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.world import World
from gridagent.ids import AvatarId
from live_grid.login.request import password_hash, split_name

__all__ = ("DEFAULT_PASSWORD", "Accounts")

DEFAULT_PASSWORD: Final = "simulated"  # noqa: S105 - a public word of a grid that lives on one machine
"""What opens every account that has no password of its own."""


class Accounts:
    """The accounts of a world as its login service knows them.

    Args:
        world: whose accounts.
        passwords: of avatars that have their own, in plain text.
        default: of all others.
    """

    __slots__ = ("_default", "_passwords", "_world")

    def __init__(
        self, world: World, passwords: Mapping[AvatarId, str] | None = None, *, default: str = DEFAULT_PASSWORD
    ) -> None:
        self._world = world
        self._passwords = dict(passwords or {})
        self._default = default

    def find(self, first: str, last: str, password: str) -> Avatar | None:
        """Find the account of a name if the password is right; both wrong look alike.

        Args:
            first: as the client wrote it.
            last: as the client wrote it.
            password: plain, or the hash of it that clients send.
        """
        wanted = _folded(f"{first} {last}")
        avatar = next(
            (found for found in map(self._world.avatar, self._world.avatars()) if _folded(found.name) == wanted),
            None,
        )
        own = self._default if avatar is None else self._passwords.get(avatar.avatar_id, self._default)
        # Second Life clients hash the first sixteen characters only.
        right = [
            hmac.compare_digest(
                password_hash(own, second_life=short).encode(),
                password_hash(password, second_life=short).encode("utf-8", "surrogatepass"),
            )
            for short in (False, True)
        ]
        if avatar is None or not any(right) or self._is_lived_in(avatar):
            return None
        return avatar

    @staticmethod
    def _is_lived_in(avatar: Avatar) -> bool:
        return avatar.session is not None and avatar.session.hosted


def _folded(name: str) -> tuple[str, str]:
    first, last = split_name(name)
    return first.casefold(), last.casefold()
