import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain import strict_json
from runs.domain.careful_json import MAX_CONTAINERS, MAX_FAULTS, examine_carefully
from runs.domain.strict_json import (
    Examined,
    JsonRefused,
    depth_of,
    examine,
    lines,
    parse,
)

# --- Any JSON text, with everything in it that parsers read differently --------------------------

CHARACTERS = st.sampled_from([*'ab:,{}[]"\\ /é𝄞', "\\u003a", "\\u003A", "\\u0000", "\\ud800"])
NUMBERS = st.sampled_from(
    """
    0 -0 1 -1 12 0.0 -0.0 0e5 0.5 1e5 1E+2 1e-5 1e-400 0.1e-20000 1e20 1e400 -1e400 1e131071
    9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808
    -9223372036854775809 18446744073709551615 18446744073709551616 9223372036854775808.0
    """.split()  # noqa: SIM905  (as they stand in a text)
) | st.sampled_from(["9" * 400, "0." + "0" * 400 + "1"])
SPACES = st.sampled_from(["", "", " ", "\n", "\t "])


@st.composite
def texts(draw):
    written = draw(st.lists(CHARACTERS, max_size=6))
    escaped = [
        each if each[0] == "\\" and len(each) > 1 else json.dumps(each)[1:-1] for each in written
    ]
    return '"' + "".join(escaped) + '"'


def arrays(element):
    return st.lists(element, max_size=4).map(lambda each: "[" + ",".join(each) + "]")


@st.composite
def objects(draw, element):
    keys = st.sampled_from(['"a"', '"b"', '"c:"', '"\\u0061"', '"c\\u003a"'])
    members = draw(st.lists(st.tuples(keys, SPACES, element), max_size=4))
    return "{" + ",".join(f"{key}{space}:{space}{value}" for key, space, value in members) + "}"


SCALARS = st.one_of(texts(), NUMBERS, st.sampled_from(["true", "false", "null"]))
DOCUMENTS = st.recursive(SCALARS, lambda inner: arrays(inner) | objects(inner), max_leaves=12)


@given(DOCUMENTS)
def test_what_the_fast_reader_proves_plain_the_careful_reader_reads_alike(text):
    raw = text.encode()
    slow = examine_carefully(raw, 64)

    fast = strict_json._examine_plain(raw, 64)

    assert fast is None or (slow.faults == () and repr(fast) == repr(slow))


@given(DOCUMENTS)
def test_whatever_has_a_fault_is_refused_with_the_first_one(text):
    faults = examine_carefully(text.encode(), 64).faults

    if faults:
        with pytest.raises(JsonRefused) as refused:
            parse(text.encode())
        assert (refused.value.reason, refused.value.pointer) == (
            faults[0].reason,
            faults[0].pointer,
        )
    else:
        assert repr(parse(text.encode())) == repr(json.loads(text))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-1e9, 1e9).filter(lambda each: abs(each) > 1e-300)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc"), inner, max_size=4),
)


@given(PLAIN)
def test_ordinary_documents_take_the_fast_way_and_come_out_as_they_went_in(document):
    raw = json.dumps(document, ensure_ascii=False).encode()

    assert parse(raw) == document
    assert strict_json._examine_plain(raw, 64) is not None


@given(st.binary(max_size=60) | DOCUMENTS.map(str.encode).map(lambda raw: raw[: len(raw) // 2]))
def test_any_bytes_are_read_or_refused_and_nothing_else_happens(raw):
    try:
        outcome = examine(raw)
    except JsonRefused as refused:
        outcome = refused

    assert isinstance(outcome, Examined) or outcome.reason in {"json_invalid", "json_encoding"}


# --- By name --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason", "pointer"),
    [
        ('{"a": 1, "a": 1}', "json_duplicate_key", ""),
        ('{"p": {"a": 1, "\\u0061": 2}}', "json_duplicate_key", "/p"),
        ('{"a": [1, {"b": NaN}]}', "json_invalid", ""),
        ('{"a": [1, {"b": 1e400}]}', "number_out_of_range", "/a/1/b"),
        ('{"a": 9223372036854775808}', "number_out_of_range", "/a"),
        ('{"a": "x\\u0000"}', "nul_character", "/a"),
        ('{"p": {"x\\u0000": 1}}', "nul_character", "/p"),
        ('{"p": {"x\\ud800": 1}}', "lone_surrogate", "/p"),
        ('{"the answer is 42": "\\u0000"}', "nul_character", ""),
        ("\ufeff{}", "json_encoding", ""),
        ("", "json_invalid", ""),
        ("{} {}", "json_invalid", ""),
    ],
)
def test_a_fault_is_told_with_its_place_and_without_keys_that_could_be_content(
    text, reason, pointer
):
    with pytest.raises(JsonRefused) as refused:
        parse(text.encode("utf-8", "surrogatepass"))

    assert (refused.value.reason, refused.value.pointer) == (reason, pointer)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\u003a:", "b": ":"}',
        '{"a": "\\\\u0000"}',
        '"\\ud83d\\ude00"',
        "-0",
        "0e-5",
        '{"a": 0.0, "b": "e-1"}',
        "1e20",
        '"\\ufffd\\ufffe\\uffff"',
    ],
)
def test_what_only_looks_like_a_fault_is_read(text):
    assert parse(text.encode()) == json.loads(text)


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_nesting_is_counted_in_levels(brackets):
    opening = "[" if brackets == "[]" else '{"a":'
    deepest = opening * 64 + "1" + brackets[1] * 64

    assert examine(deepest.encode()).depth == 64
    assert depth_of(parse(deepest.encode())) == 64
    with pytest.raises(JsonRefused, match="json_too_deep"):
        parse((opening + deepest + brackets[1]).encode())


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 1_000_000, "json_too_deep"),
        (b'"' + b'\\"' * 1_000_000, "json_invalid"),
        (b'"' + b'\\"' * 1_000_000 + b"\\", "json_invalid"),
        (b'"a' * 1_000_000, "json_invalid"),
        (b"[" + b"{}," * (MAX_CONTAINERS + 1) + b"1]", "too_many_elements"),
        (b"[" + b"1," * 50_001 + b"1]", "too_many_elements"),
        (b"[" + b'"\\u0000",' * (MAX_FAULTS + 1) + b"1]", "nul_character"),
    ],
    ids=["brackets", "quotes", "cut", "strings", "objects", "elements", "faults"],
)
def test_a_body_made_to_be_slow_is_refused_at_once(raw, reason):
    with pytest.raises(JsonRefused) as refused:
        parse(raw)

    assert refused.value.reason == reason


def test_brackets_inside_strings_do_not_count():
    assert parse(b'["' + b"[{" * MAX_CONTAINERS + b'"]') == ["[{" * MAX_CONTAINERS]


def test_lines_are_read_one_by_one_and_a_bad_one_stands_for_itself():
    first, second, third = lines(b'{"a": 1}\n\n{"a": \r\n [2] \r\n')

    assert first == Examined({"a": 1}, 1)
    assert isinstance(second, JsonRefused)
    assert third == Examined([2], 1)
