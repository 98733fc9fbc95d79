"""`/metrics`: who may ask, that the figures are the tables', and what asking costs."""

import re
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from openwop_console import metrics
from runs import sweeping
from runs.actions.hosts import connect_host
from runs.actions.sweeps import note
from runs.models import PulledHost, PulledRun, ReceivedDelivery, Refusal, Run, Sweep, Workspace
from tests.factories import add_host_named, decided, event, person, send, verified
from tests.verification.jobs.building import started
from verification import sweeping as sweeping_reviews
from verification.actions import checkpoints, content, escalations, timeouts
from verification.actions.audit import record
from verification.actions.tokens import create_token
from verification.domain.decisions import Action, Decision
from verification.models import AuditEntry, Checkpoint, Content, Delivery, Escalation, Job, Queue

pytestmark = pytest.mark.django_db

TOKEN = "a-token-for-metrics-of-tests"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LABELS = {"version", "status", "held", "reason", "outcome", "queue", "state", "severity", "of",
          "sweep"}  # fmt: skip
Figures = Callable[..., float]


@pytest.fixture(autouse=True)
def token(settings) -> str:
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch) -> None:
    monkeypatch.setattr(metrics, "kept", metrics.Kept(metrics.asked))


@pytest.fixture
def scrape(monkeypatch) -> Callable[[], Figures]:
    """Ask anew, read the answer as Prometheus does, and give figures by name and labels."""

    def ask() -> Figures:
        monkeypatch.setattr(metrics, "kept", metrics.Kept(metrics.asked))
        found = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families(asking().get("/metrics").content.decode())
            for sample in family.samples
        }
        return lambda name, **labels: found[f"openwop_console_{name}", frozenset(labels.items())]

    return ask


def families(text: str):
    return list(text_string_to_metric_families(text))


def asking(token: str = TOKEN) -> Client:
    return Client(headers={"Authorization": f"Bearer {token}"})


def about(seconds: float):
    return pytest.approx(seconds, abs=60)


# --- Who may ask


def test_without_a_token_set_there_is_no_such_address_for_anybody(settings, client, host):
    settings.METRICS_TOKEN = ""
    root = person("root")
    root.is_superuser = True
    root.save()
    client.force_login(root)

    answers = [
        each
        for who in (client, Client(), asking(""), asking(TOKEN), asking(host.key_for_tests))
        for each in (who.get("/metrics"), who.post("/metrics"))
    ]

    assert {each.status_code for each in answers} == {404}
    assert {each.json()["details"]["reason"] for each in answers} == {"no_such_address"}


def test_nothing_but_the_token_opens_it(client, host, ada):
    ada.is_superuser = True
    ada.save()
    client.force_login(ada)
    as_ada = asking(create_token(user=ada, name="a"))

    for who in (client, Client(), as_ada, asking(host.key_for_tests), asking(TOKEN + "x"),
                asking(TOKEN[:-1]), asking(""), Client(headers={"Authorization": TOKEN}),
                Client(headers={"Authorization": f"Basic {TOKEN}"}),
                Client(headers={"Authorization": "Bearer t\xf6ken"})):  # fmt: skip
        answer = who.get("/metrics")
        assert answer.status_code == 401
        assert answer.json()["details"]["reason"] == "metrics_token"
        assert answer["WWW-Authenticate"].startswith("Bearer")
        assert "openwop_console_" not in answer.content.decode()


def test_with_the_token_it_is_read_and_nothing_else(host):
    answer = asking().get("/metrics")

    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer["Cache-Control"] == "no-store"
    assert not answer.cookies
    assert asking().post("/metrics").status_code == 405


# --- What it says


def test_an_empty_console_has_every_family_and_nothing_that_waits(db, scrape):
    text = asking().get("/metrics").content.decode()
    figure = scrape()

    found = families(text)
    assert all(family.name.startswith("openwop_console_") for family in found)
    assert all(family.documentation for family in found)
    assert len({family.name for family in found}) == len(found)
    assert figure("build_info", version=metrics_version()) == 1
    for state in ("waiting", "sending", "accepted", "dead", "stopped", "undeliverable"):
        assert figure("deliveries", state=state) == 0
    for name in ("deliveries_unsettled_oldest", "jobs_queued_oldest", "audit_unsigned"):
        assert figure(f"{name}_age_seconds") == 0
    for of in ("run", "content", "webhook_delivery"):
        assert figure("retention_overdue", of=of) == 0
    never = {family.name for family in found if not family.samples}
    assert {"openwop_console_newest_event_age_seconds", "openwop_console_sweep_age_seconds"} < never


def metrics_version() -> str:
    from importlib.metadata import version

    return version("openwop-console")


def test_runs_are_counted_by_status_over_all_workspaces_with_their_events(host, other_host, scrape):
    send(host, event(0, "run.started"), event(1), event(2, "run.completed"))
    send(host, event(0, "run.started", run="r-2"), event(1, run="r-2"))
    send(other_host, event(0, "run.started", run="r-3"))
    Run.objects.filter(run_id="r-2").update(held=True)
    Run.objects.update(last_event_at=timezone.now() - HOUR)

    figure = scrape()

    assert figure("runs", status="completed", held="false") == 1
    assert figure("runs", status="running", held="true") == 1
    assert figure("runs", status="running", held="false") == 1
    assert figure("events") == 6
    assert figure("newest_event_age_seconds") == about(3600)


def test_refusals_are_counted_by_reason_from_midnight_on(host, other_host, scrape):
    for each in (host, other_host):
        with pytest.raises(Exception, match="validation_error"):
            send(each, event(0, timestamp="soon"))
    today = timezone.now().date()
    reason = Refusal.objects.first().reason
    Refusal.objects.create(host=host, day=today - DAY, reason=reason, count=50)
    Refusal.objects.create(host=host, day=today - DAY, reason="of_yesterday", count=50)

    figure = scrape()

    assert figure("refused_total", reason=reason) == 2
    assert figure("refused_total", reason="of_yesterday") == 0


def test_no_more_reasons_are_named_than_a_bound(host, scrape):
    today = timezone.now().date()
    Refusal.objects.bulk_create(
        Refusal(host=host, day=today, reason=f"reason_{n}", count=1000 - n) for n in range(120)
    )

    text = asking().get("/metrics").content.decode()
    figure = scrape()

    assert text.count("openwop_console_refused_total{") == 101
    assert figure("refused_total", reason="reason_0") == 1000
    assert figure("refused_total", reason="other") == sum(1000 - n for n in range(100, 120))


def test_deliveries_of_webhooks_are_counted_for_five_minutes(host, scrape):
    now = timezone.now()
    outcomes = ["accepted", "accepted", "bell", "duplicate", "tenant_mismatch", "envelope_field"]
    for n, outcome in enumerate(outcomes):
        delivered(host, n, outcome, now)
    delivered(host, 9, "accepted", now - HOUR)

    figure = scrape()

    lately = "webhook_deliveries_lately"
    assert figure(lately, outcome="accepted") == 2
    assert figure(lately, outcome="bell") == 1
    assert figure(lately, outcome="duplicate") == 1
    assert figure(lately, outcome="refused") == 2


def delivered(host, n: int, outcome: str, at) -> None:
    ReceivedDelivery.objects.create(
        host=host, body_sha256=bytes([n] * 32), spelling="x", outcome=outcome, at=at, last_at=at
    )


def test_what_waits_for_a_person_is_counted_by_queue(host, ada, scrape):
    for n in range(4):
        run = f"r-{n}"
        send(host, event(0, "run.started", run=run), decided(1, run=run),
             verified(2, f"{run}-e1", "fail", run=run))  # fmt: skip
    first, second, third, fourth = Escalation.objects.order_by("pk")
    queue = Queue.objects.create(workspace=host.workspace, slug="empty", name="Empty")
    usual = Queue.objects.get(is_default=True)
    now = timezone.now()
    Escalation.objects.filter(pk=first.pk).update(opened_at=now - 2 * HOUR, due_at=now - HOUR)
    escalations.claim(escalation=second.pk, by=ada)
    escalations.claim(escalation=third.pk, by=ada)
    Escalation.objects.filter(pk=third.pk).update(claim_until=now - HOUR)
    Escalation.objects.filter(pk=fourth.pk).update(queue=None, opened_at=now - DAY)

    figure = scrape()

    assert figure("escalations", queue=str(usual.pk), state="open") == 2
    assert figure("escalations", queue=str(usual.pk), state="claimed") == 1
    assert figure("escalations", queue=str(queue.pk), state="open") == 0
    assert figure("escalations", queue="none", state="open") == 1
    assert figure("escalations_overdue", queue=str(usual.pk)) == 1
    assert figure("escalations_oldest_age_seconds", queue=str(usual.pk)) == about(7200)
    assert figure("escalations_oldest_age_seconds", queue=str(queue.pk)) == 0
    assert figure("escalations_oldest_age_seconds", queue="none") == about(86_400)


def test_decisions_on_their_way_are_counted_and_the_oldest_is_told(host, ada, scrape):
    asked = {"kind": "approval", "interruptId": "i", "actions": ["accept"]}
    for run in ("r-1", "r-2", "r-3"):
        pause = event(1, "node.suspended", run=run, nodeId="n", payload=asked)
        send(host, event(0, "run.started", run=run), pause)
    for found in Escalation.objects.all():
        taken = escalations.claim(escalation=found.pk, by=ada)
        accept = Decision(Action.ACCEPT)
        seen = escalations.view_of(taken)
        escalations.resolve(escalation=found.pk, by=ada, decision=accept, seen=seen)
    now = timezone.now()
    dead, waits, again = Delivery.objects.order_by("pk")
    Delivery.objects.filter(pk=dead.pk).update(state="dead", created_at=now - 9 * DAY)
    Delivery.objects.filter(pk=waits.pk).update(created_at=now - 2 * HOUR)
    Delivery.objects.filter(pk=again.pk).update(
        state="sending", created_at=now - 8 * DAY, started_at=now - HOUR
    )

    figure = scrape()

    assert figure("deliveries", state="dead") == 1
    assert figure("deliveries", state="waiting") == 1
    assert figure("deliveries", state="sending") == 1
    assert figure("deliveries_unsettled_oldest_age_seconds") == about(7200)


def test_jobs_are_counted_those_that_wait_for_a_person_apart(host, scrape):
    jobs = [started(host, key=f"k-{n}") for n in range(4)]
    now = timezone.now()
    Job.objects.filter(pk=jobs[0].pk).update(created_at=now - HOUR)
    Job.objects.filter(pk=jobs[1].pk).update(state="running", paused_at=now, created_at=now - DAY)
    Job.objects.filter(pk=jobs[2].pk).update(state="running")
    Job.objects.filter(pk=jobs[3].pk).update(state="broken", ended_at=now)

    figure = scrape()

    assert {state: figure("jobs", state=state) for state in
            ("queued", "running", "paused", "done", "broken")} == {
        "queued": 1, "running": 1, "paused": 1, "done": 0, "broken": 1}  # fmt: skip
    assert figure("jobs_queued_oldest_age_seconds") == about(3600)


def test_findings_that_stand_are_counted_by_severity(host, scrape):
    send(
        host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"),
        event(3, "run.completed"),
    )  # fmt: skip
    assert scrape()("findings", severity="violation") == 1

    Run.objects.get().findings.update(status="withdrawn")

    assert scrape()("findings", severity="violation") == 0


def test_hosts_that_are_read_are_counted_and_what_is_due_is_told(host, other_host, scrape):
    now = timezone.now()
    later = add_host_named("beta", workspace="acme")
    for each in (host, other_host, later):
        connect_host(host_id=each.slug, base_url="http://127.0.0.1:9", api_key="k")
    PulledHost.objects.all().delete()
    PulledHost.objects.create(host=host, next_at=now - HOUR, looked_at=now)
    PulledHost.objects.create(host=other_host, next_at=now - DAY, rests_until=now + HOUR)
    PulledHost.objects.create(host=later, next_at=now + HOUR, looked_at=now, failures=2)
    due = {"next_at": now - 2 * HOUR}
    PulledRun.objects.create(host=host, run_id="waits", **due)
    PulledRun.objects.create(host=host, run_id="is-read", lease_until=now + HOUR, **due)
    PulledRun.objects.create(host=other_host, run_id="of-one-that-rests", **due)

    figure = scrape()

    assert figure("hosts_read", state="well") == 1
    assert figure("hosts_read", state="resting") == 1
    assert figure("hosts_read", state="failing") == 1
    assert figure("reads_due", of="host") == 1
    assert figure("reads_due", of="run") == 1
    assert figure("reads_due_oldest_age_seconds", of="host") == about(3600)
    assert figure("reads_due_oldest_age_seconds", of="run") == about(7200)


def test_nothing_is_due_where_nothing_is_read(host, settings, scrape):
    connect_host(host_id=host.slug, base_url="http://127.0.0.1:9", api_key="k")
    PulledHost.objects.update_or_create(host=host, defaults={"next_at": timezone.now() - HOUR})
    settings.PULL = False

    assert scrape()("reads_due", of="host") == 0


@pytest.mark.parametrize("pull", [True, False])
def test_each_kind_of_sweep_leaves_its_time_in_one_row(db, settings, scrape, pull):
    settings.PULL = pull
    long_ago = timezone.now() - HOUR
    note("hosts", now=long_ago)
    note("reviews", now=long_ago)
    assert scrape()("sweep_age_seconds", sweep="hosts") == about(3600)

    sweeping.sweep()
    sweeping_reviews.sweep()

    figure = scrape()
    assert Sweep.objects.count() == 2
    assert figure("sweep_age_seconds", sweep="hosts") == about(0)
    assert figure("sweep_age_seconds", sweep="reviews") == about(0)
    assert figure("sweep_failed_parts", sweep="reviews") == 0


def test_a_part_of_a_sweep_that_fails_is_seen(db, monkeypatch, scrape):
    def fails(now) -> None:
        raise OSError

    monkeypatch.setattr(timeouts, "pass_due", fails)

    sweeping_reviews.sweep()

    assert scrape()("sweep_failed_parts", sweep="reviews") == 1


def test_an_audit_chain_that_nobody_signs_is_seen_whichever_workspaces_it_is(
    host, other_host, scrape
):
    AuditEntry.objects.all().delete()
    now = timezone.now()
    for workspace in (host.workspace_id, other_host.workspace_id):
        record(workspace=workspace, actor="system:test", action="a", subject="s", now=now - DAY)
    checkpoints.sign(workspace=Workspace.objects.get(pk=host.workspace_id))
    Checkpoint.objects.update(at=now - HOUR)
    assert scrape()("audit_unsigned_age_seconds") == about(86_400)
    assert scrape()("audit_checkpoint_age_seconds") == about(3600)

    checkpoints.sign(workspace=Workspace.objects.get(pk=other_host.workspace_id))

    assert scrape()("audit_unsigned_age_seconds") == 0


def test_what_is_kept_beyond_its_time_is_seen(host, settings, scrape):
    settings.RUN_DAYS = 10
    now = timezone.now()
    for run in ("old", "new"):
        send(host, event(0, "run.started", run=run))
    Run.objects.filter(run_id="old").update(last_event_at=now - 11 * DAY)
    over, erased, _kept = (
        content.keep(workspace=host.workspace_id, kind="note", body=bytes([n])) for n in range(3)
    )
    Content.objects.filter(pk=over.pk).update(expires_at=now - HOUR)
    Content.objects.filter(pk=erased.pk).update(expires_at=now - DAY, erased_at=now)
    delivered(host, 1, "accepted", now - 31 * DAY)

    figure = scrape()

    assert figure("retention_overdue", of="run") == 1
    assert figure("retention_overdue_oldest_age_seconds", of="run") == about(86_400)
    assert figure("retention_overdue", of="content") == 1
    assert figure("retention_overdue_oldest_age_seconds", of="content") == about(3600)
    assert figure("retention_overdue", of="webhook_delivery") == 1
    assert figure("retention_overdue_oldest_age_seconds", of="webhook_delivery") == about(86_400)


def test_every_figure_that_the_document_of_operating_names_is_there(db):
    text = asking().get("/metrics").content.decode()
    there = set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))

    document = Path(__file__).parents[2] / "docs" / "operating.md"
    named = set(re.findall(r"openwop_console_\w+", document.read_text()))

    assert named
    assert named - there == set()


# --- What it does not say


def test_labels_are_words_of_ours_and_hold_nothing_that_somebody_sent(host, other_host, ada):
    word = "canary"
    send(host, event(0, "run.started", run=word, payload={"workflowId": word}),
         event(1, f"vendor.{word}", run=word, nodeId=word), decided(2, agent=word, run=word),
         verified(3, f"{word}-e2", "fail", critic=word, run=word),
         event(4, "run.completed", run=word))  # fmt: skip
    Queue.objects.create(workspace=host.workspace, slug=word, name=word)
    assert Escalation.objects.exists()

    text = asking().get("/metrics").content.decode()

    assert word not in text
    for name in (host.slug, other_host.slug, "acme", ada.username, TOKEN):
        assert name not in text
    assert {label for family in families(text) for each in family.samples
            for label in each.labels} <= LABELS  # fmt: skip


# --- What it costs


def test_two_who_ask_within_a_few_seconds_cost_the_database_no_more_than_one(host):
    with CaptureQueriesContext(connection) as first:
        one = asking().get("/metrics").content
    with CaptureQueriesContext(connection) as second:
        other = asking().get("/metrics").content

    assert 0 < len(first) <= 24
    assert len(second) == 0
    assert one == other


def test_many_who_ask_at_once_cost_one_asking():
    begun, go_on = threading.Event(), threading.Event()
    times: list[int] = []

    def ask() -> bytes:
        times.append(1)
        begun.set()
        go_on.wait(10)
        return b"figures"

    kept = metrics.Kept(ask)
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda: answers.append(kept.answer())) for _ in range(5)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)

    assert answers == [b"figures"] * 5
    assert len(times) == 1


def test_after_a_few_seconds_it_is_asked_anew(monkeypatch):
    monkeypatch.setattr(metrics, "KEPT_S", 0.0)
    asked = iter([b"1", b"2"])
    kept = metrics.Kept(lambda: next(asked))

    assert [kept.answer(), kept.answer()] == [b"1", b"2"]


@pytest.fixture
def locked(transactional_db) -> Iterator[None]:
    """A table of runs that somebody else has locked."""
    options = connection.settings_dict
    with psycopg.connect(
        dbname=options["NAME"], user=options["USER"], password=options["PASSWORD"],
        host=options["HOST"], port=options["PORT"],
    ) as other:  # fmt: skip
        other.execute("LOCK TABLE runs_run IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def test_a_statement_that_takes_too_long_is_given_up_and_said_to_be(locked, monkeypatch):
    monkeypatch.setattr(metrics, "STATEMENT_MS", 50)
    before = statement_timeout()

    reply = asking().get("/metrics")

    assert reply.status_code == 503
    assert reply.json()["error"] == "service_unavailable"
    assert int(reply["Retry-After"]) >= 1
    assert statement_timeout() == before


def statement_timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return cursor.fetchone()[0]
