"""When a head is signed, and what it shows later."""

from datetime import UTC, datetime, timedelta

from verification.domain.chain import Anomaly
from verification.domain.checkpoints import Head, against, is_due

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def due(last: int, covered: int, waited_s: int) -> bool:
    oldest = NOW - timedelta(seconds=waited_s)
    return is_due(last=last, covered=covered, oldest_uncovered_at=oldest, now=NOW, every=100)


def test_a_minute_or_a_hundred_entries_are_enough():
    assert due(1, 0, 60)
    assert due(100, 0, 0)
    assert not due(99, 0, 59)


def test_what_is_covered_is_not_signed_again():
    assert not due(7, 7, 3600)


def test_a_head_beyond_the_end_shows_that_the_end_was_cut_off():
    assert against([Head(9, "h")], {8: "x"}, last=8) == [Anomaly(9, "truncated")]


def test_a_head_of_another_entry_shows_that_it_was_written_anew():
    assert against([Head(8, "h")], {8: "x"}, last=8) == [Anomaly(8, "checkpoint_mismatch")]
    assert against([Head(8, "x")], {8: "x"}, last=8) == []
