"""How the two server families differ, as data: one `WireProfile` a family.

Owns every difference that a client can see on the wire; the cores ask a field and never the family's name. The
OpenSimulator profile follows what a running server was recorded doing, the Second Life one what is publicly
known of it. `msgspec.structs.replace` makes a profile of one's own (Spec: LIV-15).
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ("OPENSIM", "PROFILES", "SECOND_LIFE", "WireProfile")

_COMMON_CAPABILITIES: Final = (
    "EventQueueGet",
    "FetchInventory2",
    "FetchInventoryDescendents2",
    "FetchLib2",
    "FetchLibDescendents2",
    "GetDisplayNames",
    "SimulatorFeatures",
    "UpdateNotecardAgentInventory",
)


class WireProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What a server of one family does where families differ."""

    name: str
    platform: str
    """As grid information and channel version call it; empty for a grid without such a page."""
    channel_version: str
    capabilities: tuple[str, ...]
    """Names a seed answers with an address; every other name is left out."""
    poll_hold_s: float
    """How long a poll without events is held."""
    acks_honoured: bool
    """Keep events until the client acknowledges them; otherwise they are gone with the answer."""
    done_ends_queue: bool
    """Answer 404 for ever to a client that once said that it polls no more; otherwise it may come back."""
    integers_as_binary: bool
    """Write unsigned numbers of the parcel as four bytes; otherwise as integers."""
    sizes_named: bool
    """Name region sizes in login, events and map."""
    codes_acked_blindly: bool
    """Acknowledge every `UseCircuitCode`, also one with a code nobody knows."""
    handshake_for_arrivals_only_when_present: bool
    """After a teleport, send the handshake with the presence instead of with the circuit."""
    new_socket_ends_circuit: bool
    """A second circuit to the same region from another socket closes the first and never works itself."""
    cached_first: bool
    """Announce objects by number and checksum to a client that has not said that its cache is empty."""
    teleport_failure_over_udp: bool
    """Tell a failed teleport over UDP; otherwise over the event queue."""
    announces_target: bool
    """Announce a teleport's region as a neighbour before the teleport's end is told."""
    stored_ims_over_udp: bool
    """Hand stored messages over on request over UDP; otherwise by a capability."""
    restart_as_text: bool
    """Announce a restart in words only; otherwise with a key that programs can read."""
    gifts_over_queue: bool
    """Tell of what comes into an inventory over the event queue; otherwise over UDP."""
    gifts_answered_as_copies: bool
    """Answer a gift under the id of the receiver's copy, which the giver does not know; otherwise under the giver's."""
    ack_delay_s: float
    """How long acks are collected; only the opener of a circuit is acknowledged at once."""
    greeting_delay_s: float
    """Pause between the ack of a circuit's opener and the handshake.

    Clients await the one before they listen for the other."""
    arrival_s: float
    """How long the destination of a teleport or crossing waits for the client."""
    leave_child_s: float
    """How long a region that is no neighbour any more keeps its circuit."""
    answers_balance: bool = True
    """Answer who asks for a balance; a server without any money module does not."""
    seed_suffix: str = ""
    """What stands after the id in a seed's address."""


OPENSIM: Final = WireProfile(
    name="opensim",
    platform="OpenSim",
    channel_version="OpenSim 0.9.2.2 (gridagent simulator)",
    capabilities=(
        *_COMMON_CAPABILITIES,
        "AgentPreferences",
        "HomeLocation",
        "RenderMaterials",
        "UpdateAgentInformation",
        "UpdateAgentLanguage",
    ),
    poll_hold_s=58.0,
    acks_honoured=False,
    done_ends_queue=True,
    integers_as_binary=False,
    sizes_named=True,
    codes_acked_blindly=True,
    handshake_for_arrivals_only_when_present=True,
    new_socket_ends_circuit=True,
    cached_first=True,
    teleport_failure_over_udp=True,
    announces_target=False,
    stored_ims_over_udp=True,
    restart_as_text=True,
    gifts_over_queue=True,
    gifts_answered_as_copies=True,
    ack_delay_s=0.3,
    greeting_delay_s=0.015,
    arrival_s=25.0,
    leave_child_s=5.0,
    seed_suffix="0000/",
)
SECOND_LIFE: Final = WireProfile(
    name="secondlife",
    platform="",
    channel_version="Second Life Server (gridagent simulator)",
    capabilities=(
        *_COMMON_CAPABILITIES,
        "AgentPreferences",
        "ReadOfflineMsgs",
        "UpdateAgentInformation",
        "UpdateAvatarAppearance",
    ),
    poll_hold_s=25.0,
    acks_honoured=True,
    done_ends_queue=False,
    integers_as_binary=True,
    sizes_named=False,
    codes_acked_blindly=False,
    handshake_for_arrivals_only_when_present=False,
    new_socket_ends_circuit=False,
    cached_first=False,
    teleport_failure_over_udp=False,
    announces_target=True,
    stored_ims_over_udp=False,
    restart_as_text=False,
    gifts_over_queue=False,
    gifts_answered_as_copies=False,
    ack_delay_s=0.1,
    greeting_delay_s=0.05,
    arrival_s=15.0,
    leave_child_s=10.0,
)
PROFILES: Final = {profile.name: profile for profile in (OPENSIM, SECOND_LIFE)}
"""Profiles by name."""
