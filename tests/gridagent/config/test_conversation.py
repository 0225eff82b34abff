"""Claims about the section ``conversation``."""

import msgspec
import pytest

from gridagent.config.conversation import ConversationSection
from gridagent.limits import CONVERSATION_TEXT_MAX_BYTES, CONVERSATIONS_MAX


def test_the_defaults_are_the_ceilings():
    """Spec: BND-9 — the configuration can only lower what is kept; what nobody goes on with ends after a month."""
    section = ConversationSection()
    assert (section.conversations_max, section.text_max_bytes) == (CONVERSATIONS_MAX, CONVERSATION_TEXT_MAX_BYTES)
    assert section.expire_after_days == 30


@pytest.mark.parametrize(
    "over", [{"conversations_max": 4_097}, {"text_max_bytes": 1}, {"expire_after_days": 0}, {"keep": True}]
)
def test_what_is_out_of_bounds_is_refused(over):
    """Spec: BND-9, CFG-1 — too much, too little, and keys that are none."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(over, ConversationSection)
