"""The codes with which the grid says no."""

from __future__ import annotations

import re

from gridagent.actions import Refused
from gridagent.grid.simulated.refusals import Refusal


def test_codes_are_stable_words_that_fit_an_outcome() -> None:
    """Each code is a short lower-case word of its own and its member's name.

    Spec: EFX-1
    """
    codes = [refusal.value for refusal in Refusal]
    assert all(re.fullmatch(r"[a-z_]{5,32}", code) for code in codes)
    assert [refusal.name.lower() for refusal in Refusal] == codes
    assert [Refused(reason=code).reason for code in codes] == codes
