"""The shopper: goes to what is for sale, asks the price, buys, tips people, and says thank you.

Brings money into motion: `PayObject` to vendors, `PayAvatar` to people, and questions about prices to
whoever it is told to ask. Bounds: it never spends more than ``spends_at_most_linden`` in its life, nor
more than it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from gridagent.actions import PayObject, Position
from gridagent.events import ActionRefused, BalanceChanged, GridEvent, ObjectView
from gridagent.grid.simulated.characters import Act, ObjectEvent, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.casting import AvatarRefs, Cast, CharacterParams, ObjectRef, Seconds, Share
from gridagent.grid.simulated.inhabitants.manners import Recently, around, first_name, pay, pick, say, thanks, walk_to
from gridagent.grid.simulated.inhabitants.speech import address, choose_target, spoken_to
from gridagent.ids import ObjectId

__all__ = ("Shopper", "ShopperParams")


class ShopperParams(CharacterParams, frozen=True, kw_only=True, tag="shopper"):
    """What a scenario may say about a shopper."""

    buys: Annotated[tuple[ObjectRef, ...], Meta(max_length=64)] = ()
    """Objects it looks at; none means everything that is for sale in its region."""
    asks: AvatarRefs = ()
    """Whom it asks for prices and advice; none means it talks to itself."""
    tips: AvatarRefs = ()
    """Whom it gives a tip now and then."""
    tip_linden: Annotated[int, Meta(ge=1, le=10_000)] = 5
    """L$ of one tip."""
    tip_share: Share = 0.4
    """Part of its rounds that end with a tip."""
    spends_at_most_linden: Annotated[int, Meta(ge=0, le=1_000_000_000)] = 1_000
    """L$ it spends in its life, tips included."""
    im_share: Share = 0.2
    """Part of its questions that are asked by IM."""
    every_s: Seconds = 60.0
    """Mean pause between two rounds; a round itself takes about 20 s."""


class Shopper:
    """One round: walk to a thing, ask, buy or sigh, perhaps tip, rest."""

    __slots__ = ("_answered", "_asks", "_buys", "_complained", "_paid", "_params", "_spent", "_tips", "_wanted")

    def __init__(self, params: ShopperParams, cast: Cast) -> None:
        self._params = params
        self._buys = tuple(cast.thing(name).object_id for name in params.buys)
        self._asks = cast.persons(params.asks)
        self._tips = cast.persons(params.tips)
        self._answered = Recently()
        self._complained = Recently()
        self._spent = 0
        self._wanted: ObjectId | None = None
        self._paid = 0

    def start(self, scene: Scene) -> Sequence[Request]:
        """Begin the first round soon."""
        return [Wake(name="look", after_s=scene.rng.uniform(3.0, 9.0))]

    def on_event(self, event: GridEvent | ObjectEvent, scene: Scene) -> Sequence[Request]:
        """Be glad of a purchase, wonder at a refusal, and answer who speaks to it."""
        match event:
            case BalanceChanged(change=change) if self._paid and change == -self._paid:
                self._paid = 0
                return [say(f"Bought, for L${-change}. A good price.", after_s=around(scene.rng, 2.0))]
            case ActionRefused() if self._complained.due("refused", scene.now, 30.0):
                self._paid = 0
                return [say("Hm, that did not work.", after_s=around(scene.rng, 2.0))]
            case _:
                pass
        source = spoken_to(event, scene)
        if source is not None and self._answered.due(source.id, scene.now, 15.0):
            answers = (
                "I am only looking, {name}.",
                "Thank you, {name}, I will think about it.",
                "Good to know, {name}.",
            )
            line = pick(scene.rng, answers).replace("{name}", first_name(source.name))
            return [say(line, after_s=around(scene.rng, 2.5))]
        return thanks(event, scene)

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        """Go on to the next step of the round."""
        match name:
            case "look":
                return self._look(scene)
            case "ask":
                return self._ask(scene)
            case "buy":
                return self._buy(scene)
            case _:
                return self._rest(scene)

    def _look(self, scene: Scene) -> list[Request]:
        for_sale = [view for view in scene.objects() if view.for_sale is not None]
        if self._buys:
            for_sale = [view for view in for_sale if view.object_id in self._buys]
        if not for_sale:
            return [Wake(name="rest", after_s=around(scene.rng, 4.0))]
        view = pick(scene.rng, for_sale)
        self._wanted = view.object_id
        beside = Position(x=view.position.x, y=max(view.position.y - 1.5, 1.0), z=view.position.z)
        return [walk_to(beside), Wake(name="ask", after_s=around(scene.rng, 6.0))]

    def _ask(self, scene: Scene) -> list[Request]:
        view = self._find(scene)
        thing = view.name if view is not None else "thing that stood here"
        questions = (f"how much is the {thing}?", f"would you buy the {thing}, {{name}}?", f"is the {thing} any good?")
        question = pick(scene.rng, questions)
        target = choose_target(self._asks, scene)
        if target is None:
            act = say(f"I wonder what the {thing} costs.")
        else:
            act = address(target, question, scene, im_share=self._params.im_share)
        return [act, Wake(name="buy", after_s=around(scene.rng, 7.0))]

    def _buy(self, scene: Scene) -> list[Request]:
        view = self._find(scene)
        rest = Wake(name="rest", after_s=around(scene.rng, 6.0))
        if view is None or view.for_sale is None:
            return [say("Somebody was faster than me."), rest]
        if not self._affords(view.for_sale, scene):
            return [say(f"L${view.for_sale} is more than I can spend today."), rest]
        self._paid = view.for_sale
        if view.for_sale == 0:
            return [say(f"The {view.name} costs nothing? How odd."), rest]
        self._spent += view.for_sale
        return [Act(action=PayObject(object_id=view.object_id, amount=view.for_sale)), rest]

    def _rest(self, scene: Scene) -> list[Request]:
        self._wanted = None
        requests: list[Request] = [Wake(name="look", after_s=around(scene.rng, self._params.every_s))]
        target = choose_target(self._tips, scene)
        tip = self._params.tip_linden
        if target is not None and scene.rng.random() < self._params.tip_share and self._affords(tip, scene):
            self._spent += tip
            requests.append(say(f"{first_name(target.name)}, this is for you."))
            requests.append(pay(target.avatar_id, tip, "A tip", after_s=1.0))
        return requests

    def _find(self, scene: Scene) -> ObjectView | None:
        return next((view for view in scene.objects() if view.object_id == self._wanted), None)

    def _affords(self, linden: int, scene: Scene) -> bool:
        return self._spent + linden <= self._params.spends_at_most_linden and linden <= scene.balance
