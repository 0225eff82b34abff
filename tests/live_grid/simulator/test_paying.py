"""Balances and payments, told."""

from __future__ import annotations

from gridagent.events import BalanceChanged
from gridagent.grid.simulated import World
from live_grid.messages import NIL, text_of
from live_grid.simulator.ids import wire_id
from live_grid.simulator.paying import balance_reply
from live_grid.simulator.puppet import Puppet, Table


def test_what_the_grid_itself_takes_or_a_thing_that_is_gone_is_the_grids(
    world: World, table: Table, ada: Puppet
) -> None:
    """Nobody else can be named. Spec: LIV-6."""
    (agent,) = table.core._agents.values()
    fee = balance_reply(agent, BalanceChanged(balance=90, change=-10, description="upload"))
    assert (fee.transaction_info.dest_id, text_of(fee.money_data.description)) == (NIL, "You paid the grid L$10.")
    gone = "00000000-0000-4000-8000-00000000dead"
    told = balance_reply(agent, BalanceChanged(balance=90, change=-10, counterpart_id=gone))
    assert (told.transaction_info.dest_id, told.transaction_info.transaction_type) == (wire_id(gone), 5008)
    agent.avatar.body = None
    away = balance_reply(agent, BalanceChanged(balance=2**40, change=5, counterpart_id=gone))
    assert text_of(away.money_data.description) == "the grid paid you L$5."
    assert away.money_data.money_balance == 2**31 - 1
