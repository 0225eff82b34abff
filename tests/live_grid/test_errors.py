"""The protocol package's own error tree."""

from __future__ import annotations

import pytest

from live_grid import errors


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_has_a_distinct_code_and_one_root(name: str) -> None:
    """Each error descends from the root, and only the root has no code."""
    cls = getattr(errors, name)
    codes = [getattr(errors, other).code for other in errors.__all__]
    assert issubclass(cls, errors.LiveGridError)
    assert (cls.code == "") is (cls is errors.LiveGridError)
    assert codes.count(cls.code) == 1


def test_the_root_cannot_be_raised_itself() -> None:
    """A family is no error: raising it is a mistake that shows at once."""
    with pytest.raises(TypeError, match="family"):
        errors.LiveGridError("x")


def test_errors_keep_their_facts_as_fields() -> None:
    """Limit and transition errors carry data, and the sentence is built from it."""
    full = errors.LimitReached("outbox", allowed=3)
    assert (full.limit, full.allowed, str(full)) == ("outbox", 3, "outbox: at most 3 allowed")
    wrong = errors.IllegalTransition("login", "idle", "reply")
    assert (wrong.table, wrong.state, wrong.given) == ("login", "idle", "reply")
    assert str(wrong) == "login: no transition from idle on reply"
