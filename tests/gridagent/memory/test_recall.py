"""Claims about which words are looked for."""

from hypothesis import given
from hypothesis import strategies as st

from gridagent.authority import TextSource
from gridagent.memory.facts import Fact
from gridagent.memory.recall import TERMS_MAX, matches, terms_of


@given(st.text(max_size=2_000))
def test_nothing_but_plain_words_is_looked_for(words):
    """Spec: MEM-4 — quotes, stars, brackets and operators of a query language never get through."""
    found = terms_of(words)
    assert len(found) <= TERMS_MAX
    assert len(set(found)) == len(found)
    assert all(each.isalnum() and 0 < len(each) <= 32 for each in found)


def test_words_are_folded():
    """Case and accents make no difference."""
    assert terms_of('Où est "CAFÉ" AND (tea* NEAR thé)?') == ("ou", "est", "cafe", "and", "tea", "near", "the")


def test_a_word_counts_where_it_begins_one():
    """Half a word at its beginning is enough; in its middle it isn't."""
    fact = Fact(
        fact_id="f", text="The Café sells lemonades", scope="public", source=TextSource.OWNER, at=0.0, tainted=False
    )
    assert matches(fact, ("cafe", "lemonade", "monad", "tea")) == 2
