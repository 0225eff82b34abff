"""The one list of protected principals (Spec: PRS-4)."""

import pytest

from gridagent.config.presence import PresenceSection
from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarId
from gridagent.limits import AVATARS_PER_SERVICE_MAX
from gridagent.presence.protected import BOTS, EXEMPT, OVERSEERS, Exemption, OwnAvatars, Protected, Standing
from tests.gridagent.presence.stage import ANN, BOT, MANAGER, OWNER, SISTER, person

SECTION = PresenceSection(estate_managers=(MANAGER,), declared_bots=(BOT,))

WANTED = {
    #                        owner/operator, manager, bots, nobody
    Exemption.MUTING: (True, True, False, False),
    Exemption.FLOOD: (True, True, False, False),
    Exemption.PHRASES: (True, True, True, False),
    Exemption.QUIET: (True, True, False, False),
    Exemption.DISTANCE: (True, False, False, False),
    Exemption.SCRIPTED_AGENT: (True, False, True, False),
    Exemption.REPEATS: (True, False, False, False),
    Exemption.TURNS: (True, False, False, False),
    Exemption.CROWD: (True, True, False, False),
    Exemption.DISCLOSURE: (True, False, True, False),
}


def test_each_is_exempt_from_exactly_what_is_listed():
    """Spec: PRS-4 — a table beside the table: whoever changes one has to change the other."""
    assert set(WANTED) == set(Exemption)
    columns = (
        (Standing.OWNER, Standing.OPERATOR),
        (Standing.ESTATE_MANAGER,),
        (Standing.OWN_AVATAR, Standing.DECLARED_BOT),
        (Standing.NOBODY,),
    )
    assert {standing for column in columns for standing in column} == set(Standing) == set(EXEMPT)
    for exemption, row in WANTED.items():
        for column, exempt in zip(columns, row, strict=True):
            for standing in column:
                assert (exemption in EXEMPT[standing]) is exempt, (exemption, standing)


def test_standing_is_by_uuid_and_bots_come_first():
    """Spec: PRS-4, POL-4 — ours, then declared bots, then owners, then estate managers."""
    protected = Protected((OWNER,), SECTION, (AvatarId(SISTER),))
    standings = [protected.standing_of(who) for who in (SISTER, BOT, OWNER, MANAGER, ANN, "Olive Owner", "")]
    assert standings == [
        Standing.OWN_AVATAR,
        Standing.DECLARED_BOT,
        Standing.OWNER,
        Standing.ESTATE_MANAGER,
        *[Standing.NOBODY] * 3,
    ]
    everything = PresenceSection(estate_managers=(OWNER,), declared_bots=(MANAGER,))
    protected = Protected((OWNER, MANAGER), everything)
    assert protected.standing_of(OWNER) is Standing.OWNER
    assert protected.standing_of(MANAGER) is Standing.DECLARED_BOT
    protected.add_own(AvatarId(OWNER))
    assert protected.standing_of(OWNER) is Standing.OWN_AVATAR


def test_a_bot_oversees_nothing():
    """Nobody who gets a bot's turns may quieten the avatar for everybody."""
    assert not OVERSEERS & BOTS


def test_a_changed_configuration_replaces_the_lists_and_keeps_our_own():
    """Spec: SUP-8 — who is no longer listed is nobody."""
    protected = Protected((OWNER,), SECTION, (AvatarId(SISTER),))
    protected.relist((), PresenceSection())
    assert [protected.standing_of(who) for who in (OWNER, BOT, SISTER)] == [
        Standing.NOBODY,
        Standing.NOBODY,
        Standing.OWN_AVATAR,
    ]


def test_our_own_are_bounded():
    """Spec: SUP-11 — as many as a service may have; the same one counts once."""
    protected = Protected((), SECTION, (AvatarId(person(1_000 + number)) for number in range(AVATARS_PER_SERVICE_MAX)))
    protected.add_own(AvatarId(person(1_000)))
    with pytest.raises(LimitExceeded):
        protected.add_own(AvatarId(person(1)))


def test_a_shared_list_knows_each_avatar_once_it_logged_in():
    """Spec: PRS-4 — one list for all avatars of a service: what one learns, the others know."""
    own = OwnAvatars()
    one, other = Protected((), SECTION, own), Protected((), SECTION, own)
    assert other.standing_of(SISTER) is Standing.NOBODY
    one.add_own(AvatarId(SISTER))
    assert other.standing_of(SISTER) is Standing.OWN_AVATAR
    assert SISTER in own
