"""The griefer floods."""

from __future__ import annotations

import itertools

from gridagent.actions import Say, Volume
from gridagent.grid.simulated.characters import PENDING_MAX
from gridagent.grid.simulated.inhabitants.griefer import Griefer, GrieferParams
from gridagent.grid.simulated.inhabitants.rehearsal import rehearse
from tests.gridagent.grid.simulated.inhabitants.company import (
    CAST,
    ROBIN,
    ROBIN_SEEN,
    heard,
    messaged,
    of_kind,
    said,
    stage,
)


def test_a_burst_is_many_utterances_within_seconds_and_then_silence() -> None:
    """Bursts of 50 last 2 s each and are far apart. Spec: SIM-1. Fault: 18."""
    params = GrieferParams(targets=("Robin Resident",), burst=50, over_s=2.0, every_s=100.0)
    asked = rehearse(Griefer(params, CAST), stage(ROBIN_SEEN), for_s=1_000)
    bursts = [asked[index : index + 50] for index in range(0, len(asked) - len(asked) % 50, 50)]
    assert len(bursts) >= 6
    assert all(burst[-1][0] - burst[0][0] < 2.0 for burst in bursts)
    assert all(later[0][0] - earlier[-1][0] > 50 for earlier, later in itertools.pairwise(bursts))


def test_a_burst_goes_out_in_public_and_by_im_and_partly_repeats() -> None:
    """Duplicates and fresh texts come by both doors. Fault: 18."""
    params = GrieferParams(targets=("Robin Resident",), burst=60, every_s=50.0)
    asked = rehearse(Griefer(params, CAST), stage(ROBIN_SEEN), for_s=500)
    public = said(asked)
    assert len(set(public)) < len(public)
    assert any(text[-1].isdigit() for text in public)
    assert {to for to, _ in messaged(asked)} == {ROBIN}
    assert all(say.volume is Volume.SHOUT for say in of_kind(asked, Say))


def test_without_anybody_to_message_it_floods_in_public_only() -> None:
    """An absent target gets no IMs."""
    params = GrieferParams(targets=("Robin Resident",), im_share=1.0, every_s=50.0)
    asked = rehearse(Griefer(params, CAST), stage(), for_s=300)
    assert said(asked)
    assert messaged(asked) == []


def test_a_griefer_heeds_nobody_and_never_asks_for_more_than_can_wait() -> None:
    """The largest burst still leaves room for the next wake. Spec: SIM-1."""
    character = Griefer(GrieferParams(burst=60), CAST)
    scene = stage()
    assert character.on_event(heard("Minnie, stop!"), scene) == ()
    assert len(character.on_wake("flood", scene)) < PENDING_MAX
