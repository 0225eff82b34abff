"""The one list of protected principals (Spec: PRS-4)."""

from functools import partial

import pytest

from gridagent.config.presence import PresenceSection
from gridagent.errors import LimitExceeded
from gridagent.ids import AvatarId
from gridagent.limits import AVATARS_PER_SERVICE_MAX
from gridagent.presence.protected import BOTS, EXEMPT, OVERSEERS, Exemption, OwnAvatars, Protected, Standing
from tests.gridagent.presence.stage import ANN, BOT, MANAGER, OWNER, SISTER, Around, Stage, person, view

SECTION = PresenceSection(estate_managers=(MANAGER,), declared_bots=(BOT,))

WANTED = {
    #                        owner/operator, manager, bots, nobody
    Exemption.MUTING: (True, True, False, False),
    Exemption.FLOOD: (True, True, False, False),
    Exemption.PHRASES: (True, True, True, False),
    Exemption.QUIET: (True, True, False, False),
    Exemption.QUIET_HOURS: (True, False, False, False),
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
    """Spec: SUP-8 — who is no longer listed is nobody; owners are no matter of this list's."""
    protected = Protected((OWNER,), SECTION, (AvatarId(SISTER),))
    protected.relist(PresenceSection())
    assert [protected.standing_of(who) for who in (OWNER, MANAGER, BOT, SISTER)] == [
        Standing.OWNER,
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
    assert list(own) == [SISTER]


PEOPLE = {
    Standing.OWN_AVATAR: SISTER,
    Standing.DECLARED_BOT: BOT,
    Standing.OWNER: OWNER,
    Standing.ESTATE_MANAGER: MANAGER,
    Standing.NOBODY: ANN,
}


def _spent(who: str) -> set[str]:
    stage = Stage()
    while stage.room.take_answer(stage.now):
        pass
    return {stage.say("Robin, hi", who, after=0.0)}


def _hushed(who: str) -> set[str]:
    stage = Stage()
    stage.room.quiet_until = stage.now + 100.0
    return {stage.say("Robin, hi", who)}


def _marked(who: str) -> set[str]:
    stage = Stage()
    stage.around = Around(view(who, scripted=True))
    return {stage.say("Robin, hi", who)}


def _disclosed(who: str) -> set[str]:
    stage = Stage(disclose=True)
    return {f"disclosed {stage.judge(stage.chat('Robin, hi', who)).disclose}"}


TRIALS = {
    Exemption.MUTING: ("quiet:muted", lambda who: {Stage(muted=tuple(PEOPLE.values())).say("Robin, hi", who)}),
    Exemption.FLOOD: (
        "quiet:flood",
        lambda who: set(
            map(partial(Stage().say, after=0.01), (f"Robin, {word}" for word in "abcdefghijklmnop"), [who] * 16)
        ),
    ),
    Exemption.PHRASES: (
        "quiet:blocked_phrase",
        lambda who: {Stage(blocked_phrases=("slots",)).say("slots, Robin", who)},
    ),
    Exemption.QUIET: ("quiet:asked_to_be_quiet", _hushed),
    Exemption.QUIET_HOURS: (
        "quiet:quiet_hours",
        lambda who: {Stage(quiet_hours=("00:00-24:00",)).say("Robin, hi", who)},
    ),
    Exemption.DISTANCE: ("quiet:too_far", lambda who: {Stage().say("Robin, hi", who, distance_m=200.0)}),
    Exemption.SCRIPTED_AGENT: ("quiet:scripted_agent", _marked),
    Exemption.REPEATS: (
        "quiet:repeated",
        lambda who: set(map(Stage(turns_per_bot=99).say, ["Robin, come over here"] * 9, [who] * 9)),
    ),
    Exemption.TURNS: (
        "quiet:turn_ceiling",
        lambda who: set(
            map(Stage(turns_per_bot=1, turns_per_person=1).say, ("Robin, hello", "Robin, how is life"), [who] * 2)
        ),
    ),
    Exemption.CROWD: ("quiet:crowded", _spent),
    Exemption.DISCLOSURE: ("disclosed True", _disclosed),
}


@pytest.mark.parametrize("standing", list(PEOPLE))
@pytest.mark.parametrize("exemption", list(Exemption))
def test_each_exemption_holds_in_the_chain_for_exactly_whom_it_is_listed(exemption, standing):
    """Spec: PRS-4 — every rule asks the one list, and asks it for the right thing."""
    code, trial = TRIALS[exemption]
    assert (code not in trial(PEOPLE[standing])) is (exemption in EXEMPT[standing])
