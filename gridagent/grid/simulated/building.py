"""Putting objects into regions, changing, deleting and returning them.

Owns which objects stand where and how many prims that makes. Building needs the parcel's leave and room
on parcel and region; changing and deleting need ownership; returning needs the land. Invariant:
``parcel.prims`` is the sum over the objects that stand on it, and never over the parcel's limit.
"""

from __future__ import annotations

import msgspec

from gridagent.actions import DeleteObject, EditObject, Position, ReturnObject, RezObject
from gridagent.events import ObjectGone, ObjectSeen
from gridagent.grid.simulated.avatars import Avatar, Body
from gridagent.grid.simulated.belongings import drop_item, has_room, put_item
from gridagent.grid.simulated.items import OBJECT_KIND, Item
from gridagent.grid.simulated.objects import GridObject, Thing
from gridagent.grid.simulated.postures import unseat
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.region import Region, above_ground
from gridagent.grid.simulated.state import State
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import Label

__all__ = ("delete_object", "edit_object", "place", "return_object", "rez_object")


def rez_object(state: State, avatar: Avatar, body: Body, action: RezObject, reference: Label) -> None:
    """Put a new box, or an object from the inventory, into the region."""
    region, position = body.region, action.position
    item = None if action.item_id is None else avatar.inventory.get(action.item_id)
    reason = _unbuildable(region, avatar.avatar_id, position)
    if reason is None and action.item_id is not None:
        reason = _not_rezzable(item)
    if reason is not None:
        state.refuse(avatar, reference, reason)
        return
    if item is None:
        thing = Thing(name=action.name, sittable=True)  # as every box is that has no script against it
    else:
        thing = Thing(name=item.name, may_copy=item.may_copy, may_transfer=item.may_transfer)
        if not item.may_copy:
            drop_item(state, avatar, item)
    placed = place(state, region, avatar.avatar_id, position, thing)
    placed.mark = reference
    state.tell(avatar, ObjectSeen(object=placed.view(state.carried(reference))))
    state.tell_others(region, avatar, ObjectSeen(object=placed.view()))


def _unbuildable(region: Region, avatar_id: AvatarId, position: Position) -> Refusal | None:
    if not region.contains(position):
        return Refusal.OUTSIDE_REGION
    parcel = region.parcel_at(position)
    if not parcel.may_build(avatar_id):
        return Refusal.NO_BUILD_RIGHTS
    if not parcel.has_room() or not region.has_prims(1):
        return Refusal.PRIM_LIMIT
    return None


def _not_rezzable(item: Item | None) -> Refusal | None:
    if item is None:
        return Refusal.UNKNOWN_ITEM
    return None if item.kind == OBJECT_KIND else Refusal.NOT_AN_OBJECT


def place(
    state: State,
    region: Region,
    owner_id: AvatarId,
    position: Position,
    thing: Thing,
    object_id: ObjectId | None = None,
) -> GridObject:
    """Stand an object in a region that has room for it, not under the ground; nobody is told."""
    position = above_ground(position)
    placed = GridObject(
        object_id=object_id or ObjectId(state.ids()),
        owner_id=owner_id,
        region=region,
        position=position,
        thing=thing,
    )
    state.objects[placed.object_id] = placed
    region.objects[placed.object_id] = placed
    region.prims += thing.prims
    region.parcel_at(position).prims += thing.prims
    return placed


def edit_object(state: State, avatar: Avatar, body: Body, action: EditObject, reference: Label) -> None:
    """Rename, describe or move an object of one's own."""
    edited = _own(state, avatar, body, action.object_id, reference)
    if edited is None:
        return
    if action.position is not None:
        reason = _immovable(body.region, avatar.avatar_id, edited, action.position)
        if reason is not None:
            state.refuse(avatar, reference, reason)
            return
        _move(state, edited, above_ground(action.position))
    thing = edited.thing
    edited.thing = msgspec.structs.replace(
        thing,
        name=thing.name if action.name is None else action.name,
        description=thing.description if action.description is None else action.description,
    )
    edited.mark = reference
    state.tell(avatar, ObjectSeen(object=edited.view(state.carried(reference))))
    state.tell_others(body.region, avatar, ObjectSeen(object=edited.view()))


def _immovable(region: Region, avatar_id: AvatarId, moved: GridObject, position: Position) -> Refusal | None:
    if not region.contains(position):
        return Refusal.OUTSIDE_REGION
    target = region.parcel_at(position)
    if target is region.parcel_at(moved.position):
        return None
    if not target.may_build(avatar_id):
        return Refusal.NO_BUILD_RIGHTS
    return None if target.has_room(moved.thing.prims) else Refusal.PRIM_LIMIT


def _move(state: State, moved: GridObject, position: Position) -> None:
    region = moved.region
    region.parcel_at(moved.position).prims -= moved.thing.prims
    region.parcel_at(position).prims += moved.thing.prims
    moved.position = position
    sitter = None if moved.sitter is None else state.avatars[moved.sitter].body
    if sitter is not None:
        sitter.position = position


def delete_object(state: State, avatar: Avatar, body: Body, action: DeleteObject, reference: Label) -> None:
    """Delete an object of one's own, for good."""
    deleted = _own(state, avatar, body, action.object_id, reference)
    if deleted is not None:
        _remove(state, deleted)


def return_object(state: State, avatar: Avatar, body: Body, action: ReturnObject, reference: Label) -> None:
    """Send an object back into its owner's inventory, from land the avatar may manage."""
    returned = state.object_here(body, action.object_id)
    if returned is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OBJECT)
        return
    owner = state.avatars[returned.owner_id]
    if not body.region.parcel_at(returned.position).may_manage(avatar.avatar_id):
        state.refuse(avatar, reference, Refusal.NO_LAND_RIGHTS)
    elif not has_room(owner):
        state.refuse(avatar, reference, Refusal.INVENTORY_FULL)
    else:
        _remove(state, returned)
        thing = returned.thing
        put_item(
            state,
            owner,
            name=thing.name,
            kind=OBJECT_KIND,
            may_copy=thing.may_copy,
            may_transfer=thing.may_transfer,
        )


def _own(state: State, avatar: Avatar, body: Body, object_id: ObjectId, reference: Label) -> GridObject | None:
    """Find an object of the avatar's own, or refuse and return None."""
    found = state.object_here(body, object_id)
    if found is None:
        state.refuse(avatar, reference, Refusal.UNKNOWN_OBJECT)
        return None
    if found.owner_id != avatar.avatar_id:
        state.refuse(avatar, reference, Refusal.NOT_OWNER)
        return None
    return found


def _remove(state: State, removed: GridObject) -> None:
    """Take an object out of the world; its sitter stands up and its open offers are withdrawn."""
    unseat(state, removed)
    region = removed.region
    removed.script = None
    del state.objects[removed.object_id]
    del region.objects[removed.object_id]
    region.listeners.pop(removed.object_id, None)
    region.prims -= removed.thing.prims
    region.parcel_at(removed.position).prims -= removed.thing.prims
    for offer in state.offers.of_object(removed.object_id):
        state.withdraw(offer)
    state.tell_region(region, ObjectGone(object_id=removed.object_id))
