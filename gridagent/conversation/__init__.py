"""What was said with whom, one exact key apart from every other; pure."""

from gridagent.conversation.entries import Entry as Entry
from gridagent.conversation.entries import Finding as Finding
from gridagent.conversation.entries import Heard as Heard
from gridagent.conversation.entries import Said as Said
from gridagent.conversation.entries import Summary as Summary
from gridagent.conversation.entries import Used as Used
from gridagent.conversation.keys import Channel as Channel
from gridagent.conversation.keys import ConversationKey as ConversationKey
from gridagent.conversation.keys import PersonKey as PersonKey
from gridagent.conversation.keys import ThreadKey as ThreadKey

__all__ = (
    "Channel",
    "ConversationKey",
    "Entry",
    "Finding",
    "Heard",
    "PersonKey",
    "Said",
    "Summary",
    "ThreadKey",
    "Used",
)
