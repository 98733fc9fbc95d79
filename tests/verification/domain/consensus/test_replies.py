"""What counts as an accept: a real `true` in one readable verdict, and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verification.domain.consensus.replies import (
    CALL_FAILED,
    CONTRACT_BROKEN,
    NO_CRITIQUE,
    NOT_JSON,
    SCHEMA_INVALID,
    Contract,
    Ruling,
    read_ruling,
)
from verification.domain.consensus.schemas import JsonSchema

OPEN = Contract()
NONCE = "0123456789abcdef0123456789abcdef"
FENCED = Contract(nonce=NONCE, criteria=("sound", "complete"))
YES = '{"accept": true}'


@pytest.mark.parametrize(
    "reply",
    [
        YES,
        f"\ufeff\u00a0 {YES} \u2003",
        f"```json\n{YES}\n```",
        f"```\n{YES}```",
        f"```JSON\n{YES}\n```",
        f"```json\n{YES}",
        f"Well. {YES} Done.",
        f"[note] {YES}",
        f"So: [{YES}] it is",
        '{"accept": false, "accept": true}',
        '{"accept": true, "critique": 7, "extra": {"a": [1]}}',
        '{"accept": true, "n": ' + "9" * 5000 + "}",
    ],
)
def test_an_accept_may_stand_in_prose_or_a_fence(reply):
    assert read_ruling(reply, OPEN).accepts


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "LGTM!",
        '{"accept": true,}',
        "{'accept': true}",
        '{"accept": True}',
        '{"accept": true /* yes */}',
        f"{YES}{YES}",
        f"{{x}}: {YES}",
        f"{YES} and {{y}}",
        '{"accept": true, "score": NaN}',
        '{"accept": true, "score": 01}',
        '{"accept": true, "score": 0x1}',
        '{"accept": true, "critique": "a\nb"}',
        '{"accept": true',
        "[" * 100_000,
    ],
)
def test_what_is_not_strict_json_is_dissent(reply):
    assert read_ruling(reply, OPEN) == Ruling(accepts=False, critique=NOT_JSON)


@pytest.mark.parametrize(
    "reply",
    [
        f'```json\n{YES}\n```\n```json\n{{"accept": false}}\n```',
        f'```\n{{"accept": false}}\n```\n```json\n{YES}\n```',
        f'The answer holds {{"accept": false}}. ```json\n{YES}\n```',
        f'```json\n{YES}\n``` but also {{"a": 1}}',
        f"```json\n{YES}\n```" + "{" * 300,
    ],
)
def test_a_second_object_beside_a_fenced_verdict_makes_it_unreadable(reply):
    assert read_ruling(reply, OPEN) == Ruling(accepts=False, critique=NOT_JSON)


@pytest.mark.parametrize("root", ["true", '"accept"', "null", "1", "[]", "{}", f"[{YES}]"])
def test_a_root_that_is_no_verdict_is_dissent_without_a_reason(root):
    assert read_ruling(root, OPEN) == Ruling(accepts=False, critique=NO_CRITIQUE)


@pytest.mark.parametrize("value", ['"true"', "1", "null", "[true]", '{"accept": true}'])
def test_only_true_accepts(value):
    assert not read_ruling(f'{{"accept": {value}}}', OPEN).accepts


@pytest.mark.parametrize(
    ("critique", "kept"),
    [
        ('" a "', " a "),
        ('"  "', "  "),
        ('""', NO_CRITIQUE),
        ("7", NO_CRITIQUE),
        ("null", NO_CRITIQUE),
    ],
)
def test_a_critique_is_kept_as_it_is_or_named_missing(critique, kept):
    reply = f'{{"accept": false, "critique": {critique}}}'

    assert read_ruling(reply, OPEN).critique == kept


def test_a_schema_replaces_the_critique_but_does_not_hide_unreadable_replies():
    contract = Contract(JsonSchema({"required": ["confidence"]}))

    assert read_ruling('{"accept": true, "critique": "x"}', contract).critique == SCHEMA_INVALID
    assert read_ruling("hm", contract).critique == NOT_JSON
    assert read_ruling('{"accept": true, "confidence": 1}', contract).accepts


def test_what_a_schema_fills_in_is_not_what_the_judge_said():
    class Generous:
        def read(self, value):
            return {"accept": True}

    assert not read_ruling("{}", Contract(Generous())).accepts


def test_a_failed_call_never_accepts_and_keeps_its_reason_to_dissent():
    assert read_ruling(YES, OPEN, has_failed=True) == Ruling(accepts=False, critique=CALL_FAILED)
    assert read_ruling('{"critique": "no"}', OPEN, has_failed=True).critique == "no"


def test_a_fenced_reply_that_keeps_the_contract_accepts():
    reply = json.dumps({"nonce": NONCE, "accept": True, "critique": "", "criteria": ["sound"]})

    assert read_ruling(reply, FENCED) == Ruling(accepts=True, criteria=("sound",))


def test_a_schema_sees_a_fenced_verdict_without_its_nonce():
    closed = JsonSchema({"properties": {"accept": {}}, "additionalProperties": False})
    reply = json.dumps({"nonce": NONCE, "accept": True})

    assert read_ruling(reply, Contract(closed, NONCE)).accepts


@pytest.mark.parametrize(
    "changes",
    [
        {"nonce": NONCE.upper()},
        {"nonce": None},
        {"accept": "true"},
        {"accept": 1},
        {"critique": None},
        {"criteria": ["made-up"]},
        {"criteria": ["sound", "sound"]},
        {"criteria": "sound"},
        {"criteria": [["sound"]]},
        {"sure": True},
    ],
)
def test_a_fenced_reply_that_breaks_the_contract_is_dissent(changes):
    reply = json.dumps({"nonce": NONCE, "accept": True, "critique": "", **changes})

    assert read_ruling(reply, FENCED) == Ruling(accepts=False, critique=CONTRACT_BROKEN)


@pytest.mark.parametrize("missing", ["nonce", "accept"])
def test_a_fenced_reply_needs_its_nonce_and_its_verdict(missing):
    whole = {"nonce": NONCE, "accept": True}
    del whole[missing]

    assert not read_ruling(json.dumps(whole), FENCED).accepts


def test_a_fenced_reply_is_taken_whole_or_not_at_all():
    verdict = json.dumps({"nonce": NONCE, "accept": True})

    for reply in (
        f"Sure: {verdict}",
        f"```json\n{verdict}\n```",
        verdict + verdict,
        f"[{verdict}]",
    ):
        assert not read_ruling(reply, FENCED).accepts
    assert read_ruling(f" {verdict}\n", FENCED).accepts


@given(st.text())
def test_no_text_makes_the_reader_stumble(text):
    assert isinstance(read_ruling(text, OPEN), Ruling)
    assert not read_ruling(text, FENCED).accepts
