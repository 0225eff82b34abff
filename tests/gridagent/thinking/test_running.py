"""Claims about the bookkeeping of a turn that is under way."""

from gridagent.authority import Role, TextSource
from gridagent.thinking.running import LABELS


def test_only_configured_people_wear_another_label_than_a_strangers():
    """Spec: POL-4, MND-4 — owner and authorised; an object, a front or anybody else never gets one of theirs."""
    assert LABELS == {Role.OWNER: TextSource.OWNER, Role.TRUSTED: TextSource.AUTHORISED}
