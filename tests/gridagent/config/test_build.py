"""The builder on small sections of its own: every kind of annotation, wrong in every way."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from gridagent.config.annotations import read_type
from gridagent.config.build import INVALID, Builder
from gridagent.config.document import GivenText, Node, Problems, parse
from gridagent.config.fields import FilePath, SecretFile
from gridagent.config.secrets import EndpointUrl
from gridagent.ids import AvatarId
from gridagent.limits import Bounded

ADA = "01234567-89ab-4cde-8f01-23456789abcd"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    wanted: int
    other: float = 1.5


class Small(Bounded, frozen=True, kw_only=True):
    text: Annotated[str, Meta(max_length=4, extra={"max_bytes": 4})] = ""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    whole: Annotated[int, Meta(ge=1, le=10)] = 1
    from_two: Annotated[int, Meta(ge=2)] = 2
    to_nine: Annotated[float, Meta(le=9)] = 1.0
    below_one: Annotated[float, Meta(ge=0, lt=1)] = 0.5
    any_number: float = 0.0
    flag: bool = False
    text: Annotated[str, Meta(min_length=1, max_length=5)] = "x"
    free: str = ""
    colour: Colour = Colour.RED
    mode: Literal["on", "off"] = "on"
    avatar: AvatarId | None = None
    url: EndpointUrl | None = None
    path: FilePath | None = None
    secret: SecretFile | None = None
    inner: Inner | None = None
    small: Small = Small()
    names: Annotated[tuple[str, ...], Meta(max_length=3)] = ()
    avatars: tuple[AvatarId, ...] = ()
    numbers: tuple[int, ...] = ()
    inners: tuple[Inner, ...] = ()
    by_colour: dict[Colour, int] = msgspec.field(default_factory=dict)
    some: Annotated[Mapping[str, Inner], Meta(min_length=1, max_length=2)] | None = None


def _build(text: str) -> tuple[object, list[str], Builder]:
    problems = Problems()
    node = parse(text.encode(), problems)
    assert node is not None
    builder = Builder(problems, lambda path, origin: None if path.startswith("~") else f"/base/{path}")
    built = builder.build(node, read_type(Sample), "$")
    return built, [str(problem) for problem in problems.listed()], builder


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        # numbers
        ('{"whole": 11}', "$.whole: must be a whole number from 1 to 10 (found the number 11); lower it to 10 or less"),
        ('{"whole": 0}', "$.whole: must be a whole number from 1 to 10 (found the number 0); raise it to 1 or more"),
        ('{"whole": 1.5}', "(found the number 1.5); write it without a fraction"),
        ('{"whole": 1.0}', "(found the number 1.0); write it without a fraction"),
        ('{"whole": true}', "(found true); write digits, without quotes"),
        ('{"whole": "5"}', "(found text of 1 characters); write digits, without quotes"),
        ('{"whole": null}', "(found null); write digits, without quotes"),
        ('{"whole": NaN}', "(found NaN, which is no JSON number)"),
        ('{"whole": 1e999}', "(found a number beyond any range)"),
        ('{"whole": [1]}', "(found a list of 1 items)"),
        ('{"whole": {}}', "(found an object of 0 keys)"),
        ('{"from_two": 1}', "must be a whole number of at least 2 (found the number 1); raise it to 2 or more"),
        ('{"to_nine": 9.5}', "must be a number of at most 9 (found the number 9.5); lower it to 9 or less"),
        ('{"below_one": 1}', "must be a number from 0 to 1 (found the number 1)"),
        ('{"any_number": "x"}', "must be a number (found text of 1 characters)"),
        # true and false
        (
            '{"flag": "yes"}',
            "$.flag: must be true or false (found text of 3 characters); write true or false, without quotes",
        ),
        ('{"flag": 1}', "must be true or false (found a number)"),
        ('{"flag": null}', "must be true or false (found null)"),
        # texts
        ('{"text": ""}', "must be text of at most 5 characters that is not empty (found text of 0 characters)"),
        ('{"text": "123456"}', "must be text of at most 5 characters"),
        ('{"text": 12345}', "(found a number)"),
        ('{"free": 1}', "$.free: must be text (found a number)"),
        ('{"text": "a\\nb"}', "holds a line break or another control character (found text of 3 characters)"),
        ('{"text": "a\\u0000"}', "holds a line break or another control character"),
        ('{"text": "a\\u2028"}', "holds a line break or another control character"),
        ('{"text": "a\\u0085"}', "holds a line break or another control character"),
        ('{"text": "\\ud800"}', "holds half a character (a lone surrogate)"),
        # choices
        ('{"colour": "bleu"}', "must be one of: red, blue (found text of 4 characters); did you mean 'blue'?"),
        ('{"colour": "x"}', "must be one of: red, blue (found text of 1 characters); correct it"),
        ('{"colour": 1}', "must be one of: red, blue (found a number)"),
        ('{"mode": "of"}', "must be one of: on, off (found text of 2 characters); did you mean 'off'?"),
        # identifiers
        ('{"avatar": "*"}', "$.avatar: is a wildcard, which would authorise everybody"),
        ('{"avatar": 5}', "must be an avatar's UUID, or null (found a number)"),
        # addresses and files
        ('{"url": 5}', "must be an http:// or https:// URL, or null (found a number)"),
        ('{"url": "ftp://x"}', "$.url: does not begin with http:// or https://"),
        ('{"path": ""}', "must be the path of a file or directory, or null"),
        ('{"path": "~x"}', "begins with ~, and no home directory is known"),
        ('{"secret": 12345678}', "must be the path of a file that holds the secret (never the secret itself), or null"),
        # what has parts
        ('{"inner": 5}', '$.inner: must be an object {…} (found a number); write it as {"key": "value"}'),
        ('{"inner": {}}', "$.inner.wanted: is missing; set it to a whole number"),
        (
            '{"inner": {"wanted": 1, "wnted": 2}}',
            "$.inner.wnted: is not a known key (found a number); did you mean 'wanted'?",
        ),
        ('{"inner": {"wanted": 1, "zzz": 2}}', "remove it, or use one of: wanted, other"),
        ('{"small": {"text": "äöü"}}', "$.small: has too much in text: at most 4, not 6"),
        ('{"names": "a"}', '$.names: must be a list […] (found text of 1 characters); write it as ["one", "two"]'),
        ('{"names": ["a", "b", "a"]}', "$.names[2]: is in this list already"),
        (
            '{"names": ["a", "b", "c", "d", "e"]}',
            "$.names: must have at most 3 entries (found a list of 5 items); remove 2",
        ),
        ('{"avatars": ["Ada Resident"]}', "$.avatars[0]: is not a UUID; names are never accepted"),
        ('{"numbers": [1, "2"]}', "$.numbers[1]: must be a whole number"),
        ('{"inners": [{"wanted": "x"}]}', "$.inners[0].wanted: must be a whole number"),
        ('{"by_colour": {"green": 1}}', "$.by_colour.green: must be one of: red, blue"),
        ('{"by_colour": {"red": "x"}}', "$.by_colour.red: must be a whole number"),
        ('{"by_colour": []}', "$.by_colour: must be an object {…}"),
        ('{"some": {}}', "$.some: must have at least 1 entry"),
        ('{"whole": 1, "whole": 2}', "$.whole: is given more than once; keep one of them"),
        ('{"hunter2 is my password": 1}', "$.<key of 22 characters>: is not a known key"),
    ],
)
def test_each_wrong_value_has_its_sentence(text: str, problem: str) -> None:
    """Path, what must be, the value's shape and how to mend it. Spec: CFG-1."""
    _, problems, _ = _build(text)
    assert len(problems) == 1, problems
    assert problem in problems[0]


def test_right_values_are_taken_as_they_are() -> None:
    """Every kind of value is built, and paths and endpoints are remembered."""
    built, problems, builder = _build(
        '{"whole": 10, "to_nine": 9, "flag": true, "text": "12345", "colour": "blue", "mode": "off", "path": "p",'
        f'"avatar": "{ADA}", "url": "https://h/?k=1", "secret": "s", "inner": {{"wanted": 3}}, "names": ["a", "b"],'
        '"numbers": [1, 1], "inners": [{"wanted": 1}, {"wanted": 1}],'
        '"by_colour": {"blue": 4}, "some": {"a": {"wanted": 5}}}'
    )
    assert problems == []
    assert built == Sample(
        whole=10,
        to_nine=9.0,
        flag=True,
        text="12345",
        colour=Colour.BLUE,
        mode="off",
        path="/base/p",
        avatar=AvatarId(ADA),
        url=EndpointUrl("https://h/?k=1"),
        secret="/base/s",
        inner=Inner(wanted=3),
        names=("a", "b"),
        numbers=(1, 1),
        inners=(Inner(wanted=1), Inner(wanted=1)),
        by_colour={Colour.BLUE: 4},
        some={"a": Inner(wanted=5)},
    )
    assert builder.secret_files == {"$.secret": "/base/s"}
    assert builder.endpoints == builder.endpoints_in_file == {"$.url": EndpointUrl("https://h/?k=1")}


def test_what_is_wrong_is_replaced_by_its_default_for_later_checks() -> None:
    """The rest of the section is still there to be judged, and list places stay. Spec: CFG-1."""
    built, problems, _ = _build('{"whole": 99, "flag": true, "names": [5, "a"], "numbers": ["x", 2]}')
    assert len(problems) == 3
    assert isinstance(built, Sample)
    assert (built.whole, built.flag, built.names, built.numbers) == (1, True, ("", "a"), ())


class Demanding(msgspec.Struct, frozen=True, kw_only=True):
    section: Inner
    map: dict[str, int]
    names: tuple[str, ...]
    who: AvatarId


def test_what_is_missing_is_told_with_what_it_must_be() -> None:
    """Each kind of key has its words."""
    problems = Problems()
    Builder(problems, lambda path, _: path).build(Node({}), read_type(Demanding), "$")
    assert [str(problem) for problem in problems.listed()] == [
        "$.section: is missing; set it to an object {…}",
        "$.map: is missing; set it to an object {…}",
        "$.names: is missing; set it to a list […]",
        "$.who: is missing; set it to an avatar's UUID",
    ]


def test_a_section_without_a_needed_key_is_not_made() -> None:
    """There is nothing to put in its place."""
    problems = Problems()
    assert Builder(problems, lambda path, _: path).build(Node({}), read_type(Inner), "$") is INVALID


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("whole", "7", 7),
        ("flag", "true", True),
        ("text", "true", "true"),
        ("text", "7", "7"),
        ("colour", "blue", Colour.BLUE),
        ("path", "", None),
        ("inner", '{"wanted": 1}', Inner(wanted=1)),
        ("inner", "", None),
        ("inner", "null", None),
        ("names", '["a"]', ("a",)),
        ("url", "https://h/", EndpointUrl("https://h/")),
    ],
)
def test_the_text_of_a_variable_means_what_its_key_wants(key: str, text: str, value: object) -> None:
    """Text keys take it as it is, other keys as JSON, empty is null where null is allowed. Spec: CFG-1."""
    problems = Problems()
    builder = Builder(problems, lambda path, _: path)
    built = builder.build(Node({key: Node(GivenText(text), origin="VARIABLE")}), read_type(Sample), "$")
    assert [str(problem) for problem in problems.listed()] == []
    assert getattr(built, key) == value
    assert builder.endpoints_in_file == {}


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("flag", "yes", "must be true or false, set by VARIABLE (found text of 3 characters)"),
        ("flag", "", "must be true or false, set by VARIABLE (found text of 0 characters)"),
        ("whole", "0x10", "must be a whole number from 1 to 10, set by VARIABLE (found text of 4 characters)"),
        ("whole", "\udcff", "must be a whole number from 1 to 10, set by VARIABLE"),
        (
            "names",
            "a,b",
            'set by VARIABLE (found text of 3 characters); write it as JSON, such as ["one", "two"]',
        ),
        (
            "inner",
            "{",
            'set by VARIABLE (found text of 1 characters); write it as JSON, such as {"key": "value"}',
        ),
        ("inner", '{"x": 1, "wanted": 1}', "is not a known key, set by VARIABLE"),
        ("text", "\udcff", "holds half a character (a lone surrogate), set by VARIABLE"),
    ],
)
def test_a_wrong_variable_is_named(key: str, text: str, problem: str) -> None:
    """The sentence says which variable to mend. Spec: CFG-1."""
    problems = Problems()
    tree = Node({key: Node(GivenText(text), origin="VARIABLE")})
    Builder(problems, lambda path, _: path).build(tree, read_type(Sample), "$")
    (found,) = map(str, problems.listed())
    assert problem in found


def test_advice_on_spelling_stops_when_everything_is_wrong() -> None:
    """A hostile file full of unknown keys is refused quickly."""
    text = ", ".join(f'"wholex{number}": 1' for number in range(2_000))
    _, problems, _ = _build(f'{{{text}, "colour": "bleu"}}')
    assert len(problems) == 1_001
    assert sum("did you mean" in problem for problem in problems) == 100
