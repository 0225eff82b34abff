"""What a model may call, and what becomes of each call; nothing here performs anything."""

from gridagent.tools.access import Access as Access
from gridagent.tools.access import TurnMode as TurnMode
from gridagent.tools.codes import ResultCode as ResultCode
from gridagent.tools.envelope import ToolOutcome as ToolOutcome
from gridagent.tools.envelope import ToolResult as ToolResult
from gridagent.tools.evidence import Evidence as Evidence
from gridagent.tools.ledger import CallInput as CallInput
from gridagent.tools.ledger import CallLedger as CallLedger
from gridagent.tools.registry import Registry as Registry
from gridagent.tools.scheduler import Start as Start
from gridagent.tools.scheduler import ToolBatch as ToolBatch
from gridagent.tools.validated import ValidatedToolCall as ValidatedToolCall

__all__ = (
    "Access",
    "CallInput",
    "CallLedger",
    "Evidence",
    "Registry",
    "ResultCode",
    "Start",
    "ToolBatch",
    "ToolOutcome",
    "ToolResult",
    "TurnMode",
    "ValidatedToolCall",
)
