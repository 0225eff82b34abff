"""Annotations taken apart."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from gridagent.config.annotations import TypeInfo, fields_of, read_type
from gridagent.ids import AvatarId


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    wanted: int


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    whole: Annotated[int, Meta(ge=1, le=10)] = 1
    by_colour: dict[str, int] = msgspec.field(default_factory=dict)
    who: AvatarId | None = None


def test_a_key_tells_kind_bounds_and_null() -> None:
    """New types, annotations and optional values are seen through."""
    fields = fields_of(Sample)
    assert (fields["whole"].type.type, fields["whole"].type.bound("ge"), fields["whole"].type.bound("le", "lt")) == (
        int,
        1,
        10,
    )
    assert fields["whole"].type.bound("max_length") is None
    assert fields["by_colour"].type.is_map
    assert fields["who"].type.is_uuid
    assert fields["who"].type.nullable
    assert read_type(Sample).is_struct
    assert read_type(tuple[int, ...]).is_list


def test_a_union_of_two_kinds_is_no_model() -> None:
    """The model keeps to what can be explained in one sentence."""
    with pytest.raises(TypeError, match="may not use the union"):
        TypeInfo(int | str)


def test_keys_of_a_section_know_their_defaults() -> None:
    """Defaults of every kind can be asked for."""
    fields = fields_of(Sample)
    assert fields["whole"].default() == 1
    assert fields["by_colour"].default() == {}
    assert not fields["whole"].required
    assert fields_of(Inner)["wanted"].required
