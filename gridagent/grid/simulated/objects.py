"""Objects of a region: seats, vendors, scripted things and plain boxes.

Owns the record and its view; performs no action. Invariant: an object stands in exactly one region and
is counted on exactly one parcel, the one under it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import attrs
from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import GridEvent, ObjectView, Speaker, SpeakerKind
from gridagent.grid.simulated.characters import ObjectEvent
from gridagent.grid.simulated.region import Region
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import Bounded, Label, Name, ShortText

__all__ = ("GridObject", "OnObjectEvent", "Thing")

OnObjectEvent: TypeAlias = Callable[[GridEvent | ObjectEvent], None]
"""Takes what a scripted object perceives, synchronously."""


class Thing(Bounded, frozen=True, kw_only=True):
    """What an object is like when it is placed."""

    name: Name = "Object"
    description: ShortText = ""
    sittable: bool = False
    touchable: bool = False
    payable: bool = False
    """A tip jar: takes any amount."""
    for_sale: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    """Price in L$ of a copy; the object itself stays."""
    may_copy: bool = True
    may_transfer: bool = True
    prims: Annotated[int, Meta(ge=1, le=1_000)] = 1


@attrs.define(eq=False, kw_only=True)
class GridObject:
    """One object that stands in a region."""

    object_id: ObjectId
    owner_id: AvatarId
    region: Region
    position: Position
    thing: Thing
    sitter: AvatarId | None = None
    mark: Label = ""
    """Nonce of the deed of its owner that made it, or changed it last."""
    script: OnObjectEvent | None = None
    """Told what the object perceives; None for a thing without a script."""

    def speaker(self) -> Speaker:
        """Return the object as the source of words; its owner's name is not lent to it."""
        return Speaker(kind=SpeakerKind.OBJECT, id=self.object_id, name=self.thing.name, owner_id=self.owner_id)

    def view(self, reference: Label = "") -> ObjectView:
        """Return what can be seen of it."""
        thing = self.thing
        return ObjectView(
            object_id=self.object_id,
            name=thing.name,
            owner_id=self.owner_id,
            position=self.position,
            description=thing.description,
            for_sale=thing.for_sale,
            touchable=thing.touchable,
            sittable=thing.sittable,
            reference=reference,
        )
