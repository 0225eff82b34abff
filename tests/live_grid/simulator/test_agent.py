"""One login over the wire: what it remembers and where it is."""

from __future__ import annotations

from gridagent import actions as asked
from gridagent.actions import Position
from gridagent.grid.simulated import World
from gridagent.grid.simulated.timers import Timers
from live_grid.simulator.agent import Agent, Memory
from live_grid.simulator.puppet import Puppet, Table


def agent_of(table: Table) -> Agent:
    """Return the only agent."""
    (agent,) = table.core._agents.values()
    return agent


def test_a_memory_keeps_the_newest() -> None:
    """At its ceiling the oldest makes room; an entry put again is new again. Spec: LIV-15."""
    memory: Memory[str, int] = Memory(limit=2)
    memory.put("a", 1)
    memory.put("b", 2)
    memory.put("a", 3)
    memory.put("c", 4)
    assert (memory.get("b"), memory.take("a"), memory.get("a"), memory.get("c"), len(memory)) == (None, 3, None, 4, 1)


def test_an_agent_sees_where_its_body_is(table: Table, ada: Puppet) -> None:
    """Eyes are the root visit while the client is there, and none once the login is over. Spec: LIV-15."""
    agent = agent_of(table)
    assert agent.eyes is agent.root
    assert agent.here is table.stage.places[0]
    assert agent.visit(table.stage.places[1]) is None
    table.world.kick(agent.avatar_id, table.now)
    assert (agent.here, agent.eyes, agent.live) == (None, None, False)
    agent.do("say", asked.Say(text="too late"), table.now)
    assert agent.stage.overlooked == 0


def test_nothing_is_done_before_presence(world: World, table: Table) -> None:
    """A login without a body's senses cannot act. Spec: LIV-15."""
    table.puppet("Ada Actor").log_in()
    agent = agent_of(table)
    agent.do("say", asked.Say(text="unheard"), table.now)
    assert not agent.say(None)
    assert agent._acted == 0


def test_a_world_that_is_full_drops_the_request(table: Table, ada: Puppet) -> None:
    """As a grid in that state does; it is counted. Spec: LIV-15."""
    agent = agent_of(table)
    table.world._state.timers = Timers(limit=0)
    agent.do("walk", asked.WalkTo(position=Position(x=1.0, y=1.0)), table.now)
    assert agent.stage.overlooked == 1
