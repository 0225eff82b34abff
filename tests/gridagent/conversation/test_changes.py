"""Claims about what happens to what is kept of conversations."""

from typing import get_args

from gridagent.conversation import changes


def test_every_change_is_listed():
    """Storage applies a closed set of changes; one that is not in it cannot be written."""
    classes = {
        each for each in vars(changes).values() if isinstance(each, type) and each.__module__ == changes.__name__
    }
    assert set(get_args(changes.ConversationChange)) == classes - {changes.StoredEntry}
