"""The generated references say what the code says, and a stale page is found."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from docs.generator import __main__ as generator
from docs.generator.markdown import BANNER, page, prose, table
from docs.generator.requirements import named_in
from docs.generator.sources import summary
from docs.generator.spec import FAMILIES, REQUIREMENTS
from docs.generator.types import default_words, type_words


class Colour(Enum):
    """An example."""

    RED = "red"


class Sample(msgspec.Struct, kw_only=True):
    """An example with one field of each kind."""

    count: Annotated[int, Meta(ge=1, le=4_096)] = 7
    name: Annotated[str, Meta(max_length=8)] | None = None
    chat: Annotated[str, Meta(max_length=1_023, extra={"max_bytes": 1_023})]
    colour: Colour = Colour.RED
    names: Annotated[tuple[str, ...], Meta(max_length=2)] = ()
    by_name: dict[str, float] = msgspec.field(default_factory=dict)
    place: Annotated[str, Meta(description="a place")] = "here"


def test_types_and_defaults_are_said_in_words() -> None:
    """Ranges, sizes, options and defaults of a field appear as a reader would say them."""
    info = msgspec.inspect.type_info(Sample)
    assert isinstance(info, msgspec.inspect.StructType)
    said = {field.name: (type_words(field.type), default_words(field)) for field in info.fields}
    assert said == {
        "count": ("whole number ≥ 1, ≤ 4,096", "`7`"),
        "name": ("text, at most 8 characters or null", "`null`"),
        "chat": ("text, at most 1,023 bytes of UTF-8", "required"),
        "colour": ("one of Colour", '`"red"`'),
        "names": ("list, at most 2 items, of text", "`[]`"),
        "by_name": ("object, of text → number", "`{}`"),
        "place": ("a place", '`"here"`'),
    }


def test_tables_hold_any_text() -> None:
    """Pipes and line breaks in a cell do not break the table, and a page ends in one newline."""
    assert table(["a"], [["x | y\nz"]]) == "| a |\n| --- |\n| x \\| y z |"
    assert page("T", "i", ["p\n\n"]).endswith("i\n\np\n")
    assert prose("a ``b``\n  c") == "a `b` c"


def test_summaries_leave_out_ids() -> None:
    """The first paragraph is taken, without the requirements it names."""
    assert summary("It does\nthis (Spec: POL-1, SUP-2).\n\nMore.") == "It does this."


def test_ids_and_faults_are_read_from_docstrings() -> None:
    """Lists of ids and of fault numbers count, other words do not."""
    assert list(named_in("Say. Spec: POL-4, SUP-10. Fault: 26, 27. UTF-8")) == [
        "POL-4",
        "SUP-10",
        "Fault 26",
        "Fault 27",
    ]


def test_every_requirement_is_of_a_family_and_numbered_without_gaps() -> None:
    """The list of ids is whole: each family counts up from 1."""
    for family in FAMILIES:
        numbers = sorted(int(name.partition("-")[2]) for name in REQUIREMENTS if name.startswith(f"{family}-"))
        assert numbers == list(range(1, len(numbers) + 1)), family
    assert sum(name.partition("-")[0] in FAMILIES for name in REQUIREMENTS) == len(REQUIREMENTS)


def test_a_stale_file_is_found(tmp_path) -> None:
    """What differs, what is missing and what nothing generates any more are stale; pages by hand are left alone."""
    folder = tmp_path / "docs" / "reference"
    folder.mkdir(parents=True)
    for name, text in (
        ("same.md", "x\n"),
        ("old.md", "was\n"),
        ("gone.md", f"{BANNER}\n"),
        ("glossary.md", "by hand\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    written = {"docs/reference/same.md": "x\n", "docs/reference/old.md": "is\n", "example.json": "{}\n"}
    found = generator.stale(tmp_path, written)
    assert found == ["docs/reference/gone.md", "docs/reference/old.md", "example.json"]


def test_the_command_writes_and_then_finds_nothing_stale(monkeypatch: pytest.MonkeyPatch, tmp_path, capsys) -> None:
    """Checking fails before writing and passes after; a wrong argument is a usage error."""
    monkeypatch.setattr(generator, "pages", lambda: {"docs/reference/README.md": "x\n", "example.json": "{}\n"})
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    (tmp_path / "docs" / "reference" / "removed.md").write_text(BANNER, encoding="utf-8")
    assert generator.main(["--check"], root=tmp_path) == 1
    assert "example.json is stale" in capsys.readouterr().err
    assert generator.main([], root=tmp_path) == 0
    assert generator.main(["--check"], root=tmp_path) == 0
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["README.md", "example.json"]
    assert generator.main(["--wrong"], root=tmp_path) == 2


@pytest.mark.parametrize("name", sorted(generator.PAGES))
def test_every_page_can_be_written(name: str) -> None:
    """Each page is made from the code as it stands, and is more than its frame."""
    text = generator.PAGES[name][1]()
    assert text is not None
    assert text.count("|") > 20
