"""The shopper shops."""

from __future__ import annotations

import pytest

from gridagent.actions import PayAvatar, PayObject, WalkTo
from gridagent.events import ActionRefused, BalanceChanged
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from gridagent.grid.simulated.inhabitants.shopper import Shopper, ShopperParams
from tests.gridagent.grid.simulated.inhabitants.company import (
    BENCH,
    CAST,
    GRETA,
    ROBIN,
    ROBIN_SEEN,
    STALL,
    heard,
    messaged,
    of_kind,
    said,
    stage,
    stall,
    words,
)


def market(*, price: int | None = 10, balance: int = 1_000):
    """A stage with Robin and a stall on it."""
    scene = stage(ROBIN_SEEN, balance=balance)
    scene.things.append(stall(price))
    return scene


def test_a_round_is_walk_ask_buy_and_comes_again() -> None:
    """A shopper goes to the stall, asks its target for the price, and pays exactly it. Spec: SIM-1."""
    params = ShopperParams(asks=("Robin Resident",), every_s=60.0, im_share=0.0)
    asked = rehearse(Shopper(params, CAST), market(), for_s=600)
    kinds = [type(action).__name__ for _, action in asked[:3]]
    assert kinds == ["WalkTo", "Say", "PayObject"]
    assert "Stall" in said(asked)[0]
    assert "Robin" in said(asked)[0]
    purchases = of_kind(asked, PayObject)
    assert len(purchases) >= 5
    assert set(purchases) == {PayObject(object_id=STALL, amount=10)}


def test_questions_can_go_by_im() -> None:
    """With an IM share of 1 no question is public."""
    params = ShopperParams(asks=("Robin Resident",), im_share=1.0)
    asked = rehearse(Shopper(params, CAST), market(), for_s=600)
    assert messaged(asked)
    assert not any("?" in text for text in said(asked))


def test_a_shopper_never_spends_more_than_it_may() -> None:
    """Purchases and tips of a whole life stay within the stated limit. Spec: SIM-1."""
    params = ShopperParams(tips=("Robin Resident",), tip_share=1.0, tip_linden=10, spends_at_most_linden=35, every_s=5)
    asked = rehearse(Shopper(params, CAST), market(balance=10_000), for_s=3_600)
    assert sum(action.amount for action in of_kind(asked, PayObject) + of_kind(asked, PayAvatar)) == 30
    assert any("more than I can spend" in text for text in words(asked))


def test_a_shopper_tries_no_payment_it_cannot_make() -> None:
    """With less in the purse than a thing or a tip costs, nothing is paid. Spec: SIM-1."""
    params = ShopperParams(tips=("Robin Resident",), tip_share=1.0, tip_linden=10)
    asked = rehearse(Shopper(params, CAST), market(balance=9), for_s=600)
    assert of_kind(asked, PayObject) + of_kind(asked, PayAvatar) == []


def test_tips_go_to_people_who_are_there() -> None:
    """A tip is announced by name and paid to the id. Spec: SIM-1."""
    params = ShopperParams(tips=("Robin Resident", "Greta Greeter"), tip_share=1.0, tip_linden=7)
    asked = rehearse(Shopper(params, CAST), market(), for_s=120)
    assert "Robin, this is for you." in said(asked)
    assert set(of_kind(asked, PayAvatar)) == {PayAvatar(to=ROBIN, amount=7, description="A tip")}
    assert all(tip.to != GRETA for tip in of_kind(asked, PayAvatar))


def test_only_the_named_things_are_looked_at() -> None:
    """A shopper that buys benches leaves the stall alone."""
    asked = rehearse(Shopper(ShopperParams(buys=("Bench",)), CAST), market(), for_s=300)
    assert of_kind(asked, WalkTo) == []
    seen = rehearse(Shopper(ShopperParams(buys=("Stall",)), CAST), market(), for_s=300)
    assert of_kind(seen, PayObject)
    assert BENCH not in {purchase.object_id for purchase in of_kind(seen, PayObject)}


def test_what_costs_nothing_is_not_paid_for() -> None:
    """The grid takes no payment of nothing, so none is tried."""
    asked = rehearse(Shopper(ShopperParams(), CAST), market(price=0), for_s=120)
    assert of_kind(asked, PayObject) == []
    assert any("costs nothing" in text for text in said(asked))


@pytest.mark.parametrize("after", ["gone", "no longer for sale"])
def test_a_thing_that_went_meanwhile_is_missed(after: str) -> None:
    """Between looking and buying somebody may be faster. Spec: SIM-1."""
    character, scene = Shopper(ShopperParams(), CAST), market()
    character.on_wake("look", scene)
    scene.things[:] = [] if after == "gone" else [stall(None)]
    character.on_wake("ask", scene)
    requests = character.on_wake("buy", scene)
    assert any("faster than me" in getattr(getattr(r, "action", None), "text", "") for r in requests)


def test_purchases_refusals_words_and_gifts_are_answered() -> None:
    """A shopper is glad of a purchase, wonders at a refusal, answers people and thanks payers."""
    scene = market()
    character = Shopper(ShopperParams(), CAST)
    character.on_wake("look", scene)
    character.on_wake("buy", scene)
    events = [
        (0.2, BalanceChanged(balance=990, change=-10, counterpart_id=STALL)),
        (0.3, BalanceChanged(balance=980, change=-10, counterpart_id=STALL)),
        (0.4, ActionRefused(reference="", reason="wrong_price")),
        (0.5, ActionRefused(reference="", reason="wrong_price")),
        (0.6, heard("Minnie, it is cheap!")),
        (0.7, heard("Minnie!")),
        (0.8, BalanceChanged(balance=981, change=1, counterpart_id=ROBIN)),
    ]
    texts = said(rehearse(character, scene, for_s=8, events=events))
    assert texts.count("Bought, for L$10. A good price.") == 1
    assert texts.count("Hm, that did not work.") == 1
    assert len([text for text in texts if "Robin" in text]) == 2
