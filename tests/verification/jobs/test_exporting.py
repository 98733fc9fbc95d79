"""Spans of jobs reach an OpenTelemetry collector: a real receiver of OTLP over HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.utils import timezone
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.system.running import PROJECT
from tests.verification.jobs.building import SOLVER, THREE, started, worked
from verification import otlp, sweeping
from verification.actions.exporting import export
from verification.models import Job, Span

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "canary-of-the-content"


class Collector:
    """Takes what is exported and answers as it is told."""

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.bodies.append(body)
                collector.headers.append({**self.headers, "path": self.path})
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def taken(self) -> list:
        """Return the resource spans of everything that was sent."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [each for request in requests for each in request.resource_spans]

    def spans(self) -> list:
        return [
            span
            for resource in self.taken()
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector(settings) -> Iterator[Collector]:
    made = Collector()
    settings.OTLP_TRACES = made.url
    thread = Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join(60)
    made.server.server_close()


def plain(attributes) -> dict[str, object]:
    """Return OTLP attributes as Python values."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}


def deliberated(host, models) -> Job:
    return worked(
        started(
            host, prompt=f"{CANARY}?", answer=None, proposer=SOLVER, judges=THREE, quorum=2
        )
    )  # fmt: skip


def test_a_jobs_spans_arrive_as_the_tree_that_they_are(host, models, collector):
    job = deliberated(host, models)
    assert export(job=job.pk)

    (resource,) = collector.taken()
    assert plain(resource.resource.attributes)["service.name"] == "openwop-console"
    spans = collector.spans()
    rows = {row.number: row for row in Span.objects.filter(job=job)}
    assert len(spans) == len(rows) >= 4
    assert {each.trace_id for each in spans} == {job.uid.bytes}
    by_id = {each.span_id: each for each in spans}
    assert len(by_id) == len(spans)
    (root,) = (each for each in spans if each.name == "verify_consensus")
    assert plain(root.attributes)["oma.consensus.verdict"] == "accepted"
    verdicts = [each for each in root.events if each.name == "consensus_verdict"]
    assert [plain(each.attributes)["oma.agent.name"] for each in verdicts] == ["judge-a", "judge-b"]
    agents = [each for each in spans if each.name == "invoke_agent"]
    assert [plain(each.attributes)["oma.phase"] for each in agents] == [
        "proposer",
        "judge",
        "judge",
    ]
    assert {each.parent_span_id for each in agents} == {root.span_id}
    for each in spans:
        assert 0 < each.start_time_unix_nano <= each.end_time_unix_nano
    row = next(row for row in rows.values() if row.name == "verify_consensus")
    assert abs(root.start_time_unix_nano - row.started_at.timestamp() * 1e9) < 2_000
    job.refresh_from_db()
    assert job.export_at is None


def test_nothing_of_the_content_leaves_with_them(host, models, collector):
    from tests.model_server import says, verdict

    models.tell(
        solver=says(f"An answer with the {CANARY}."),
        judge_a=verdict(False, critique=f"It holds the {CANARY}."),
        judge_b=verdict(False, critique=f"The {CANARY} again."),
    )
    job = deliberated(host, models)
    assert export(job=job.pk)

    assert job.votes.filter(accepted=False).exists()
    sent = b"".join(collector.bodies)
    assert b"invoke_agent" in sent
    assert CANARY.encode() not in sent


def test_sending_again_changes_nothing_at_the_collector(host, models, collector):
    job = deliberated(host, models)
    assert export(job=job.pk)
    assert not export(job=job.pk)
    Job.objects.filter(pk=job.pk).update(export_at=timezone.now())
    assert export(job=job.pk)

    first, second = collector.bodies
    assert first == second


def test_a_collector_that_fails_is_tried_again_by_the_sweep_and_changes_no_job(
    host, models, collector, monkeypatch
):
    collector.status = 400
    rung = []
    monkeypatch.setattr("runs.bells._ask", lambda task, ids: rung.append((task, *ids)))
    job = deliberated(host, models)
    assert (job.state, job.verdict) == ("done", "pass")
    assert ("verification.tasks.export", job.pk) in rung
    assert not export(job=job.pk)
    rung.clear()
    sweeping.ring_for_exports(timezone.now())
    assert rung == []

    later = timezone.now() + timedelta(minutes=2)
    sweeping.ring_for_exports(later)
    assert rung == [("verification.tasks.export", job.pk)]
    collector.status = 200
    assert export(job=job.pk, now=later)
    job.refresh_from_db()
    assert job.export_at is None


def test_a_collector_that_is_not_there_is_given_up_after_a_day(host, models, settings, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    settings.OTLP_TRACES = "http://127.0.0.1:9/v1/traces"
    job = deliberated(host, models)
    assert (job.state, job.verdict) == ("done", "pass")

    assert not export(job=job.pk)
    assert Job.objects.get(pk=job.pk).export_at is not None
    assert not export(job=job.pk, now=timezone.now() + timedelta(days=2))
    assert Job.objects.get(pk=job.pk).export_at is None


def test_an_exporter_that_breaks_is_given_up_too(host, models, collector, monkeypatch):
    def breaks(*what):
        raise RuntimeError

    job = deliberated(host, models)
    monkeypatch.setattr(otlp, "send", breaks)

    for later, is_due in ((timedelta(0), True), (timedelta(days=2), False)):
        with pytest.raises(RuntimeError):
            export(job=job.pk, now=timezone.now() + later)
        assert (Job.objects.get(pk=job.pk).export_at is not None) is is_due


def test_a_job_that_failed_is_an_error_at_the_collector(host, models, collector):
    from tests.model_server import status

    models.tell(judge_a=status(401), judge_b=status(401), judge_c=status(401))
    job = deliberated(host, models)
    assert job.verdict == "fail"
    assert export(job=job.pk)

    judges = [
        each for each in collector.spans() if plain(each.attributes).get("oma.phase") == "judge"
    ]
    assert {each.status.code for each in judges} == {2}


def test_the_standard_variables_say_how_to_sign_in(host, models, collector, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=alpha")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    job = deliberated(host, models)
    assert export(job=job.pk)

    assert collector.headers[0]["x-team"] == "alpha"
    attributes = plain(collector.taken()[0].resource.attributes)
    assert attributes["deployment.environment"] == "test"


def test_without_a_collector_nothing_is_due_and_no_library_is_loaded(host, models, settings):
    assert settings.OTLP_TRACES == ""
    job = deliberated(host, models)
    assert job.export_at is None

    script = (
        "import django; django.setup()\n"
        "import sys, verification.tasks, openwop_console.urls\n"
        "late = ('opentelemetry.sdk.trace', 'opentelemetry.exporter')\n"
        "print([name for name in sys.modules if name.startswith(late)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
