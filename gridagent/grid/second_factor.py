"""The port between a grid's login and what stands beside the password: a one-time code, and the proof of one.

Owns the protocol and nothing else. An adapter asks it while it logs in (``live_grid.backend.joining``); the composition
root makes the real one (`gridagent.cli.second_factor`). Its invariant: what it hands out belongs to one account at one
login address, and an adapter sends it nowhere else (Spec: LIV-1, CFG-3).
"""

from __future__ import annotations

from typing import Protocol

from gridagent.config.secrets import SecretStr

__all__ = ("SecondFactor",)


class SecondFactor(Protocol):
    """What one account can show a grid besides its password."""

    def take_code(self) -> SecretStr | None:
        """Return the one-time code that the operator gave, once; None while none is there."""
        ...

    async def remembered(self) -> SecretStr | None:
        """Return the proof of an earlier code; None where there is none, or it cannot be read.

        Cancellation: safe.
        """
        ...

    async def remember(self, proof: SecretStr | None) -> None:
        """Keep a proof in the place of the last one; None forgets it. What cannot be kept is asked for again.

        Cancellation: safe.
        """
        ...
