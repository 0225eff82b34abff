"""Which verb does which action: the one table of the simulated world.

Owns the dispatch and the check against the grid's profile; each verb lives in the module of its noun.
Called by `gridagent.grid.simulated.world` for whoever acts, client or character. Invariant: every action
of the catalogue has a row, and every action done leads to its evidence, to a refusal with a code, or to
somebody else's answer (Spec: EFX-1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gridagent import actions as asked
from gridagent.actions import ACTIONS, Action, Capability
from gridagent.events import GridProfile
from gridagent.grid.simulated import (
    building,
    inventory,
    land,
    messages,
    money,
    postures,
    scripts,
    social,
    speech,
    teleport,
    walking,
)
from gridagent.grid.simulated.avatars import Avatar
from gridagent.grid.simulated.refusals import Refusal
from gridagent.grid.simulated.state import State
from gridagent.limits import Label

__all__ = ("HANDLERS", "do")

HANDLERS: Final[dict[type[Action], Callable[..., None]]] = {
    asked.Say: speech.say,
    asked.Emote: speech.emote,
    asked.SetTyping: speech.set_typing,
    asked.SendIm: messages.send_im,
    asked.TurnTo: walking.turn_to,
    asked.WalkTo: walking.walk_to,
    asked.FollowAvatar: walking.follow_avatar,
    asked.StopMoving: walking.stop_moving,
    asked.SitOn: postures.sit_on,
    asked.SitOnGround: postures.sit_on_ground,
    asked.StandUp: postures.stand_up,
    asked.Touch: scripts.touch,
    asked.TeleportTo: teleport.teleport_to,
    asked.TeleportHome: teleport.teleport_home,
    asked.OfferTeleport: social.offer_teleport,
    asked.RequestTeleport: social.request_teleport,
    asked.AnswerTeleportOffer: teleport.answer_teleport_offer,
    asked.PlayAnimation: postures.play_animation,
    asked.StopAnimation: postures.stop_animation,
    asked.AnswerDialog: scripts.answer_dialog,
    asked.AnswerPermission: scripts.answer_permission,
    asked.OfferFriendship: social.offer_friendship,
    asked.AnswerFriendship: social.answer_friendship,
    asked.EndFriendship: social.end_friendship,
    asked.GiveItem: inventory.give_item,
    asked.AnswerInventoryOffer: inventory.answer_inventory_offer,
    asked.CreateNotecard: inventory.create_notecard,
    asked.CreateLandmark: inventory.create_landmark,
    asked.PayAvatar: money.pay_avatar,
    asked.PayObject: money.pay_object,
    asked.UploadAsset: inventory.upload_asset,
    asked.RezObject: building.rez_object,
    asked.EditObject: building.edit_object,
    asked.DeleteObject: building.delete_object,
    asked.ReturnObject: building.return_object,
    asked.EjectAvatar: land.eject_avatar,
}
"""Which verb does which action; each takes state, avatar, body, action and reference."""

NEEDS: Final[dict[Capability, tuple[Callable[[GridProfile], bool], Refusal]]] = {
    Capability.MONEY: (lambda profile: profile.has_money, Refusal.NO_MONEY),
    Capability.INVENTORY: (lambda profile: profile.has_inventory, Refusal.NO_INVENTORY),
    Capability.BUILD: (lambda profile: profile.has_build, Refusal.NO_BUILD),
    Capability.UPLOAD: (lambda profile: profile.has_upload, Refusal.NO_UPLOAD),
}
"""What the grid's profile must have for a capability, and the code when it hasn't."""

assert set(HANDLERS) == set(ACTIONS)  # noqa: S101 - the module's own promise


def do(state: State, avatar: Avatar, action: Action, reference: Label) -> None:
    """Do one action for an avatar that is in the world."""
    need = NEEDS.get(action.spec.capability)
    if need is not None and not need[0](state.settings.profile):
        state.refuse(avatar, reference, need[1])
        return
    HANDLERS[type(action)](state, avatar, state.body(avatar), action, reference)
