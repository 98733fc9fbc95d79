"""The card says where a host's word and its deeds differ, and what its team could change."""

from datetime import timedelta

import pytest

from verification.domain.capabilities import Advertised, signs_webhooks
from verification.domain.conformance import Shown, card

GATING = Advertised(level=6, verifies=True, gates=True)
FINE = Shown(
    verdicts=2,
    with_criteria=2,
    targets={"turn": 1, "child_run": 1},
    verifiers={"independent": 2},
    ended=1,
    ended_with_criteria=1,
    commits=2,
    spellings=("x-openwop hex",),
    ahead=timedelta(seconds=-1),
)


def line(topic: str, shown: Shown, claims: Advertised | None = GATING, signs: bool | None = True):
    return next(each for each in card(claims, shown, signs=signs) if each.topic == topic)


def test_a_host_whose_deeds_match_its_word_has_nothing_to_change():
    assert [each.fix for each in card(GATING, FINE, signs=True)] == [""] * 7


def test_a_host_that_did_nothing_yet_has_nothing_to_change():
    assert [each.fix for each in card(GATING, Shown(), signs=False)] == [""] * 7


@pytest.mark.parametrize(
    ("topic", "shown", "words"),
    [
        ("Targets", Shown(targets={"agent": 2, "turn": 1}), "1 name a result, 2 name an agent"),
        ("Targets", Shown(targets={"not_found": 1}), "1 name nothing that is held"),
        ("Verifiers", Shown(verifiers={"self_verified": 3}), "3 self-verified"),
        ("Criteria named", Shown(verdicts=3, with_criteria=1), "1 of 3 verdicts"),
        ("Goals stated", Shown(ended=4, ended_with_criteria=1), "1 of 4 ends"),
        ("Webhooks", Shown(unproven=2), "none believed, 2 not believed"),
        ("Clock", Shown(ahead=timedelta(seconds=90)), "90 s ahead of ours"),
    ],
)
def test_what_differs_is_counted_and_can_be_mended(topic, shown, words):
    found = line(topic, shown)

    assert found.shown == words
    assert found.fix


@pytest.mark.parametrize(
    ("claims", "claim", "has_fix"),
    [
        (None, "not known", True),
        (Advertised(), "no verifier", True),
        (Advertised(level=5), "level 5, no verifier", True),
        (Advertised(level=6, verifies=True), "level 6, advises only", False),
        (GATING, "level 6, gates commits", False),
    ],
)
def test_verdicts_stand_next_to_what_is_advertised(claims, claim, has_fix):
    found = line("Verdicts", Shown(verdicts=1, commits=3, unverified=2), claims)

    assert found.claim == claim
    assert found.shown == "1 verdict, 2 of 3 commits without one"
    assert bool(found.fix) is has_fix


@pytest.mark.parametrize(
    ("document", "signs"),
    [
        ({"webhooks": {"supported": True}}, True),
        ({"webhooks": {"supported": False}}, False),
        ({"webhooks": {"signatureAlgorithms": ["v1"], "status": "stable"}}, True),
        ({"capabilities": {"webhooks": {"supported": True}}}, True),
        ({"webhooks": {}}, False),
        ({"webhooks": "yes"}, False),
        ({}, False),
    ],
)
def test_webhooks_are_read_in_both_majors(document, signs):
    assert signs_webhooks(document) is signs
