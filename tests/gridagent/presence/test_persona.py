"""Persona files (Spec: PRS-6)."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.errors import ConfigError
from gridagent.limits import PERSONA_FILE_MAX_BYTES
from gridagent.presence.persona import built_in_persona, built_in_personas, names_of, parse_persona

WHOLE = """---
# who she is
name: "Lady Robin"
aliases:
  - Robin
- 'Bird of the Plaza'

language: English
knowledge:
  - The fountain was built in spring: nobody knows by whom.
fallback_lines:
  - Pardon?
tired_line: I am off to bed.
disclosure: I am a bot.
---

You are a robin.

## Habits
You hop.
"""


def _said(data: bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_persona(data)
    return str(caught.value)


def test_a_whole_file_becomes_a_persona() -> None:
    """Every key and the body arrive as written. Spec: PRS-6."""
    persona = parse_persona(WHOLE.encode())
    assert persona.name == "Lady Robin"
    assert persona.aliases == ("Robin", "Bird of the Plaza")
    assert persona.language == "English"
    assert persona.knowledge == ("The fountain was built in spring: nobody knows by whom.",)
    assert persona.fallback_lines == ("Pardon?",)
    assert persona.tired_line == "I am off to bed."
    assert persona.disclosure == "I am a bot."
    assert persona.style == "You are a robin.\n\n## Habits\nYou hop."
    assert persona.digest == hashlib.sha256(WHOLE.encode()).hexdigest()


def test_a_file_needs_nothing_but_a_body() -> None:
    """Without front matter all is style, and the lines that it says by itself have defaults. Spec: PRS-6."""
    persona = parse_persona(b"You are a robin.")
    assert persona.style == "You are a robin."
    assert persona.name == ""
    assert persona.fallback_lines
    assert persona.tired_line
    assert persona.disclosure


def test_a_list_left_empty_is_empty() -> None:
    """An avatar without fallback lines keeps silent when its thinking failed. Spec: MND-3."""
    persona = parse_persona(b"---\nfallback_lines:\ntired_line:\n---\nYou are a robin.")
    assert persona.fallback_lines == ()
    assert persona.tired_line == ""


def test_windows_files_read_the_same() -> None:
    """Byte order mark and carriage returns change the digest, and nothing else."""
    plain = parse_persona(WHOLE.encode())
    windows = parse_persona(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert windows.digest != plain.digest
    assert windows.style == plain.style
    assert windows.aliases == plain.aliases


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nname: A\nnmae: B\n---\nx", "line 3: is not a known key"),
        ("---\njust words\n---\nx", "line 2: is neither 'key: value' nor '- item'"),
        ("---\nname: A\nname: B\n---\nx", "line 3: gives name a second time"),
        ("---\n- Robin\n---\nx", "line 2: is an item of no list"),
        ("---\nname: A\n- Robin\n---\nx", "line 3: is an item of no list"),
        ("---\nname:\n  - A\n---\nx", "line 2: gives name a list"),
        ("---\naliases: A, B\n---\nx", "line 2: gives aliases a single value"),
        ("---\naliases:\n" + "  - A\n" * 17 + "---\nx", "line 2: gives more than 16 aliases"),
        ("---\naliases:\n  -\n---\nx", "line 3: is an empty item"),
        ("---\naliases:\n  - ⁂\u200d\n---\nx", "line 3: is a name without a letter or digit"),
        ("---\nname: '!'\n---\nx", "line 2: is a name without a letter or digit"),
        (f"---\nlanguage: {'x' * 65}\n---\nx", "line 2: is longer than 64 characters"),
        ("---\nname: A\n", "line 1: begins front matter that never ends"),
        ("---\nname: A\n---\n \n", "line 4: begins no body"),
        ("", "line 1: begins no body"),
        ("You\u2028are", "line 1: holds a control character"),
        ("You\nare\0", "line 2: holds a control character"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(text: str, said: str) -> None:
    """What, where and how to mend it. Spec: PRS-6."""
    assert said in _said(text.encode())


def test_bytes_that_are_no_text_are_refused() -> None:
    """Neither a foreign encoding nor an endless file gets further than its first check."""
    assert "line 2: is not UTF-8" in _said(b"Robin\nis K\xf6nig")
    assert "larger than" in _said(b"x" * (PERSONA_FILE_MAX_BYTES + 1))
    assert parse_persona(b"x" * PERSONA_FILE_MAX_BYTES).style


def test_every_problem_is_told_at_once_and_not_without_end() -> None:
    """Two mistakes give two lines; a thousand give thirty-two."""
    with pytest.raises(ConfigError) as caught:
        parse_persona(b"---\nnmae: A\naliases: B\n---\nx", source="robin.md")
    assert [problem.path for problem in caught.value.problems] == ["line 2", "line 3"]
    assert str(caught.value).startswith("robin.md has 2 problems")
    with pytest.raises(ConfigError) as caught:
        parse_persona(b"---\n" + b"x\n" * 1_000 + b"---\nx")
    assert len(caught.value.problems) == 32


def _outcome(data: bytes) -> object:
    """Return the persona, or its problems in words; never nothing."""
    try:
        persona = parse_persona(data)
    except ConfigError as error:
        return [str(problem) for problem in error.problems]
    return persona if persona.style else None


@given(st.binary(max_size=200) | st.text(alphabet="-\n: \t'\"#namelis", max_size=200).map(str.encode))
def test_any_bytes_give_a_persona_or_a_problem(data: bytes) -> None:
    """No file raises anything else, and the same file gives the same persona."""
    outcomes = [_outcome(data), _outcome(data)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]


def test_the_default_persona_comes_with_the_package() -> None:
    """`default` has everything an avatar needs to speak. Spec: PRS-6."""
    assert "default" in built_in_personas()
    for name in built_in_personas():
        persona = built_in_persona(name)
        assert persona.style
        assert persona.fallback_lines
        assert persona.disclosure


def test_an_unknown_built_in_persona_is_refused() -> None:
    """The sentence lists what there is."""
    with pytest.raises(ConfigError) as caught:
        built_in_persona("../default", where="$.avatars.robin.persona")
    assert "$.avatars.robin.persona: is no built-in persona; choose one of default" in str(caught.value)


def test_an_avatar_answers_to_its_account_its_persona_and_its_aliases() -> None:
    """Each name once, and none that is empty. Spec: PRS-6."""
    persona = parse_persona(WHOLE.encode())
    names = names_of(persona, first_name="Robin", last_name="Resident", aliases=("Rob",))
    assert names == ("Robin", "Robin Resident", "Lady Robin", "Bird of the Plaza", "Rob")
    plain = parse_persona(b"You are a robin.")
    assert names_of(plain, first_name="Robin", last_name="Resident") == ("Robin", "Robin Resident")


def test_each_bound_is_exact() -> None:
    """The longest that fits, the fullest list, and a tab in the style."""
    alias, line = "a" * 128, "b" * 256
    text = "---\naliases:\n" + f"  - {alias}\n" * 16 + f"tired_line: {line}\n---\nYou\tare."
    persona = parse_persona(text.encode())
    assert persona.aliases == (alias,) * 16
    assert persona.tired_line == line
    assert persona.style == "You\tare."
    assert "line 3: is longer than 128 characters" in _said(f"---\naliases:\n  - {alias}a\n---\nx".encode())


def test_quotes_are_taken_off_in_pairs_only() -> None:
    """A lone mark stays; what is quoted with nothing in it is empty."""
    persona = parse_persona(b"---\ntired_line: '\ndisclosure: \"I am\\'\nlanguage: \"'German'\"\n---\nx")
    assert persona.tired_line == "'"
    assert persona.disclosure == "\"I am\\'"
    assert persona.language == "'German'"
