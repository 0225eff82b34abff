"""A rehearsal runs in virtual time and has an end."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gridagent.actions import Say
from gridagent.errors import LimitExceeded
from gridagent.grid.simulated.characters import Act, Request, Scene, Wake
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from tests.gridagent.grid.simulated.inhabitants.company import heard, stage


class Metronome:
    """Ticks, and repeats what it hears."""

    def __init__(self, every_s: float) -> None:
        self.every_s = every_s

    def start(self, scene: Scene) -> Sequence[Request]:
        return [Wake(name="tick", after_s=self.every_s)]

    def on_event(self, event: object, scene: Scene) -> Sequence[Request]:
        return [Act(action=Say(text=f"heard at {scene.now:g}"), after_s=0.5)]

    def on_wake(self, name: str, scene: Scene) -> Sequence[Request]:
        return [Act(action=Say(text=name)), Wake(name="tick", after_s=self.every_s)]


def test_acts_wakes_and_events_happen_in_order_of_time() -> None:
    """The stage's clock moves on to each thing that is due. Spec: SIM-2."""
    scene = stage()
    asked = rehearse(Metronome(2.0), scene, for_s=5, events=[(3.0, heard("x"))])
    assert asked == [(2.0, Say(text="tick")), (3.5, Say(text="heard at 3")), (4.0, Say(text="tick"))]
    assert scene.now == 5.0
    assert rehearse(Metronome(2.0), scene, for_s=3) == [(7.0, Say(text="tick"))]


def test_a_character_that_never_pauses_is_stopped() -> None:
    """A wake without a pause cannot hang the rehearsal. Spec: SIM-1."""
    with pytest.raises(LimitExceeded, match="rehearsal"):
        rehearse(Metronome(0.0), stage(), for_s=1)
