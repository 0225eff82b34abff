"""What presence says about one utterance: answer or stay quiet, and why (Spec: PRS-1).

Owns the words. Each code is shown to whoever watches as ``AttentionDecided`` and never changes its meaning.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from gridagent.authority import Origin

__all__ = ("AttentionCode", "PresenceDecision", "PresenceMode")


class PresenceMode(StrEnum):
    """What kind of turn follows; the values are those of the turn's own modes (Spec: MND-16)."""

    ADDRESSED = "addressed"
    AMBIENT = "ambient"
    MODERATION = "moderation"
    """The model looks at it, and says nothing."""


class AttentionCode(StrEnum):
    """Why an utterance is answered or not."""

    ADDRESSED = "addressed"
    """The avatar's name or alias stands in it, or it is an IM."""
    REPLY = "addressed:reply"
    """It follows what the avatar said to that person, and nobody else spoke in between."""
    ONE_ON_ONE = "addressed:one_on_one"
    """The speaker and the avatar are alone."""
    AMBIENT = "ambient"
    """Overheard, and the avatar joins in."""
    OWN_ECHO = "quiet:own_echo"
    """The avatar's own words came back."""
    DUPLICATE = "quiet:duplicate"
    """This very utterance was heard before."""
    NOT_A_PERSON = "quiet:not_a_person"
    """An object or the system said it."""
    OTHER_CHANNEL = "quiet:other_channel"
    """It was said on a chat channel that is not for people."""
    OFFLINE_MESSAGE = "quiet:offline_message"
    """It was sent while the avatar was away."""
    NOTHING_SAID = "quiet:nothing_said"
    """There is no word in it."""
    MUTED = "quiet:muted"
    """The operator muted the speaker."""
    FLOOD = "quiet:flood"
    """The speaker sends more than is looked at."""
    BLOCKED_PHRASE = "quiet:blocked_phrase"
    """A blocked phrase stands in it."""
    HUSHED = "quiet:hushed"
    """It asks the avatar to be quiet."""
    ASKED_TO_BE_QUIET = "quiet:asked_to_be_quiet"
    """The avatar was asked to be quiet, and the time is not over."""
    QUIET_HOURS = "quiet:quiet_hours"
    """It was said in the hours in which the operator wants quiet."""
    BOTS_NOT_ALLOWED = "quiet:bots_not_allowed"
    """Bots may not be here, so the avatar says nothing in public."""
    TOO_FAR = "quiet:too_far"
    """It was said too far away."""
    TO_ANOTHER = "quiet:to_another"
    """It begins with the name of somebody else who is near."""
    NOT_ADDRESSED = "quiet:not_addressed"
    """It was not meant for the avatar."""
    MODERATION = "quiet:moderation"
    """Overheard, and looked at by the model as a moderator."""
    SCRIPTED_AGENT = "quiet:scripted_agent"
    """The grid marks the speaker as a bot, and nobody declared it."""
    REPEATED = "quiet:repeated"
    """The speaker said nearly the same before, too often."""
    ECHO = "quiet:echo"
    """The speaker says back what the avatar said, too often."""
    TURN_CEILING = "quiet:turn_ceiling"
    """The speaker had all the answers there are until a pause."""
    CROWDED = "quiet:crowded"
    """Everybody together had all the answers there are in a minute."""
    HELD = "quiet:held"
    """It would be answered, but the kill switch is on; said by the mind, not by a rule."""
    TOO_MANY_WAIT = "quiet:too_many_wait"
    """It would be answered, but too much waits for the model; said by the mind, not by a rule."""

    @property
    def answers(self) -> bool:
        """Whether the avatar answers."""
        return not self.value.startswith("quiet:")


class PresenceDecision(msgspec.Struct, frozen=True, kw_only=True):
    """The end of the chain for one utterance."""

    utterance_id: str
    code: AttentionCode
    mode: PresenceMode | None
    """The turn that follows; None where none does."""
    origin: Origin
    """Public chat or direct IM."""
    rule: str
    """The rule that decided."""
    disclose: bool = False
    """The answer is the first to this person, who is to be told that the avatar is a bot (Spec: PRS-5)."""

    @property
    def answers(self) -> bool:
        """Whether the avatar answers; a moderator's turn is silent."""
        return self.code.answers
