"""How much of the world is kept: every table's ceiling, with the reason for its number.

Owns the numbers and nothing else. At a ceiling the longest-known entry makes room, except where a line says
otherwise; nothing a simulator or a person sends can raise one (Spec: LIV-5, BND-1; Fault: 6).
"""

from __future__ import annotations

from typing import Final

__all__ = (
    "ANIMATIONS_MAX",
    "AVATARS_MAX",
    "BUTTONS_MAX",
    "CHAT_MAX_CHARACTERS",
    "FRIENDS_MAX",
    "LABEL_MAX_CHARACTERS",
    "LONG_MAX_CHARACTERS",
    "NAMES_ASKED_MAX",
    "NAMES_MAX",
    "NAME_MAX_CHARACTERS",
    "OBJECTS_MAX",
    "OBJECTS_WANTED_MAX",
    "OFFERS_MAX",
    "REGIONS_MAX",
    "URL_MAX_CHARACTERS",
)

REGIONS_MAX: Final = 9
"""Regions with a circuit: ours and its eight neighbours; one more is not taken in."""
AVATARS_MAX: Final = 512
"""Avatars in one region; grids let in about 100."""
OBJECTS_MAX: Final = 4_096
"""Objects known in one region."""
OBJECTS_WANTED_MAX: Final = 1_024
"""Objects of one region that are still to be asked about; the oldest wish goes."""
NAMES_MAX: Final = 4_096
"""Names learnt of avatars."""
NAMES_ASKED_MAX: Final = 512
"""Avatars whose name is still to be asked; one more waits until it is seen again."""
FRIENDS_MAX: Final = 4_096
"""Friends; one more is not kept."""
OFFERS_MAX: Final = 256
"""Offers that wait for our answer."""
ANIMATIONS_MAX: Final = 64
"""Animations of our avatar; a message carries no more anyway."""
BUTTONS_MAX: Final = 12
"""Buttons of a script dialog, as grids have it; more are cut off."""
NAME_MAX_CHARACTERS: Final = 128
"""A name of a person, thing or place."""
LABEL_MAX_CHARACTERS: Final = 64
"""A button, a key of an alert."""
CHAT_MAX_CHARACTERS: Final = 1_024
"""What was said."""
LONG_MAX_CHARACTERS: Final = 512
"""A description, a hover text, a reason."""
URL_MAX_CHARACTERS: Final = 512
"""An address somebody shows us; never opened."""
