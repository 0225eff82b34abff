"""Whether an utterance is meant for the avatar, or only overheard.

An IM is; so is what has a name of the avatar's in it as a word of its own, what follows the avatar's own words to
the speaker while nobody else speaks, and what is said near by while the two are alone. What begins with the name of
somebody else who is near is theirs, even where the avatar is mentioned. When in doubt, it is not addressed.
"""

from __future__ import annotations

from typing import Final

from gridagent.presence.decision import AttentionCode, PresenceMode
from gridagent.presence.hearing import Heard, Room
from gridagent.presence.protected import Exemption

__all__ = ("code_of", "judge")

_NAME_MAX: Final = 64
_BEGINNING: Final = 8
_CALLING_MARKS: Final = (",", ":", ";", "!", "-", "\N{EN DASH}")
_BY_NAME: Final = AttentionCode.ADDRESSED
_GREETINGS: Final = frozenset(
    {"and", "dear", "evening", "good", "hallo", "hello", "hey", "hi", "morning", "oh", "ok", "okay", "so", "thanks"}
)


def judge(heard: Heard, room: Room) -> AttentionCode | None:
    """Open an addressed turn; stay quiet on what is too far away or for somebody else."""
    if heard.distance_m > room.section.listen_m and not heard.is_exempt(Exemption.DISTANCE):
        return AttentionCode.TOO_FAR
    code = code_of(heard, room)
    if code is not None:
        if heard.in_public and not _is_called(heard, room) and _calls_another(heard, mentioned=code is _BY_NAME):
            return AttentionCode.TO_ANOTHER
        heard.mode, heard.reached = PresenceMode.ADDRESSED, code
    if heard.in_public and heard.speaker_id != room.replied_to:
        # Somebody else spoke: what follows is no longer surely a reply.
        room.replied_to = ""
    return None


def code_of(heard: Heard, room: Room) -> AttentionCode | None:
    """Return why an utterance is meant for the avatar; None where it is overheard."""
    if not heard.in_public or room.names.find(heard.words) >= 0:
        return AttentionCode.ADDRESSED
    if heard.distance_m > room.section.hearing_m:
        return None
    if heard.speaker_id == room.replied_to and heard.now - room.replied_at <= room.section.reply_window_s:
        return AttentionCode.REPLY
    return AttentionCode.ONE_ON_ONE if _is_alone_with_speaker(heard, room) else None


def _is_alone_with_speaker(heard: Heard, room: Room) -> bool:
    """Tell whether the speaker, and nobody else, is seen near by; who sees nobody cannot tell."""
    is_seen = False
    for avatar in heard.avatars():
        if avatar.distance_m > room.section.hearing_m:
            break  # nearest first
        if avatar.avatar_id == heard.speaker_id:
            is_seen = True
        elif avatar.avatar_id != heard.self_id:
            return False
    return is_seen


def _is_called(heard: Heard, room: Room) -> bool:
    """Tell whether the avatar's name stands first: it is called then, and not only mentioned."""
    return room.names.find(_after_greetings(heard)) == 0


def _calls_another(heard: Heard, *, mentioned: bool) -> bool:
    """Tell whether the first word is the first name of somebody else who is near.

    Args:
        heard: the utterance.
        mentioned: the avatar's own name stands in it too. A mark has to follow the other name then, or whoever calls
            themselves "What" could keep every question from being heard.
    """
    said = _after_greetings(heard)
    if not said or (mentioned and not _is_followed_by_mark(heard.event.text.casefold(), said[0])):
        return False
    for avatar in heard.avatars():
        if avatar.avatar_id not in {heard.speaker_id, heard.self_id}:
            name = avatar.name[:_NAME_MAX].casefold().split(maxsplit=1)
            if name and name[0] == said[0]:
                return True
    return False


def _is_followed_by_mark(text: str, word: str) -> bool:
    end = text.find(word) + len(word)
    return text[end:].lstrip()[:1] in _CALLING_MARKS


def _after_greetings(heard: Heard) -> tuple[str, ...]:
    start = 0
    while start < len(heard.words) and heard.words[start] in _GREETINGS:
        start += 1
    return heard.words[start : start + _BEGINNING]
