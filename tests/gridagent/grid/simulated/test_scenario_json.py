"""Reading a written file strictly and to the end."""

from __future__ import annotations

import time
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from gridagent.errors import ConfigError, ConfigProblem
from gridagent.grid.simulated.scenario_json import DEPTH_MAX, PROBLEMS_MAX, Decoded, Mention, decode, read_tree

Ref = Annotated[str, Meta(min_length=1, extra={"refers_to": "thing"})]


class Dot(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="dot"):
    """One kind of shape."""

    at: Ref


class Line(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="line"):
    """Another kind of shape."""

    ends: tuple[Ref, Ref]


class Ordered(msgspec.Struct, frozen=True, kw_only=True):
    """A struct that checks how its fields go together."""

    low: int = 0
    high: int = 0

    def __post_init__(self) -> None:
        if self.low > self.high:
            problem = ConfigProblem(path="x.low", what="is over high", shape=str(self.low), mend="swap them")
            raise ConfigError((problem,))


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A small document."""

    name: Annotated[str, Meta(extra={"defines": "thing"})]
    tags: Annotated[tuple[str, ...], Meta(min_length=1, max_length=2)] = ("x",)
    shape: Dot | Line | None = None
    ordered: Ordered | None = None


def read(text: str | bytes) -> Decoded[Sheet]:
    """Read a sheet."""
    raw = text.encode() if isinstance(text, str) else text
    return decode(read_tree(raw, source="sheet", max_bytes=300_000), Sheet)


def sentences(text: str) -> list[str]:
    """What is wrong with a sheet."""
    return [str(problem) for problem in read(text).problems]


def test_a_right_file_becomes_its_struct() -> None:
    """Values, defaults, nulls, tuples and tagged unions are decoded. Spec: SIM-1."""
    got = read('{"name": "a", "tags": ["t"], "shape": {"kind": "line", "ends": ["a", "b"]}, "ordered": null}')
    assert got.problems == ()
    assert got.value == Sheet(name="a", tags=("t",), shape=Line(ends=("a", "b")))
    assert [path for path, _ in got.parts] == ["$.shape", "$"]
    assert got.defined == (Mention(kind="thing", path="$.name", name="a"),)
    assert [mention.path for mention in got.used] == ["$.shape.ends[0]", "$.shape.ends[1]"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "$: is not an object (found a list of 0); write an object with the keys name, tags, shape, ordered"),
        ("{}", "$.name: is missing; add it"),
        ('{"name": "a", "name": "b"}', '$.name: is written more than once (found the text "b"); keep one of them'),
        ('{"name": "a", "tag": 1}', '$.tag: is not a known key (found the number 1); remove it, or write "tags"'),
        (
            '{"name": "a", "q": 1}',
            '$.q: is not a known key (found the number 1); remove it, or write one of "name", "tags", "shape",',
        ),
        ('{"name": "a", "\\u202e x": 1}', '$["\\u202e x"]: is not a known key'),
        ('{"name": "a", "tags": "t"}', '$.tags: is not a list (found the text "t"); write a list of 1 to 2 entries'),
        ('{"name": "a", "tags": []}', "$.tags: has the wrong number of entries (found a list of 0)"),
        ('{"name": "a", "tags": ["a", "b", "c"]}', "$.tags: has the wrong number of entries (found a list of 3)"),
        ('{"name": "a", "tags": ["a", 5]}', "$.tags[1]: is not a text (found the number 5)"),
        (
            '{"name": "a", "shape": 5}',
            '$.shape: is not an object (found the number 5); write an object with the key "kind"',
        ),
        ('{"name": "a", "shape": {}}', '$.shape.kind: is missing (found null); write one of "dot", "line"'),
        ('{"name": "a", "shape": {"kind": 5}}', "$.shape.kind: is not a known kind (found the number 5)"),
        (
            '{"name": "a", "shape": {"kind": "lime"}}',
            '$.shape.kind: is not a known kind (found the text "lime"); write "line"',
        ),
        ('{"name": "a", "shape": {"kind": "line", "ends": ["a"]}}', "write a list of 2 entries"),
        ('{"name": "a", "ordered": {"low": 2, "high": 1}}', "$.ordered.low: is over high (found 2); swap them"),
        ('{"name": null}', "$.name: is not a text (found null); write a text"),
    ],
)
def test_each_kind_of_mistake_has_its_own_sentence(text: str, said: str) -> None:
    """Path, finding, shape and remedy are in one line. Spec: SIM-1. Fault: 23."""
    found = sentences(text)
    assert len(found) == 1
    assert said in found[0]
    assert read(text).value is None


def test_all_mistakes_are_listed_at_once() -> None:
    """One bad value does not hide the next, nor the parts that are right. Spec: SIM-1."""
    got = read('{"name": 5, "tags": [1, "t", 2], "shape": {"kind": "dot", "at": "a"}, "zz": {"zz": 1, "zz": 2}}')
    assert [problem.path for problem in got.problems] == ["$.zz", "$.name", "$.tags", "$.tags[0]", "$.tags[2]"]
    assert [type(part) for _, part in got.parts] == [Dot]


def test_names_are_known_even_in_parts_that_are_wrong() -> None:
    """A thing with a bad number is still there for those who mention it. Spec: SIM-1."""
    got = read('{"name": "a", "tags": 5}')
    assert got.value is None
    assert [mention.name for mention in got.defined] == ["a"]


def test_a_hundred_mistakes_are_listed_and_the_rest_is_counted() -> None:
    """A file full of mistakes gives a bounded message. Spec: SIM-1, CFG-1."""
    keys = ", ".join(f'"k{number}": 1' for number in range(5_000))
    began = time.process_time()
    found = sentences(f'{{"name": "a", {keys}}}')
    assert len(found) == PROBLEMS_MAX + 1
    assert found[-1] == f"$: {5_000 - PROBLEMS_MAX} more problems; mend the ones above first"
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"x" * 300_001, "the file is too big (found 300001 bytes); keep it within 300000 bytes"),
        (b'{"name": "\xff"}', "the file is not UTF-8 (found a bad byte at offset 10); save it as UTF-8 text"),
        (b'{"name": "a",}', "the file is not JSON (found Illegal trailing comma"),
        (b"", "the file is not JSON (found Expecting value at line 1, column 1)"),
        (b"\xef\xbb\xbf{}", "the file is not JSON (found Unexpected UTF-8 BOM"),
        (b"[" * 200_000, "the file is nested too deeply (found more than 16 levels); flatten it"),
        (b'{"a":' * 40_000, "nested too deeply"),
        (b'{"name": "a" // no\n}', "comments are not part of JSON"),
    ],
)
def test_what_is_no_document_is_one_problem(raw: bytes, said: str) -> None:
    """Size, encoding, syntax and depth are judged before anything else. Spec: SIM-1, CFG-1."""
    with pytest.raises(ConfigError) as caught:
        read(raw)
    if "Illegal trailing comma" in said:  # the wording is the standard library's, and newer than 3.11
        said = "the file is not JSON (found "
    assert len(caught.value.problems) == 1
    assert caught.value.source == "sheet"
    assert said in str(caught.value)


def test_brackets_in_texts_are_no_nesting() -> None:
    """Only the structure counts; escaped quotes do not end a text."""
    text = '{"name": "' + "[{" * 50 + '\\"' + "[" * 50 + '"}'
    assert read(text).problems == ()
    assert DEPTH_MAX < 50


def test_many_unterminated_quotes_take_no_time() -> None:
    """The look at nesting is linear, whatever the quotes. Spec: SIM-1."""
    began = time.process_time()
    with pytest.raises(ConfigError, match="not JSON"):
        read(b'"\\' + b'"\\' * 140_000)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5_000, "-" + "9" * 30])
def test_absurd_numbers_are_no_numbers(number: str) -> None:
    """Infinities, NaN and integers of thousands of digits end as one problem. Spec: SIM-1. Fault: 24."""
    found = sentences(f'{{"name": "a", "ordered": {{"low": {number}}}}}')
    assert len(found) == 1
    assert "$.ordered.low: is not a finite number" in found[0]


def test_a_plain_tree_can_be_decoded_too() -> None:
    """A tree that was not read from a file has no repeated keys."""
    assert decode({"name": "a"}, Sheet).value == Sheet(name="a")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=20,
    )
)
def test_any_tree_is_decoded_or_refused(tree: object) -> None:
    """Decoding never raises, and never both succeeds and complains. Spec: SIM-1."""
    got = decode(tree, Sheet)
    assert (got.value is None) == bool(got.problems)
    for problem in got.problems:
        str(problem).encode()
