"""Keys of models and words of jobs: where they may be, and where they must not."""

import pytest
from django.test import Client

from runs.models import Event
from runs.sealing import seal
from tests.model_server import says, verdict
from tests.verification.jobs.building import SOLVER, panel, started, worked
from verification.endpoints import catalogue, endpoint_named
from verification.models import AuditEntry, CataloguedModel, Job, JobStep, JudgeVote, Span

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-CANARY-KEY"


@pytest.fixture
def admin(django_user_model):
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("root"))
    return client


def form(**more: str) -> dict[str, str]:
    return {
        "name": "local:m",
        "provider": "compatible",
        "model": "m",
        "base_url": "http://127.0.0.1:9/v1",
        "has_schemas": "on",
        "is_enabled": "on",
        "new_key": KEY,
        **more,
    }


def test_a_key_goes_into_the_admin_is_sealed_and_never_comes_out(admin):
    admin.post("/admin/verification/cataloguedmodel/add/", form())

    row = CataloguedModel.objects.get()
    assert KEY.encode() not in bytes(row.sealed_key)
    endpoint = endpoint_named("local:m")
    assert endpoint is not None
    assert endpoint.key == KEY
    assert KEY not in repr(endpoint)
    shown = admin.get(f"/admin/verification/cataloguedmodel/{row.pk}/change/").content.decode()
    assert "CANARY" not in shown


def test_an_empty_key_leaves_the_one_in_force(admin):
    admin.post("/admin/verification/cataloguedmodel/add/", form())
    address = f"/admin/verification/cataloguedmodel/{CataloguedModel.objects.get().pk}/change/"

    admin.post(address, form(new_key=""))
    kept = endpoint_named("local:m")
    admin.post(address, form(new_key="", forget_key="on"))
    forgotten = endpoint_named("local:m")

    assert (kept and kept.key, forgotten and forgotten.key) == (KEY, "")


def test_the_key_is_sent_to_the_model_and_to_nobody_else(host, models, caplog):
    CataloguedModel.objects.create(
        name="local:judge-a",
        provider="compatible",
        model="judge-a",
        base_url=models.url,
        sealed_key=seal(KEY),
    )
    judge = {"name": "a", "model": "local:judge-a"}
    job = worked(started(host, judges=[judge], quorum=1))

    assert job.verdict == "pass"
    assert models.calls[0].handler.headers["Authorization"] == f"Bearer {KEY}"
    rows = [list(table.objects.values()) for table in (Job, JobStep, JudgeVote, Span, Event)]
    assert "CANARY" not in repr(rows) + caplog.text + models.calls[0].text


def test_a_model_that_is_taken_away_fails_the_job_that_named_it(host, models, settings):
    job = started(host, judges=panel("judge-a"), quorum=1)
    CataloguedModel.objects.create(name="local:off", provider="openai", model="x", is_enabled=False)
    models.answers.clear()
    assert "local:off" not in catalogue()
    assert endpoint_named("local:off") is None

    settings.MODELS = []
    assert worked(job).verdict == "fail"
    assert JobStep.objects.get(job=job, phase="judge").failure["code"] == "MODEL_UNKNOWN"


def test_words_are_in_the_restricted_zone_and_nowhere_else(host, models, caplog):
    word = "CANARYWORD"
    models.tell(
        solver=says(f"{word}-answer"),
        judge_a=verdict(False, f"{word}-critique"),
    )
    job = worked(
        started(
            host,
            prompt=f"{word}-question",
            answer=None,
            proposer=SOLVER,
            judges=panel("judge-a"),
            judgePrompt=f"{word}-instruction",
            onDissent="reject",
            quorum=None,
        )
    )

    assert job.verdict == "fail"
    tables = (Job, JobStep, JudgeVote, Span, Event, AuditEntry)
    assert word not in repr([list(table.objects.values()) for table in tables])
    assert word not in caplog.text
