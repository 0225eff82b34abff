"""The opaque proof that one action was authorised.

Owns a class without a public constructor, content or state: the gateway's ledger owns the record, and
recognises a handle by identity (Spec: POL-1). A copy, a pickle, a mock or a forged object is a different
object and is refused. Only `gridagent.policy.gateway` mints one; a test walks the source to prove it.
"""

from __future__ import annotations

from typing import Final, NoReturn, final

__all__ = ("AuthorizedAction",)

_MINT: Final = object()


@final
class AuthorizedAction:
    """An empty handle; only its identity means anything."""

    __slots__ = ("__weakref__",)

    def __new__(cls, mint: object = None) -> AuthorizedAction:
        """Refuse everybody but the mint."""
        if mint is not _MINT:
            raise TypeError("AuthorizedAction is minted by the policy gateway only")
        return object.__new__(cls)

    def __init_subclass__(cls) -> NoReturn:
        """Refuse subclasses."""
        raise TypeError("AuthorizedAction cannot be subclassed")

    def __copy__(self) -> NoReturn:
        """Refuse to be copied."""
        raise TypeError("AuthorizedAction cannot be copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        """Refuse to be copied."""
        raise TypeError("AuthorizedAction cannot be copied")

    def __reduce__(self) -> NoReturn:
        """Refuse to be serialised."""
        raise TypeError("AuthorizedAction cannot be serialised")

    def __repr__(self) -> str:
        """Tell nothing."""
        return "<AuthorizedAction>"
