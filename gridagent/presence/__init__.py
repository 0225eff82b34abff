"""Who is being spoken to, and when to keep quiet; pure."""

from gridagent.presence.reflex import ReflexMind as ReflexMind

__all__ = ("ReflexMind",)
