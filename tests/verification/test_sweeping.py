"""The sweep finds what was left lying, whatever else goes wrong."""

from datetime import UTC, datetime

from verification import sweeping

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def test_a_part_that_fails_keeps_no_other_from_being_done(db, monkeypatch):
    def fails(now: datetime) -> None:
        raise OSError

    done: list[datetime] = []
    monkeypatch.setattr(sweeping, "ring_for_deliveries", fails)
    monkeypatch.setattr(sweeping, "judge_by_new_capabilities", done.append)

    sweeping.sweep(NOW)

    assert done == [NOW]
