"""Many avatars in one process; `gridagent.service.api` is all that a front may see of it."""

from gridagent.service.audit import AuditTrail as AuditTrail
from gridagent.service.service import AvatarSpec as AvatarSpec
from gridagent.service.service import Hosted as Hosted
from gridagent.service.service import Service as Service
from gridagent.service.service import open_service as open_service

__all__ = ("AuditTrail", "AvatarSpec", "Hosted", "Service", "open_service")
