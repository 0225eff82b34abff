"""Claims about identifiers."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.ids import NIL_UUID, AvatarId, is_canonical_uuid, parse_avatar_id

GOOD = "0f2b4c6d-8e9f-4a1b-8c2d-3e4f5a6b7c8d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        NIL_UUID,
        GOOD.upper(),
        GOOD.replace("-", ""),
        f"{{{GOOD}}}",
        f"urn:uuid:{GOOD}",
        GOOD + "\n",
        " " + GOOD,
        GOOD.replace("0f2b4c6d", "0f2b4c6\uff14"),
        "0f2b4c6d8-e9f-4a1b-8c2d-3e4f5a6b7c8d",
        "*",
    ],
)
def test_only_one_form_of_a_uuid_is_taken(text):
    """Spec: BND-14 — nil, upper case, braces, URNs, misplaced hyphens, wide digits and wildcards are refused."""
    assert not is_canonical_uuid(text)
    with pytest.raises(ValueError, match="lower-case hyphenated"):
        parse_avatar_id(text)


def test_the_canonical_form_is_taken_as_it_is():
    """What is taken is not changed, so that equal ids are equal texts."""
    assert parse_avatar_id(GOOD) == GOOD
    assert msgspec.json.decode(f'"{GOOD}"', type=AvatarId) == GOOD


@given(st.uuids())
def test_every_uuid_has_exactly_one_canonical_text(value):
    """Any UUID but nil passes in its printed form, and in no other case."""
    assert is_canonical_uuid(str(value)) is (value.int != 0)
    assert not is_canonical_uuid(str(value).upper()) or str(value).upper() == str(value)
