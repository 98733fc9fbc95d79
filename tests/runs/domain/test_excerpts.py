import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.excerpts import excerpt


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain", "plain"),
        ("", ""),
        (" \n\t ", ""),
        ("two\r\n  lines", "two lines"),
        ("0123456789", "0123456789"),
        ("0123456789a", "012345678…"),
        ("01234567 9a", "01234567…"),
        ("a\x00b\x7fc", "abc"),
        ("a\u2066b\u2069c\ufeff", "abc"),
        ("e\u0301\u0301\u0301\u0301", "e\u0301\u0301"),
        ("\u0646\u0645\u06cc\u200c\u062e", "\u0646\u0645\u06cc\u200c\u062e"),
        ("\u200d\u200d", ""),
        ("\ud800x", "x"),
    ],
)
def test_an_excerpt_is_one_short_line_without_what_cannot_be_seen(text, said):
    assert excerpt(text, 10) == said


@given(st.text(), st.integers(1, 20))
def test_an_excerpt_is_never_longer_and_can_always_be_written(text, most):
    said = excerpt(text, most)

    assert len(said) <= most
    assert said.encode().decode() == said
    assert not any(unicodedata.category(each) in {"Cc", "Zl", "Zp"} for each in said)
