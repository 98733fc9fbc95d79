"""Runs of tasks as jobs: order, verification, merging, and what the run's log says of them."""

import hashlib
import threading
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone

from runs.models import Event, Run
from tests.model_server import Gate as HeldBack
from tests.model_server import accepts, says
from tests.system.running import eventually
from tests.verification.jobs.building import panel, tasks_started, worked
from verification import sweeping
from verification.actions import job_tasks, judge
from verification.actions.escalations import claim
from verification.actions.job_leases import LeaseLost, give_back, take
from verification.actions.job_loop import work
from verification.actions.job_records import record
from verification.actions.job_steps import next_todo
from verification.actions.jobs import cancel
from verification.actions.resolving import resolve
from verification.domain.consensus.failures import COST_UNKNOWN
from verification.domain.consensus.history import Usage
from verification.domain.consensus.steps import standing
from verification.domain.decisions import Action, Decision
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.states import JobBasis
from verification.domain.jobs.task_outcomes import outcome_of
from verification.job_ledger import load
from verification.judges import Said
from verification.models import (
    CataloguedModel,
    Escalation,
    Finding,
    Gate,
    Job,
    JobTask,
    MemoryEntry,
    Span,
)
from verification.queries.job_tasks import team_view
from verification.queries.jobs import account_of

pytestmark = pytest.mark.django_db(transaction=True)


def told(job: Job) -> list[str]:
    """Return what the job's run says in short: types, and what happened to which task."""
    return [_short(event) for event in job.run.events.filter(origin="host").order_by("position")]


def _short(event: Event) -> str:
    payload = event.payload
    match event.type:
        case "core.workflowChain.event":
            return f"{payload['phase']} {payload['workerId'].partition(':')[0]}"
        case "runOrchestrator.decided":
            workers = payload["decision"].get("nextWorkerIds", ["end"])
            return f"{payload['iteration']}: {' '.join(each.partition(':')[0] for each in workers)}"
        case "agent.verified":
            return f"verified {payload['verdict']}"
        case _:
            return event.type


def findings(job: Job) -> list[str]:
    """Return what the Console's own rules found in the job's run and those of its tasks."""
    runs = Run.objects.filter(host=job.run.host)
    return list(Finding.objects.filter(run__in=runs).values_list("kind", flat=True))


def test_a_run_of_tasks_ends_with_every_accepted_result_merged(host):
    job = worked(tasks_started(host))

    assert (job.state, job.basis, job.verdict) == ("done", "quorum", "pass")
    rows = JobTask.objects.filter(job=job).order_by("number")
    assert list(rows.values_list("status", "verdict", "is_withheld")) == [
        ("completed", "pass", False),
        ("completed", "pass", False),
        ("completed", "", False),
    ]
    assert told(job) == [
        "run.started",
        "1: task-1 task-2",
        "dispatch.began task-1",
        "dispatch.began task-2",
        "dispatch.succeeded task-1",
        "dispatch.succeeded task-2",
        "memory.written",
        "memory.written",
        "child.completed task-1",
        "verified pass",
        "output.harvested task-1",
        "memory.written",
        "memory.written",
        "child.completed task-2",
        "verified pass",
        "output.harvested task-2",
        "2: task-3",
        "dispatch.began task-3",
        "dispatch.succeeded task-3",
        "memory.written",
        "child.completed task-3",
        "output.harvested task-3",
        "3: end",
        "run.completed",
    ]
    job.run.refresh_from_db()
    assert (job.run.outcome, job.run.standing) == ("goal_met", "passed")
    assert findings(job) == []
    assert not Span.objects.filter(job=job, ended_at=None).exists()


def test_every_task_is_a_run_of_its_own_below_the_jobs(host):
    job = worked(tasks_started(host))

    children = Run.objects.filter(parent_run_id=job.run.run_id)
    assert {row.run.run_id for row in job.tasks.all()} == {run.run_id for run in children}
    assert {run.status for run in children} == {"completed"}
    first = job.tasks.get(number=1).run.events.order_by("position").values_list("type", flat=True)
    assert list(first) == [
        "run.started",
        "agent.decided",
        "console.judge.voted",
        "run.completed",
    ]


def test_a_rejected_result_is_not_merged_and_what_needs_it_is_skipped(host):
    job = worked(tasks_started(host, **shouting()))

    assert (job.basis, job.verdict) == ("dissent", "fail")
    rows = JobTask.objects.filter(job=job).order_by("number")
    assert list(rows.values_list("status", "verdict", "is_withheld")) == [
        ("completed", "fail", True),
        ("completed", "pass", False),
        ("skipped", "", False),
    ]
    assert "output.harvested task-1" not in told(job)
    assert "output.harvested task-2" in told(job)
    assert findings(job) == []
    job.run.refresh_from_db()
    assert job.run.outcome == "gave_up"
    target = rows[0].run.run_id
    assert Gate.objects.get(run=job.run, target=target).state == "blocked"
    assert Escalation.objects.waiting().get(run=job.run).target == target


def shouting(**more):
    """Return a request whose first answer is one that a judge rejects."""
    replies = {"Find": "It boils!!", "Check": "Checked at sea level.", "Write": "It boils."}
    member = {"name": "ada", "model": "given", "settings": {"replies": replies}}
    return {"team": [member], "judges": JUDGES_OF_TWO, **more}


JUDGES_OF_TWO = [
    {"name": "calm", "model": "rule:must-not-match", "settings": {"pattern": "!!"}},
]


def test_memory_keeps_what_judges_and_workers_left_in_order(host):
    job = worked(tasks_started(host, **shouting()))

    entries = MemoryEntry.objects.filter(job=job).order_by("number")
    assert [f"{each.namespace}/{each.key}" for each in entries] == [
        "calm/consensus:round:1:dissent",
        "calm/consensus:round:2:dissent",
        "ada/task:task-1:verdict",
        "ada/task:task-2:verdict",
        "ada/task:task-2:result",
    ]


def test_the_logs_of_a_run_of_tasks_hold_none_of_its_words(host):
    tasks = [
        {"title": "CANARY-T", "description": "CANARY-D", "assignee": "ada", "verify": True},
    ]
    settings = {"replies": {"CANARY-T": "CANARY-A!!"}}
    team = [{"name": "ada", "model": "given", "settings": settings}]
    job = worked(tasks_started(host, tasks=tasks, team=team))

    assert job.has_ended
    rows = [Event, Job, JobTask, Span, Escalation, Gate, Finding]
    assert "CANARY" not in repr([list(table.objects.values()) for table in rows])


def paused(host, **more) -> Job:
    """Return a job that waits for somebody to rule on its first task."""
    return worked(tasks_started(host, onRejected="pause", **shouting(**more)))


def decide(job: Job, ada, action: str) -> None:
    """Decide on what the job waits for, as anybody decides on a host's fail."""
    asked = Escalation.objects.waiting().get(run=job.run)
    claim(escalation=asked.pk, by=ada)
    decision = Decision(Action(action), reason="I looked at it.")
    resolve(escalation=asked.pk, by=ada, decision=decision, seen=None)


def test_a_job_that_is_to_pause_waits_for_the_decision_on_a_rejected_task(host, ada):
    job = paused(host)
    assert (job.state, job.paused_at is None) == ("running", False)
    assert [task.state for task in team_view(job).tasks] == ["waiting", "completed", "blocked"]
    assert "output.harvested task-1" not in told(job)

    decide(job, ada, "override")
    job = worked(job)

    assert (job.basis, job.verdict) == ("overridden", "pass")
    assert "output.harvested task-1" in told(job)
    assert job.tasks.get(number=3).status == "completed"
    job.run.refresh_from_db()
    assert (job.run.outcome, job.run.standing) == ("goal_met", "overridden")
    assert findings(job) == []


def test_a_rejection_that_could_not_be_judged_yet_is_still_asked_about(host, ada, monkeypatch):
    def fails(*said):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(judge, "settle_escalations", fails)
        job = paused(host)
    assert not Gate.objects.exists()
    assert job.paused_at is not None

    sweeping.judge_held_runs(timezone.now())
    decide(worked(job), ada, "override")

    assert (worked(job).basis, job.verdict) == ("overridden", "pass")


def test_an_upheld_rejection_leaves_the_result_out(host, ada):
    job = paused(host)

    decide(job, ada, "uphold")
    job = worked(job)

    assert (job.basis, job.verdict) == ("dissent", "fail")
    assert job.tasks.get(number=3).status == "skipped"
    assert "output.harvested task-1" not in told(job)
    assert findings(job) == []


def test_a_decision_rings_for_the_job_that_waits_for_it(host, ada, monkeypatch):
    job = paused(host)
    rung = []
    monkeypatch.setattr("runs.bells._ask", lambda task, ids: rung.append((task, ids)))

    decide(job, ada, "override")

    assert ("verification.tasks.run_job", (job.pk,)) in rung


def test_an_escalation_that_was_closed_unanswered_lets_nothing_through(host):
    job = paused(host)
    Escalation.objects.filter(run=job.run).update(state="expired")
    job = worked(job)

    assert (job.basis, job.verdict) == ("dissent", "fail")


def test_a_paused_job_can_be_cancelled(host):
    job = paused(host)
    cancel(job=job.pk, by="person:1")
    job = worked(job)

    assert (job.basis, job.verdict, job.stop) == ("aborted", "fail", "cancelled")
    job.run.refresh_from_db()
    assert job.run.status == "cancelled"
    assert findings(job) == []


def test_an_executor_that_merges_after_a_fail_is_caught(host, monkeypatch):
    def merges_everything(job, row, task, now):
        real(job, row, task, now)
        if task.is_withheld:
            job_tasks._merge(job, row, now)

    real = job_tasks._keep
    monkeypatch.setattr(job_tasks, "_keep", merges_everything)
    job = worked(tasks_started(host, **shouting()))

    assert "merged_after_fail" in findings(job)
    worst = Finding.objects.get(run=job.run, kind="merged_after_fail")
    assert worst.severity == "violation"


def test_an_executor_that_calls_it_a_success_after_a_fail_is_caught(host, monkeypatch):
    monkeypatch.setattr(
        "verification.actions.job_end.outcome_of", lambda result, stop: JobBasis.QUORUM
    )
    job = worked(tasks_started(host, **shouting()))

    assert findings(job) == ["success_after_fail"]


def priced(models) -> None:
    """Add two models that have a price, served by the test's own server."""
    for name in ("gpt-4o-mini", "gpt-4o"):
        CataloguedModel.objects.create(
            name=f"paid:{name}", provider="openai", model=name, base_url=models.url
        )


def paid_for(host, budget: float) -> Job:
    tasks = [
        {"title": f"Part {n}", "description": "Write.", "assignee": "solver", "verify": True}
        for n in range(3)
    ]
    return tasks_started(
        host,
        team=[{"name": "solver", "model": "paid:gpt-4o"}],
        judges=[{"name": "judge", "model": "paid:gpt-4o-mini"}],
        tasks=tasks,
        maxCostBudget=budget,
    )


def test_a_budget_of_dollars_is_kept_before_each_call(host, models, settings):
    settings.MODEL_REPLY_TOKENS = 500
    priced(models)
    models.answers |= {"gpt-4o": [says("Done.", usage=(60, 60))], "gpt-4o-mini": [accepts]}

    rich, poor = worked(paid_for(host, 1.0)), worked(paid_for(host, 0.002))

    assert (rich.basis, rich.verdict) == ("quorum", "pass")
    cost = sum(step.cost_usd for step in rich.steps.all())
    assert Decimal("0.002") < cost < 1
    assert (poor.basis, poor.verdict, poor.stop) == ("budget", "fail", "budget")
    spent = [step.cost_usd or 0 for step in poor.steps.all()]
    assert 0 < sum(spent) <= Decimal("0.002")
    assert findings(poor) == []


def test_a_budget_of_dollars_needs_a_price_for_every_model(host, models):
    priced(models)
    with pytest.raises(JobRefused) as refused:
        tasks_started(
            host,
            team=[{"name": "solver", "model": "compatible:solver"}],
            judges=[{"name": "judge", "model": "paid:gpt-4o-mini"}],
            tasks=[{"title": "T", "description": "D", "verify": True}],
            maxCostBudget=1,
        )

    assert (refused.value.reason, refused.value.pointer) == ("no_price", "/team/0/model")
    assert not Job.objects.exists()


def test_what_calls_have_cost_is_not_counted_anew_at_the_prices_of_another_day(
    host, models, monkeypatch
):
    priced(models)
    models.answers |= {"gpt-4o": [says("Done.", usage=(60, 60))], "gpt-4o-mini": [accepts]}
    job = worked(paid_for(host, 1.0))
    paid = float(sum(step.cost_usd for step in job.steps.all()))

    monkeypatch.setattr("verification.endpoints.cost_of", lambda *_: Decimal(100))
    ledger = load(job)
    ended = standing(ledger.rules, ledger.history).end

    assert outcome_of(ended.result, job.stop) is JobBasis.QUORUM
    assert float(ended.result.usage.usd) == pytest.approx(paid, abs=1e-12)


def test_a_call_without_a_known_price_still_ends_a_job_that_counts_dollars(host, models):
    priced(models)
    models.answers |= {"gpt-4o": [says("Done.", usage=(60, 60))], "gpt-4o-mini": [accepts]}
    job = worked(paid_for(host, 1.0))
    job.steps.filter(phase="worker").update(cost_usd=None)

    ledger = load(job)
    ended = standing(ledger.rules, ledger.history[:1]).tasks

    assert ended[0].outcome.failure is COST_UNKNOWN


def silent(**more):
    """Return a request whose first task comes to nothing."""
    return {
        "team": [{"name": "solver", "model": "compatible:solver"}],
        "judges": panel("judge-a"),
        "tasks": [
            {"title": "Part 1", "description": "Write.", **more},
            {"title": "Part 2", "description": "Sum up.", "dependsOn": ["Part 1"]},
        ],
    }


def test_an_empty_result_passes_no_gate_even_where_every_judge_would_accept_it(host, models):
    models.tell(solver=says(""))
    job = worked(tasks_started(host, **silent(verify=True)))

    assert (job.verdict, job.basis) == ("fail", "no_answer")
    assert list(job.tasks.order_by("number").values_list("status", "verdict", "is_withheld")) == [
        ("completed", "fail", True),
        ("skipped", "", False),
    ]
    assert models.asked("judge-a") == 0
    assert "output.harvested task-1" not in told(job)
    assert Escalation.objects.waiting().filter(run=job.run).exists()


def test_an_empty_result_that_nobody_was_to_judge_is_merged_by_its_true_checksum(host, models):
    models.tell(solver=says(""))
    job = worked(tasks_started(host, **silent()))

    assert job.basis == "unverified"
    harvests = [
        each.payload["attestation"]["checksum"]
        for each in job.run.events.filter(type="core.workflowChain.event").order_by("position")
        if each.payload["phase"] == "output.harvested"
    ]
    assert harvests == [hashlib.sha256(b"").hexdigest()] * 2


def test_independent_tasks_are_worked_on_at_the_same_time_up_to_the_setting(host, models, settings):
    settings.TASKS_AT_ONCE = 2
    gate = HeldBack(says("Done."))
    models.tell(solver=[gate, gate, says("Done.")])
    tasks = [{"title": f"Part {n}", "description": "Write."} for n in range(3)]
    team = [{"name": "solver", "model": "compatible:solver"}]
    job = tasks_started(host, team=team, tasks=tasks, judges=None)
    work(job=job.pk)
    assert list(job.tasks.exclude(rung_at=None).values_list("number", flat=True)) == [1, 2]

    threads = [threading.Thread(target=_work_in_thread, args=(job.pk, n)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    eventually(lambda: models.asked("solver") == 2, within_s=60)
    gate.opened.set()
    for thread in threads:
        thread.join(30)

    assert (worked(job).basis, models.asked("solver")) == ("unverified", 3)


def _work_in_thread(job: int, task: int) -> None:
    try:
        work(job=job, task=task)
    finally:
        connection.close()


def with_models(host) -> Job:
    """Return a run of two tasks that a model works on, looked at once."""
    tasks = [{"title": f"Part {n}", "description": "Write."} for n in range(2)]
    team = [{"name": "solver", "model": "compatible:solver"}]
    job = tasks_started(host, team=team, tasks=tasks, judges=None)
    work(job=job.pk)
    return job


def test_the_sweep_rings_for_tasks_whose_worker_or_bell_was_lost(host, models, monkeypatch):
    rung: list[tuple[int, ...]] = []
    job = with_models(host)
    assert take(job=job.pk, now=timezone.now(), task=1) is not None
    monkeypatch.setattr("runs.bells._ask", lambda task, ids: rung.append(ids))

    sweeping.ring_for_jobs(timezone.now())
    assert rung == []
    later = timezone.now() + timedelta(minutes=5)
    sweeping.ring_for_jobs(later)
    assert sorted(rung) == [(job.pk,), (job.pk, 1)]
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)
    work(job=job.pk)
    assert (job.pk, 2) in rung


def test_a_worker_that_slept_past_its_lease_on_a_task_writes_nothing(host, models):
    job = with_models(host)
    sleeper = take(job=job.pk, now=timezone.now(), task=1)
    todo = next_todo(lease=sleeper, now=timezone.now())
    JobTask.objects.filter(job=job).update(lease_until=timezone.now() - timedelta(seconds=1))
    job = worked(job)
    before = list(job.steps.order_by("pk").values())

    with pytest.raises(LeaseLost):
        record(
            lease=sleeper,
            ask=todo.ask,
            result=Said("Too late.", Usage(1, 1), None),
            was_called_off=False,
            now=timezone.now(),
        )
    assert list(job.steps.order_by("pk").values()) == before
    assert job.basis == "unverified"
    assert job.steps.get(task="task-1").lost_tokens > 0


def test_what_was_set_aside_for_a_killed_worker_is_lost_when_the_job_ends(host, models):
    job = with_models(host)
    next_todo(lease=take(job=job.pk, now=timezone.now(), task=1), now=timezone.now())
    aside = account_of(job).set_aside
    JobTask.objects.filter(job=job).update(lease_until=timezone.now() - timedelta(seconds=1))

    cancel(job=job.pk, by="person:1")
    job = worked(job)

    account = account_of(job)
    assert (job.stop, aside > 0) == ("cancelled", True)
    assert (account.set_aside, account.lost) == (0, aside)


def test_whoever_looks_at_all_tasks_leaves_the_leases_of_others_alone(host, models, monkeypatch):
    job = with_models(host)
    mine = take(job=job.pk, now=timezone.now(), task=1)
    other = take(job=job.pk, now=timezone.now(), task=2)
    read = job_tasks._rows

    def read_before_the_other_gives_back(*said):
        rows = read(*said)
        give_back(lease=other, now=timezone.now())
        return rows

    monkeypatch.setattr(job_tasks, "_rows", read_before_the_other_gives_back)
    next_todo(lease=mine, now=timezone.now())

    assert JobTask.objects.get(job=job, number=2).lease_until is None


def test_messages_that_come_again_or_late_do_nothing(host, models):
    job = worked(with_models(host))
    asked = models.asked("solver")

    for task in (0, 1, 2, 3):
        work(job=job.pk, task=task)

    assert models.asked("solver") == asked == 2
    assert told(job).count("run.completed") == 1
