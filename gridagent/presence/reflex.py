"""A small rule-based mind: it answers when spoken to, and asks for what it is told to do.

Owns a table of phrases; decides nothing about what is allowed (it proposes a stranger's "pay me 500" as
readily as its owner's "come here": the policy gateway tells them apart). It stands in where no language
model is configured, and says so when asked. Pure, deterministic and bounded.
"""

from __future__ import annotations

import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from gridagent.actions import (
    Action,
    AnswerFriendship,
    AnswerInventoryOffer,
    AnswerTeleportOffer,
    Emote,
    FollowAvatar,
    PayAvatar,
    Say,
    SendIm,
    SitOn,
    SitOnGround,
    StandUp,
    StopMoving,
    TeleportHome,
    WalkTo,
)
from gridagent.authority import Origin, Principal, Provenance
from gridagent.events import (
    BalanceChanged,
    ChatHeard,
    FriendshipOffered,
    GridEvent,
    ImReceived,
    InventoryOffered,
    Speaker,
    SpeakerKind,
    TeleportOffered,
)
from gridagent.ids import AvatarId, is_canonical_uuid
from gridagent.limits import LINDEN_PER_PAYMENT_MAX, clip, clip_bytes
from gridagent.mind import Attention, Moment, Proposal, QuietMind, Surroundings, Thought
from gridagent.presence.address import is_named, words_of

__all__ = ("ReflexMind",)

_PEERS_MAX: Final = 256
_SAME_WORDS_MAX: Final = 2
_REPLY_MAX_BYTES: Final = 1_000
_SHOWN_NAME_MAX: Final = 40
_HELP: Final = (
    "I follow simple rules, there is no language model behind me. "
    "You can ask me to come, follow, stop, sit, stand, wave, go home or pay."
)


class _Heard:
    """One utterance meant for the avatar."""

    __slots__ = ("around", "speaker", "words")

    def __init__(self, speaker: Speaker, words: tuple[str, ...], around: Surroundings) -> None:
        self.speaker = speaker
        self.words = words
        self.around = around

    @property
    def avatar_id(self) -> AvatarId:
        return AvatarId(self.speaker.id)


Phrase: TypeAlias = Callable[[_Heard], Sequence[Action]]


def _come(heard: _Heard) -> Sequence[Action]:
    for avatar in heard.around.avatars():
        if avatar.avatar_id == heard.avatar_id:
            return (WalkTo(position=avatar.position),)
    return ()


def _follow(heard: _Heard) -> Sequence[Action]:
    return (FollowAvatar(avatar_id=heard.avatar_id),)


def _sit(heard: _Heard) -> Sequence[Action]:
    for thing in heard.around.objects():
        if thing.sittable:
            return (SitOn(object_id=thing.object_id),)
    return (SitOnGround(),)


def _pay(heard: _Heard) -> Sequence[Action]:
    """Pay the speaker, or the person named, the first whole number said."""
    amounts = [int(word) for word in heard.words if word.isascii() and word.isdigit() and len(word) <= 7]  # noqa: PLR2004 - L$ 1,000,000 has seven digits
    if not amounts or not 1 <= amounts[0] <= LINDEN_PER_PAYMENT_MAX:
        return ()
    payee = heard.avatar_id
    for avatar in heard.around.avatars():
        if avatar.avatar_id != payee and is_named(heard.words, (words_of(avatar.name),)):
            payee = avatar.avatar_id
            break
    return (PayAvatar(to=payee, amount=amounts[0]),)


_PHRASES: Final[tuple[tuple[tuple[str, ...], Phrase], ...]] = (
    (("come", "here"), _come),
    (("come",), _come),
    (("follow", "me"), _follow),
    (("follow",), _follow),
    (("stop",), lambda _: (StopMoving(),)),
    (("sit",), _sit),
    (("stand",), lambda _: (StandUp(),)),
    (("go", "home"), lambda _: (TeleportHome(),)),
    (("wave",), lambda _: (Emote(text="waves."),)),
    (("pay",), _pay),
    (("tip",), _pay),
    (("give", "me"), _pay),
)
_ACCEPT: Final[dict[type, Callable[..., Action]]] = {
    FriendshipOffered: AnswerFriendship,
    InventoryOffered: AnswerInventoryOffer,
    TeleportOffered: AnswerTeleportOffer,
}
_FILLERS: Final = frozenset(
    {"and", "can", "could", "now", "ok", "okay", "please", "so", "then", "will", "would", "you"}
)
"""Words that may stand before what somebody wants."""
_GREETINGS: Final = frozenset({"hello", "hi", "hey", "greetings", "welcome", "morning", "evening"})


def _shown(name: str) -> str:
    """Return a name fit to be spoken: no invisible or control characters, not too long."""
    return clip("".join(c for c in name if unicodedata.category(c)[0] != "C"), _SHOWN_NAME_MAX) or "you"


class ReflexMind(QuietMind):
    """Answers by rules; implements `gridagent.mind.Mind`.

    Args:
        names: what the avatar answers to.
        authorised: avatars whose words are the avatar's people's own (for taint and provenance).

    Bounds: remembers the last words of at most 256 people.
    """

    __slots__ = ("_authorised", "_last", "_names")

    def __init__(self, names: Sequence[str], authorised: frozenset[AvatarId] = frozenset()) -> None:
        self._names = tuple(words_of(name) for name in names)
        self._authorised = authorised
        self._last: OrderedDict[str, tuple[tuple[str, ...], int]] = OrderedDict()  # at most _PEERS_MAX

    def hear(self, event: GridEvent, around: Surroundings, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - rules have no time
        """Answer one event."""
        match event:
            case ChatHeard() if event.chat_channel == 0:
                return self._on_words(event, around, Origin.PUBLIC_CHAT)
            case ImReceived():
                return self._on_words(event, around, Origin.DIRECT_IM)
            case BalanceChanged() if event.change > 0:
                return tuple(self._thanks(event))
            case FriendshipOffered() | InventoryOffered() | TeleportOffered():
                return tuple(self._on_offer(event))
            case _:
                return ()

    def forget(self, avatar_id: AvatarId, now: Moment) -> Sequence[Thought]:  # noqa: ARG002 - the same
        """Drop the last words of an avatar."""
        self._last.pop(avatar_id, None)
        return ()

    # --- words ------------------------------------------------------------------------------------

    def _on_words(self, event: ChatHeard | ImReceived, around: Surroundings, origin: Origin) -> Sequence[Thought]:
        speaker = event.source
        if speaker.kind is SpeakerKind.SELF or (around.self_id is not None and speaker.id == around.self_id):
            return ()
        code = self._quiet(event, origin)
        if code is not None:
            return (Attention(utterance_id=event.utterance_id, answers=False, code=code),)
        heard = _Heard(speaker, words_of(event.text), around)
        thoughts: list[Thought] = [Attention(utterance_id=event.utterance_id, answers=True, code="addressed")]
        for ordinal, action in enumerate(self._answer(heard, origin)):
            thoughts.append(self._proposal(action, speaker, origin, event.utterance_id, ordinal))
        return thoughts

    def _quiet(self, event: ChatHeard | ImReceived, origin: Origin) -> str | None:
        """Return why nothing is answered, or None."""
        speaker = event.source
        if speaker.kind is not SpeakerKind.AVATAR or not is_canonical_uuid(speaker.id):
            return "quiet:not_a_person"
        if isinstance(event, ImReceived) and event.offline:
            return "quiet:offline_message"
        words = words_of(event.text)
        if origin is Origin.PUBLIC_CHAT and not is_named(words, self._names):
            return "quiet:not_addressed"
        before, times = self._last.pop(speaker.id, ((), 0))
        times = times + 1 if before == words else 1
        self._last[speaker.id] = (words, times)
        while len(self._last) > _PEERS_MAX:
            self._last.popitem(last=False)
        return "quiet:repeated" if times > _SAME_WORDS_MAX else None

    def _answer(self, heard: _Heard, origin: Origin) -> Iterator[Action]:
        wanted = self._wanted(heard.words)
        for phrase, act in _PHRASES:
            if wanted[: len(phrase)] == phrase:
                actions = act(heard)
                yield from actions
                if not actions:
                    yield self._spoken(f"I can't do that, {_shown(heard.speaker.name)}.", heard, origin)
                return
        if _GREETINGS.intersection(heard.words):
            yield self._spoken(f"Hello, {_shown(heard.speaker.name)}.", heard, origin)
        else:
            yield self._spoken(_HELP, heard, origin)

    def _wanted(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return the words from the first that is neither a name of the avatar, a greeting nor a filler.

        What is wanted stands first: "how much is the lemonade stand" asks nobody to stand up.
        """
        skipped = _FILLERS | _GREETINGS | {word for name in self._names for word in name}
        start = next((index for index, word in enumerate(words) if word not in skipped), len(words))
        return words[start:]

    @staticmethod
    def _spoken(text: str, heard: _Heard, origin: Origin) -> Action:
        text = clip_bytes(text, _REPLY_MAX_BYTES)
        return SendIm(to=heard.avatar_id, text=text) if origin is Origin.DIRECT_IM else Say(text=text)

    def _proposal(self, action: Action, speaker: Speaker, origin: Origin, cause: str, ordinal: int) -> Proposal:
        trusted = AvatarId(speaker.id) in self._authorised
        return Proposal(
            action=action,
            principal=Principal(avatar_id=AvatarId(speaker.id)),
            origin=origin,
            cause=cause,
            ordinal=ordinal,
            conversation=f"{'im' if origin is Origin.DIRECT_IM else 'public'}:{speaker.id}",
            tainted=not trusted,
            target_provenance=Provenance.AUTHORISED_WORDS if trusted else Provenance.MODEL,
        )

    # --- offers and money -------------------------------------------------------------------------

    def _on_offer(self, event: FriendshipOffered | InventoryOffered | TeleportOffered) -> Iterator[Thought]:
        """Accept what the avatar's own people offer; leave everything else open."""
        speaker = event.source
        if speaker.kind is not SpeakerKind.AVATAR or AvatarId(speaker.id) not in self._authorised:
            return
        answer = _ACCEPT[type(event)](offer_id=event.offer_id, accept=True)
        yield self._proposal(answer, speaker, Origin.DIRECT_IM, event.offer_id, 0)

    def _thanks(self, event: BalanceChanged) -> Iterator[Thought]:
        if not is_canonical_uuid(event.counterpart_id):
            return
        giver = Speaker(kind=SpeakerKind.AVATAR, id=event.counterpart_id)
        action = Say(text=f"Thank you for the L${event.change}.")
        yield self._proposal(action, giver, Origin.PUBLIC_CHAT, f"paid-{event.reference or event.balance}"[:64], 0)
