"""Which characters there are: one table from the parameters a scenario writes to the class that plays them.

Owns the two unions a scenario file chooses from by the key ``kind`` (characters of avatars, characters of
objects) and `make_character`. A character that is not in the table cannot be named by a scenario. Called
by `gridagent.grid.simulated.scenario_build`, by `gridagent.grid.simulated.scenario_format` and by tests.

Invariant: the unions and the table list the same classes; a test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridagent.grid.simulated.characters import Character
from gridagent.grid.simulated.inhabitants.casting import Cast, CharacterParams
from gridagent.grid.simulated.inhabitants.chatterbox import Chatterbox, ChatterboxParams
from gridagent.grid.simulated.inhabitants.greeter import Greeter, GreeterParams
from gridagent.grid.simulated.inhabitants.griefer import Griefer, GrieferParams
from gridagent.grid.simulated.inhabitants.injector import Injector, InjectorParams
from gridagent.grid.simulated.inhabitants.owner import Owner, OwnerParams
from gridagent.grid.simulated.inhabitants.shopper import Shopper, ShopperParams
from gridagent.grid.simulated.inhabitants.talking_object import TalkingObject, TalkingObjectParams
from gridagent.grid.simulated.inhabitants.twin import Twin, TwinParams
from gridagent.grid.simulated.inhabitants.vendor import Vendor, VendorParams
from gridagent.grid.simulated.inhabitants.visitor import Visitor, VisitorParams
from gridagent.grid.simulated.inhabitants.wanderer import Wanderer, WandererParams

__all__ = ("CHARACTERS", "AvatarCharacter", "ObjectCharacter", "kind_of", "make_character")

AvatarCharacter: TypeAlias = (
    GreeterParams
    | WandererParams
    | ShopperParams
    | ChatterboxParams
    | TwinParams
    | InjectorParams
    | GrieferParams
    | OwnerParams
    | VisitorParams
)
"""What an avatar of a scenario can be played by."""
ObjectCharacter: TypeAlias = TalkingObjectParams | VendorParams
"""What an object of a scenario can be played by."""

CHARACTERS: Final[Mapping[type[CharacterParams], Callable[..., Character]]] = {
    GreeterParams: Greeter,
    WandererParams: Wanderer,
    ShopperParams: Shopper,
    ChatterboxParams: Chatterbox,
    TwinParams: Twin,
    InjectorParams: Injector,
    GrieferParams: Griefer,
    OwnerParams: Owner,
    VisitorParams: Visitor,
    TalkingObjectParams: TalkingObject,
    VendorParams: Vendor,
}
"""The class that plays each kind of parameters."""


def kind_of(params: type[CharacterParams]) -> str:
    """Return the name a scenario writes for a character."""
    return str(params.__struct_config__.tag)


def make_character(params: AvatarCharacter | ObjectCharacter, cast: Cast) -> Character:
    """Make the character that ``params`` describe, with every name resolved.

    Raises:
        ConfigError: the parameters name somebody or something the cast does not have.
    """
    return CHARACTERS[type(params)](params, cast)
