"""Strict JSON: everything a lenient parser lets through is kept, with its place, for the builder to refuse."""

from __future__ import annotations

import json
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.config.document import (
    NESTING_MAX,
    PROBLEMS_MAX,
    BadNumber,
    GivenText,
    Node,
    Problems,
    nodes_of,
    parse,
    safe_key,
    shape,
)
from gridagent.errors import ConfigProblem


def _problem_of(data: bytes) -> str:
    problems = Problems()
    assert parse(data, problems) is None
    (problem,) = problems.listed()
    return str(problem)


def _value_of(data: bytes) -> object:
    node = parse(data, Problems())
    assert node is not None
    return node.value


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b"", "is not JSON at line 1, column 1"),
        (b'{"a": 1,\n "b": }', "is not JSON at line 2, column 7"),
        (b"{} {}", "is not JSON at line 1, column 4"),
        (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
        ('{"a": 1}'.encode("utf-16"), "begins with a byte order mark"),
        (b'{"a": "\xff"}', "is not UTF-8 at byte 7"),
        (b"[" * (NESTING_MAX + 1), f"is nested deeper than {NESTING_MAX} levels"),
        (b"[" * 100_000, "is nested deeper than"),
        (b'{"a":' * 100_000, "is nested deeper than"),
        (b'{"a": "line\nbreak"}', "is not JSON at line 1, column 12"),
    ],
)
def test_what_is_no_document_is_one_problem_that_says_where(data: bytes, phrase: str) -> None:
    """Syntax, encoding and nesting are told with their place and without content. Spec: CFG-1."""
    assert phrase in _problem_of(data)


def test_brackets_in_texts_are_not_nesting() -> None:
    """Only brackets outside strings count, escaped quotes included."""
    assert _value_of(rb'"[[[[[[[[[[[[[[[[[[[[ \" [[[["') == '[[[[[[[[[[[[[[[[[[[[ " [[[['


def test_nesting_up_to_the_bound_is_read() -> None:
    """The bound itself is allowed."""
    assert isinstance(_value_of(b"[" * NESTING_MAX + b"]" * NESTING_MAX), list)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"NaN", "NaN, which is no JSON number"),
        (b"-Infinity", "-Infinity, which is no JSON number"),
        (b"1e999", "a number beyond any range"),
        (b"9" * 5_000, "a number of 5000 characters"),
    ],
)
def test_numbers_beyond_reason_are_kept_as_such(text: bytes, told: str) -> None:
    """They reach the builder, which knows their path; none is converted. Spec: CFG-1."""
    value = _value_of(text)
    assert isinstance(value, BadNumber)
    assert value.shape == told


# --- comments ---------------------------------------------------------------------------------------


def test_a_line_of_its_own_may_be_a_comment() -> None:
    """Anywhere, indented or not, with any quotes and brackets in it; only where comments are asked for. Spec: CFG-1."""
    text = b'// "a": {[[[[[[[[[[[[[[[[[[[\n{\n\t // b\r\n  "a": 1,\n  //\n  "b": "// no comment"\n}\n// end'
    node = parse(text, Problems(), comments=True)
    assert node is not None
    assert isinstance(node.value, dict)
    assert {key: child.value for key, child in node.value.items()} == {"a": 1, "b": "// no comment"}
    assert parse(text, Problems()) is None


@pytest.mark.parametrize(
    ("data", "phrase"),
    [
        (b'// one\n{"a": 1,\n// two\n "b": }', "is not JSON at line 4, column 7"),
        (b'{"a": 1, // x\n "b": 2}', "at line 1, column 10; mend it there: a comment is a line of its own"),
        (b'{"a": 1 // x\n}', "at line 1, column 9; mend it there: a comment is a line of its own"),
        (b'{"a": /* x */ 1}', "at line 1, column 7; mend it there: a comment is a line of its own"),
        (b"{\n# x\n}", "at line 2, column 1; mend it there: a comment is a line of its own"),
        (b'{"a": "\n// inside a text"}', "is not JSON at line 1, column 8"),
        (b"/ {}", "is not JSON at line 1, column 1"),
        (b"// only a comment", "is not JSON at line 1, column 18"),
        (b"// \xff\n{}", "is not UTF-8 at byte 3"),
    ],
)
def test_comments_move_no_place_and_hide_no_error(data: bytes, phrase: str) -> None:
    """What is wrong is told where it stands, and what is no whole line is no comment. Spec: CFG-1."""
    problems = Problems()
    assert parse(data, problems, comments=True) is None
    (problem,) = problems.listed()
    assert phrase in str(problem)


@pytest.mark.parametrize("hidden", ["\u2028", "\u202e", "\u2066", "\r", "\x0b", "\x85", "\x1b", "\x00"])
def test_a_comment_cannot_look_like_a_key(hidden: str) -> None:
    """What an editor shows as a line of its own, or turned around, is refused with its place. Spec: CFG-1."""
    problems = Problems()
    text = f'{{\n  // see {hidden} "policy": {{}}\n}}'
    assert parse(text.encode(), problems, comments=True) is None
    (problem,) = problems.listed()
    assert "has a comment with a hidden character at line 2, column 10" in str(problem)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
_COMMENTS = st.lists(
    st.tuples(st.sampled_from(["", " ", "\t  "]), st.text(st.characters(codec="ascii", min_codepoint=32), max_size=20)),
    max_size=6,
)


def _plain(node: Node) -> object:
    match node.value:
        case dict():
            return {key: _plain(child) for key, child in node.value.items()}
        case list():
            return [_plain(child) for child in node.value]
        case value:
            return value


@given(_VALUES, _COMMENTS, st.data())
def test_comments_change_no_value(value: object, comments: list[tuple[str, str]], data: st.DataObject) -> None:
    """Any document with comment lines put anywhere between its lines is read as without them. Spec: CFG-1."""
    lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    for indent, words in comments:
        lines.insert(data.draw(st.integers(0, len(lines))), f"{indent}//{words}")
    node = parse("\n".join(lines).encode(), Problems(), comments=True)
    assert node is not None
    assert _plain(node) == value


@given(st.text(st.sampled_from('/ \t\n\r"\\{}[]:,a1#*\u2028'), max_size=40))
def test_with_comments_allowed_nothing_valid_reads_otherwise(text: str) -> None:
    """Whatever is JSON without comments is the same with them: no text of JSON begins a line with //. Spec: CFG-1."""
    strict = parse(text.encode(), Problems())
    lenient = parse(text.encode(), problems := Problems(), comments=True)
    assert (lenient is None) is bool(len(problems))
    if strict is not None:
        assert lenient is not None
        assert _plain(lenient) == _plain(strict)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything(data: bytes) -> None:
    """Bytes of any kind come out as a tree or as one problem. Spec: CFG-3."""
    problems = Problems()
    node = parse(data, problems, comments=True)
    assert len(problems) == (node is None)


def test_duplicate_keys_are_remembered() -> None:
    """The last value stands, and the object knows which keys came twice. Spec: CFG-1."""
    node = parse(b'{"a": 1, "b": 2, "a": 3, "a": 4}', Problems())
    assert node is not None
    assert node.repeated == ("a",)
    assert isinstance(node.value, dict)
    assert node.value["a"].value == 4


@pytest.mark.parametrize(
    ("value", "numbers", "told"),
    [
        (None, False, "null"),
        (True, False, "true"),
        (False, False, "false"),
        (1234, False, "a number"),
        (1234, True, "the number 1234"),
        ("1234", True, "text of 4 characters"),
        (GivenText("12"), False, "text of 2 characters"),
        (BadNumber("NaN"), False, "NaN"),
        ([Node(1)], False, "a list of 1 items"),
        ({"a": Node(1)}, False, "an object of 1 keys"),
    ],
)
def test_a_shape_is_type_and_size(value: object, numbers: bool, told: str) -> None:  # noqa: FBT001 - a table
    """Content never shows, but for a number where one is wanted. Spec: CFG-1, CFG-3."""
    assert shape(Node(value), numbers=numbers) == told  # type: ignore[arg-type]
    assert "1234" not in repr(Node(value))  # type: ignore[arg-type]


def test_keys_that_may_be_secrets_are_not_shown() -> None:
    """A plain word is shown; anything else could have been pasted by mistake."""
    assert safe_key("grid_events") == "grid_events"
    assert safe_key("hunter 2!") == "<key of 9 characters>"
    assert safe_key("x" * 41) == "<key of 41 characters>"
    assert safe_key("sk-0a1b2c3d4e5f") == "<key of 15 characters>"
    assert safe_key("") == "<key of 0 characters>"


def test_plain_values_become_nodes() -> None:
    """The defaults join the tree like values from the file."""
    node = nodes_of({"a": [1, ("x",)], "b": None}, "here")
    assert isinstance(node.value, dict)
    assert node.origin == node.value["b"].origin == "here"
    items = node.value["a"].value
    assert isinstance(items, list)
    assert [shape(item) for item in items] == ["a number", "a list of 1 items"]


def test_problems_are_counted_beyond_the_listed_ones() -> None:
    """A file full of mistakes gives a bounded message that says how many there are."""
    problems = Problems()
    for number in range(PROBLEMS_MAX + 7):
        problems.add(f"$.a[{number}]", "is wrong", "mend it")
    assert len(problems) == PROBLEMS_MAX + 7
    assert problems.is_crowded
    assert repr(problems) == f"<Problems {PROBLEMS_MAX + 7}>"
    assert len(problems.listed()) == PROBLEMS_MAX + 1
    assert "7 more problems are not listed" in str(problems.listed()[-1])


def test_consequences_at_a_known_path_are_left_out() -> None:
    """A rule's problem at a path that is wrong anyhow says nothing new; two rules at one path both count."""
    problems = Problems()
    problems.add("$.a", "is wrong", "mend it")
    news = [ConfigProblem(path=path, what="follows", shape="", mend="mend it") for path in ("$.a", "$.b", "$.b")]
    problems.add_news(news)
    assert [problem.path for problem in problems.listed()] == ["$.a", "$.b", "$.b"]


@pytest.mark.parametrize(
    ("path", "touched"),
    [
        ("$.grid", True),
        ("$.grid.live", True),
        ("$.grid.live.login_url", True),
        ("$.gri", False),
        ("$.grid.live.x", False),
    ],
)
def test_a_problem_touches_what_is_around_and_inside_it(path: str, touched: bool) -> None:  # noqa: FBT001 - a table
    """Sections are compared by whole keys, not by the beginning of their names."""
    problems = Problems()
    problems.add("$.grid.live.login_url", "is wrong", "mend it")
    assert problems.touch(path) is touched


@given(st.binary(max_size=400) | st.text(alphabet='{}[]",:\\u019eE+-.NaInfitrul \n', max_size=400).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    """Any bytes give a tree or exactly one problem, never an exception. Spec: CFG-1."""
    problems = Problems()
    node = parse(data, problems)
    assert (node is None) == (len(problems) == 1)


DOCUMENT = b'{"password": "canary-value"}'


def test_a_traceback_with_locals_shows_no_content() -> None:
    """Nodes on the stack are told by shape only. Fault: 42."""
    node = parse(DOCUMENT, Problems())
    assert node is not None
    assert isinstance(node.value, dict)
    password = node.value["password"]
    try:
        node.value["other"]
    except KeyError as error:
        shown = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert f"password = {password!r}" in shown
    assert "value" not in repr(password)
    assert "canary" not in shown
