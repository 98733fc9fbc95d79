from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from runs.domain.intake import Held, sort_out
from runs.domain.log import Envelope


def arriving(event_id: str, sequence: int, content: str = "same") -> Envelope:
    return Envelope(
        run_id="r",
        event_id=event_id,
        sequence=sequence,
        type="node.started",
        wire_type="node.started",
        timestamp=datetime(2026, 11, 30, tzinfo=UTC),
        digest=content.encode(),
    )


def test_what_nobody_holds_is_new():
    intake = sort_out([(0, arriving("a", 0)), (1, arriving("b", 1))], held=[])

    assert [each.event_id for each in intake.new] == ["a", "b"]
    assert (intake.repeats, intake.conflicts) == (0, ())


def test_the_same_event_again_is_a_repeat():
    intake = sort_out([(0, arriving("a", 0))], held=[Held("a", 0, b"same")])

    assert (intake.new, intake.repeats, intake.conflicts) == ((), 1, ())


def test_the_same_id_with_other_content_is_a_conflict_and_the_held_one_stays():
    held = Held("a", 0, b"fail")
    intake = sort_out([(7, arriving("a", 0, "pass"))], held=[held])

    (conflict,) = intake.conflicts
    assert (conflict.index, conflict.held, intake.new) == (7, held, ())


def test_another_id_at_a_held_sequence_is_a_conflict():
    intake = sort_out([(0, arriving("b", 0))], held=[Held("a", 0, b"same")])

    assert len(intake.conflicts) == 1


def test_the_same_content_at_another_sequence_is_a_conflict():
    intake = sort_out([(0, arriving("a", 1))], held=[Held("a", 0, b"same")])

    assert len(intake.conflicts) == 1


def test_of_two_rivals_in_one_batch_the_first_is_taken():
    intake = sort_out([(0, arriving("a", 0, "one")), (1, arriving("a", 0, "two"))], held=[])

    assert [each.digest for each in intake.new] == [b"one"]
    assert [each.index for each in intake.conflicts] == [1]


@given(st.lists(st.integers(0, 9), max_size=30))
def test_each_event_is_new_once_and_a_repeat_every_other_time(numbers):
    batch = [(index, arriving(f"e{n}", n)) for index, n in enumerate(numbers)]
    intake = sort_out(batch, held=[])

    assert len(intake.new) == len(set(numbers))
    assert intake.repeats == len(numbers) - len(set(numbers))
    assert intake.conflicts == ()
