"""Claims about giving, listing and taking back what may recur."""

from __future__ import annotations

import io
import json

import pytest
import trio
import trio.testing

from gridagent import open_service
from gridagent.cli.grants import give_grant, revoke_grant, show_grants
from gridagent.cli.remote import Reach
from gridagent.cli.vocabulary import UsageProblem
from gridagent.config.secrets import SecretStr
from gridagent.fronts.control import ControlServer, Endpoint
from gridagent.observations import AgentState
from gridagent.runtime.deterministic import simulated_ports

ENDPOINT = Endpoint(host="127.0.0.1", port=9, pid=77, started_at=0.0, protocol=1, instance="inst")
TERMS = {
    "principal": {"client": "operator"},
    "actions": [{"action": "say", "text": "Welcome!"}],
    "times": 1,
    "window_s": 86400,
    "valid_s": 2592000,
}


async def test_a_grant_is_given_listed_and_taken_back(autojump_clock):
    """By the operator, in three commands; people and programs can read each. Spec: POL-8."""
    async with (
        open_service(scenario="quiet-room", ports=simulated_ports(1)) as service,
        trio.open_nursery() as nursery,
    ):
        server = ControlServer(service, token=SecretStr("canary-70ken"), version="9", instance="inst")
        await service.avatar().wait_agent(AgentState.RUNNING)

        class Network:
            async def connect_tcp(self, host, port, *, timeout_s):
                await trio.lowlevel.checkpoint()
                ours, theirs = trio.testing.memory_stream_pair()
                nursery.start_soon(server.handle, theirs)
                return ours

        async def ask(command, *arguments, json=False, **named):
            out = io.StringIO()
            kept = []

            class Asking(Reach):
                def run(self, ask):
                    kept.append(ask)
                    return 0

            reach = Asking(ENDPOINT, SecretStr("canary-70ken"), out=out, json=json, network=Network())
            command(reach, *arguments, **named)
            return await reach._connected(kept[0]), out.getvalue()

        assert await ask(show_grants, None) == (0, "no grant may be used\n")
        code, text = await ask(give_grant, json.dumps(TERMS), avatar=None)
        assert code == 0
        grant = text.split()[-1]
        _, text = await ask(show_grants, "robin")
        assert text.startswith(f"{grant}  robin: say ")
        assert "0 of 1 times in 24.0 h" in text
        _, text = await ask(show_grants, None, json=True)
        assert json.loads(text)["grant_id"] == grant
        code, _ = await ask(revoke_grant, grant, avatar="robin")
        assert code == 0
        code, text = await ask(revoke_grant, grant, avatar="robin")
        assert (code, "cannot be taken back: ended" in text) == (5, True)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "terms",
    ["no json", "[]", "{}", json.dumps({**TERMS, "times": 0}), json.dumps({**TERMS, "more": 1}), '{"a":1,"a":2}'],
)
def test_terms_that_cannot_be_are_refused_before_anything_is_sent(terms):
    """With the command that has an example. Spec: POL-8."""
    with pytest.raises(UsageProblem, match="grants --help has an example"):
        give_grant(None, terms, avatar=None)
