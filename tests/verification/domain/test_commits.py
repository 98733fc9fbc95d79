"""How many results a run committed unverified."""

import pytest

from tests.logs import completed, line, merged, started, step, terminate, turn, verdict
from tests.verification.domain.concluding import concluded

CHILD = step(1, "child.completed", "child-1")


@pytest.mark.parametrize(
    ("lines", "total", "unverified"),
    [
        ([CHILD], 0, ()),
        ([CHILD, merged(2)], 1, ("child-1",)),
        ([CHILD, verdict(2, "child-1", "pass"), merged(3)], 1, ()),
        ([CHILD, verdict(2, "child-1", "fail"), merged(3)], 1, ()),
        ([CHILD, merged(2), verdict(3, "child-1", "pass")], 1, ("child-1",)),
        ([CHILD, step(2, "output.harvested", "child-1", harvestedKeys=[])], 0, ()),
        ([turn(1)], 0, ()),
        ([turn(1), completed(2)], 1, ("e1",)),
        ([turn(1), turn(2), turn(3, "n2"), completed(4)], 2, ("e2", "e3")),
        ([turn(1), verdict(2, "worker-1", "pass"), completed(3)], 1, ()),
        ([turn(1), terminate(2, False), completed(3)], 0, ()),
        ([turn(1), line(2, "run.failed", {})], 0, ()),
    ],
)
def test_merges_and_the_last_turns_of_a_success_are_commits(lines, total, unverified):
    found = concluded(started(), *lines).commits

    assert (found.total, found.unverified) == (total, unverified)


def test_silence_is_counted_and_is_no_finding():
    assert concluded(started(), turn(1), completed(2)).findings == ()
