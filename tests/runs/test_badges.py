"""The badge vocabulary: complete, drawable, and safe against what hosts send."""

import re
from pathlib import Path

import pytest

from runs.domain.projection import Outcome, RunStatus
from runs.templatetags.badges import BADGES, MARKS, badge, badge_of, grouped, icon, mark_of, sign
from verification.domain.consensus.result import Basis
from verification.domain.decisions import Action
from verification.domain.delivery import State as DeliveryState
from verification.domain.findings import FindingKind, Severity
from verification.domain.gates import GateState
from verification.domain.lifecycle import State as EscalationState
from verification.domain.requests import Reason

SPRITE = Path(__file__).parents[2] / "static" / "icons.svg"
SYMBOLS = set(re.findall(r'<symbol id="([a-z-]+)"', SPRITE.read_text()))

VOCABULARY = {
    "verdict": ["pass", "fail", "revise", "unverified"],
    "gate": [*(state.value for state in GateState), "violated"],
    "status": [*(status.value for status in RunStatus), "stalled"],
    "outcome": [outcome.value for outcome in Outcome],
    "severity": [severity.value for severity in Severity],
    "finding": [kind.value for kind in FindingKind],
    "reason": [reason.value for reason in Reason],
    "escalation": [state.value for state in EscalationState],
    "resolution": [action.value for action in Action],
    "delivery": [
        *(state.value for state in DeliveryState),
        *("none", "pending", "retrying", "took_effect", "no_effect"),
    ],
    "light": ["done", "current", "waiting", "failed", "skipped"],
    "basis": [basis.value for basis in Basis],
    "vote": ["accept", "dissent", "error", "not_asked"],
    "mark": [
        *("held", "advisory", "self_verified", "independence_unknown", "late", "gap"),
        *("off_schema", "omitted", "near_miss", "conflict", "candidates", "not_found", "reversed"),
    ],
}
WORDS = [(kind, word) for kind, words in VOCABULARY.items() for word in words]


@pytest.mark.parametrize(("kind", "word"), WORDS)
def test_every_word_of_the_vocabulary_has_a_badge(kind, word):
    shown = BADGES[f"{kind}.{word}"]

    assert shown.word
    assert shown.icon


def test_every_icon_that_is_named_is_in_the_sprite():
    named = {shown.icon for shown in BADGES.values()} | {name for name, _ in MARKS.values()}

    assert named - SYMBOLS == set()


def test_words_of_one_kind_never_look_alike():
    for kind, words in VOCABULARY.items():
        shown = [(BADGES[f"{kind}.{word}"].word, BADGES[f"{kind}.{word}"].icon) for word in words]

        assert len(set(shown)) == len(shown), kind


def test_only_a_pass_a_met_goal_and_what_was_done_are_green():
    green = {key for key, shown in BADGES.items() if shown.tone == "good"}

    assert green.isdisjoint(
        {"gate.no_verdict", "gate.overridden", "outcome.ended", "outcome.gave_up", "basis.kept"}
    )
    assert {"verdict.pass", "gate.passed", "outcome.goal_met", "basis.quorum"} <= green


def test_an_unknown_word_is_shown_as_it_is_and_never_as_a_pass():
    shown = badge_of("status", "waiting-for-godot")

    assert (shown.word, shown.icon, shown.tone) == ("Waiting for godot", "question", "quiet")


def test_a_word_without_letters_is_unknown():
    assert badge_of("status", "__").word == "Unknown"


def test_what_a_host_sends_is_escaped():
    drawn = badge("status", "<script>alert(1)</script>")

    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn


def test_an_empty_word_draws_nothing():
    assert badge("gate", "") == ""


def test_a_badge_carries_icon_and_word():
    drawn = badge("gate", "blocked")

    assert "icons.svg#lock" in drawn
    assert "<span>Blocked</span>" in drawn


def test_a_narrow_sign_still_says_its_word():
    assert 'aria-label="Fail"' in sign("verdict", "fail")


def test_an_icon_without_a_label_is_hidden_from_readers():
    assert 'aria-hidden="true"' in icon("lock")


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        ("agent.reasoning.delta", ("thought", "quiet")),
        ("agent.unheardOf", ("bot", "quiet")),
        ("node.failed", ("circle-cross", "bad")),
        ("console.escalation.claimed", ("queue", "person")),
        ("vendor.acme.sampled", ("dot", "quiet")),
        ("", ("dot", "quiet")),
    ],
)
def test_the_longest_known_beginning_of_a_type_decides_its_mark(event_type, expected):
    assert mark_of(event_type) == expected


def test_thousands_stand_apart():
    assert grouped(12431) == "12,431"
