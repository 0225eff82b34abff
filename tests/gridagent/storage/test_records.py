"""Pages of audit rows have a size."""

from __future__ import annotations

import pytest

from gridagent.storage.records import AUDIT_PAGE_MAX, AuditQuery


@pytest.mark.parametrize("limit", [0, -1, AUDIT_PAGE_MAX + 1])
def test_a_page_has_a_size(limit) -> None:
    """None and too many are refused; one and the most are not. Spec: BND-16."""
    with pytest.raises(ValueError, match="a page of audit rows has 1 to"):
        AuditQuery(limit=limit)
    assert AuditQuery(limit=1).limit == 1
    assert AuditQuery().limit == AUDIT_PAGE_MAX
