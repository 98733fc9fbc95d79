"""Decisions as bytes that stay as they are."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.frozen import NotCanonical, canonical, frozen, is_intact, resume_body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_body_is_canonical_json_with_its_digest():
    body = resume_body({"b": 1.0, "a": "é"})

    assert body.content == '{"resumeValue":{"a":"é","b":1}}'.encode()
    assert body.sha256 == hashlib.sha256(body.content).hexdigest()
    assert body.resume_value == {"a": "é", "b": 1}


@given(JSON)
def test_freezing_twice_gives_the_same_bytes(value):
    once = resume_body(value)

    assert resume_body(once.resume_value).content == once.content
    assert json.loads(once.content) == {"resumeValue": value}


@given(st.dictionaries(st.text(), JSON, min_size=2, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(value, random):
    keys = list(value)
    random.shuffle(keys)

    assert frozen({key: value[key] for key in keys}) == frozen(value)


@pytest.mark.parametrize(
    "value", [2**53 + 1, float("nan"), float("inf"), "\ud800", {1: 2}, {"CANARY", "s"}, object()]
)
def test_what_has_no_canonical_form_is_refused_without_being_shown(value):
    with pytest.raises(NotCanonical) as caught:
        canonical({"CANARY": value})

    assert "CANARY" not in str(caught.value)


def test_a_changed_byte_is_noticed():
    body = frozen({"action": "accept"})

    assert is_intact(body.content, body.sha256)
    assert not is_intact(body.content.replace(b"accept", b"reject"), body.sha256)
