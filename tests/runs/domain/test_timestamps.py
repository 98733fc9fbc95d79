from datetime import UTC, datetime

import pytest

from runs.domain.timestamps import instant

EIGHT = datetime(2026, 11, 30, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T08:00:00Z",
        "2026-11-30T08:00:00.000Z",
        "2026-11-30t08:00:00z",
        "2026-11-30 08:00:00+00:00",
        "2026-11-30T09:30:00+01:30",
        "2026-11-30T00:00:00.000000-08:00",
        "2026-11-30T08:00:00.000000123Z",
    ],
)
def test_every_spelling_of_an_instant_is_that_instant_in_utc(text):
    assert instant(text) == EIGHT
    assert instant(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        None,
        1764489342,
        "",
        "2026-11-30",
        "2026-11-30T08:00:00",
        "2026-11-30T08:00Z",
        "20261130T080000Z",
        "2026-W48-1T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-30T24:00:01Z",
        "2016-12-31T23:59:60Z",
        "2026-11-30T08:00:00+99:99",
        "2026-11-30T08:00:00+0100",
        "２０２６-11-30T08:00:00Z",
        "2026-11-30T08:00:00Z\n",
        "2026-11-30T08:00:00.1234567890123Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_what_names_no_single_instant_is_none(text):
    assert instant(text) is None
