"""Talking to chosen people: who of them is here, by which door, and who spoke.

Owns the one way in which characters address somebody by first name in public or by IM. Called by the
characters that have ``targets``. Invariant: nobody is addressed who is not in the region at that moment,
so an absent agent's mailbox does not fill up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gridagent.events import AvatarView, ChatHeard, GridEvent, ImReceived, Speaker, SpeakerKind
from gridagent.grid.simulated.characters import Act, ObjectEvent, Scene
from gridagent.grid.simulated.inhabitants.casting import Person
from gridagent.grid.simulated.inhabitants.manners import first_name, im, pick, present, say

__all__ = ("address", "choose_target", "spoken_to")


def spoken_to(event: GridEvent | ObjectEvent, scene: Scene) -> Speaker | None:
    """Return the avatar that IMs the character, or says its first name in public; None for all else.

    Objects and the system are never answered, nor what was sent while the character was away.
    """
    match event:
        case ImReceived(source=source, offline=False):
            return source if source.kind is SpeakerKind.AVATAR else None
        case ChatHeard(source=source, text=text):
            return source if source.kind is SpeakerKind.AVATAR and _names(scene.name, text) else None
        case _:
            return None


def _names(name: str, text: str) -> bool:
    """Tell whether the first name stands in the text as a word of its own: Al is not meant by "also"."""
    return re.search(rf"(?<!\w){re.escape(first_name(name))}(?!\w)", text, re.IGNORECASE) is not None


def choose_target(targets: Sequence[Person], scene: Scene) -> AvatarView | None:
    """Draw one of ``targets`` among those who are here, or None."""
    here = present(targets, scene)
    return pick(scene.rng, here) if here else None


def address(target: AvatarView, line: str, scene: Scene, *, im_share: float, after_s: float = 0.0) -> Act:
    """Say ``line`` to one person: by IM in ``im_share`` of the cases, else in public with the first name in front.

    ``{name}`` in the line is filled; a line that holds it is not given the name a second time.
    """
    name = first_name(target.name)
    text = line.replace("{name}", name)
    if scene.rng.random() < im_share:
        return im(target.avatar_id, text, after_s=after_s)
    return say(text if "{name}" in line else f"{name}, {text}", after_s=after_s)
