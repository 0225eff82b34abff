"""The vendor: an object that advertises, tells its price when touched, and thanks who buys.

Its price is the price of the object in the scenario, so that what it says and what the grid shows cannot
differ. The grid itself refuses another amount, and hands the buyer a copy; the vendor may add a gift.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.events import GridEvent
from gridagent.grid.simulated.characters import (
    Act,
    DialogAnswered,
    ObjectEvent,
    ObjectPaid,
    ObjectTouched,
    OfferItem,
    OpenDialog,
    Request,
    Scene,
    Wake,
)
from gridagent.grid.simulated.inhabitants.casting import Cast, CharacterParams, Line, Seconds
from gridagent.grid.simulated.inhabitants.manners import Recently, around, first_name, object_im, object_say, pick
from gridagent.limits import Label, Name

__all__ = ("Vendor", "VendorParams")


class VendorParams(CharacterParams, frozen=True, kw_only=True, tag="vendor"):
    """What a scenario may say about a vendor."""

    gift: Annotated[Name, Meta(min_length=1)] | None = None
    """Item offered to a buyer on top of the copy that the grid hands over."""
    gift_kind: Annotated[Label, Meta(min_length=1)] = "notecard"
    about: Annotated[str, Meta(max_length=512)] = ""
    """What it says about the goods in its dialog."""
    lines: Annotated[tuple[Line, ...], Meta(max_length=64)] = ()
    """What it cries out; none means it keeps quiet."""
    every_s: Seconds = 60.0
    """Mean pause between two cries."""


class Vendor:
    """Sells one thing."""

    __slots__ = ("_last", "_params", "_prices", "_touched")

    PRICE, ABOUT, CLOSE = "Price", "About", "Close"

    def __init__(self, params: VendorParams, cast: Cast) -> None:
        self._params = params
        self._prices = {thing.object_id: thing.price for thing in cast.things.values()}
        self._touched = Recently()
        self._last = ""

    def start(self, scene: Scene) -> Sequence[Request]:
        """Begin to cry the goods."""
        return [Wake(name="cry", after_s=scene.rng.uniform(4.0, 14.0))] if self._params.lines else ()

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Open the dialog, answer a button, or hand over what was paid for."""
        params = self._params
        match event:
            case ObjectTouched(avatar_id=avatar_id) if self._touched.due(avatar_id, scene.now, 1.0):
                text = f"{scene.name}: {self._price(scene)}. Pay me to buy."
                return [Act(action=OpenDialog(to=avatar_id, text=text, buttons=(self.PRICE, self.ABOUT, self.CLOSE)))]
            case DialogAnswered(avatar_id=avatar_id, button=self.PRICE):
                return [object_im(avatar_id, f"{scene.name}: {self._price(scene)}.")]
            case DialogAnswered(avatar_id=avatar_id, button=self.ABOUT):
                return [object_im(avatar_id, params.about or "It is the best on the grid.")]
            case ObjectPaid(avatar_id=avatar_id, name=name):
                thanks: list[Request] = [object_say(f"Thank you, {first_name(name)}. Enjoy it!", after_s=1.0)]
                if params.gift is not None:
                    gift = OfferItem(to=avatar_id, name=params.gift, kind=params.gift_kind)
                    thanks.append(Act(action=gift, after_s=1.5))
                return thanks
            case _:
                return ()

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Cry the goods again."""
        del name
        self._last = pick(scene.rng, self._params.lines, but=self._last)
        return [object_say(self._last), Wake(name="cry", after_s=around(scene.rng, self._params.every_s))]

    def _price(self, scene: Scene) -> str:
        """Say its own price, found by its own id."""
        price = next((price for object_id, price in self._prices.items() if object_id == scene.me), None)
        return "not for sale today" if price is None else f"L${price}"
