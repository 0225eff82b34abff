"""Interacting: sitting, standing, touching, animations and script dialogs.

Owns those rows of the catalogue. Granting a script's permissions is left out: one of them is to take money, so
only an operator answers (Spec: MND-13; see `gridagent.tools.catalogue.NOT_TOOLS`).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import AnswerDialog, PlayAnimation, SitOn, SitOnGround, StandUp, StopAnimation, Touch
from gridagent.tools.native import act

__all__ = ("INTERACT",)

INTERACT: Final = (
    act(SitOn, "Sit on an object that can be sat on.", {"object_id": "UUID of the object."}),
    act(SitOnGround, "Sit down on the ground where you are.", {}),
    act(StandUp, "Stand up.", {}),
    act(Touch, "Touch an object; its script may answer with a dialog.", {"object_id": "UUID of the object."}),
    act(PlayAnimation, "Start an animation.", {"animation_id": "UUID of the animation."}),
    act(StopAnimation, "Stop an animation.", {"animation_id": "UUID of the animation."}),
    act(
        AnswerDialog,
        "Press one button of a script's open dialog.",
        {"offer_id": "Id of the open dialog.", "button": "The button, exactly as the dialog shows it."},
    ),
)
"""The interacting tools."""
