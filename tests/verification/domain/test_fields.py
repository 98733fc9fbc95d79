"""Every schema has a form, and no form asks for a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.fields import (
    SECRET_HELP,
    FieldKind,
    FormField,
    asks_for_a_secret,
    fields_of_schema,
    text_field,
)


def kinds(properties, **more):
    return [field.kind for field in fields_of_schema({"properties": properties, **more})]


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, FieldKind.LONG_TEXT),
        ({"type": "string", "maxLength": 80}, FieldKind.TEXT),
        ({"type": "string", "format": "email"}, FieldKind.TEXT),
        ({"type": "string", "format": "date"}, FieldKind.DATE),
        ({"type": "string", "enum": ["a", "b"]}, FieldKind.CHOICE),
        ({"enum": [1, None, {"a": 1}]}, FieldKind.CHOICE),
        ({"type": "integer"}, FieldKind.INTEGER),
        ({"type": "number"}, FieldKind.NUMBER),
        ({"type": "boolean"}, FieldKind.CHECKBOX),
        ({"const": True}, FieldKind.FIXED),
        ({"type": "array", "items": {"enum": ["a"]}}, FieldKind.CHOICES),
        ({"type": "array", "items": {"type": "string"}}, FieldKind.JSON),
        ({"type": "object"}, FieldKind.JSON),
        ({"type": ["string", "null"]}, FieldKind.JSON),
        ({"oneOf": [{"type": "string"}]}, FieldKind.JSON),
        ({"$ref": "#/$defs/word"}, FieldKind.LONG_TEXT),
        ({"$ref": "#/$defs/loop"}, FieldKind.JSON),
        ({"$ref": "#/$defs/none"}, FieldKind.JSON),
        ({"$ref": "https://elsewhere.example/schema"}, FieldKind.JSON),
        ({"$ref": 7}, FieldKind.JSON),
        (True, FieldKind.JSON),
        ({}, FieldKind.JSON),
        (None, FieldKind.JSON),
    ],
)
def test_each_kind_of_property_has_its_control(schema, kind):
    defs = {"word": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}}

    assert kinds({"p": schema}, **{"$defs": defs}) == [kind]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        {},
        {"type": "object"},
        {"properties": {}},
        {"oneOf": [{"properties": {"a": {}}}]},
        {"properties": {"a": {}}, "required": ["b"]},
        {"properties": {"a": {}}, "required": [["b"]]},
        {"properties": {"a": {}}, "required": "a"},
        {"properties": {"a": {}}, "if": {}},
        {"properties": {str(n): {} for n in range(61)}},
        {"properties": 7},
    ],
)
def test_what_has_no_plain_form_is_one_field_for_json(schema):
    (field,) = fields_of_schema(schema)

    assert (field.kind, field.pointer, field.is_required) == (FieldKind.JSON, "", True)


def test_a_value_that_is_no_object_is_one_field():
    (field,) = fields_of_schema({"type": "string", "maxLength": 20, "title": "Colour"})

    assert (field.kind, field.pointer, field.label) == (FieldKind.TEXT, "", "Colour")


def test_a_form_says_what_is_required_and_helps():
    schema = {
        "type": "object",
        "properties": {
            "orderId": {"type": "string", "description": "As printed.", "default": "A1"},
            "a/b~c": {"type": "integer", "title": "Odd one"},
        },
        "required": ["orderId"],
    }

    assert fields_of_schema(schema) == (
        FormField(
            "answer.orderId", "Order id", FieldKind.LONG_TEXT, "/orderId",
            is_required=True, help="As printed.", initial="A1",
        ),
        FormField("answer.a/b~c", "Odd one", FieldKind.INTEGER, "/a~1b~0c"),
    )  # fmt: skip


def test_a_question_is_a_text_unless_its_schema_says_otherwise():
    assert text_field("q1", "Which?").kind is FieldKind.LONG_TEXT
    assert text_field("q1", "Which?", {"enum": ["a"], "title": "T"}).label == "Which?"
    assert text_field("q1", "Which?", {"enum": ["a"]}).kind is FieldKind.CHOICE
    assert text_field("q1", "How many?", {"type": "integer"}).kind is FieldKind.INTEGER


@pytest.mark.parametrize(
    "name",
    ["password", "apiKey", "api_key", "API-Key", "accessToken", "clientSecret", "credentials",
     "private_key", "dbPassword"],
)  # fmt: skip
def test_a_secret_is_never_asked_for(name):
    (field,) = fields_of_schema({"properties": {name: {"type": "string"}}})

    assert (field.kind, field.help) == (FieldKind.WITHHELD, SECRET_HELP)
    assert text_field(name, "Please?").kind is FieldKind.WITHHELD


@pytest.mark.parametrize("schema", [{"format": "password"}, {"writeOnly": True}])
def test_a_secret_shows_in_its_schema_too(schema):
    assert asks_for_a_secret("code", {"type": "string", **schema})


@pytest.mark.parametrize(
    "name", ["tokenCount", "secretary", "keyboard", "monkey", "author", "passage"]
)
def test_ordinary_words_are_no_secrets(name):
    assert not asks_for_a_secret(name, {"type": "string"})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "properties", "required", "enum", "const", "items", "$ref", "format",
             "maxLength", "title", "description", "default", "oneOf", "x"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_any_schema_makes_a_form_with_distinct_names(schema):
    fields = fields_of_schema(schema if isinstance(schema, dict | bool) else None)

    assert fields
    assert len({field.name for field in fields}) == len(fields)
    assert all(isinstance(field.label, str) for field in fields)
