"""Whose own matter a run is."""

import pytest

from verification.domain.interests import matching, people_named


@pytest.mark.parametrize(
    "payload",
    [
        {"startedBy": "Ada"},
        {"initiator": {"email": "ADA"}},
        {"owner": {"id": 7, "name": "ada"}},
        {"principal": "ada", "other": "ben"},
    ],
)
def test_a_name_is_found_in_every_spelling(payload):
    assert people_named(payload) == {"ada"}


@pytest.mark.parametrize("payload", [None, [], "ada", {"startedBy": 7}, {"note": "startedBy ada"}])
def test_what_is_not_told_is_not_guessed(payload):
    assert people_named(payload) == frozenset()


def test_people_are_known_by_any_of_their_names():
    people = [("ada", ("ada", "Ada@Example.org", "u-1")), ("ben", ("ben", ""))]
    assert matching(frozenset({"ada@example.org"}), people) == {"ada"}
    assert matching(frozenset({""}), people) == frozenset()
