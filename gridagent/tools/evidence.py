"""Which results may be leaned on, now and later.

Owns the two questions a turn's policies ask of results: what stands behind a claim made now, and what may be
kept as evidence for later turns. Keeps nothing itself. Pure.

Invariant: only a success counts, only a result for the model is kept, and one for the world is never shown or
kept, so that nothing a model once read aloud comes back as something it saw (Spec: MND-7, MND-8, MND-9).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta

from gridagent.ids import UUID_PATTERN
from gridagent.limits import Bounded, Label
from gridagent.tools.arguments import ARGUMENTS_MAX_BYTES
from gridagent.tools.descriptor import Delivery
from gridagent.tools.envelope import RESULT_MAX_BYTES
from gridagent.tools.scheduler import Settled

__all__ = ("Evidence", "evidence_for_later", "evidence_now")

SUBJECTS_MAX: Final = 128
_UUID: Final = re.compile(UUID_PATTERN.strip("^$").encode())


class Evidence(Bounded, frozen=True, kw_only=True):
    """A result that may be leaned on."""

    tool: Label
    """Canonical name; of an act, the name of its action."""
    arguments: Annotated[bytes, Meta(max_length=ARGUMENTS_MAX_BYTES)]
    """Canonical JSON."""
    data: Annotated[bytes, Meta(max_length=RESULT_MAX_BYTES)]
    subjects: Annotated[tuple[Label, ...], Meta(max_length=SUBJECTS_MAX)]
    """UUIDs that it is about: those of its arguments, then those of its data."""
    tainted: bool

    def concerns(self, target: str) -> bool:
        """Tell whether it is about somebody or something, by UUID."""
        return target in self.subjects


def evidence_now(settled: Iterable[Settled]) -> tuple[Evidence, ...]:
    """Return what may be leaned on in the turn that brought it: all successes, in call order.

    A world result counts for the claim that it was done; its data isn't in it.
    """
    return tuple(_evidence(each) for each in settled if each.result.ok and each.call is not None)


def evidence_for_later(settled: Iterable[Settled]) -> tuple[Evidence, ...]:
    """Return what may be kept for later turns: successes whose result is for the model."""
    return tuple(
        _evidence(each)
        for each in settled
        if each.result.ok and each.call is not None and each.result.delivery is Delivery.MODEL
    )


def _evidence(settled: Settled) -> Evidence:
    result, call = settled.result, settled.call
    assert call is not None  # noqa: S101 - the callers have looked
    data = b"" if result.delivery is Delivery.WORLD else result.data
    return Evidence(
        tool=call.name,
        arguments=call.arguments,
        data=data,
        subjects=_subjects((call.arguments, data)),
        tainted=result.tainted,
    )


def _subjects(texts: Sequence[bytes]) -> tuple[str, ...]:
    found = dict.fromkeys(each.decode() for text in texts for each in _UUID.findall(text))
    return tuple(found)[:SUBJECTS_MAX]
