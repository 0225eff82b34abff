"""The scripted characters of the simulated grid, one file each; `registry` lists them."""

from gridagent.grid.simulated.inhabitants.casting import Cast as Cast
from gridagent.grid.simulated.inhabitants.casting import Person as Person
from gridagent.grid.simulated.inhabitants.casting import Thing as Thing
from gridagent.grid.simulated.inhabitants.registry import CHARACTERS as CHARACTERS
from gridagent.grid.simulated.inhabitants.registry import AvatarCharacter as AvatarCharacter
from gridagent.grid.simulated.inhabitants.registry import ObjectCharacter as ObjectCharacter
from gridagent.grid.simulated.inhabitants.registry import make_character as make_character

__all__ = ("CHARACTERS", "AvatarCharacter", "Cast", "ObjectCharacter", "Person", "Thing", "make_character")
