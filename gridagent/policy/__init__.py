"""Who may cause what; see `gridagent.policy.gateway` for the only mint."""

from gridagent.policy.audit import AuditRecord as AuditRecord
from gridagent.policy.authorized import AuthorizedAction as AuthorizedAction
from gridagent.policy.decisions import Authorized as Authorized
from gridagent.policy.decisions import Decision as Decision
from gridagent.policy.decisions import Denied as Denied
from gridagent.policy.decisions import Instant as Instant
from gridagent.policy.decisions import NeedsApproval as NeedsApproval
from gridagent.policy.decisions import RedeemRefusal as RedeemRefusal
from gridagent.policy.gateway import Gateway as Gateway
from gridagent.policy.ledger import EffectRecord as EffectRecord
from gridagent.policy.policy import Policy as Policy
from gridagent.policy.status import GatewayStatus as GatewayStatus

__all__ = (
    "AuditRecord",
    "Authorized",
    "AuthorizedAction",
    "Decision",
    "Denied",
    "EffectRecord",
    "Gateway",
    "GatewayStatus",
    "Instant",
    "NeedsApproval",
    "Policy",
    "RedeemRefusal",
)
