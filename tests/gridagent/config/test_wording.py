"""Words about single values."""

from __future__ import annotations

import pytest

from gridagent.config.wording import nearest, plain, uuid_problem

ADA = "01234567-89ab-4cde-8f01-23456789abcd"


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        (ADA, None),
        (ADA.upper(), "canonical"),
        (ADA.replace("-", ""), "canonical"),
        (f"{{{ADA}}}", "canonical"),
        (f"urn:uuid:{ADA}", "canonical"),
        ("0123456789ab-4cde-8f01-2345-6789abcd", "canonical"),
        ("00000000-0000-0000-0000-000000000000", "nil"),
        ("*", "wildcard"),
        ("01234567-*", "wildcard"),
        (ADA[:-1], "is not a UUID"),
        (ADA[:-1] + "g", "is not a UUID"),
        (ADA[:-1] + "\uff11", "is not a UUID"),
        ("", "is not a UUID"),
    ],
)
def test_a_uuid_has_one_form(text: str, phrase: str | None) -> None:
    """Malformed, non-canonical, nil and wildcard ids are each told apart. Spec: CFG-1, BND-14."""
    problem = uuid_problem(text)
    assert problem is None if phrase is None else problem is not None and phrase in problem[0]


def test_numbers_are_written_as_people_do() -> None:
    """No fraction of zero, no exponent."""
    assert [plain(number) for number in (8_192, 3_600.0, 0.5, 2**63 - 1)] == [
        "8192",
        "3600",
        "0.5",
        "9223372036854775807",
    ]


def test_the_nearest_name_ignores_case_and_length() -> None:
    """A pasted page does not make the search slow."""
    assert nearest("Grid_Evnts", ("grid_events", "controls")) == "grid_events"
    assert nearest("x" * 10_000, ("grid_events",)) is None
