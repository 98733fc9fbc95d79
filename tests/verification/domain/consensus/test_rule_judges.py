"""Judges that are rules: the same answer always gets the same verdict, and none can be hung."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.agents import Agent
from verification.domain.consensus.replies import Contract, read_ruling
from verification.domain.consensus.rule_judges import (
    MAX_ANSWER_CHARACTERS,
    InvalidRule,
    judge_by_rule,
    read_rule,
    reply_by_rule,
)

RULES = {
    "rule:json-schema": {"schema": {"type": "object", "required": ["temp"]}},
    "rule:must-match": {"pattern": r"\d+ °C"},
    "rule:must-not-match": {"pattern": "(?i)as an ai"},
    "rule:required-citations": {"minimum": 2, "required": ["S1"], "allowed": ["S1", "S2", "S3"]},
    "rule:length": {"minimum": 2, "maximum": 4, "unit": "words"},
}


@pytest.mark.parametrize(
    ("kind", "answer", "accepts"),
    [
        ("rule:json-schema", '{"temp": 78}', True),
        ("rule:json-schema", '```json\n{"temp": 78}\n```', True),
        ("rule:json-schema", '{"t": 78}', False),
        ("rule:json-schema", 'It is {"temp": 78}', False),
        ("rule:json-schema", "hm", False),
        ("rule:must-match", "It boils at 78 °C.", True),
        ("rule:must-match", "It boils.", False),
        ("rule:must-not-match", "It boils.", True),
        ("rule:must-not-match", "As an AI I cannot", False),
        ("rule:required-citations", "A [S1], B [S2].", True),
        ("rule:required-citations", "A [S1, S3].", True),
        ("rule:required-citations", "A [S1], B [S1].", False),
        ("rule:required-citations", "A [S2], B [S3].", False),
        ("rule:required-citations", "A [S1], B [S9].", False),
        ("rule:length", "two words", True),
        ("rule:length", "one", False),
        ("rule:length", "one two three four five", False),
    ],
)
def test_a_rule_judges_its_own_point(kind, answer, accepts):
    finding = judge_by_rule(read_rule(kind, RULES[kind]), answer)

    assert finding.accepts is accepts
    assert bool(finding.critique) is not accepts


def test_addresses_count_as_citations():
    rule = read_rule("rule:required-citations", {"minimum": 1})

    assert judge_by_rule(rule, "See https://example.org/a.").accepts
    assert not judge_by_rule(rule, "See example.org.").accepts


@pytest.mark.parametrize("kind", RULES)
@given(answer=st.text(max_size=200))
def test_a_rule_always_says_the_same_and_never_quotes_the_answer(kind, answer):
    rule = read_rule(kind, RULES[kind])
    finding = judge_by_rule(rule, answer)

    assert judge_by_rule(rule, answer) == finding
    assert len(answer) < 20 or answer not in finding.critique


@pytest.mark.parametrize("kind", RULES)
def test_what_is_too_long_is_not_read(kind):
    finding = judge_by_rule(read_rule(kind, RULES[kind]), "a" * (MAX_ANSWER_CHARACTERS + 1))

    assert not finding.accepts


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "((a{1,20}){1,20}){1,20}b", "(?:a?){300}a{300}c"]
)
def test_no_pattern_can_hang_a_judge(pattern):
    rule = read_rule("rule:must-match", {"pattern": pattern})

    started = time.perf_counter()
    judge_by_rule(rule, "a" * (MAX_ANSWER_CHARACTERS - 1) + "b")

    assert time.perf_counter() - started < 20


def test_unreadable_text_is_dissent_to_either_kind_of_pattern():
    for kind in ("rule:must-match", "rule:must-not-match"):
        assert not judge_by_rule(read_rule(kind, {"pattern": "x"}), "\ud800").accepts


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("rule:unknown", {}),
        ("rule:json-schema", {}),
        ("rule:json-schema", {"schema": {"type": "nonsense"}}),
        ("rule:json-schema", {"schema": {"$ref": "http://127.0.0.1:9/schema"}}),
        ("rule:must-match", {}),
        ("rule:must-match", {"pattern": ""}),
        ("rule:must-match", {"pattern": "("}),
        ("rule:must-match", {"pattern": "(?=a)b"}),
        ("rule:must-match", {"pattern": r"(a)\1"}),
        ("rule:must-match", {"pattern": "((a{1,100}){1,100}){1,100}"}),
        ("rule:must-match", {"pattern": "a" * 513}),
        ("rule:must-match", {"pattern": "a", "flags": "i"}),
        ("rule:required-citations", {"minimum": -1}),
        ("rule:required-citations", {"required": "S1"}),
        ("rule:length", {"unit": "pages"}),
        ("rule:length", {"maximum": True}),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_when_it_is_made(kind, settings):
    with pytest.raises(InvalidRule) as refused:
        read_rule(kind, settings)

    assert refused.value.kind == kind


@pytest.mark.parametrize("nonce", [None, "0123456789abcdef0123456789abcdef"])
@pytest.mark.parametrize("answer", ["two words", "one"])
def test_a_rule_replies_in_the_form_its_fellow_judges_reply_in(nonce, answer):
    rule = read_rule("rule:length", RULES["rule:length"])

    ruling = read_ruling(reply_by_rule(rule, answer, nonce), Contract(nonce=nonce))

    assert ruling.accepts is judge_by_rule(rule, answer).accepts
    assert ("nonce" in json.loads(reply_by_rule(rule, answer, nonce))) is (nonce is not None)


def test_a_judge_carries_its_rule():
    rule = read_rule("rule:length", {})

    assert Agent("rule:length", rule=rule).rule is rule
