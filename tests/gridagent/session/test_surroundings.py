"""Claims about what a session knows of its place."""

from gridagent.actions import Position
from gridagent.events import AvatarView
from gridagent.grid.puppet import PUPPET_ID, Puppet
from gridagent.session.surroundings import Whereabouts


def test_nothing_of_an_ended_generation_can_be_read():
    """Spec: SUP-5 — cleared, it shows nobody and nothing, whatever the old backend would still say."""
    puppet = Puppet()
    puppet.near = [AvatarView(avatar_id=PUPPET_ID, name="Robin", position=Position(x=1, y=1))]
    puppet.things = ["thing"]
    where = Whereabouts(None)
    assert (where.avatars(), where.objects()) == ((), ())
    where.backend = puppet(generation=1, redeem=None)
    assert (len(where.avatars()), list(where.objects())) == (1, ["thing"])
    where.clear()
    assert (where.avatars(), where.objects(), where.region) == ((), (), "")
