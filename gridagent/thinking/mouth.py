"""From a reply to proposals with their moments: in parts, one after the other, at the pace of somebody who types.

Owns until when the avatar is busy speaking in public and to each person; performs nothing: each part goes to the
gateway when its moment has come (Spec: PRS-3, POL-1). Used by `gridagent.thinking.thinker`. Pure.

Invariant: what is said in one place never overlaps, and every proposal of a speech has an ordinal of its own among
those of its cause.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

import msgspec

from gridagent.actions import Action, Say, SendIm, SetTyping
from gridagent.authority import Origin, Principal, Provenance
from gridagent.config.presence import PresenceSection
from gridagent.ids import AvatarId
from gridagent.mind import Proposal
from gridagent.presence.speech import plan_speech

__all__ = ("SPEECH_ORDINAL", "Mouth", "Speech", "Spoken")

SPEECH_ORDINAL: Final = 1_024
"""Ordinals from here on are speech; calls of a turn are fewer."""
BEHIND_S: Final = 0.1
"""What follows an utterance comes so much later: workers keep no order among what is wanted at one moment."""
_PLACES_MAX: Final = 256


class Speech(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be said, to whom, and on whose words."""

    text: str
    to: AvatarId
    origin: Origin
    cause: str
    conversation: str
    tainted: bool
    provenance: Provenance


class Spoken(msgspec.Struct, frozen=True):
    """One proposal of a speech, and its moment."""

    at: float
    proposal: Proposal


class Mouth:
    """Speaks for one avatar.

    Args:
        section: pace and bounds.

    Bounds: remembers when it is done for the 256 places spoken in last.
    """

    __slots__ = ("_busy_until", "section")

    def __init__(self, section: PresenceSection) -> None:
        self.section = section
        self._busy_until: OrderedDict[str, float] = OrderedDict()  # at most _PLACES_MAX

    def plan(self, speech: Speech, now: float) -> tuple[Spoken, ...]:
        """Return what is to be proposed when; the first perhaps at once."""
        plan = plan_speech(speech.text, self.section, speech.origin)
        public = speech.origin is not Origin.DIRECT_IM
        place = "" if public else str(speech.to)
        busy_until = self._busy_until.get(place, now)
        at = busy_until + 2 * BEHIND_S if busy_until > now else now
        wishes: list[tuple[float, Action]] = []
        for number, part in enumerate(plan.parts):
            at += BEHIND_S if number else 0.0
            if plan.shows_typing:
                wishes.append((at, SetTyping(typing=True)))
            at += part.after_s
            wishes.append((at, Say(text=part.text) if public else SendIm(to=speech.to, text=part.text)))
        if plan.shows_typing:
            wishes.append((at + BEHIND_S, SetTyping(typing=False)))
        self._busy_until[place] = at
        self._busy_until.move_to_end(place)
        while len(self._busy_until) > _PLACES_MAX:
            self._busy_until.popitem(last=False)
        return tuple(self._proposed(speech, wishes))

    def hush(self) -> None:
        """Be done everywhere: what was still to be said is not."""
        self._busy_until.clear()

    def _proposed(self, speech: Speech, wishes: list[tuple[float, Action]]) -> Iterator[Spoken]:
        for number, (at, action) in enumerate(wishes):
            yield Spoken(
                at,
                Proposal(
                    action=action,
                    principal=Principal(avatar_id=speech.to),
                    origin=speech.origin,
                    cause=speech.cause,
                    ordinal=SPEECH_ORDINAL + number,
                    conversation=speech.conversation,
                    tainted=speech.tainted,
                    target_provenance=speech.provenance,
                ),
            )
