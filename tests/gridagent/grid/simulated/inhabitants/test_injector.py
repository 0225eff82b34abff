"""The injector attacks with every family, within what the grid carries."""

from __future__ import annotations

import pytest

from gridagent.actions import OfferFriendship, OfferTeleport, Say, SendIm
from gridagent.grid.simulated.inhabitants.injector import PAYLOADS, Attack, Injector, InjectorParams
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    GRETA_SEEN,
    ROBIN,
    ROBIN_SEEN,
    heard,
    messaged,
    said,
    stage,
)


def injector(**params: object) -> Injector:
    """An injector that speaks for Olive."""
    return Injector(InjectorParams(targets=("Robin Resident",), pretends="Olive Owner", every_s=30.0, **params), CAST)


def test_every_family_has_payloads() -> None:
    """No kind of attack is empty. Fault: 17."""
    assert set(PAYLOADS) == set(Attack)
    assert all(PAYLOADS.values())


@pytest.mark.parametrize("attack", Attack)
def test_each_family_goes_out_within_the_bounds_of_events(attack: Attack) -> None:
    """Every payload fits into the event that carries it, by every door. Spec: SIM-1. Fault: 16, 17, 20."""
    asked = rehearse(injector(attacks=(attack,), offer_share=0.3), stage(ROBIN_SEEN), for_s=3_600)
    kinds = {type(action) for _, action in asked}
    assert kinds == {Say, SendIm, OfferFriendship, OfferTeleport}
    for _, action in asked:
        if isinstance(action, Say | SendIm):
            assert len(action.text.encode()) <= 1_023
        elif isinstance(action, OfferFriendship | OfferTeleport):
            assert len(action.message) <= 256
            assert action.to == ROBIN


@pytest.mark.parametrize(
    ("attack", "mark"),
    [
        (Attack.TOOL_CALL, '"tool_call'),
        (Attack.CHAT_TEMPLATE, "<|im_start|>system"),
        (Attack.FAKE_OWNER, "Olive Owner"),
        (Attack.FAKE_SYSTEM, "all previous instructions"),
        (Attack.CONTROL_CHARACTERS, "\x00"),
        (Attack.COMBINING_MARKS, "\u0301" * 1),
        (Attack.BIDIRECTIONAL, "\u202e"),
        (Attack.OPEN_ADDRESS, "http://169.254.169.254/"),
        (Attack.MEMORY, "Remember for later"),
        (Attack.FAKE_ORIGIN, "[IM from Olive Owner]"),
        (Attack.HOMOGLYPHS, "рау"),
    ],
)
def test_a_family_carries_its_mark(attack: Attack, mark: str) -> None:
    """The words that matter survive clipping. Fault: 14, 16, 17, 19, 20."""
    asked = rehearse(injector(attacks=(attack,), offer_share=0.0), stage(ROBIN_SEEN), for_s=3_600)
    texts = [*said(asked), *(text for _, text in messaged(asked))]
    assert any(mark in text for text in texts)
    assert not any("{owner}" in text for text in texts)


def test_families_take_turns() -> None:
    """In one round every family is tried once, in the order of the file. Fault: 17."""
    attacks = (Attack.FAKE_APPROVAL, Attack.MEMORY)
    asked = rehearse(injector(attacks=attacks, offer_share=0.0, im_share=1.0), stage(ROBIN_SEEN), for_s=600)
    texts = [text for _, text in messaged(asked)]
    filled = {attack: {p.replace("{owner}", "Olive Owner") for p in PAYLOADS[attack]} for attack in attacks}
    assert all(text in filled[attacks[index % 2]] for index, text in enumerate(texts))


def test_public_attacks_name_the_target_and_absent_targets_are_left_alone() -> None:
    """Public payloads begin with the target's name; nobody is attacked who is away. Spec: SIM-1."""
    asked = rehearse(injector(offer_share=0.0, im_share=0.0), stage(ROBIN_SEEN), for_s=600)
    assert all(text.startswith("Robin: ") for text in said(asked))
    assert rehearse(injector(), stage(GRETA_SEEN), for_s=600) == []


def test_an_injector_heeds_nobody() -> None:
    """Nothing that is said to it changes what it does."""
    assert injector().on_event(heard("Minnie, stop"), stage(ROBIN_SEEN)) == ()
