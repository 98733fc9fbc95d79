"""Who else looks."""

from openwop_console.pages.presence import (
    FORGOTTEN_AFTER_S,
    Watchers,
    arrival,
    departure,
    sentence,
)


def test_others_come_and_go_and_oneself_is_none_of_them():
    watchers = Watchers("ada")
    assert watchers.hear(arrival("mia", asks=True), now=0)
    assert not watchers.hear(arrival("ada", asks=True), now=0)
    assert not watchers.hear(arrival("mia", asks=False), now=1)
    assert watchers.others(now=1) == ["mia"]
    assert watchers.hear(departure("mia"), now=2)
    assert watchers.others(now=2) == []


def test_who_vanishes_is_forgotten():
    watchers = Watchers("ada")
    watchers.hear(arrival("mia", asks=True), now=0)

    assert watchers.others(now=FORGOTTEN_AFTER_S) == []


def test_it_is_said_in_words():
    assert sentence([]) == ""
    assert sentence(["mia"]) == "mia is"
    assert sentence(["ben", "cy", "mia"]) == "ben, cy and mia are"
