"""What Hippolyzer does in the peer test, run by an interpreter that has it: one JSON line for each thing done.

``python hippolyzer_visit.py LOGIN-URL NAME PASSWORD REGION-HANDLE``
"""

from __future__ import annotations

import asyncio
import json
import sys

from hippolyzer.lib.base.datatypes import UUID, Vector3
from hippolyzer.lib.base.message.data_packer import LLSDDataPacker
from hippolyzer.lib.base.message.message import Block, Message
from hippolyzer.lib.client.hippo_client import HippoClient

PATIENCE_S = 30


_unpack = LLSDDataPacker.unpack.__func__


def _unpack_numbers_too(cls, data, data_type):
    """Read a number that is one already: without this the event queue ends with OpenSimulator's first parcel."""
    return data if isinstance(data, int) else _unpack(cls, data, data_type)


LLSDDataPacker.unpack = classmethod(_unpack_numbers_too)


def did(what: str, **more: object) -> None:
    """Tell the test."""
    sys.stdout.write(json.dumps({"did": what, **more}) + "\n")
    sys.stdout.flush()


async def visit(url: str, name: str, password: str, handle: int) -> None:
    """Log in, hear, speak, take and send an IM, teleport, log out."""
    client = HippoClient()
    await client.login(name, password, login_uri=url)
    session = client.session
    heard: asyncio.Queue[Message] = asyncio.Queue()
    written: asyncio.Queue[Message] = asyncio.Queue()
    session.message_handler.subscribe("ChatFromSimulator", heard.put_nowait)
    session.message_handler.subscribe("ImprovedInstantMessage", written.put_nowait)
    did("login", region=client.main_region.name)
    while True:
        chat = (await asyncio.wait_for(heard.get(), PATIENCE_S))["ChatData"]
        if chat["SourceID"] != session.agent_id and chat["ChatType"] == 1:
            break
    did("hear", text=str(chat["Message"]))
    await client.send_chat("Good day from Hippolyzer.")
    did("speak")
    im = await asyncio.wait_for(written.get(), PATIENCE_S)
    did("im", text=str(im["MessageBlock"]["Message"]))
    await client.main_circuit.send_reliable(
        Message(
            "ImprovedInstantMessage",
            Block("AgentData", AgentID=session.agent_id, SessionID=session.id),
            Block(
                "MessageBlock",
                FromGroup=False,
                ToAgentID=im["AgentData"]["AgentID"],
                ParentEstateID=0,
                RegionID=UUID(),
                Position=Vector3(0, 0, 0),
                Offline=0,
                Dialog=0,
                ID=im["MessageBlock"]["ID"],
                Timestamp=0,
                FromAgentName=name,
                Message="And back.",
                BinaryBucket=b"",
            ),
            Block("EstateBlock", EstateID=0),
        )
    )
    did("answer")
    await asyncio.wait_for(client.teleport(handle, Vector3(50, 60, 25)), PATIENCE_S)
    did("teleport", region=client.main_region.name)
    client.logout()
    await asyncio.sleep(1.0)  # the request leaves with the loop's next turns
    did("logout")
    await client.aclose()


if __name__ == "__main__":
    asyncio.run(visit(*sys.argv[1:4], int(sys.argv[4])))
