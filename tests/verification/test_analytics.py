"""Numbers over many runs: what is counted as what, and by whom it is seen."""

from datetime import timedelta

import pytest

from openwop_console.pages.figures import LEAST, stacked
from runs.models import Run
from tests.factories import START, decided, event, send, verified
from verification.queries.analytics import Share, outcomes_by_day, patience, verdicts_by_verifier

pytestmark = pytest.mark.django_db

SINCE, UNTIL = START - timedelta(days=1), START + timedelta(days=1)


def terminate(sequence: int, run: str, *, met: bool) -> dict:
    decision = {"kind": "terminate", "successCriteria": [{"key": "answered", "met": met}]}
    payload = {"agentId": "supervisor", "decision": decision}
    return event(sequence, "runOrchestrator.decided", run=run, payload=payload)


def finished(host, run: str, *, met: bool = True, verdict: str | None = None) -> None:
    told = [] if verdict is None else [verified(2, f"{run}-e1", verdict, run=run)]
    send(
        host,
        event(0, "run.started", run=run),
        decided(1, run=run),
        *told,
        terminate(3, run, met=met),
        event(4, "run.completed", run=run),
    )


def counted(viewer) -> dict[str, int]:
    days = outcomes_by_day(viewer, SINCE, UNTIL)
    return {word: n for day in days for word, n in day.counts.items()}


def test_a_give_up_is_never_counted_as_a_success(host, ada):
    finished(host, "good", verdict="pass")
    finished(host, "given-up", met=False, verdict="pass")

    assert counted(ada) == {"goal_met": 1, "gave_up": 1}


def test_a_met_goal_against_a_fail_is_in_question(host, ada):
    finished(host, "against", verdict="fail")

    assert Run.objects.get().worst_finding == "violation"
    assert counted(ada) == {"in_question": 1}


def test_days_without_runs_are_there_and_empty(host, ada):
    days = outcomes_by_day(ada, SINCE, UNTIL)

    assert [day.name for day in days] == ["2026-11-29", "2026-11-30", "2026-12-01"]
    assert [day.total for day in days] == [0, 0, 0]


def test_other_tenants_are_not_counted(host, other_host, ada):
    finished(other_host, "theirs", verdict="fail")

    assert counted(ada) == {}
    assert verdicts_by_verifier(ada, SINCE) == []


def test_verdicts_are_counted_by_who_gave_them(host, ada):
    finished(host, "one", verdict="pass")
    finished(host, "two", verdict="fail")

    assert verdicts_by_verifier(ada, SINCE) == [Share("critic-1", {"pass": 1, "fail": 1})]


def test_without_decisions_nothing_is_said_of_how_long_people_took(host, ada):
    assert patience(ada, SINCE).decided == 0
    assert patience(ada, SINCE).claim_p50 is None


def test_too_few_make_no_figure():
    few = [Share("a", {"pass": LEAST - 1})]
    enough = [Share("a", {"pass": LEAST})]

    assert stacked(few, {"pass": ("Pass", "good")}) is None
    spec = stacked(enough, {"pass": ("Pass", "good"), "fail": ("Fail", "bad")})
    assert [trace["name"] for trace in spec["data"]] == ["Pass"]


@pytest.mark.parametrize("days", ["7", "30", "90", "nonsense"])
def test_the_page_shows_every_number_as_a_table_too(client, host, ada, days):
    finished(host, "one", verdict="pass")
    client.force_login(ada)

    page = client.get(f"/analytics?days={days}")
    assert page.status_code == 200
    assert "critic-1" in page.content.decode()
