"""The API of jobs: start, read, approve, cancel. Each view translates and nothing more."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api_shapes import CURSOR
from runs.body import read_body
from runs.describing import answers, refer
from runs.domain.strict_json import JsonRefused, parse
from runs.limits import limits
from runs.models import Run, Viewer
from runs.refusal import Refusal
from verification import endpoints
from verification.actions import jobs
from verification.actions.askers import MayNotAsk, asker_of, canceller_of
from verification.actions.job_people import decide_on_plan
from verification.actions.replays import once
from verification.api_bodies import idempotency_key, json_object
from verification.api_refusals import refusal_of, translated
from verification.api_shapes import PEOPLE, id_of, key_parameter
from verification.auth import deciding_person
from verification.domain.jobs.refusals import JobRefused
from verification.domain.jobs.request import JobRequest
from verification.domain.jobs.requests import AnyRequest, read_any
from verification.domain.jobs.states import Operation
from verification.domain.jobs.team_request import read_plan_decision
from verification.models import Job
from verification.queries.jobs import job_document, jobs_page

KEY = key_parameter("The same key with the same body starts one job, however often it is sent.")
JOB = id_of("The job.", "job")
_STARTED = answers({200: "JobDetail", 202: "JobDetail"}, 403, 404, 409, 415, 429)
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


class ConsensusView(APIView):
    """The short form: start a consensus."""

    parser_classes = ()  # the bytes are read strictly

    @extend_schema(
        operation_id="startConsensus",
        parameters=[KEY],
        request={"application/json": refer("ConsensusRequest")},
        responses=_STARTED,
    )
    def post(self, request: Request) -> Response:
        """Take a question, an answer or a proposer, and judges; return the job."""
        return _start(request, {"operation": Operation.CONSENSUS.value})


class JobsView(APIView):
    """Jobs of every kind."""

    parser_classes = ()

    @extend_schema(
        operation_id="listJobs",
        parameters=[
            OpenApiParameter("state", str, description="queued, running, done or broken."),
            CURSOR,
        ],
        responses=answers({200: "JobsPage"}),
    )
    def get(self, request: Request) -> Response:
        """List jobs, newest first, in pages."""
        return Response(jobs_page(request.user, request.query_params))

    @extend_schema(
        operation_id="startJob",
        parameters=[KEY],
        request={"application/json": refer("JobRequest")},
        responses=_STARTED,
    )
    def post(self, request: Request) -> Response:
        """Start a job; `operation` says which kind."""
        return _start(request, {})


class JobView(APIView):
    """One job."""

    @extend_schema(operation_id="getJob", parameters=[JOB], responses=answers({200: "JobDetail"}))
    def get(self, request: Request, job: UUID) -> Response:
        """Return how far it is, how the judges voted, and once it has ended its result."""
        return Response(job_document(find_job(request.user, job), whole=True))


class CancelJobView(APIView):
    """The end of a job that somebody does not want any more."""

    @extend_schema(
        operation_id="cancelJob",
        parameters=[JOB],
        request=None,
        responses=answers({202: "JobDetail"}, 403),
    )
    def post(self, request: Request, job: UUID) -> Response:
        """Ask that it be stopped; a call under way is called off. Nothing of it passes."""
        found = find_job(request.user, job)
        try:
            by = canceller_of(request.user, found)
        except MayNotAsk as error:
            raise refusal_of(error) from error
        jobs.cancel(job=found.pk, by=by)
        return Response(job_document(find_job(request.user, job), whole=True), status=202)


class PlanView(APIView):
    """The plan of a team that waits for a person's approval."""

    parser_classes = ()

    @extend_schema(
        operation_id="decideOnPlan",
        auth=PEOPLE,
        parameters=[
            JOB,
            key_parameter(
                "The same key with the same body decides once, however often it is sent."
            ),
        ],
        request={"application/json": refer("PlanDecision")},
        responses=answers({202: "JobDetail"}, 403, 409, 415),
    )
    def post(self, request: Request, job: UUID) -> Response:
        """Let the plan run, as it came or as `plan` has it, or refuse it and so end the job.

        `seenDigest` is the plan's, as the job shows it. A decision about another plan, or about one
        that somebody has decided on, is refused with 409: `stale` or `settled`.
        """
        person = deciding_person(request)
        found = find_job(person, job)
        raw, document = json_object(request)
        key = idempotency_key(request, is_required=False)
        with translated():
            said, seen = read_plan_decision(document)
            by = canceller_of(person, found)

            def decide() -> dict[str, Any]:
                decide_on_plan(
                    job=found.pk, by=by, is_approved=said.is_approved, seen=seen, plan=said.plan
                )
                return {}  # what is answered is content, and read anew

            once(caller=by, key=key, about=f"{job}/plan".encode() + raw, do=decide)
        return Response(job_document(find_job(person, job), whole=True), status=202)


class ModelsView(APIView):
    """What jobs may use."""

    @extend_schema(operation_id="listModels", responses=answers({200: "Models"}))
    def get(self, request: Request) -> Response:
        """Return the names of the models that are set up; rules need none."""
        return Response({"models": endpoints.catalogue()})


def find_job(viewer: Viewer, uid: UUID) -> Job:
    """Return a job as far as the viewer may know of it. Raises Http404."""
    seen = Job.objects.visible_to(viewer).select_related(
        "workspace", "run__host", "about_run__host", "request"
    )
    return get_object_or_404(seen, uid=uid)


def _start(request: Request, given: Mapping[str, str]) -> Response:
    document = {**_document(request), **given}
    _check_operation(document)
    try:
        asked = read_any(document)
        about = run_asked_about(request.user, asked)
        asker = asker_of(request.user, workspace=asked.workspace, about=about)
        started = jobs.start(
            request=asked, asker=asker, about=about, idempotency_key=_key_of(request)
        )
    except (JobRefused, MayNotAsk) as error:
        raise refusal_of(error) from error
    except jobs.TargetUnknown as error:
        details = {"reason": "target_unknown", "pointer": "/target"}
        raise Refusal(404, "not_found", str(error), details) from error
    except jobs.RunEnded as error:
        details = {"reason": "run_terminal", "pointer": "/runId"}
        raise Refusal(409, "run_terminal", str(error), details) from error
    except jobs.KeyReused as error:
        details = {"reason": "idempotency_key_mismatch"}
        raise Refusal(409, "idempotency_key_mismatch", str(error), details) from error
    except jobs.DayIsSpent as error:
        spent: dict[str, Any] = {"reason": "daily_tokens", "limit": error.limit}
        raise Refusal(429, "token_budget_exceeded", str(error), spent, 3600) from error
    job = find_job(request.user, started.job.uid)
    return Response(job_document(job, whole=True), status=202 if started.is_new else 200)


def run_asked_about(viewer: Viewer, asked: AnyRequest) -> Run | None:
    """Return the run that a request is about, as far as the viewer may know of it.

    Raises:
        Http404: there is none for them.
        JobRefused: several hosts have a run of this id and the request does not say which.
    """
    if not isinstance(asked, JobRequest) or not asked.run_id:
        return None
    seen = Run.objects.visible_to(viewer).select_related("host", "workspace")
    runs = seen.filter(run_id=asked.run_id)
    found: list[Run] = list(runs.filter(host__slug=asked.host) if asked.host else runs[:2])
    if not found:
        raise Http404
    if len(found) > 1:
        raise JobRefused("host_required", "/host", "Several hosts have a run of this id.")
    return found[0]


def _document(request: Request) -> dict[str, Any]:
    kind = request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    if kind != "application/json" or request.META.get("HTTP_CONTENT_ENCODING"):
        raise Refusal(415, "unsupported_media_type", "Send application/json.", {"reason": "type"})
    try:
        document = parse(_body(request), max_depth=limits().depth)
    except JsonRefused as error:
        details = {"reason": error.reason, "pointer": error.pointer}
        message = "The body is not JSON that can be read in one way only."
        raise Refusal(400, "validation_error", message, details) from error
    if not isinstance(document, dict):
        details = {"reason": "type", "pointer": ""}
        raise Refusal(400, "validation_error", "An object is expected.", details)
    return document


def _body(request: Request) -> bytes:
    body = read_body(request)
    if body is None:
        most = limits().body_bytes
        details = {"reason": "body_too_large", "limit": most}
        raise Refusal(413, "payload_too_large", f"At most {most} bytes are taken.", details)
    return body


def _check_operation(document: Mapping[str, Any]) -> None:
    if document.get("operation") not in list(Operation):
        message = f"Say which operation: {', '.join(Operation)}."
        details = {"reason": "operation", "pointer": "/operation"}
        raise Refusal(400, "validation_error", message, details)


def _key_of(request: Request) -> str:
    key: str = request.headers.get("Idempotency-Key", "")
    if key and not _KEY.fullmatch(key):
        message = "An Idempotency-Key is 1 to 128 printable characters without spaces."
        raise Refusal(400, "validation_error", message, {"reason": "idempotency_key"})
    return key
