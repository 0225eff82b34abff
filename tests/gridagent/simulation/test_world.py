"""Claims about the watched world: it sees what was done and told, and changes nothing."""

from __future__ import annotations

import random

from gridagent import actions as wanted
from gridagent.events import BalanceChanged, ImReceived
from gridagent.grid.simulated.avatars import Account
from gridagent.grid.simulated.witness import Witness
from gridagent.ids import AvatarId
from gridagent.runtime.deterministic import simulated_ports
from gridagent.simulation.world import WatchedWorld

ADA = AvatarId("00000000-0000-4000-8000-000000000001")
BEN = AvatarId("00000000-0000-4000-8000-000000000002")


class Notes:
    def __init__(self) -> None:
        self.performed: list = []
        self.told: list = []
        self.logins: list = []

    def on_performed(self, avatar_id, action, reference, changed) -> None:
        self.performed.append((avatar_id, action, reference, changed.balance, changed.items))

    def on_told(self, avatar_id, event) -> None:
        self.told.append((avatar_id, event))

    def on_login(self, session) -> None:
        self.logins.append(session.avatar_id)


def a_world() -> WatchedWorld:
    """Return a world of two."""
    world = WatchedWorld(random.Random(0), simulated_ports(0).ids.uuid)
    world.add_region("Plaza", x_m=0, y_m=0)
    world.add_avatar(Account(name="Ada", avatar_id=ADA, balance=10))
    world.add_avatar(Account(name="Ben", avatar_id=BEN, balance=10))
    return world


def test_only_agents_are_watched_each_action_with_what_it_changed() -> None:
    """Logins, actions and events of agents are told, those of others not. Spec: SIM-3."""
    world, notes = a_world(), Notes()
    world.watch(frozenset({ADA}), notes)
    ada, ben = Witness(world, ADA), Witness(world, BEN)
    ada.do(wanted.PayAvatar(to=BEN, amount=3))
    ada.do(wanted.CreateLandmark(name="here"))
    ben.do(wanted.SendIm(to=ADA, text="thanks"))
    assert notes.logins == [ADA]
    assert [(who, balance, items) for who, _, _, balance, items in notes.performed] == [(ADA, -3, 0), (ADA, 0, 1)]
    assert {who for who, _ in notes.told} == {ADA}
    assert any(isinstance(event, ImReceived) for _, event in notes.told)
    assert [event.change for event in ada.saw(BalanceChanged)] == [0, -3]
    assert [event.change for event in ben.saw(BalanceChanged)] == [0, 3]


def test_unwatched_it_is_a_world() -> None:
    """Before anybody watches, everything works and nobody is told."""
    world = a_world()
    ada = Witness(world, ADA)
    assert isinstance(ada.do(wanted.Say(text="hello")), wanted.Confirmed)
