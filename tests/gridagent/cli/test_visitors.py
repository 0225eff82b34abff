"""Claims about people of the simulated world who are moved by hand."""

import random

import pytest

from gridagent.actions import OfferFriendship, PayAvatar
from gridagent.cli.chat_words import parse_line
from gridagent.cli.visitors import VISITOR, Visitors, quiet_story
from gridagent.cli.vocabulary import UsageProblem
from gridagent.events import BalanceChanged, ChatHeard, FriendChanged, ImReceived, InventoryOffered
from gridagent.grid.simulated.grid import SimulatedGrid
from gridagent.grid.simulated.scenario import load_shipped
from gridagent.grid.simulated.scenario_build import build_world
from gridagent.runtime.deterministic import SimulatedIds

ROBIN = "5eed0000-0000-4000-8000-00000000a9e7"


class Clock:
    """A clock in the test's hand."""

    time = 0.0

    def monotonic(self):
        return self.time

    def wall(self):
        return 1e9 + self.time


class Room:
    """The plaza with a visitor, and Robin moved by hand."""

    def __init__(self):
        plain = load_shipped("plaza")
        robin = plain.avatar("Robin Resident")
        self.story = quiet_story(plain, robin)
        rng = random.Random(1)
        self.clock = Clock()
        self.grid = SimulatedGrid(
            build_world(self.story, rng=rng, ids=SimulatedIds(rng).uuid), self.clock, self.story.faults
        )
        self.heard, self.robin = [], []
        cast = [(each.name, self.story.avatar_id(each)) for each in self.story.avatars if each is not robin]
        self.visitors = Visitors(
            self.grid,
            [each for each in cast if each[1] != ROBIN],
            ROBIN,
            lambda name, event: self.heard.append((name, event)),
        )
        self.grid.world.login(ROBIN, 0.0)
        self.grid.world.attach(ROBIN, self.robin.append, now=0.0)
        self.visitors.enter()

    def type(self, line):
        self.visitors.act(parse_line(line))

    def pass_time(self, seconds):
        self.clock.time += seconds
        self.grid.world.advance(self.clock.time)

    def robin_heard(self, kind):
        return [each for each in self.robin if isinstance(each, kind)]


@pytest.fixture
def room():
    """The room."""
    return Room()


def test_in_a_quiet_story_nobody_does_anything_by_themselves(room):
    """Spec: SIM-1 — everybody is there, and for an hour nobody says a word or takes a step."""
    assert VISITOR in room.visitors.names
    before = len(room.robin)
    room.pass_time(3600)
    assert [each for each in room.robin[before:] if isinstance(each, ChatHeard | ImReceived)] == []
    assert len(room.grid.world.avatars_near(ROBIN)) == len(room.visitors.names)
    again = quiet_story(room.story, room.story.avatar("Robin Resident"))
    assert [each.name for each in again.avatars].count(VISITOR) == 1


def test_what_is_typed_reaches_the_avatar_through_the_world(room):
    """Spec: POL-1 — words, an IM, money and a friendship come to the avatar as what the grid tells of them."""
    for line in ("hello", "/me waves", "/im psst", "/pay 5", "/friend", "/invite"):
        room.type(line)
    room.pass_time(5)
    assert [each.text for each in room.robin_heard(ChatHeard)] == ["hello", "/me waves"]
    assert [each.text for each in room.robin_heard(ImReceived)][:1] == ["psst"]
    assert any(each.change == 5 for each in room.robin_heard(BalanceChanged))
    assert {"friendship_offered", "teleport_offered"} <= {type(each).__struct_config__.tag for each in room.robin}


def test_somebody_else_is_played_by_the_beginning_of_their_name(room):
    """Spec: POL-4 — who speaks is the UUID of who is played; names that fit nobody or several are said."""
    room.visitors.become("oliv")
    room.type("come here")
    assert (
        room.robin_heard(ChatHeard)[-1].source.id == room.visitors.played_id == "5eed0000-0000-4000-8000-000000000001"
    )
    for name, says in (("zz", "nobody is"), ("", "several people are")):
        with pytest.raises(UsageProblem) as caught:
            room.visitors.become(name)
        assert says in str(caught.value)


def test_walking_goes_by_steps_and_up_to_the_avatar(room):
    """Somebody walks so many metres, stays inside the region, and comes up to the avatar from anywhere."""
    me = room.visitors.played_id
    here = room.grid.world.position(me)
    room.type("/walk 20 -5")
    room.pass_time(60)
    there = room.grid.world.position(me)
    assert (round(there.x - here.x), round(there.y - here.y)) == (20, -5)
    room.type("/walk 5000 0")
    room.pass_time(120)
    assert room.grid.world.position(me).x < 256
    room.type("/come")
    room.pass_time(120)
    assert room.grid.world.position(me).distance_to(room.grid.world.position(ROBIN)) < 3


def test_gifts_are_found_by_name_and_offers_answered_once(room):
    """What is carried can be given; what was offered last is answered, and a second answer finds nothing."""
    room.grid.world.give(room.visitors.played_id, name="Red rose", kind="object")
    room.type("/give red")
    room.pass_time(1)
    assert room.robin_heard(InventoryOffered)
    with pytest.raises(UsageProblem) as caught:
        room.type("/give crown")
    assert "Red rose" in str(caught.value)
    with pytest.raises(UsageProblem):
        room.type("/accept")
    room.grid.world.perform(ROBIN, OfferFriendship(to=room.visitors.played_id, message=""), room.clock.time)
    room.type("/accept")
    room.pass_time(1)
    assert room.robin_heard(FriendChanged)[-1].friend
    with pytest.raises(UsageProblem):
        room.type("/decline")


def test_whoever_left_the_world_does_nothing(room):
    """Somebody whom the grid threw out cannot act, and the avatar cannot be walked to while it is away."""
    room.grid.world.logout(ROBIN, room.clock.time)
    with pytest.raises(UsageProblem) as caught:
        room.type("/come")
    assert "not in the world" in str(caught.value)
    room.grid.world.kick(room.visitors.played_id, room.clock.time)
    with pytest.raises(UsageProblem) as caught:
        room.type("hello?")
    assert "not in the world any more" in str(caught.value)
    room.visitors.leave()
    assert room.grid.world.avatars_near(ROBIN) == ()


def test_what_each_perceives_is_told_with_their_name(room):
    """A payment of the avatar's is seen by who got it."""
    room.grid.world.perform(ROBIN, PayAvatar(to=room.visitors.played_id, amount=7), room.clock.time)
    assert [name for name, event in room.heard if isinstance(event, BalanceChanged) and event.change == 7] == [VISITOR]
