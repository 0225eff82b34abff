"""Messages in words: chat, instant messages, alerts, and what scripts ask and say."""

# ruff: noqa: D106 - a block is described by its message
from live_grid.messages.notation import (
    S32,
    U8,
    U32,
    V1,
    V2,
    AgentSession,
    Block,
    Bool,
    Message,
    Uuid,
    Vector3,
)

__all__ = (
    "AgentAlertMessage",
    "AlertMessage",
    "ChatFromSimulator",
    "ChatFromViewer",
    "GenericMessage",
    "ImprovedInstantMessage",
    "LoadURL",
    "RetrieveInstantMessages",
    "ScriptAnswerYes",
    "ScriptDialog",
    "ScriptDialogReply",
    "ScriptQuestion",
)


class ChatFromViewer(Message, frozen=True):
    """Say, whisper, shout, or show that we type."""

    class ChatData(Block, frozen=True):
        message: V2
        type: U8
        channel: S32

    agent_data: AgentSession
    chat_data: ChatData


class ChatFromSimulator(Message, frozen=True):
    """Somebody or something was heard."""

    class ChatData(Block, frozen=True):
        from_name: V1
        source_id: Uuid
        owner_id: Uuid
        source_type: U8
        chat_type: U8
        audible: U8
        position: Vector3
        message: V2

    chat_data: ChatData


class ImprovedInstantMessage(Message, frozen=True):
    """An instant message, or one of the many dialogs that travel as one."""

    class MessageBlock(Block, frozen=True):
        from_group: Bool
        to_agent_id: Uuid
        parent_estate_id: U32
        region_id: Uuid
        position: Vector3
        offline: U8
        dialog: U8
        id: Uuid
        timestamp: U32
        from_agent_name: V1
        message: V2
        binary_bucket: V2

    class EstateBlock(Block, frozen=True):
        estate_id: U32

    class MetaData(Block, frozen=True):
        data: V2

    agent_data: AgentSession
    message_block: MessageBlock
    estate_block: EstateBlock
    meta_data: tuple[MetaData, ...] = ()


class RetrieveInstantMessages(Message, frozen=True):
    """Ask for messages stored while we were away."""

    agent_data: AgentSession


class AlertMessage(Message, frozen=True):
    """A notice from the region, with a key that programs can read."""

    class AlertData(Block, frozen=True):
        message: V1

    class AlertInfo(Block, frozen=True):
        message: V1
        extra_params: V1

    class AgentInfo(Block, frozen=True):
        agent_id: Uuid

    alert_data: AlertData
    alert_info: tuple[AlertInfo, ...] = ()
    agent_info: tuple[AgentInfo, ...] = ()


class AgentAlertMessage(Message, frozen=True):
    """A notice to us alone."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid

    class AlertData(Block, frozen=True):
        modal: Bool
        message: V1

    agent_data: AgentData
    alert_data: AlertData


class GenericMessage(Message, frozen=True):
    """A named method with text parameters: autopilot and much else."""

    class AgentData(Block, frozen=True):
        agent_id: Uuid
        session_id: Uuid
        transaction_id: Uuid

    class MethodData(Block, frozen=True):
        method: V1
        invoice: Uuid

    class ParamList(Block, frozen=True):
        parameter: V1

    agent_data: AgentData
    method_data: MethodData
    param_list: tuple[ParamList, ...] = ()


class ScriptDialog(Message, frozen=True):
    """A script shows buttons, or asks for text."""

    class Data(Block, frozen=True):
        object_id: Uuid
        first_name: V1
        last_name: V1
        object_name: V1
        message: V2
        chat_channel: S32
        image_id: Uuid

    class Buttons(Block, frozen=True):
        button_label: V1

    class OwnerData(Block, frozen=True):
        owner_id: Uuid

    data: Data
    buttons: tuple[Buttons, ...] = ()
    owner_data: tuple[OwnerData, ...] = ()


class ScriptDialogReply(Message, frozen=True):
    """The button chosen, or the text given."""

    class Data(Block, frozen=True):
        object_id: Uuid
        chat_channel: S32
        button_index: S32
        button_label: V1

    agent_data: AgentSession
    data: Data


class ScriptQuestion(Message, frozen=True):
    """A script asks for permissions, as bits."""

    class Data(Block, frozen=True):
        task_id: Uuid
        item_id: Uuid
        object_name: V1
        object_owner: V1
        questions: S32

    class Experience(Block, frozen=True):
        experience_id: Uuid

    data: Data
    experience: Experience


class ScriptAnswerYes(Message, frozen=True):
    """The permissions granted; none is a refusal."""

    class Data(Block, frozen=True):
        task_id: Uuid
        item_id: Uuid
        questions: S32

    agent_data: AgentSession
    data: Data


class LoadURL(Message, frozen=True):
    """A script suggests a web page; never opened by itself."""

    class Data(Block, frozen=True):
        object_name: V1
        object_id: Uuid
        owner_id: Uuid
        owner_is_group: Bool
        message: V1
        url: V1

    data: Data
