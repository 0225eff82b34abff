"""Claims about what a visitor types."""

import pytest

from gridagent.actions import Volume
from gridagent.cli.chat_words import CHAT_HELP, Wish, Wished, parse_line
from gridagent.cli.vocabulary import UsageProblem


@pytest.mark.parametrize(
    ("line", "wished"),
    [
        ("Hello Robin!", Wished(wish=Wish.SAY, text="Hello Robin!")),
        ("  hi  ", Wished(wish=Wish.SAY, text="hi")),
        ("/say /me is a word", Wished(wish=Wish.SAY, text="/me is a word")),
        ("/whisper psst", Wished(wish=Wish.SAY, text="psst", volume=Volume.WHISPER)),
        ("/shout HEY", Wished(wish=Wish.SAY, text="HEY", volume=Volume.SHOUT)),
        ("/me waves", Wished(wish=Wish.EMOTE, text="waves")),
        ("/im hello there", Wished(wish=Wish.IM, text="hello there")),
        ("/pay 50", Wished(wish=Wish.PAY, number=50)),
        ("/give Welcome note", Wished(wish=Wish.GIVE, text="Welcome note")),
        ("/walk 20 -5.5", Wished(wish=Wish.WALK, place=(20.0, -5.5))),
        ("/wait 2m", Wished(wish=Wish.WAIT, seconds=120.0)),
        ("/as olive", Wished(wish=Wish.AS, text="olive")),
        ("/op allow abc", Wished(wish=Wish.OPERATOR, text="allow abc")),
        ("/history", Wished(wish=Wish.HISTORY, number=20)),
        ("/history 3", Wished(wish=Wish.HISTORY, number=3)),
        ("/quit", Wished(wish=Wish.QUIT)),
        ("", Wished(wish=Wish.NOTHING)),
        ("# a remark", Wished(wish=Wish.NOTHING)),
    ],
)
def test_a_line_means_one_thing(line, wished):
    """Spec: OPS-1 — words without a slash are said; each slash word is one wish."""
    assert parse_line(line) == wished


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/dance", "there is no /dance"),
        ("/", "there is no /"),
        ("/say", "say what"),
        ("/im", "/im hello"),
        ("/come here", "takes nothing behind it"),
        ("/pay", "whole number"),
        ("/pay 0", "whole number"),
        ("/pay ٥", "whole number"),
        ("/pay 99999999999999999999", "whole number"),
        ("/history x", "whole number"),
        ("/walk 5", "two numbers"),
        ("/walk 1e9 0", "two numbers"),
        ("/walk nan 0", "two numbers"),
        ("/walk a b", "two numbers"),
        ("/wait", "/wait 30s"),
        ("/wait 2d", "at most a day"),
        ("x" * 1024, "too long"),
        ("é" * 512, "too long"),
        (None, "too long"),
    ],
)
def test_a_line_that_means_nothing_says_how_to_write_it(line, says):
    """Spec: OPS-1 — a wrong word is never spoken aloud; the sentence says what would be right."""
    with pytest.raises(UsageProblem) as caught:
        parse_line(line)
    assert says in str(caught.value)


def test_the_help_names_every_word():
    """Spec: OPS-1 — nothing can be typed that the help does not tell of."""
    text = " ".join((*CHAT_HELP, *CHAT_HELP.values()))
    missing = [
        wish for wish in Wish if wish not in {Wish.NOTHING, Wish.SAY, Wish.HELP} and f"/{wish.value}" not in text
    ]
    assert missing == []
