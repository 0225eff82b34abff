"""The configuration section ``presence``: when an avatar feels spoken to, and how it speaks (Spec: PRS-1 … PRS-5).

Owns the keys with their bounds; decides nothing: `gridagent.presence` reads a section. Besides its own room it may
import only L0.
Its invariant: every list is bounded and every rate is finite, so that no section lets an avatar talk without end.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.config.wall_time import Span, TimeZone
from gridagent.ids import AvatarId
from gridagent.limits import Bounded, ShortText

__all__ = ("PresenceSection",)

LISTED_MAX: Final = 256
PHRASES_MAX: Final = 64
SPANS_MAX: Final = 16

Listed: TypeAlias = Annotated[tuple[AvatarId, ...], Meta(max_length=LISTED_MAX)]
Metres: TypeAlias = Annotated[float, Meta(ge=0.0, le=256.0)]
PauseSeconds: TypeAlias = Annotated[float, Meta(ge=1.0, le=86_400.0)]


class PresenceSection(Bounded, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom the avatar listens to, when it keeps quiet, and how fast it speaks."""

    hearing_m: Metres = 20.0
    """Within this distance, words may be meant for the avatar without its name: alone with somebody, or in reply."""
    listen_m: Metres = 100.0
    """What is said farther away is never answered, named or not (the owner's words are)."""
    reply_window_s: Annotated[float, Meta(ge=0.0, le=600.0)] = 45.0
    """After it spoke to somebody, their next words are taken as a reply for this long, while nobody else speaks."""
    messages_per_minute: Annotated[int, Meta(ge=1, le=600)] = 30
    """Messages of one person that are looked at; a third of them may come at once."""
    flood_pause_s: PauseSeconds = 60.0
    """Whoever sends more is not listened to for this long."""
    blocked_phrases: Annotated[tuple[ShortText, ...], Meta(max_length=PHRASES_MAX)] = ()
    """What is said with one of these in it, as whole words in any case, is not answered."""
    muted: Listed = ()
    """Avatars that are never answered, by UUID."""
    estate_managers: Listed = ()
    """Avatars that run the place, by UUID: they may quieten the avatar for everybody."""
    declared_bots: Listed = ()
    """Bots that may be talked to, by UUID; they get few turns."""
    quiet_s: PauseSeconds = 600.0
    """How long it keeps quiet when asked to, where no time is named."""
    quiet_max_s: PauseSeconds = 3_600.0
    """The longest it can be quietened by asking."""
    quiet_hours: Annotated[tuple[Span, ...], Meta(max_length=SPANS_MAX)] = ()
    """Spans of the local day in which it answers its owner only; one that ends before it begins goes over midnight."""
    time_zone: TimeZone = "UTC"
    """Time zone of ``quiet_hours``, by its IANA name such as Europe/Zurich; daylight saving is followed."""
    repeats_max: Annotated[int, Meta(ge=1, le=20)] = 2
    """How often nearly the same words of one person are answered in a row."""
    turns_per_person: Annotated[int, Meta(ge=1, le=1_000)] = 60
    """Answers to one person until that person pauses for ``turns_pause_s``."""
    turns_per_bot: Annotated[int, Meta(ge=0, le=100)] = 6
    """The same for our own other avatars, declared bots, and whoever behaves like a bot."""
    turns_pause_s: PauseSeconds = 120.0
    """Silence after which somebody's turns are counted anew."""
    answers_per_minute: Annotated[int, Meta(ge=1, le=600)] = 30
    """Answers to everybody together, the owner's left out."""
    ambient_probability: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    """Chance that it joins in when it overhears something; 0 means it only speaks when spoken to."""
    ambient_pause_s: PauseSeconds = 300.0
    """Shortest time between two times of joining in."""
    ambient_per_hour: Annotated[int, Meta(ge=1, le=120)] = 6
    """Most times of joining in within any hour."""
    moderate_by_model: bool = False
    """Let the model look at what is overheard and act as a moderator where the policy lets it; it never speaks then."""
    moderation_pause_s: PauseSeconds = 60.0
    """Shortest time between two such looks."""
    disclose: bool = False
    """Say on first contact with somebody that it is a bot, in the words of its persona."""
    speech_parts_max: Annotated[int, Meta(ge=1, le=16)] = 4
    """Most utterances that one reply is split into; what is over is left out and marked."""
    speech_characters_per_s: Annotated[float, Meta(ge=1.0, le=1_000.0)] = 40.0
    """How fast it types."""
    speech_pause_max_s: Annotated[float, Meta(ge=0.0, le=30.0)] = 4.0
    """Longest it types at one part; 0 speaks at once."""
    show_typing: bool = True
    """Show that it types, where the grid can."""
