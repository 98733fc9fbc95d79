"""The sweep finds what was left lying, whatever else goes wrong."""

from datetime import UTC, datetime

import pytest

from tests.factories import decided, event, send, verified
from verification import sweeping
from verification.models import Finding, Rejudging

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def test_a_part_that_fails_keeps_no_other_from_being_done(db, monkeypatch):
    def fails(now: datetime) -> None:
        raise OSError

    done: list[datetime] = []
    monkeypatch.setattr(sweeping, "ring_for_deliveries", fails)
    monkeypatch.setattr(sweeping, "judge_by_new_capabilities", done.append)

    sweeping.sweep(NOW)

    assert done == [NOW]


@pytest.fixture
def accused(host):
    """Three runs that went on to success over a `fail`, whose findings an older version worded."""
    for run in ("r-1", "r-2", "r-3"):
        target = f"{run}-e1"
        lines = [event(0, "run.started", run=run), decided(1, run=run)]
        ended = event(3, "run.completed", run=run)
        send(host, *lines, verified(2, target, "fail", run=run), ended)
    assert Finding.objects.count() == 3
    Finding.objects.update(explanation="As it was said before.")


def old_words() -> int:
    return Finding.objects.filter(explanation="As it was said before.").count()


def test_after_an_upgrade_findings_are_made_anew_by_the_rules_of_today(accused, monkeypatch):
    monkeypatch.setattr(sweeping, "AT_ONCE", 2)
    left = []
    for _ in range(3):
        sweeping.judge_by_new_rules(NOW)
        left.append(old_words())

    assert left == [1, 0, 0]
    assert Rejudging.objects.get().after_run is None


def test_as_long_as_the_rules_stay_the_same_no_run_is_judged_again(accused):
    sweeping.judge_by_new_rules(NOW)
    Finding.objects.update(explanation="As it was said before.")

    sweeping.judge_by_new_rules(NOW)
    assert old_words() == 3

    Rejudging.objects.update(rules="others")
    sweeping.judge_by_new_rules(NOW)
    assert old_words() == 0
