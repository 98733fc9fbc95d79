"""Erasing whole runs: nothing of them stays but an entry in the chain, and nothing else goes."""

import json
from datetime import timedelta

import pytest
from click.testing import CliRunner
from django.apps import apps
from django.db import connection
from django.test import Client
from django.utils import timezone

from openwop_console.cli.purge import command
from runs.actions.people import grant
from runs.models import Event, PulledRun, Role, Run
from tests.deciding import decide, pause
from tests.factories import add_host_named, decided, event, person, run_of, send, verified
from tests.verification.jobs.building import started, team_started, worked
from verification import sweeping
from verification.actions.erasing import TEXTS, StillNeeded, erase_run
from verification.domain.decisions import Action, Decision
from verification.erasable import old_runs
from verification.models import (
    AuditEntry,
    Content,
    Delivery,
    Escalation,
    Job,
    JobTask,
    Resolution,
)
from verification.queries.audit import verify
from verification.queries.retention import kinds

pytestmark = pytest.mark.django_db


@pytest.fixture
def settled(host, ada):
    """A run on which everything has been said: a fail, a comment, a decision with words."""
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    decide(ada, Decision(Action.SEND_BACK, feedback="Cite the page."))
    return run_of(host)


def rows_of(run: int) -> int:
    """Count what tables of either app hold of a run, as the database says."""
    count = 0
    with connection.cursor() as cursor:
        for model in apps.get_models():
            for field in model._meta.concrete_fields:
                if field.related_model is Run and field.name != "about_run":
                    table, column = model._meta.db_table, field.column
                    cursor.execute(f'SELECT count(*) FROM {table} WHERE "{column}" = %s', [run])
                    count += cursor.fetchone()[0]
    return count


def test_all_of_a_run_goes_and_the_chain_says_what(host, settled):
    assert rows_of(settled.pk) > 5
    before = Event.objects.filter(run=settled).count()

    receipt = erase_run(run=settled.pk, actor="person:7")

    assert rows_of(settled.pk) == 0
    assert not Run.objects.exists()
    assert not Content.objects.exists()
    assert not Escalation.objects.exists()
    assert not Resolution.objects.exists()
    assert receipt.counts["events"] == before
    entry = AuditEntry.objects.order_by("seq").last()
    assert (entry.actor, entry.action, entry.subject) == (
        "person:7",
        "run.erased",
        f"run:{host.slug}/r-1",
    )
    assert entry.detail == receipt.counts
    assert verify(host.workspace)["chainValid"]


def test_another_run_keeps_all_that_is_its_own(host, settled):
    send(host, event(0, "run.started", run="r-2"), decided(1, run="r-2"))
    send(host, verified(2, "r-2-e1", "fail", run="r-2"))
    other = run_of(host, "r-2")
    before = rows_of(other.pk)

    erase_run(run=settled.pk, actor="person:7")

    assert rows_of(other.pk) == before > 5


def test_a_run_stays_while_somebody_is_asked_about_it(host):
    send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
    run = run_of(host)
    before = rows_of(run.pk)

    with pytest.raises(StillNeeded, match="a person is still asked"):
        erase_run(run=run.pk, actor="person:7")

    assert rows_of(run.pk) == before


def test_a_run_stays_while_a_decision_is_on_its_way(host, ada):
    pause(host, "accept")
    decide(ada, Decision(Action.ACCEPT))

    with pytest.raises(StillNeeded, match="on its way"):
        erase_run(run=run_of(host).pk, actor="person:7")

    assert Delivery.objects.exists()


def test_a_run_stays_while_a_job_works_on_it(host):
    send(host, event(0, "run.started"), decided(1))
    job = started(host, about=run_of(host), runId="r-1", target="r-1-e1")

    with pytest.raises(StillNeeded, match="a job still works on it"):
        erase_run(run=run_of(host).pk, actor="person:7")
    with pytest.raises(StillNeeded, match="a job still works on it"):
        erase_run(run=job.run_id, actor="person:7")
    worked(job)
    erase_run(run=run_of(host).pk, actor="person:7")

    assert Job.objects.get().about_run is None


def test_the_runs_of_a_jobs_tasks_go_with_the_job_and_not_before(host):
    job = worked(team_started(host))
    parts = list(JobTask.objects.values_list("run", flat=True))
    assert len(parts) == 2

    with pytest.raises(StillNeeded, match="goes with that job's run"):
        erase_run(run=parts[0], actor="person:7")
    erase_run(run=job.run_id, actor="person:7")

    assert not Run.objects.exists()
    assert not Event.objects.exists()
    assert not Job.objects.exists()
    assert not Content.objects.exists()


def test_a_text_that_another_job_points_to_as_well_stays(host):
    first, second = worked(started(host)), worked(started(host))
    Job.objects.filter(pk=second.pk).update(request=first.request)

    erase_run(run=first.run_id, actor="person:7")

    assert bytes(Job.objects.get().request.body)


def test_every_column_that_points_to_texts_is_looked_at():
    known = {(each.rows.model, each.column) for each in TEXTS}

    assert known == {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if field.related_model is Content
    }


def test_nothing_else_may_erase_a_line(host, settled):
    erase_run(run=settled.pk, actor="person:7")
    send(host, event(0, "run.started", run="r-2"))

    with pytest.raises(Exception, match="written once"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM runs_event")


def test_a_host_that_sends_the_run_again_makes_it_anew(host, settled):
    erase_run(run=settled.pk, actor="person:7")

    assert send(host, event(0, "run.started")).accepted == 1
    assert run_of(host).event_count == 1


def test_a_list_of_the_hosts_does_not_bring_back_a_run_that_is_over(host, settled):
    PulledRun.objects.create(host=host, run_id="r-1", next_at=timezone.now())

    erase_run(run=settled.pk, actor="person:7")

    assert PulledRun.objects.get().next_at is None


class TestRetention:
    @pytest.fixture(autouse=True)
    def kept_for(self, settings):
        settings.RUN_DAYS = 30

    def aged(self, host, run_id, days):
        Run.objects.filter(host=host, run_id=run_id).update(
            last_event_at=timezone.now() - timedelta(days=days)
        )

    def test_takes_what_is_old_and_nothing_younger(self, host):
        for run_id, days in (("old", 31), ("young", 29)):
            send(host, event(0, "run.started", run=run_id))
            self.aged(host, run_id, days)

        sweeping.sweep()

        assert list(Run.objects.values_list("run_id", flat=True)) == ["young"]
        assert AuditEntry.objects.get(action="run.erased").actor == "system:retention"

    def test_takes_nothing_where_runs_are_kept_for_ever(self, host, settings):
        settings.RUN_DAYS = 0
        send(host, event(0, "run.started"))
        self.aged(host, "r-1", 9999)

        sweeping.sweep()

        assert Run.objects.exists()

    def test_leaves_what_is_still_needed(self, host):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))
        self.aged(host, "r-1", 31)

        sweeping.sweep()

        assert Run.objects.exists()

    def test_a_run_that_went_on_meanwhile_stays(self, host):
        send(host, event(0, "run.started"))

        with pytest.raises(StillNeeded, match="gone on"):
            erase_run(
                run=run_of(host).pk,
                actor="system:retention",
                silent_since=timezone.now() - timedelta(days=30),
            )

    def test_what_the_dry_run_shows_is_what_goes(self, host):
        for at, days in enumerate((10, 40, 50)):
            send(host, event(0, "run.started", run=f"r-{at}"))
            self.aged(host, f"r-{at}", days)
        before = timezone.now() - timedelta(days=30)
        shown = [each.run_id for each in old_runs(Run.objects.all(), before)]

        sweeping.sweep()

        assert shown == ["r-2", "r-1"]
        assert list(Run.objects.values_list("run_id", flat=True)) == ["r-0"]


class TestOnTheCommandLine:
    @pytest.fixture(autouse=True)
    def here(self, monkeypatch):
        monkeypatch.setattr("openwop_console.cli.purge.adopt", lambda folder: None)

    def purge(self, *words):
        return CliRunner().invoke(command, words)

    def test_one_run_is_erased_and_an_unknown_one_is_named(self, host, settled):
        done = self.purge("r-1", "--yes", "--json")
        again = self.purge("r-1", "--yes")

        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)[0]["erased"]["events"] > 3
        assert not Run.objects.exists()
        assert again.exit_code == 1
        assert "There is no run r-1" in again.stderr

    def test_a_dry_run_erases_nothing(self, host, settled):
        shown = self.purge("r-1", "--dry-run")

        assert shown.exit_code == 0
        assert "r-1" in shown.output
        assert "1 run would be erased." in shown.stderr
        assert Run.objects.exists()

    def test_it_asks_first(self, host, settled):
        assert self.purge("r-1").exit_code == 1
        assert Run.objects.exists()

    def test_a_run_of_two_hosts_must_be_named_with_its_host(self, host, settled):
        other = add_host_named("beta", workspace="w2")
        send(other, event(0, "run.started"))

        assert "name one with --host" in self.purge("r-1", "--yes").stderr
        assert self.purge("r-1", "--host", other.slug, "--yes").exit_code == 0
        assert [run.host_id for run in Run.objects.all()] == [host.pk]

    def test_what_is_still_needed_stays_and_is_named(self, host):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))

        refused = self.purge("r-1", "--yes")

        assert refused.exit_code == 1
        assert "a person is still asked about it" in refused.stderr

    def test_a_run_or_an_age_must_be_said_and_not_both(self):
        assert self.purge().exit_code == 2
        assert self.purge("r-1", "--older-than", "3").exit_code == 2


class TestOnThePage:
    @pytest.fixture
    def admin(self, host):
        user = person("abe")
        grant(user=user, workspace=host.workspace, role=Role.ADMIN)
        client = Client()
        client.force_login(user)
        return client

    def test_an_admin_comes_from_the_run_to_its_erasure_and_is_told_what_went(
        self, admin, host, settled
    ):
        address = f"/runs/{host.slug}/r-1/erase"
        assert f'href="{address}"' in admin.get(f"/runs/{host.slug}/r-1").content.decode()
        assert "Erase this run" in admin.get(address).content.decode()

        told = admin.post(address, {"run": "r-1"}, follow=True).content.decode()

        assert "The run r-1 is erased: " in told
        assert f"run:{host.slug}/r-1" in told
        assert admin.get(f"/runs/{host.slug}/r-1").status_code == 404
        assert AuditEntry.objects.get(action="run.erased").actor.startswith("person:")

    def test_another_id_erases_nothing(self, admin, host, settled):
        refused = admin.post(f"/runs/{host.slug}/r-1/erase", {"run": "r-2"})

        assert refused.status_code == 422
        assert "nothing was erased" in refused.content.decode()
        assert Run.objects.exists()

    def test_it_says_why_a_run_must_stay(self, admin, host):
        send(host, event(0, "run.started"), decided(1), verified(2, "r-1-e1", "fail"))

        refused = admin.post(f"/runs/{host.slug}/r-1/erase", {"run": "r-1"})

        assert "a person is still asked about it" in refused.content.decode()
        assert Run.objects.exists()

    def test_a_reviewer_is_offered_no_erasure_and_cannot_do_it(self, client, ada, host, settled):
        client.force_login(ada)

        assert "/erase" not in client.get(f"/runs/{host.slug}/r-1").content.decode()
        assert client.post(f"/runs/{host.slug}/r-1/erase", {"run": "r-1"}).status_code == 403
        assert client.get("/settings/retention").status_code == 403
        assert Run.objects.exists()

    def test_the_settings_say_what_is_kept_and_what_is_due(self, admin, host, settled, settings):
        settings.RUN_DAYS = 30
        Run.objects.update(last_event_at=timezone.now() - timedelta(days=31))

        page = " ".join(admin.get("/settings/retention").content.decode().split())

        assert "<td>30 days</td>" in page
        assert "Nothing was erased yet" in page
        [runs, *_] = kinds(host.workspace, timezone.now())
        assert (runs.held, runs.due) == (1, 1)

    def test_whoever_sees_a_run_finds_what_people_did_about_it(self, client, ada, host, settled):
        client.force_login(ada)

        page = client.get(f"/runs/{host.slug}/r-1").content.decode()

        assert f'href="/runs/{host.slug}/r-1/audit"' in page
        assert "escalation.resolved" in client.get(f"/runs/{host.slug}/r-1/audit").content.decode()
