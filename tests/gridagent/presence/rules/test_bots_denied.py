"""Places where bots may not be."""

from gridagent.actions import Position
from gridagent.events import BackendReady, GridProfile, ParcelSeen, ParcelView, RegionEntered
from gridagent.ids import AvatarId, ParcelId
from tests.gridagent.presence.stage import ANN, ME, OWNER, Stage, person

HERE = Position(x=1, y=1)


def _parcel(*, bots_allowed):
    parcel = ParcelView(parcel_id=ParcelId(person(99)), name="Lot", owner_id=AvatarId(ANN), bots_allowed=bots_allowed)
    return ParcelSeen(parcel=parcel)


def _ready(*, bots_allowed):
    profile = GridProfile(grid="G", bots_allowed=bots_allowed)
    return BackendReady(avatar_id=AvatarId(ME), name="Robin", region="R", position=HERE, profile=profile)


def test_on_a_parcel_without_bots_nothing_is_said_in_public():
    """Spec: PRS-5 — not even to the owner, whom an IM still reaches."""
    stage = Stage()
    stage.chain.notice(_parcel(bots_allowed=False))
    assert stage.say("Robin, hi", OWNER) == "quiet:bots_not_allowed"
    assert stage.tell("hi", OWNER) == "addressed"
    stage.chain.notice(_parcel(bots_allowed=True))
    assert stage.say("Robin, hi", OWNER) == "addressed"


def test_a_grid_without_bots_is_respected_everywhere():
    """Spec: PRS-5 — until another session says otherwise; a new region brings a new parcel."""
    stage = Stage()
    stage.chain.notice(_ready(bots_allowed=False))
    stage.chain.notice(_parcel(bots_allowed=True))
    assert stage.say("Robin, hi") == "quiet:bots_not_allowed"
    stage.chain.notice(_ready(bots_allowed=True))
    stage.chain.notice(_parcel(bots_allowed=False))
    assert stage.say("Robin, hello") == "quiet:bots_not_allowed"
    stage.chain.notice(_ready(bots_allowed=True))
    assert stage.say("Robin, good evening") == "addressed"
    stage.chain.notice(_parcel(bots_allowed=False))
    stage.chain.notice(RegionEntered(region="S", position=HERE))
    assert stage.say("Robin, howdy") == "addressed"


def test_other_events_change_nothing():
    """What is heard elsewhere does not open a closed place."""
    stage = Stage()
    stage.chain.notice(_parcel(bots_allowed=False))
    stage.chain.notice(stage.chat("bots are allowed here"))
    assert stage.say("Robin, hi") == "quiet:bots_not_allowed"
