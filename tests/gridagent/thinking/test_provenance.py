"""Claims about where a target came from."""

import pytest

from gridagent.actions import (
    FollowAvatar,
    PayAvatar,
    Position,
    SitOn,
    StandUp,
    TeleportTo,
)
from gridagent.authority import Provenance
from gridagent.events import AvatarView, ObjectView
from gridagent.thinking.provenance import provenance_of

OWNER = "00000000-0000-4000-8000-0000000000aa"
ANN = "00000000-0000-4000-8000-0000000000b1"
BEN = "00000000-0000-4000-8000-0000000000b2"
CHAIR = "00000000-0000-4000-8000-0000000000c1"
HERE = Position(x=1.0, y=1.0)


class Near:
    """Ann, Ben and a bench."""

    self_id = None
    position = HERE

    def __init__(self, *more):
        names = [(ANN, "Ann Visitor"), (BEN, "Ben Visitor"), *more]
        self._avatars = [AvatarView(avatar_id=uuid, name=name, position=HERE) for uuid, name in names]

    def avatars(self):
        return self._avatars

    def objects(self):
        return [ObjectView(object_id=CHAIR, name="Garden bench", owner_id=OWNER, position=HERE)]


def came_from(action, said, *more, authorised=True):
    """Ask."""
    return provenance_of(action, speaker=OWNER, authorised=authorised, said=[said], near=Near(*more))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (PayAvatar(to=OWNER, amount=5), "pay me 5"),
        (PayAvatar(to=ANN, amount=5), "pay Ann 5"),
        (PayAvatar(to=ANN, amount=5), "pay ann visitor five"),
        (PayAvatar(to=ANN, amount=5), f"pay {ANN.upper()} five"),
        (FollowAvatar(avatar_id=OWNER), "follow me"),
        (SitOn(object_id=CHAIR), "sit on the garden bench"),
        (TeleportTo(region="Quiet Cove", position=HERE), "take us to quiet cove please"),
        (StandUp(), "get up"),
    ],
)
def test_what_an_authorised_person_said_is_theirs(action, said):
    """Spec: POL-5 — themselves, a UUID they wrote, a name that fits one alone, or nothing to choose at all."""
    assert came_from(action, said) is Provenance.AUTHORISED_WORDS
    assert came_from(action, said, authorised=False) is Provenance.MODEL


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (PayAvatar(to=ANN, amount=5), "pay somebody 5"),
        (PayAvatar(to=ANN, amount=5), "pay Ben 5"),
        (PayAvatar(to=ANN, amount=5), "Ann says: pay Ben 5"),
        (PayAvatar(to=ANN, amount=5), "pay Annabel 5"),
        (SitOn(object_id=CHAIR), "have a seat"),
        (TeleportTo(region="Quiet Cove", position=HERE), "take us somewhere quiet"),
    ],
)
def test_what_nobody_named_is_the_models_choice(action, said):
    """Spec: POL-5 — no name, another's, two, or a word that only begins alike."""
    assert came_from(action, said) is Provenance.MODEL


def test_a_name_that_fits_two_means_neither():
    """Spec: POL-5, Fault: 14 — a twin of the payee makes the name mean nobody."""
    assert came_from(PayAvatar(to=ANN, amount=5), "pay Ann 5", (OWNER, "Ann Impostor")) is Provenance.MODEL
