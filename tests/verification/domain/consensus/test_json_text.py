"""JSON is found in what a model wrote, and never invented."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.json_text import NotJson, find, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_text_that_is_json_means_its_value(value):
    assert find(f" {json.dumps(value)}\n").value == value


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
def test_an_object_is_found_between_words(value):
    found = find(f"It is {json.dumps(value)} as I said.")

    assert (found.value, found.is_only_object) == (value, True)


def test_a_tagged_fence_is_preferred_to_an_earlier_bare_one():
    found = find('```\n{"a": 1}\n```\n```json\n{"a": 2}\n```')

    assert found.value == {"a": 2}
    assert not found.is_only_object


def test_an_array_in_prose_is_found_only_where_no_object_is():
    assert find("So: [1, 2].").value == [1, 2]
    assert find('So: [{"a": 1}].').value == {"a": 1}
    assert find('So: [{"a": 1}, {"a": 2}].').value == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("text", ["NaN", "-Infinity", '{"a": NaN}', "01", "'a'", "", "{]"])
def test_what_is_not_json_is_not_read(text):
    with pytest.raises(NotJson):
        parse(text)


def test_a_number_of_any_length_is_json():
    digits = "9" * 5000

    assert find('{"accept": true, "score": ' + digits + "}").value["accept"] is True
    assert not find('{"n": ' + digits + '}\n```json\n{"accept": true}\n```').is_only_object


def test_a_value_is_read_or_not_wherever_it_is_read_from():
    deep = '{"accept": true, "more": ' + "[" * 600 + "]" * 600 + "}"

    with pytest.raises(NotJson):
        parse(deep)
    assert parse("[" * 500 + "]" * 500)
