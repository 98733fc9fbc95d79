"""What may be submitted as a decision, and what is turned away with a reason."""

import json
from pathlib import Path

import pytest

from verification.domain.decisions import (
    LEAVES_OPEN,
    LETS_THROUGH,
    MAX_TEXT,
    Action,
    Decision,
    Refinement,
    Scope,
    UnreadableDecision,
    read_action,
    read_decision,
    read_seen,
)

FIXTURES = Path(__file__).parents[2] / "fixtures/decisions"
UNREADABLE = [json.loads(line) for line in (FIXTURES / "unreadable.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("record", UNREADABLE, ids=lambda record: record["name"])
def test_a_decision_of_the_wrong_form_is_refused(record):
    document = record["document"]
    reason = document.get("reason")
    if isinstance(reason, str) and reason.startswith("repeat:"):
        document = {**document, "reason": "c" * int(reason.partition(":")[2])}

    with pytest.raises(UnreadableDecision) as caught:
        (read_seen(document), read_decision(document))

    assert caught.value.reason


def test_a_refusal_never_repeats_what_was_submitted():
    with pytest.raises(UnreadableDecision) as caught:
        read_decision({"action": "CANARY-7f3"})

    assert "CANARY" not in str(caught.value)
    assert caught.value.pointer == "/action"


def test_nobody_can_say_who_decided_or_where_it_goes():
    for key in ("decidedBy", "callbackUrl", "resumeValue", "override"):
        with pytest.raises(UnreadableDecision) as caught:
            read_decision({"action": "accept", key: "x"})
        assert caught.value.reason == "unexpected_key"


def test_a_complete_decision_is_read():
    document = {
        "action": "refine",
        "expectedVersion": 3,
        "seenPosition": 12,
        "seenDigest": "ab",
        "reason": "  too long ",
        "feedback": "Shorten it",
        "refineFeedback": {"scope": "items", "itemIds": ["a"], "tags": ["tone"], "text": "t"},
        "answers": {"q1": "yes"},
    }

    assert read_decision(document) == Decision(
        Action.REFINE,
        reason="too long",
        feedback="Shorten it",
        refinement=Refinement("t", Scope.ITEMS, item_ids=("a",), tags=("tone",)),
        answers={"q1": "yes"},
    )
    assert read_seen(document) == (3, 12, "ab")


@pytest.mark.parametrize(
    "document",
    [
        {"action": "accept", "reason": 1},
        {"action": "accept", "answers": []},
        {"action": "refine", "refineFeedback": []},
        {"action": "refine", "refineFeedback": {"scope": ["whole"]}},
        {"action": "refine", "refineFeedback": {"tags": "a"}},
        {"action": "refine", "refineFeedback": {"more": 1}},
        {"action": "accept", "reason": "\ud800"},
        [],
        None,
    ],
)
def test_every_part_has_one_type(document):
    with pytest.raises(UnreadableDecision):
        read_decision(document)


@pytest.mark.parametrize(
    "seen",
    [
        {"expectedVersion": True},
        {"expectedVersion": -1},
        {"expectedVersion": 1, "seenPosition": "2"},
        {"expectedVersion": 1, "seenDigest": 2},
    ],
)
def test_what_was_seen_has_one_form(seen):
    with pytest.raises(UnreadableDecision):
        read_seen(seen)


def test_the_longest_text_is_kept_whole():
    text = "c" * MAX_TEXT

    assert read_decision({"action": "accept", "reason": text}).reason == text


def test_an_action_is_read_by_its_exact_name():
    assert read_action("edit-accept") is Action.EDIT_ACCEPT
    for name in ("Accept", "accept ", "edit", "approve", "timeout", ""):
        with pytest.raises(UnreadableDecision):
            read_action(name)


def test_no_action_both_lets_through_and_leaves_open():
    assert not LETS_THROUGH & LEAVES_OPEN
