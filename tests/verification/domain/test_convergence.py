"""The criteria of a decision to end, in every form that hosts write them."""

import pytest

from tests.logs import decided, line, terminate
from verification.domain.convergence import Criterion, criteria_of


def test_every_criterion_is_told_with_what_is_said_of_it():
    assert criteria_of(terminate(1, True, False)) == (Criterion("c0", True), Criterion("c1", False))


def test_the_form_of_the_prose_is_read_too():
    payload = {"decision": "terminate", "successCriteria": [{"key": "done", "met": True}]}

    assert criteria_of(line(1, "runOrchestrator.decided", payload)) == (Criterion("done", True),)


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        ([{"key": "a"}], [Criterion("a", None)]),
        ([{"met": False}], [Criterion("", False)]),
        ([{"key": "a", "met": "yes"}], [Criterion("a", None)]),
        (["a"], [Criterion("", None)]),
        ({"key": "a", "met": True}, [Criterion("a", True)]),
        ([], []),
        (None, []),
    ],
)
def test_what_cannot_be_read_is_said_to_be_open(stated, read):
    assert list(criteria_of(decided(1, "terminate", successCriteria=stated))) == read
