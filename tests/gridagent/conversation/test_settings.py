"""Claims about how much of conversations is kept."""

import msgspec
import pytest

from gridagent.config.conversation import ConversationSection
from gridagent.conversation.settings import ConversationSettings, settings_of
from gridagent.limits import CONVERSATION_TEXT_MAX_BYTES, CONVERSATIONS_MAX


def test_the_defaults_are_within_the_ceilings():
    """Spec: BND-9 — 4,096 conversations and 64 MiB of text, and one conversation is a small part of it."""
    settings = ConversationSettings()
    assert settings.conversations_max == CONVERSATIONS_MAX == 4_096
    assert settings.text_max_bytes == CONVERSATION_TEXT_MAX_BYTES == 64 * 1024 * 1024
    assert settings.one_text_max_bytes * 64 <= settings.text_max_bytes


def test_one_conversation_cannot_have_more_room_than_there_is():
    """Spec: BND-9 — bounds that contradict each other are refused."""
    with pytest.raises(ValueError, match="one_text_max_bytes"):
        ConversationSettings(one_text_max_bytes=64 * 1024, text_max_bytes=32 * 1024)


def test_the_configuration_says_how_much_is_kept_and_how_long():
    """Spec: BND-9, MEM-2 — each key arrives, the defaults agree, and one conversation never has more than all."""
    assert settings_of(ConversationSection()) == ConversationSettings()
    small = settings_of(ConversationSection(expire_after_days=2, conversations_max=7, text_max_bytes=64 * 1024))
    assert (small.expire_after_s, small.conversations_max) == (172_800.0, 7)
    assert small.text_max_bytes == small.one_text_max_bytes == 64 * 1024


@pytest.mark.parametrize("raw", [b'{"conversations_max":4097}', b'{"text_max_bytes":67108865}', b'{"other":1}'])
def test_no_ceiling_can_be_raised(raw):
    """Spec: BND-9 — configuration may lower a bound and never raise it."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(raw, type=ConversationSettings)
