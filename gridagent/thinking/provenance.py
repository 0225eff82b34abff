"""Where the target of an action came from: an authorised person's own words, or the model's choice (Spec: POL-5).

Owns that one question; the gateway decides what follows. Called for each action that a turn wants. Pure.

Invariant: a target counts as somebody's words only if an authorised person meant themselves, wrote its UUID, or said
a name that fits exactly one thing near; whatever a model, a result or anybody else wrote never counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gridagent.actions import Action
from gridagent.authority import Provenance
from gridagent.ids import AvatarId, is_canonical_uuid
from gridagent.mind import Nearby
from gridagent.policy.verbs import VERBS
from gridagent.presence.address import is_named, words_of

__all__ = ("provenance_of",)

_NAMES_MAX: Final = 64


def provenance_of(
    action: Action, *, speaker: AvatarId | None, authorised: bool, said: Iterable[str], near: Nearby
) -> Provenance:
    """Tell where an action's target came from.

    Args:
        action: what is wanted.
        speaker: on whose words.
        authorised: whether those are an owner's or a trusted avatar's.
        said: their words that the turn answers.
        near: who and what can be meant by a name.
    """
    if not authorised:
        return Provenance.MODEL
    wanted = VERBS[type(action)].target
    target = str(getattr(action, wanted)) if wanted else ""
    if not target or target == speaker or _was_said(target, tuple(said), near):
        return Provenance.AUTHORISED_WORDS
    return Provenance.MODEL


def _was_said(target: str, said: tuple[str, ...], near: Nearby) -> bool:
    if not is_canonical_uuid(target):
        return any(is_named(words_of(text), (words_of(target),)) for text in said)
    if any(target in text.lower() for text in said):
        return True
    meant = {each for text in said for each in _meant(words_of(text), near)}
    return meant == {target}


def _meant(words: tuple[str, ...], near: Nearby) -> Iterable[str]:
    """Yield whom and what a text names, by their whole names or the first word of them."""
    named = [(str(each.avatar_id), each.name) for each in near.avatars()[:_NAMES_MAX]]
    named += [(str(each.object_id), each.name) for each in near.objects()[:_NAMES_MAX]]
    for uuid, name in named:
        parts = words_of(name)
        if is_named(words, (parts, parts[:1])):
            yield uuid
