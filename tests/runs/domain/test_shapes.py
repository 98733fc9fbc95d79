import pytest

from runs.domain.shapes import (
    Must,
    any_of,
    anything,
    boolean,
    closed,
    either,
    items,
    matching,
    members,
    null_or,
    number,
    one_of,
    record,
    text,
    whole,
)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (anything, [None, [], "x"], []),
        (boolean, [True, False], [0, None]),
        (members, [{}, {"a": 1}], [[], None]),
        (text(least=1, most=2), ["a", "ab"], ["", "abc", 1, None]),
        (matching("[A-Z]{3}"), ["USD"], ["usd", "USDX", "USD\n", 1]),
        (whole(1, 3), [1, 3], [0, 4, 1.0, True, "1"]),
        (whole(), [0, 2**60], [-1]),
        (number(0, 1), [0, 0.5, 1], [-0.1, 1.1, True, "0"]),
        (number(), [-1, 1e9], [None]),
        (one_of("a", "b"), ["a", "b"], ["A", "", ["a"], None]),
        (null_or(boolean), [None, True], [0]),
        (items(boolean, least=1), [[True]], [[], [True, 1], "x"]),
        (items(text(), unique=True), [["a", "b"]], [["a", "a"]]),
        (record(a=Must(boolean), b=boolean), [{"a": True}, {"a": True, "c": 1}], [{}, {"b": True}]),
        (closed(a=boolean), [{}, {"a": True}], [{"b": 1}, [], None]),
        (any_of(boolean, whole()), [True, 1], ["x"]),
    ],
)
def test_a_check_passes_what_it_says_and_nothing_else(check, good, bad):
    assert not any(check(value) for value in good)
    assert all(check(value) for value in bad)


def test_what_is_wrong_inside_is_told_with_its_place():
    check = record(list=items(closed(name=Must(text(least=1)))))

    assert list(check({"list": [{"name": "a"}, {"name": ""}]})) == [("/list/1/name", "length")]


def test_a_tag_says_which_shape_is_asked_for():
    check = either("kind", {"a": closed(kind=text(), x=Must(boolean))})

    assert not check({"kind": "a", "x": True})
    assert list(check({"kind": "a"})) == [("/x", "required")]
    assert list(check({"kind": "b"})) == [("/kind", "enum")]
    assert list(check({"kind": 1})) == [("/kind", "type")]
    assert list(check({})) == [("/kind", "required")]
    assert list(check("a")) == [("", "type")]


def test_of_several_shapes_the_first_tells_what_is_wrong():
    check = any_of(record(a=Must(boolean)), record(b=Must(boolean)))

    assert list(check({})) == [("/a", "required")]
