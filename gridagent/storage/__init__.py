"""Where everything is kept that must survive; see `gridagent.storage.base` for the port sessions depend on.

The database is imported by name (`gridagent.storage.store`, `gridagent.storage.database`), by who opens one:
an avatar that keeps nothing loads no SQLite.
"""

from gridagent.storage.avatar import AvatarStore as AvatarStore
from gridagent.storage.base import LedgerRefused as LedgerRefused
from gridagent.storage.base import SafeMode as SafeMode
from gridagent.storage.base import StorageFailed as StorageFailed
from gridagent.storage.base import StorageFault as StorageFault
from gridagent.storage.base import StorageStatus as StorageStatus
from gridagent.storage.base import Store as Store
from gridagent.storage.memory import MemoryStore as MemoryStore
from gridagent.storage.records import AuditQuery as AuditQuery
from gridagent.storage.records import Recovered as Recovered
from gridagent.storage.settings import StorageSettings as StorageSettings

__all__ = (
    "AuditQuery",
    "AvatarStore",
    "LedgerRefused",
    "MemoryStore",
    "Recovered",
    "SafeMode",
    "StorageFailed",
    "StorageFault",
    "StorageSettings",
    "StorageStatus",
    "Store",
)
