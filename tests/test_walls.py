"""Nothing is visible across the wall of a workspace: every address, tried with another's ids.

The addresses come from the URLconf, so that a new one is tried on the day it is added.
"""

import json
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from openwop_console import metrics
from tests.factories import decided, event, send, verified
from tests.verification.jobs.building import team_document
from verification.actions import escalations
from verification.actions.jobs import Asker, start
from verification.domain.jobs.requests import read_any
from verification.models import Escalation, Finding

pytestmark = pytest.mark.django_db

CANARY = "secret-of-omega"
FOR_EVERYBODY = {"login", "logout", "healthz", "readyz", "openapi", "docs", "theme", "home"}
METHODS = ("get", "post")
TOKEN = "a-token-for-metrics-of-tests"


@pytest.fixture(autouse=True)
def _metrics_are_there(settings, monkeypatch) -> None:
    """Have the address tried that a setting brings about."""
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(metrics, "kept", metrics.Kept(metrics.asked))


def routes(patterns=None, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns or get_resolver().url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if not route.startswith("admin/"):
                yield from routes(pattern.url_patterns, route)
        elif pattern.name not in FOR_EVERYBODY:
            yield route, pattern


@pytest.fixture
def theirs(other_host) -> dict[str, object]:
    """What another tenant has: a run with a failed verdict, an escalation, findings."""
    send(
        other_host,
        event(0, "run.started", run=CANARY, payload={"workflowId": CANARY}),
        decided(1, run=CANARY),
        verified(2, f"{CANARY}-e1", "fail", run=CANARY),
        event(3, "run.completed", run=CANARY),
    )
    asked = team_document(goal=CANARY, approvePlan=True)
    job = start(request=read_any(asked), asker=Asker("key:theirs", other_host.workspace)).job
    finding = Finding.objects.filter(run__run_id=CANARY).first()
    escalation = Escalation.objects.get(run__run_id=CANARY)
    return {
        "host": other_host.slug,
        "run": CANARY,
        "pk": escalation.pk,
        "finding": finding.pk if finding else 1,
        "position": 1,
        "uid": job.uid,
        "job": job.uid,
        "target": f"{CANARY}-e1",
    }


def address(pattern_route: str, ids: dict[str, object]) -> str:
    """Fill an address with another tenant's ids; whatever it asks for beside them gets a 1."""
    parts = []
    for part in pattern_route.split("<"):
        name, bracket, rest = part.partition(">")
        parts.append(f"{ids.get(name.rpartition(':')[2], 1)}{rest}" if bracket else part)
    return "/" + "".join(parts)


def try_all(client: Client, ids: dict[str, object]) -> Iterator[tuple[str, str, object]]:
    for route, _ in routes():
        for method in METHODS:
            path = address(route, ids)
            answer = getattr(client, method)(path, **_body(method))
            yield method, path, answer


def _body(method: str) -> dict[str, object]:
    return {"data": "{}", "content_type": "application/json"} if method == "post" else {}


def leaks(answers) -> list[str]:
    """Return the answers that show anything of the other tenant, or break.

    An address that repeats what was asked for, as a search does, is no leak: it is asked for by an
    id here, so only what the asker did not know counts.
    """
    found = []
    for method, path, answer in answers:
        text = answer.content.decode(errors="replace") if not answer.streaming else ""
        if answer.status_code >= 500 or ("<" in path and CANARY in text):
            found.append(f"{method} {path}: {answer.status_code}")
        elif answer.status_code < 400 and CANARY in text.replace(path, ""):
            found.append(f"{method} {path}: shows it")
    return found


def test_a_person_of_another_workspace_finds_nothing_anywhere(client, ada, theirs):
    client.force_login(ada)

    assert leaks(try_all(client, theirs)) == []


def test_the_key_of_another_tenants_host_finds_nothing_anywhere(host, theirs):
    client = Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})

    assert leaks(try_all(client, theirs)) == []


def test_without_signing_in_nothing_is_shown_anywhere(theirs):
    answers = list(try_all(Client(), theirs))

    assert leaks(answers) == []
    shown = [path for _, path, answer in answers if answer.status_code == 200]
    assert [path for path in shown if "/limits" not in path] == []


def test_who_may_read_the_metrics_of_all_tenants_learns_of_none_of_them(theirs):
    answer = Client(headers={"Authorization": f"Bearer {TOKEN}"}).get("/metrics")

    assert answer.status_code == 200
    assert 'openwop_console_runs{held="false",status="completed"} 1.0' in answer.content.decode()
    assert CANARY not in answer.content.decode()
    assert str(theirs["host"]) not in answer.content.decode()


def test_the_token_of_the_metrics_opens_nothing_else(theirs):
    client = Client(headers={"Authorization": f"Bearer {TOKEN}"})
    answers = [each for each in try_all(client, theirs) if each[1] != "/metrics"]

    assert leaks(answers) == []
    shown = [path for _, path, answer in answers if answer.status_code == 200]
    assert [path for path in shown if "/limits" not in path] == []


def test_whoever_may_see_it_does_see_it(client, other_host, theirs):
    from runs.actions.people import grant
    from runs.models import Role
    from tests.factories import person

    omar = person("omar")
    grant(user=omar, workspace=other_host.workspace, role=Role.REVIEWER)
    client.force_login(omar)

    shown = [
        path
        for method, path, answer in try_all(client, theirs)
        if method == "get" and answer.status_code == 200 and CANARY in answer.content.decode()
    ]
    assert f"/runs/{other_host.slug}/{CANARY}" in shown
    assert any(path.startswith("/queue/") for path in shown)
    assert any(path.startswith("/jobs/") for path in shown)
    assert any(path.startswith("/api/v1/runs/") for path in shown)


def test_another_tenants_escalation_cannot_be_claimed_by_its_number(client, ada, theirs):
    client.force_login(ada)
    client.post(f"/queue/{theirs['pk']}/claim")

    row = Escalation.objects.get(pk=theirs["pk"])
    assert (row.state, row.claimed_by) == ("open", None)
    with pytest.raises(Exception, match="may not claim"):
        escalations.claim(escalation=theirs["pk"], by=ada)


def test_a_run_that_is_not_yours_answers_as_one_that_is_not_there(host, theirs):
    client = Client(headers={"Authorization": f"Bearer {host.key_for_tests}"})
    for path in ("/api/v1/runs/{}", "/api/v1/runs/{}/events", "/api/v1/runs/{}/gates"):
        foreign, missing = client.get(path.format(CANARY)), client.get(path.format("nowhere"))
        assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
        assert json.loads(foreign.content)["error"] == "not_found"
