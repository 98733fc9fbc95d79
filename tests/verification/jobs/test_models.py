"""Jobs that ask models, over real HTTP, with models that behave and models that do not."""

import subprocess
import sys

import pytest

from tests.model_server import (
    accepts,
    cut_off,
    dissents,
    drips,
    garbage,
    hangs,
    refuses,
    says,
    status,
    verdict,
)
from tests.system.running import PROJECT
from tests.verification.jobs.building import SOLVER, THREE, panel, started, worked
from verification.models import JobStep, JudgeVote, MemoryEntry

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_proposer_answers_and_two_of_three_judges_decide(host, models):
    job = worked(started(host, answer=None, proposer=SOLVER, judges=THREE, quorum=2))

    assert (job.verdict, job.basis, job.rounds) == ("pass", "quorum", 1)
    assert [call.model for call in models.calls] == ["solver", "judge-a", "judge-b"]
    tokens = JobStep.objects.filter(job=job).values_list("input_tokens", "output_tokens")
    assert list(tokens) == [(30, 10)] * 3
    assert "It boils at 100 degrees." in models.calls[1].text
    assert models.calls[1].body["response_format"]["type"] == "json_schema"


def test_dissent_leads_to_a_revision_that_is_judged_again(host, models):
    models.tell(
        solver=[says("About ninety."), says("Exactly a hundred.")],
        judge_a=[dissents, accepts],
        judge_b=[dissents, accepts],
    )
    job = worked(
        started(host, answer=None, proposer=SOLVER, judges=panel("judge-a", "judge-b"), quorum=2)
    )

    assert (job.verdict, job.rounds) == ("pass", 2)
    assert [vote.accepted for vote in JudgeVote.objects.filter(job=job).order_by("pk")] == [
        False,
        False,
        True,
        True,
    ]
    keys = MemoryEntry.objects.filter(job=job).values_list("namespace", "key")
    assert list(keys) == [
        ("judge-a", "consensus:round:1:dissent"),
        ("judge-b", "consensus:round:1:dissent"),
    ]
    assert job.run.events.filter(type="agent.decided").count() == 2


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_a_call_is_made_again_after_a_failure_that_may_pass(host, models, code):
    models.tell(judge_a=[status(code), accepts])
    job = worked(started(host, judges=panel("judge-a"), quorum=1))

    assert job.verdict == "pass"
    step = JobStep.objects.get(job=job, phase="judge")
    assert (step.attempts, step.failed_attempts) == (2, 1)


@pytest.mark.parametrize("code", [400, 401, 403, 404])
def test_a_call_is_not_made_again_after_a_failure_that_stays(host, models, code):
    models.tell(judge_a=status(code))
    job = worked(started(host, judges=panel("judge-a"), quorum=1))

    assert (job.verdict, job.basis) == ("fail", "judge_error")
    assert models.asked("judge-a") == 1
    assert JudgeVote.objects.get(job=job).call_failed


BROKEN = {
    "429": status(429),
    "500": status(500),
    "html": garbage(),
    "empty body": garbage(b""),
    "truncated json": garbage(b'{"choices": [{"message"'),
    "empty object": garbage(b"{}"),
    "cut off": cut_off,
    "refusal": refuses,
    "empty reply": says(""),
    "prose": says("I accept this answer."),
    "half a verdict": says('{"accept": tr', finish="length"),
    "two objects": says(lambda call: f'{{"accept": true}} {{"nonce": "{call.nonce}"}}'),
    "wrong nonce": says('{"nonce": "00000000000000000000000000000000", "accept": true}'),
    "no nonce": says('{"accept": true, "critique": ""}'),
    "accept as text": says(lambda call: f'{{"nonce": "{call.nonce}", "accept": "true"}}'),
    "extra key": verdict(True, confidence=1),
    "confidence nan": says(lambda call: f'{{"nonce": "{call.nonce}", "accept": NaN}}'),
    "ten megabytes": says("a" * 10_000_000),
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN.keys())
def test_no_reply_but_a_whole_and_honest_one_counts_as_an_accept(host, models, settings, answer):
    settings.MODEL_ATTEMPTS = 1
    models.tell(judge_a=answer, judge_b=answer)
    job = worked(started(host, judges=panel("judge-a", "judge-b"), quorum=2))

    assert job.verdict == "fail"
    assert job.has_ended
    assert not JudgeVote.objects.filter(job=job, accepted=True).exists()


@pytest.mark.parametrize("answer", [hangs, drips], ids=["hangs", "drips"])
def test_a_call_ends_at_its_deadline_whatever_the_server_does(host, models, settings, answer):
    settings.MODEL_TIMEOUT_S, settings.MODEL_ATTEMPTS = 1, 1
    models.tell(judge_a=answer)
    job = worked(started(host, judges=panel("judge-a"), quorum=1))

    assert (job.verdict, job.basis) == ("fail", "judge_error")
    step = JobStep.objects.get(job=job, phase="judge")
    assert step.failure["kind"] == "timeout"
    assert step.lost_tokens > 0


def test_errors_of_providers_are_told_without_their_words(host, models, settings, caplog):
    settings.MODEL_ATTEMPTS = 1
    models.tell(judge_a=status(500))
    job = worked(started(host, judges=panel("judge-a"), quorum=1))

    assert JobStep.objects.get(job=job, phase="judge").failure["http"] == 500
    assert "CANARY" not in caplog.text
    assert "CANARY" not in repr(list(JobStep.objects.filter(job=job).values()))


def test_no_providers_library_is_loaded_before_a_model_is_asked():
    script = (
        "import django; django.setup()\n"
        "import sys, verification.tasks, openwop_console.urls\n"
        "print([name for name in ('openai', 'anthropic', 'pydantic_ai') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
