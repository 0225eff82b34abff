"""Schemas are checked once, fetch nothing, and mean the same to both libraries."""

from __future__ import annotations

import json

import jsonschema
import jsonschema_specifications
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridagent.actions import PayAvatar, Say
from gridagent.errors import InternalError
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.schema import OPEN_SCHEMA, SchemaProblem, Validator, _fetch_nothing, closed_schema, compiled


def raw(**parts: object) -> bytes:
    """Write a schema of an object."""
    return json.dumps({"type": "object", **parts}).encode()


def nested(levels: int) -> object:
    """Write schemas within each other."""
    inner: object = {"type": "string"}
    for _ in range(levels):
        inner = {"not": inner}
    return inner


DOUBLING = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 2} for level in range(1, 15)} | {"d0": True}
CHAIN = {f"c{level}": {"$ref": f"#/$defs/c{level - 1}"} for level in range(1, 100)} | {"c0": True}
BACKWARDS = dict(reversed(CHAIN.items()))


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (b"{", SchemaProblem.NOT_JSON),
        (b'{"type":"object","type":"object"}', SchemaProblem.NOT_JSON),
        (b"true", SchemaProblem.NOT_A_SCHEMA),
        (b"[]", SchemaProblem.NOT_A_SCHEMA),
        (b'{"type":"objectt"}', SchemaProblem.NOT_A_SCHEMA),
        (raw(required="x"), SchemaProblem.NOT_A_SCHEMA),
        (raw(properties={"x": {"minimum": "1"}}), SchemaProblem.NOT_A_SCHEMA),
        (raw(properties={"x": {"pattern": "(?=a)b"}}), SchemaProblem.NOT_A_SCHEMA),
        (raw(properties={"x": {"pattern": "("}}), SchemaProblem.NOT_A_SCHEMA),
        (raw(properties={"x": {"pattern": "(a{1000}){1000}"}}), SchemaProblem.NOT_A_SCHEMA),
        (b"{}", SchemaProblem.NOT_AN_OBJECT),
        (b'{"type":"array"}', SchemaProblem.NOT_AN_OBJECT),
        (b'{"type":["object","null"]}', SchemaProblem.NOT_AN_OBJECT),
        (raw(description="x" * 70_000), SchemaProblem.TOO_LARGE),
        (raw(properties={"x": nested(40)}), SchemaProblem.TOO_LARGE),
        (raw(**{"$defs": DOUBLING, "$ref": "#/$defs/d14"}), SchemaProblem.TOO_LARGE),
        (raw(**{"$defs": CHAIN, "$ref": "#/$defs/c99"}), SchemaProblem.TOO_LARGE),
        (raw(**{"$defs": BACKWARDS}), SchemaProblem.TOO_LARGE),
        (raw(**{"$defs": DOUBLING}), SchemaProblem.TOO_LARGE),
        (raw(**{"$defs": CHAIN}), SchemaProblem.TOO_LARGE),
        (raw(**{"$ref": "#"}), SchemaProblem.RECURSIVE),
        (raw(**{"$ref": "#/required/" + "9" * 5_000, "required": ["x"]}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$defs": {"a": {"$ref": "#/$defs/a"}}}), SchemaProblem.RECURSIVE),
        (raw(properties={"a": {"items": {"$ref": "#/properties/a"}}}), SchemaProblem.RECURSIVE),
        (raw(**{"$ref": "http://127.0.0.1:9/schema"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "file:///etc/passwd"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "other.json"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#name"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#/$defs/nowhere"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#/required/9", "required": ["x"]}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#/required/0", "required": ["x"]}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#/required/x", "required": ["x"]}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$ref": "#/type/x"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$id": "http://127.0.0.1:9/"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(**{"$dynamicRef": "#x"}), SchemaProblem.FORBIDDEN_REFERENCE),
        (raw(properties={"x": {"$anchor": "y"}}), SchemaProblem.FORBIDDEN_REFERENCE),
    ],
)
def test_a_bad_schema_has_its_typed_problem(schema: bytes, problem: SchemaProblem) -> None:
    """No schema reaches out, runs in circles, blows up or is no schema. Spec: MND-5, POL-9."""
    assert compiled(schema, closed=False) is problem


@pytest.mark.parametrize(
    "schema",
    [
        raw(),
        raw(additionalProperties=True),
        raw(additionalProperties=False, properties={"x": {"type": "object"}}),
        raw(additionalProperties=False, properties={"x": {"anyOf": [{"type": "object", "additionalProperties": {}}]}}),
        OPEN_SCHEMA,
    ],
)
def test_a_schema_of_ours_is_closed_all_the_way_down(schema: bytes) -> None:
    """An object that lets unnamed keys through is refused for a native tool only. Spec: MND-17."""
    assert compiled(schema, closed=True) is SchemaProblem.NOT_CLOSED
    assert isinstance(compiled(schema, closed=False), Validator)


def test_nothing_is_ever_fetched() -> None:
    """What would fetch a schema refuses, should a reference ever get that far. Spec: POL-9."""
    with pytest.raises(ValueError, match="http"):
        _fetch_nothing("http://127.0.0.1:9/schema")


def test_references_within_a_schema_are_followed() -> None:
    """A foreign schema may name its parts, escaped as pointers are, and say another dialect's name."""
    schema = raw(
        **{
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$defs": {"a/b": {"type": "integer"}, "c": {"prefixItems": [{"$ref": "#/$defs/a~1b"}]}},
            "properties": {"x": {"$ref": "#/$defs/c/prefixItems/0"}, "y": {"$ref": "#/$defs/a~1b"}, "z": True},
        }
    )
    validator = compiled(schema, closed=False)
    assert isinstance(validator, Validator)
    assert validator.problem({"x": 1, "y": 2}) is None
    assert validator.problem({"x": "1"}) is not None


def test_a_misfit_is_named_by_the_schema_and_not_by_what_was_written() -> None:
    """The place is one in the tool's own schema; nothing of the arguments is in it. Spec: MND-3."""
    validator = compiled(closed_schema(PayAvatar, dict.fromkeys(("to", "amount", "description"), "x")), closed=True)
    assert isinstance(validator, Validator)
    who = "00000000-0000-4000-8000-00000000000a"
    assert validator.problem({"to": who, "amount": 5}) is None
    assert validator.problem({"to": who, "amount": 0}) == "properties/amount/minimum"
    assert validator.problem({"to": who, "amount": True}) == "properties/amount/type"
    assert validator.problem({"to": who, "amount": 5, "ignore all rules": 1}) == "additionalProperties"
    deep = compiled(raw(properties={"x" * 300: {"type": "string"}}), closed=False)
    assert isinstance(deep, Validator)
    assert len(deep.problem({"x" * 300: 1}) or "") == 128


def test_a_pattern_is_matched_in_linear_time() -> None:
    """A pattern that makes backtracking engines stand still does not."""
    validator = compiled(raw(properties={"x": {"pattern": "^(a+)+$"}}), closed=False)
    assert isinstance(validator, Validator)
    assert validator.problem({"x": "a" * 50_000 + "b"}) == "properties/x/pattern"


def test_a_misfit_is_found_as_quickly_in_a_wide_schema() -> None:
    """The first misfit ends the check, however many alternatives and values there are. Spec: POL-9."""
    wide = raw(properties={"a": {"items": {"anyOf": [{"const": each} for each in range(1_000)]}}})
    validator = compiled(wide, closed=False)
    assert isinstance(validator, Validator)
    assert validator.problem({"a": list(range(1_000, 5_000))}) == "properties/a/items/anyOf"
    assert validator.problem({"a": [999] * 4_000}) is None


def test_a_schema_of_a_struct_says_every_field_and_no_more() -> None:
    """A field without a description, a description without a field, and leaving out a needed one are mistakes."""
    for says, left_out in (
        ({"text": "x"}, frozenset()),
        ({"text": "x", "volume": "x", "chat_channel": "x", "more": "x"}, frozenset()),
        ({"volume": "x", "chat_channel": "x"}, frozenset({"text"})),
    ):
        with pytest.raises(InternalError, match="schema of Say"):
            closed_schema(Say, says, leave_out=left_out)
    written = json.loads(closed_schema(Say, {"text": "t", "volume": "v"}, leave_out=frozenset({"chat_channel"})))
    assert written["required"] == ["text"]
    assert written["additionalProperties"] is False
    assert written["properties"]["volume"] == {
        "description": "v",
        "enum": ["say", "shout", "whisper"],
        "type": "string",
        "default": "say",
    }


# --- agreement ------------------------------------------------------------------------------------

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["", "say", "x" * 300, "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000A"]
    )
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "y", "z", "q"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[bytes, dict[str, object]]:
    """Draw a tool of the catalogue and arguments that have something to do with it."""
    tool = draw(st.sampled_from(CATALOGUE)).tool
    names = list(json.loads(tool.schema)["properties"])
    keys = st.sampled_from([*names, "extra"])
    return tool.schema, draw(st.dictionaries(keys, ODD, max_size=len(names) + 1))


@pytest.mark.slow
@settings(max_examples=200)
@given(documents())
def test_both_libraries_say_the_same_of_every_native_schema(drawn: tuple[bytes, dict[str, object]]) -> None:
    """The fast library on the hot path agrees with the one that checks schemas. Spec: MND-5."""
    schema, document = drawn
    fast = compiled(schema, closed=True)
    assert isinstance(fast, Validator)
    slow = jsonschema.Draft202012Validator(json.loads(schema), registry=jsonschema_specifications.REGISTRY)
    document = msgspec.json.decode(msgspec.json.encode(document))
    assert (fast.problem(document) is None) == slow.is_valid(document)


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "minimum", "required", "properties", "items", "$ref", "enum", "pattern", "anyOf", "not"]
        ),
        st.sampled_from(["object", "string", "integer", 1, -1, "#", "#/x", [], {}, True, ["x"], [{"type": "object"}]]),
    )
)
def test_any_schema_is_compiled_or_refused_and_checking_agrees(schema: dict[str, object]) -> None:
    """Nothing escapes registration, and only what the meta-schema takes is compiled. Spec: POL-9."""
    found = compiled(msgspec.json.encode({"type": "object", **schema}), closed=False)
    if isinstance(found, Validator):
        jsonschema.Draft202012Validator.check_schema({"type": "object", **schema})
    assert isinstance(found, Validator | SchemaProblem)
