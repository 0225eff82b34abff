"""Messages that keep a circuit: opening, closing, acks, pings, pauses and the throttle."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    U8,
    U32,
    U64,
    V1,
    V2,
    AgentSession,
    Block,
    IPAddress,
    Message,
    Port,
    Uuid,
    Vector3,
)

__all__ = (
    "AgentMovementComplete",
    "AgentPause",
    "AgentResume",
    "AgentThrottle",
    "CloseCircuit",
    "CompleteAgentMovement",
    "CompletePingCheck",
    "DisableSimulator",
    "EnableSimulator",
    "KickUser",
    "LogoutReply",
    "LogoutRequest",
    "PacketAck",
    "StartPingCheck",
    "UseCircuitCode",
)


class UseCircuitCode(Message, frozen=True):
    """Open a circuit with the code of the login reply; the first message on it."""

    class CircuitCode(Block, frozen=True):
        code: U32
        session_id: Uuid
        id: Uuid

    circuit_code: CircuitCode


class CompleteAgentMovement(Message, frozen=True):
    """Ask to be present in the region: a child circuit becomes the root."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        circuit_code: U32

    agent_data: AgentData


class AgentMovementComplete(Message, frozen=True):
    """We are present: where we stand and what the simulator runs."""

    class Data(Block, frozen=True):
        position: Vector3
        look_at: Vector3
        region_handle: U64
        timestamp: U32

    class SimData(Block, frozen=True):
        channel_version: V2

    agent_data: AgentSession
    data: Data
    sim_data: SimData


class PacketAck(Message, frozen=True):
    """Reliable packets that arrived, by sequence number."""

    class Packets(Block, frozen=True):
        id: U32

    packets: tuple[Packets, ...] = ()


class CloseCircuit(Message, frozen=True):
    """The other side ends the circuit at once."""


class StartPingCheck(Message, frozen=True):
    """A ping, with the oldest packet that is still unacknowledged."""

    class PingID(Block, frozen=True):
        ping_id: U8
        oldest_unacked: U32

    ping_id: PingID


class CompletePingCheck(Message, frozen=True):
    """The answer to a ping."""

    class PingID(Block, frozen=True):
        ping_id: U8

    ping_id: PingID


class AgentThrottle(Message, frozen=True):
    """What we can take: seven little-endian F32 of bits a second, resend to asset."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        circuit_code: U32

    class Throttle(Block, frozen=True):
        gen_counter: U32
        throttles: V1

    agent_data: AgentData
    throttle: Throttle


class AgentPause(Message, frozen=True):
    """We fall silent for a while; keep the circuit."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        serial_num: U32

    agent_data: AgentData


class AgentResume(Message, frozen=True):
    """We are back from a pause."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        serial_num: U32

    agent_data: AgentData


class LogoutRequest(Message, frozen=True):
    """Leave the grid."""

    agent_data: AgentSession


class LogoutReply(Message, frozen=True):
    """The grid saved what we wear; not guaranteed to come."""

    class InventoryData(Block, frozen=True):
        item_id: Uuid

    agent_data: AgentSession
    inventory_data: tuple[InventoryData, ...] = ()


class KickUser(Message, frozen=True):
    """We are thrown out, with the reason; the circuit dies next."""

    class TargetBlock(Block, frozen=True):
        target_ip: IPAddress
        target_port: Port

    class UserInfo(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        reason: V2

    target_block: TargetBlock
    user_info: UserInfo


class EnableSimulator(Message, frozen=True):
    """A neighbour exists at this address (event queue only)."""

    class SimulatorInfo(Block, frozen=True):
        handle: U64
        ip: IPAddress
        port: Port

    simulator_info: SimulatorInfo


class DisableSimulator(Message, frozen=True):
    """The simulator closes this circuit: an old region, or ours going down."""
