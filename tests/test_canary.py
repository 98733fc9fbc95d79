"""A word that is in what hosts send, and in keys, is nowhere but in the log of the run."""

import gzip
import io
import json
import logging
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from celery.contrib.testing.worker import start_worker
from click.testing import CliRunner
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection

from openwop_console.celery import app
from openwop_console.cli import main
from openwop_console.logs import Line
from runs import sweeping
from runs.actions.hosts import connect_host
from runs.actions.people import grant
from runs.actions.webhook_secrets import rotate_secret
from runs.models import Event, PulledRun, Role
from tests.eavesdropping import eavesdropping, kept_in
from tests.factories import decided, event, send, verified
from tests.model_server import ModelServer, model_server, verdict
from tests.raw_http import Reply, exchange
from tests.recorded import Recorded, RecordedHost
from tests.remote import API_KEY
from tests.runs.conftest import due
from tests.signing import SECRET, v2
from tests.system.running import eventually
from tests.web import Web, serving_web
from verification.actions.tokens import create_token
from verification.models import Attempt, Escalation, Job

CANARY = "CANARYc4n4ry"
KEEPS = {"runs_event"}
"""The one table that may hold what a host sent."""


@contextmanager
def listening() -> Iterator[io.StringIO]:
    """Collect the lines of every logger, at the most talkative level, in the product's form."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Line("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    # Uvicorn's loggers may have been silenced by another server of this process.
    loggers = [root, *map(logging.getLogger, ("uvicorn", "uvicorn.error"))]
    before = [(logger.level, logger.propagate) for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.propagate = True
    try:
        yield written
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.propagate = propagate
        root.removeHandler(handler)


def post(web: Web, document: Any, key: str, **headers: str | None) -> Reply:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    sent = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return exchange(web, body, headers=sent | headers)


def everything_odd(web: Web, key: str) -> list[Reply]:
    """Send the word in every place that a request has."""
    payload = {"text": CANARY, CANARY: [CANARY]}
    leak = verified(5, "r-1-e1", "fail")
    leak["payload"][CANARY] = CANARY
    return [
        post(web, event(0, payload=payload), key),
        post(web, [event(1, payload=payload), event(-1, payload=payload)], key),
        post(web, event(0, payload={"other": CANARY}), key),
        post(web, leak, key),
        post(web, event(6, timestamp=CANARY), key),
        post(web, event(7, nodeId=f"{CANARY}\n"), key),
        post(web, f'{{"a": "{CANARY}", "a": "{CANARY}"'.encode(), key),
        post(web, gzip.compress(CANARY.encode()), key, **{"Content-Encoding": "gzip"}),
        post(web, event(8), f"owc_live_000000000000_{CANARY}"),
        post(web, event(8), key, **{"Content-Type": f"text/{CANARY}"}),
        post(web, event(8), key, **{"Idempotency-Key": CANARY + " "}),
        post(web, event(8), key, Host=CANARY),
        exchange(web, CANARY.encode(), path="/api/v1/webhooks/alpha", headers={
            "Content-Type": "application/json", "OpenWOP-Signature": f"sha256={CANARY}"}),
        exchange(web, method="GET", path=f"/api/v1/runs/{CANARY}", headers={
            "Authorization": f"Bearer {key}"}),
    ]  # fmt: skip


def tables_with(word: str) -> set[str]:
    found = set()
    for model in apps.get_models():
        table = model._meta.db_table
        with connection.cursor() as cursor:
            spellings = [f"%{word}%", f"%{word.encode().hex()}%"]  # as text, and as bytes
            cursor.execute(
                f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE ANY(%s)', [spellings]
            )
            if cursor.fetchone()[0]:
                found.add(table)
    return found


def test_no_content_and_no_key_is_in_any_answer_log_or_table_but_the_runs_own(
    transactional_db, host
):
    secret = host.key_for_tests.rpartition("_")[2]
    with listening() as written, serving_web() as web:
        replies = everything_odd(web, host.key_for_tests)

    assert [reply.status for reply in replies] == [
        201, 207, 409, 400, 400, 400, 400, 400, 401, 415, 400, 400, 401, 404,
    ]  # fmt: skip
    assert not [reply for reply in replies if CANARY.encode() in reply.body]
    assert CANARY in json.dumps(list(Event.objects.values_list("payload", flat=True)))
    assert tables_with(CANARY) <= KEEPS
    assert tables_with(secret) == set()
    assert written.getvalue()
    for line in written.getvalue().splitlines():
        assert CANARY not in line
        assert secret not in line


def test_bells_and_tasks_carry_no_content(transactional_db, host):
    with redis.Redis.from_url(settings.REDIS_URL) as client, client.monitor() as monitor:
        with serving_web() as web:
            everything_odd(web, host.key_for_tests)
        said = spoken(client, monitor)

    assert [command for command in said if command.startswith("PUBLISH")]
    assert not [command for command in said if CANARY in command]


def spoken(client: redis.Redis, monitor: redis.client.Monitor) -> list[str]:
    """Return what every Redis client said until a bell was rung, and what was under way then."""
    said: list[str] = []
    for heard in monitor.listen():
        said.append(str(heard["command"]))
        if said[-1].startswith("PUBLISH"):
            client.set("enough", 1)
        elif said[-1].startswith("SET enough"):
            break
    return said


class Secrets:
    """Everything that proves who somebody is, by a word of its own."""

    def __init__(self, host, token: str) -> None:
        self.words = {
            "host key": host.key_for_tests.rpartition("_")[2],
            "token": token.rpartition("_")[2],
            "webhook": SECRET,
            "our key at the host": API_KEY,
            "model key": MODEL_KEY,
            "metrics": METRICS_TOKEN,
        }

    def in_text(self, text: str) -> list[str]:
        return [name for name, word in self.words.items() if word in text]


@pytest.fixture
def remote() -> Iterator[RecordedHost]:
    """A host that can be read, and that takes decisions."""
    running = RecordedHost("spec")
    yield running
    running.stop()


@pytest.fixture
def model(settings) -> Iterator[ModelServer]:
    """A model whose every word is content."""
    with model_server() as server:
        settings.COMPATIBLE_URL = server.url
        settings.COMPATIBLE_KEY = MODEL_KEY
        settings.MODELS = ["compatible:judge-a"]
        server.tell(judge_a=verdict(False, critique=f"{CANARY} is wrong."))
        yield server


@pytest.fixture
def workers(settings) -> Iterator[None]:
    """A real worker on the real broker, for every queue."""
    settings.PULL_ROUND_S = settings.PULL_TAIL_S = settings.PULL_DEADLINE_S = 1
    settings.UNDO_S = 0
    queues = ["default", "jobs", "pull"]
    with start_worker(app, queues=queues, perform_ping_check=False, pool="threads", concurrency=2):
        yield


@pytest.fixture
def metered(settings) -> None:
    """There are metrics, for whoever has the token."""
    settings.METRICS_TOKEN = METRICS_TOKEN


def test_no_door_lets_content_or_a_secret_out_of_the_tables_that_are_for_it(
    transactional_db, host, remote, model, workers, metered, tmp_path
):
    connect_host(host_id=host.slug, base_url=remote.url, api_key=API_KEY)
    rotate_secret(host=host, secret=SECRET, overlap=timedelta(0))
    host.refresh_from_db()
    ada = User.objects.create_superuser("ada")
    grant(user=ada, workspace=host.workspace, role=Role.ADMIN)
    token = create_token(user=ada, name="canary")
    secrets = Secrets(host, token)

    with listening() as written, eavesdropping(settings.REDIS_URL) as heard, serving_web() as web:
        with httpx.Client(base_url=web.url, timeout=30) as client:
            as_host = {"Authorization": f"Bearer {host.key_for_tests}"}
            as_ada = {"Authorization": f"Bearer {token}"}
            told = [
                *by_webhook(client),
                *by_pull(host, remote),
                *by_gates(client, as_host),
                *by_reviews(client, as_ada, host),
                *by_jobs(client, as_host, model),
                *by_command_line(web, host, tmp_path),
                *by_metrics(client),
            ]
        kept = list(kept_in(settings.REDIS_URL))

    assert [text for text in told if CANARY in text or secrets.in_text(text)] == []
    for line in written.getvalue().splitlines():
        assert CANARY not in line
        assert not secrets.in_text(line), line
    assert any('"callbacks"' in command for command in heard), "no task's arguments were read"
    tasks = {word for command in heard for word in TASK.findall(command)}
    assert tasks >= {"runs.tasks.pull", "verification.tasks.deliver", "verification.tasks.run_job"}
    for said in [*heard, *kept]:
        assert CANARY not in said, said
        assert not secrets.in_text(said), said
    assert [each for each in kept if "task-meta" in each] == []
    assert CANARY not in repr(vars(cache).get("_cache"))
    assert tables_with(CANARY) == {"runs_event", "verification_content"} | SAYS_WHY
    for word in secrets.words.values():
        assert tables_with(word) == set()


TASK = re.compile(r"(?:runs|verification)\.tasks\.[a-z_]+")
METRICS_TOKEN = "a-canary-that-reads-metrics"
MODEL_KEY = "sk-canary-of-the-model"
SAYS_WHY = {"verification_resolution", "verification_vote"}
"""A person's reason: it stays in the Console, beside the decision."""


def by_webhook(client: httpx.Client) -> Iterator[str]:
    for document in (
        event(0, run="w-1", payload={"text": CANARY}),
        event(1, "agent.verified", run="w-1", payload={"verdict": "fail", "why": CANARY}),
        {"runId": "w-1", CANARY: CANARY},
    ):
        body = json.dumps(document).encode()
        signed = v2(body, SECRET, str(int(datetime.now(UTC).timestamp())))
        headers = signed | {"Content-Type": "application/json"}
        yield client.post("/api/v1/webhooks/alpha", content=body, headers=headers).text


def by_pull(host, remote: RecordedHost) -> Iterator[str]:
    said = {"type": "log.appended", "payload": {"level": "info", "message": CANARY}}
    events = [
        {"type": "run.started", "payload": {"workflowId": "w", "inputs": CANARY}, "sequence": 0},
        {**said, "sequence": 1},
        {"type": "run.failed", "payload": {"error": {"message": CANARY}}, "sequence": 2},
    ]
    dated = tuple({**each, "timestamp": "2026-11-30T08:00:00Z"} for each in events)
    remote.play(Recorded("spec", "canary", "failed", dated), "p-1")
    due(host, "p-1")
    sweeping.sweep()
    eventually(lambda: Event.objects.filter(run__run_id="p-1").count() == len(events))
    yield from PulledRun.objects.values_list("outcome", flat=True)


def by_gates(client: httpx.Client, who: dict[str, str]) -> Iterator[str]:
    leak = verified(2, "r-1-e1", "fail") | {"payload": {"verdict": "fail", "why": CANARY}}
    for each in (event(0, "run.started"), decided(1), leak):
        yield client.post("/api/v1/events", json=each, headers=who).text
    for target in ("r-1-e1?run=r-1", CANARY):
        yield client.get(f"/api/v1/gates/{target}", headers=who).text
    for rest in ("r-1/gates", "r-1/findings", "r-1", f"{CANARY}/gates"):
        yield client.get(f"/api/v1/runs/{rest}", headers=who).text


def by_reviews(client, who: dict[str, str], host) -> Iterator[str]:
    """Decide with words, which go to the host and nowhere else."""
    asked = {"kind": "approval", "interruptId": "i-1", "actions": ["accept", "refine"]}
    more = {"title": CANARY, "artifactData": CANARY, "resumeSchema": {"title": CANARY}}
    pause = event(1, "node.suspended", run="h-1", nodeId="n", payload=asked | more)
    send(host, event(0, "run.started", run="h-1"), pause)
    found = Escalation.objects.get(run__run_id="h-1")
    address = f"/api/v1/escalations/{found.pk}"
    words = {"text": CANARY}
    for move, body in (("claim", {}), ("comment", words), ("reassign", {"to": CANARY})):
        yield client.post(f"{address}/{move}", json=body, headers=who).text
    seen = client.get(address, headers=who).json()
    decision = {
        "action": "refine", "reason": CANARY, "feedback": CANARY,
        "expectedVersion": seen["version"], "seenDigest": seen["seenDigest"],
    }  # fmt: skip
    for body in ({**decision, CANARY: CANARY}, {**decision, "action": CANARY}, decision):
        key = {"Idempotency-Key": str(uuid.uuid4())}
        yield client.post(f"{address}/resolve", json=body, headers=who | key).text
    eventually(lambda: Attempt.objects.exclude(status=None).exists())
    for address in ("/api/v1/deliveries", "/api/v1/audit", "/api/v1/escalations"):
        yield client.get(address, headers=who).text
    yield from Attempt.objects.values_list("outcome", flat=True)


def by_jobs(client: httpx.Client, who: dict[str, str], model: ModelServer) -> Iterator[str]:
    document = {
        "prompt": f"{CANARY}?",
        "answer": f"{CANARY}!",
        "judges": [{"name": "judge-a", "model": "compatible:judge-a"}],
        "onDissent": "reject",
    }
    taken = client.post("/api/v1/consensus", json=document, headers=who)
    yield taken.text
    yield client.post("/api/v1/consensus", json={**document, CANARY: 1}, headers=who).text
    yield client.post("/api/v1/consensus", json={**document, "mode": CANARY}, headers=who).text
    eventually(lambda: Job.objects.get().has_ended)
    assert [call.handler.headers["Authorization"] for call in model.calls] == [
        f"Bearer {MODEL_KEY}"
    ]
    yield client.get("/api/v1/jobs", headers=who).text
    run = client.get(f"/api/v1/runs/{taken.json()['runId']}/events", headers=who)
    yield run.text


def by_metrics(client: httpx.Client) -> Iterator[str]:
    told = client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    assert told.status_code == 200, told.text
    assert "openwop_console_refused_total{" in told.text
    yield told.text
    yield client.get("/metrics", headers={"Authorization": f"Bearer {CANARY}"}).text


def by_command_line(web: Web, host, folder: Path) -> Iterator[str]:
    file = folder / "log.jsonl"
    lines = [event(0, run="c-1", payload={"text": CANARY}), event(-1, run="c-1"), {CANARY: CANARY}]
    file.write_text("\n".join(map(json.dumps, lines)) + f'\n{{"{CANARY}": ')
    words = ["ingest", str(file), "--url", web.url, "--key", host.key_for_tests]
    for more in ([], ["-o", "json"]):
        yield CliRunner().invoke(main, [*words, *more]).output
