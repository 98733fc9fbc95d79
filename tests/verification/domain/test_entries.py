"""What a log speaks of in several lines knows its own place."""

from runs.domain.readers import decision_of
from tests.logs import decided, step
from verification.domain.entries import Child, Decided


def test_an_entry_stands_where_its_first_line_stands():
    choice = decided(6, "next-worker")
    said = decision_of(choice)
    assert said is not None

    assert Child("c", step(5, "child.completed", "c")).begun_at == 5
    assert Decided(choice, said).sequence == 6
