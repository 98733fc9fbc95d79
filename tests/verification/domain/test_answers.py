"""Forms read back as typed values."""

import pytest

from verification.domain.answers import assembled, check_complete, read_answers
from verification.domain.decisions import UnreadableDecision
from verification.domain.fields import FieldKind, FormField, fields_of_schema


def field(kind, *, is_required=False, **more):
    return FormField("answer.p", "P", kind, "/p", is_required, **more)


OPTIONS = ("red", 2, None)


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (FieldKind.TEXT, " blue ", "blue"),
        (FieldKind.LONG_TEXT, "a\nb", "a\nb"),
        (FieldKind.DATE, "2026-11-30", "2026-11-30"),
        (FieldKind.INTEGER, "-12", -12),
        (FieldKind.NUMBER, "12", 12),
        (FieldKind.NUMBER, "0.5", 0.5),
        (FieldKind.NUMBER, "1e3", 1000.0),
        (FieldKind.CHECKBOX, "on", True),
        (FieldKind.CHOICE, "0", "red"),
        (FieldKind.CHOICE, "1", 2),
        (FieldKind.CHOICES, ["0", "1"], ["red", 2]),
        (FieldKind.CHOICES, "1", [2]),
        (FieldKind.JSON, '{"a": [1]}', {"a": [1]}),
    ],
)
def test_each_kind_is_read_as_its_type(kind, given, value):
    answers = read_answers([field(kind, choices=OPTIONS)], {"answer.p": given})

    assert answers == {"p": value}
    assert type(answers["p"]) is type(value)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (FieldKind.TEXT, "a\x00b"),
        (FieldKind.TEXT, ["a"]),
        (FieldKind.TEXT, "x" * 10_001),
        (FieldKind.INTEGER, "1.5"),
        (FieldKind.INTEGER, "٣"),
        (FieldKind.INTEGER, "1_0"),
        (FieldKind.INTEGER, "9" * 40),
        (FieldKind.NUMBER, "nan"),
        (FieldKind.NUMBER, "inf"),
        (FieldKind.NUMBER, "1_0.5"),
        (FieldKind.NUMBER, "many"),
        (FieldKind.CHOICE, "3"),
        (FieldKind.CHOICE, "red"),
        (FieldKind.CHOICE, "9" * 40),
        (FieldKind.CHOICES, ["0", "7"]),
        (FieldKind.CHOICES, [0]),
        (FieldKind.JSON, "{"),
        (FieldKind.JSON, "NaN"),
        (FieldKind.JSON, "[" * 9_000),
        (FieldKind.JSON, "9" * 40),
        (FieldKind.JSON, "1e999"),
        (FieldKind.JSON, "[" * 3000 + "]" * 3000),
        (FieldKind.JSON, '{"a": "\\u0000"}'),
        (FieldKind.JSON, '"\\ud800"'),
        (FieldKind.JSON, '{"a": 1, "a": 2}'),
    ],
)
def test_what_is_not_of_its_kind_is_refused_by_place_and_not_by_value(kind, given):
    with pytest.raises(UnreadableDecision) as caught:
        read_answers([field(kind, choices=OPTIONS)], {"answer.p": given})

    assert caught.value.pointer == "/answers/p"


@pytest.mark.parametrize("given", [None, "", []])
def test_a_required_answer_must_be_there(given):
    for kind in (FieldKind.TEXT, FieldKind.CHOICES, FieldKind.JSON, FieldKind.WITHHELD):
        with pytest.raises(UnreadableDecision) as caught:
            read_answers([field(kind, is_required=True)], {"answer.p": given})
        assert caught.value.reason == "required"


def test_what_is_not_required_may_stay_empty():
    assert read_answers([field(FieldKind.TEXT)], {}) == {}


def test_an_unticked_box_is_a_no():
    box = [field(FieldKind.CHECKBOX, is_required=True)]

    assert read_answers(box, {}) == {"p": False}


def test_a_secret_that_was_typed_all_the_same_is_dropped():
    assert read_answers([field(FieldKind.WITHHELD)], {"answer.p": "hunter2"}) == {}


def test_fixed_values_come_from_the_schema_and_not_from_the_form():
    fields = fields_of_schema({"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}})

    answers = read_answers(fields, {"answer.kind": "b", "answer.n": "3"})

    assert assembled(fields, answers) == {"kind": "a", "n": 3}


def test_a_form_for_the_whole_value_makes_that_value():
    fields = fields_of_schema({"type": "integer"})

    assert assembled(fields, read_answers(fields, {"answer.value": "3"})) == 3


def test_answers_without_a_field_are_refused():
    with pytest.raises(UnreadableDecision) as caught:
        check_complete([field(FieldKind.TEXT)], {"q": "x"})

    assert caught.value.reason == "unexpected_key"


def test_false_and_zero_are_answers():
    check_complete([field(FieldKind.JSON, is_required=True)], {"p": 0})
    check_complete([field(FieldKind.JSON, is_required=True)], {"p": False})
