"""Numbers over many runs: what is counted as what, and by whom it is seen."""

from datetime import timedelta

import pytest

from openwop_console.pages.figures import LEAST, stacked
from runs.models import Run
from tests.factories import START, decided, event, send, verified
from verification.actions import escalations
from verification.actions.queues import default_queue
from verification.domain.decisions import Action, Decision
from verification.models import Escalation
from verification.queries.analytics import (
    Habits,
    Share,
    habits,
    outcomes_by_day,
    patience,
    verdicts_by_verifier,
)

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


def decide(host, by, name: str, action: Action, *, claims_after: int, takes: int) -> None:
    """Let somebody release it once, and decide at their second claim."""
    send(host, event(0, "run.started", run=name), decided(1, run=name))
    send(host, verified(2, f"{name}-e1", "fail", run=name))
    found = Escalation.objects.get(run__run_id=name)
    now = found.opened_at + timedelta(seconds=claims_after)
    escalations.claim(escalation=found.pk, by=by, now=now)
    escalations.release(escalation=found.pk, by=by, now=now)
    now += timedelta(seconds=60)
    taken = escalations.claim(escalation=found.pk, by=by, now=now)
    escalations.resolve(
        escalation=found.pk, by=by, decision=Decision(action, reason="Checked."),
        seen=escalations.view_of(taken), now=now + timedelta(seconds=takes),
    )  # fmt: skip


def test_each_time_is_counted_from_where_it_says(host, ada):
    decide(host, ada, "one", Action.UPHOLD, claims_after=30, takes=12)

    found = patience(ada, SINCE)
    assert found.claim_p50 == timedelta(seconds=30)
    assert found.decide_p50 == timedelta(seconds=12)
    assert found.whole_p50 == timedelta(seconds=102)


def test_streaks_and_hasty_decisions_are_counted_for_each_person(host, ada, ben):
    said = [Action.UPHOLD, Action.OVERRIDE, Action.OVERRIDE, Action.OVERRIDE, Action.UPHOLD]
    for number, action in enumerate(said):
        decide(host, ada, f"a-{number}", action, claims_after=number * 600, takes=2)
        decide(host, ben, f"b-{number}", Action.UPHOLD, claims_after=number * 600, takes=90)

    assert habits(ada, SINCE, of=ada) == Habits(5, 1, 3, 3)
    assert habits(ada, SINCE, of=ben) == Habits(5, 1, 5, 0)
    assert habits(ada, SINCE) == Habits(10, 2, 5, 3)


def test_a_reviewer_reads_their_own_habits_and_a_lead_those_of_all_together(client, host, ada, ben):
    decide(host, ada, "one", Action.OVERRIDE, claims_after=1, takes=1)
    client.force_login(ben)
    assert "Everybody" not in client.get("/analytics?days=90").content.decode()

    default_queue(host.workspace_id).leads.add(ben)
    page = client.get("/analytics?days=90").content.decode()
    assert "Everybody (1)" in page
    assert "ada" not in page.split("habits-title")[1]


def test_too_few_make_no_figure():
    few = [Share("a", {"pass": LEAST - 1})]
    enough = [Share("a", {"pass": LEAST})]

    assert stacked(few, {"pass": ("Pass", "good")}) is None
    spec = stacked(enough, {"pass": ("Pass", "good"), "fail": ("Fail", "bad")})
    assert [trace["name"] for trace in spec["data"]] == ["Pass"]


def test_the_longest_name_leaves_the_bars_their_room():
    names = ["critic-" + "long-" * 20, "critic-1"]
    shares = [Share(name, {"pass": LEAST}) for name in names]
    axis = stacked(shares, {"pass": ("Pass", "good")}, sideways=True)["layout"]["yaxis"]

    assert axis["tickvals"] == names
    assert axis["ticktext"] == ["critic-long-long-long-long-…", "critic-1"]


@pytest.mark.parametrize("days", ["7", "30", "90", "nonsense"])
def test_the_page_shows_every_number_as_a_table_too(client, host, ada, days):
    finished(host, "one", verdict="pass")
    client.force_login(ada)

    page = client.get(f"/analytics?days={days}")
    assert page.status_code == 200
    assert "critic-1" in page.content.decode()
