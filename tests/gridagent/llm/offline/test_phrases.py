"""What visitors want is understood: every line the rules were written from, and how many of those they were not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.llm.offline.phrases import Intent, amount_in, intent_of, sought_in

VISITORS = Path(__file__).resolve().parents[1] / "visitors"


def share(name: str) -> tuple[int, int]:
    """Return how many lines of a file are understood, and how many there are."""
    rows = json.loads((VISITORS / f"{name}.json").read_text(encoding="utf-8"))
    return sum(intent_of(text) == wanted for wanted, text in rows), len(rows)


def test_every_line_the_rules_were_written_from_is_understood() -> None:
    """All of them."""
    assert share("lines") == (45, 45)


@pytest.mark.parametrize(("name", "least"), [("paraphrases", 64), ("held_out", 52)])
def test_most_other_ways_to_say_it_are_understood(name: str, least: int) -> None:
    """The second file widened the rules (from 21 of its 66); the third was written before that, and measures."""
    understood, of = share(name)
    assert understood >= least
    assert of == 66


def test_every_intent_is_reached() -> None:
    """No rule is dead."""
    rows = [row for name in ("lines", "paraphrases") for row in json.loads((VISITORS / f"{name}.json").read_text())]
    assert {intent_of(text) for _, text in rows} == set(Intent) - {Intent.OTHER}
    assert intent_of("the weather will change") is Intent.OTHER


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("stand", Intent.STAND),
        ("Robin, stand", Intent.STAND),
        ("and stand over there", Intent.STAND),
        ("how much is the Lemonade stand?", Intent.PRICE),
        ("I like your lemonade stand", Intent.OTHER),
    ],
)
def test_a_stand_is_no_order_to_stand(text: str, intent: Intent) -> None:
    """A word that names a thing as well is an order only by itself."""
    assert intent_of(text) is intent


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("pay me 50", 50),
        ("give me L$ 500 and 3", 500),
        ("pay me", None),
        ("pay me 0", None),
        ("pay me 99999999", None),
        ("pay me ٣", None),
        ("pay 1e9", None),
        ("pay me -5", 5),
    ],
)
def test_amounts_are_plain_numbers(text: str, amount: int | None) -> None:
    """Nothing is computed: the first number as it stands, or none. Fault: 24."""
    assert amount_in(text) == amount


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("where is Mara Quill?", ("mara", "quill")),
        ("how do I get to the fountain?", ("fountain",)),
        ("I'm looking for a bench", ("bench",)),
        ("have you seen", ()),
        ("hello", ()),
    ],
)
def test_what_is_sought_is_named(text: str, sought: tuple[str, ...]) -> None:
    """Without the article before it."""
    assert sought_in(text) == sought


@given(st.text(max_size=200))
def test_any_words_have_one_intent(text: str) -> None:
    """Nothing a visitor says raises."""
    assert intent_of(text) in Intent
    assert len(sought_in(text)) <= 6
    assert amount_in(text) is None or amount_in(text) > 0
