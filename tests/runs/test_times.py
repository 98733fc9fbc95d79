"""Times as the server writes them: UTC, whole without a script."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from runs.templatetags.times import NOTHING, lasted, span, when

NINE = datetime(2026, 11, 30, 9, 21, 7, 123_000, tzinfo=UTC)
SHANGHAI = timezone(timedelta(hours=8))


def test_a_time_says_its_zone_and_keeps_the_instant():
    drawn = when(NINE)

    assert 'datetime="2026-11-30T09:21:07.123Z"' in drawn
    assert 'title="2026-11-30 09:21:07 UTC"' in drawn
    assert ">30 Nov 09:21 UTC</time>" in drawn


def test_the_same_instant_is_written_the_same_from_any_zone():
    assert when(NINE.astimezone(SHANGHAI)) == when(NINE)


def test_the_time_of_day_has_milliseconds():
    assert ">09:21:07.123</time>" in when(NINE, "clock")


def test_a_time_that_has_not_come_is_shown_as_nothing():
    assert when(None) == lasted(None, NINE) == NOTHING


def test_what_goes_on_counts_up():
    assert 'data-when="elapsed"' in lasted(NINE, None)


def test_a_host_clock_that_ran_backwards_gives_no_negative_duration():
    assert ">0 ms</time>" in lasted(NINE, NINE - timedelta(seconds=5))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.84, "840 ms"),
        (12.4, "12.4 s"),
        (59.96, "1 m 00 s"),
        (188, "3 m 08 s"),
        (7500, "2 h 05 m"),
        (183_600, "2 d 03 h"),
    ],
)
def test_a_duration_is_said_in_its_two_largest_units(seconds, words):
    assert span(timedelta(seconds=seconds)) == words
