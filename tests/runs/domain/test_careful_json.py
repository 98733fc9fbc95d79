import pytest

from runs.domain.careful_json import Doubled, Fault, JsonRefused, examine_carefully


def faults(text):
    return [(fault.reason, fault.path) for fault in examine_carefully(text.encode(), 64).faults]


def test_every_fault_of_a_document_is_found_with_its_path():
    assert faults('[{"a": "\\u0000"}, {"b": 1}, {"c": 1, "c": 1e999}]') == [
        ("nul_character", (0, "a")),
        ("json_duplicate_key", (2,)),
        ("number_out_of_range", (2, "c")),
    ]


def test_one_value_may_have_two_faults():
    assert faults('["\\u0000\\ud800"]') == [("nul_character", (0,)), ("lone_surrogate", (0,))]


def test_of_a_key_that_came_twice_both_values_are_kept():
    document = examine_carefully(b'{"type": "a", "type": "b"}', 64).document

    assert isinstance(document, Doubled)
    assert document.pairs == [("type", "a"), ("type", "b")]


def test_an_object_with_too_many_keys_is_one_fault():
    text = "{" + ",".join(f'"k{n}":"\\u0000"' for n in range(10_001)) + "}"

    assert faults(text) == [("too_many_keys", ())]


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_that_json_does_not_have_is_no_json(constant):
    with pytest.raises(JsonRefused, match="json_invalid"):
        examine_carefully(f'[{{"a": {constant}}}]'.encode(), 64)


def test_a_fault_points_at_its_place():
    assert Fault("nul_character", ("payload", "a", 3)).pointer == "/payload/a/3"
    assert Fault("nul_character", ("payload", "what was said")).pointer == "/payload"
