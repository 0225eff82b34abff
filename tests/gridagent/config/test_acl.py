"""Access lists: who is behind the group's bits of a mode."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.acl import grants_others

NOBODY = 0xFFFF_FFFF
OWNER, USER, GROUP, NAMED_GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32


def listed(*entries: tuple[int, int, int], version: int = 2) -> bytes:
    """A list as the kernel keeps it."""
    return struct.pack("<I", version) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


CREDENTIAL = [(OWNER, 4, NOBODY), (USER, 4, 1_000), (GROUP, 0, NOBODY), (MASK, 4, NOBODY), (OTHER, 0, NOBODY)]


def test_a_credential_is_for_its_user_alone() -> None:
    """As systemd writes it: root's, and one user may read. Spec: CFG-2."""
    assert not grants_others(listed(*CREDENTIAL), 1_000)
    assert grants_others(listed(*CREDENTIAL), 1_001)


@pytest.mark.parametrize(
    "entry",
    [(USER, 4, 1_001), (USER, 6, 1_000), (GROUP, 4, NOBODY), (NAMED_GROUP, 4, 50), (OTHER, 4, NOBODY), (64, 4, 1_000)],
)
def test_whoever_else_is_granted_something_counts(entry: tuple[int, int, int]) -> None:
    """Another user, more than reading, a group, everybody, or an entry of a kind that nobody knows. Spec: CFG-2."""
    assert grants_others(listed(*CREDENTIAL, entry), 1_000)
    assert not grants_others(listed(*CREDENTIAL, (entry[0], 0, entry[2])), 1_000)


@pytest.mark.parametrize("data", [b"", b"\x02", listed(*CREDENTIAL)[:-1], listed(*CREDENTIAL, version=3)])
def test_a_list_that_cannot_be_read_grants_something(data: bytes) -> None:
    """Doubt is no reason to trust. Spec: CFG-2."""
    assert grants_others(data, 1_000)


@given(st.binary(max_size=64), st.integers(0, 2**32 - 1))
def test_any_bytes_give_an_answer(data: bytes, user: int) -> None:
    """It never raises. Spec: CFG-2."""
    assert grants_others(data, user) in {True, False}
