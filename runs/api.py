"""The API of facts: send events, read runs. Each view translates and nothing more."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import door
from runs.api_shapes import CURSOR, HOST, HOST_KEY, RUN
from runs.auth import check_scope
from runs.body import headers_of, read_body
from runs.describing import answers, refer, text
from runs.limits import limits_document
from runs.models import Run
from runs.queries.api import run_document, run_page, runs_page
from runs.queries.filters import TIMES
from runs.queries.run_list import SEARCHED_RESULTS, SEARCHED_RUNS
from runs.refusal import Refusal

_KEY = "Not needed: events are stored once however often they come. 22 to 128 of A-Za-z0-9._~-."


class EventsView(APIView):
    """Where hosts send their events."""

    authentication_classes = ()  # the door asks for the key itself, after the media type
    permission_classes = (AllowAny,)
    parser_classes = ()  # the bytes are read strictly, by `runs.domain`

    @extend_schema(
        operation_id="sendEvents",
        auth=HOST_KEY,
        parameters=[
            OpenApiParameter("Content-Encoding", str, "header", enum=["gzip", "identity"]),
            OpenApiParameter("Idempotency-Key", str, "header", description=_KEY),
        ],
        request={
            "application/json": refer("Events"),
            "application/x-ndjson": text("One event a line."),
        },
        responses=answers({200: "Receipt", 201: "Receipt", 207: "Receipt"}, 403, 409, 415, 429),
    )
    def post(self, request: Request) -> Response:
        """Take one event, `{"events": […]}`, an array, or NDJSON. A 2xx means committed."""
        headers = headers_of(request)
        key = door.admit(headers)
        receipt = door.take(key, headers, read_body(request))
        return Response(receipt.body(), status=receipt.status, headers=door.budget_headers(key))


class ReadingView(APIView):
    """Any view of runs: a key must be allowed to read them."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse keys without the scope, once it is known who asks."""
        super().initial(request, *args, **kwargs)
        check_scope(request.user, "runs:read")


class RunsView(ReadingView):
    """The runs that the caller sees."""

    @extend_schema(
        operation_id="listRuns",
        parameters=[
            OpenApiParameter("tile", str, description="running, waiting, review, blocked …"),
            OpenApiParameter("status", str, description="Only of this status."),
            OpenApiParameter("outcome", str, description="Only of this outcome."),
            OpenApiParameter("host", str, description="Only of this host."),
            OpenApiParameter("standing", str, description="Only with this worst gate."),
            OpenApiParameter(
                "within", str, enum=[*TIMES], description="Only with an event since then."
            ),
            OpenApiParameter(
                "q",
                str,
                description="Beginning of a run's id, part of a workflow's, or the whole id of an "
                "event, a host, or an agent that verified, was judged, or was given a task; of "
                f"others, the last {SEARCHED_RESULTS} results in each of the {SEARCHED_RUNS} newest"
                " runs are looked through.",
            ),
            OpenApiParameter("limit", int, description="At most so many, 1 to 200."),
            CURSOR,
        ],
        responses=answers({200: "RunsPage"}, 403),
    )
    def get(self, request: Request) -> Response:
        """List runs, newest activity first, in pages."""
        return Response(runs_page(request.user, request.query_params))


class RunView(ReadingView):
    """One run."""

    @extend_schema(
        operation_id="getRun", parameters=[RUN, HOST], responses=answers({200: "Run"}, 403)
    )
    def get(self, request: Request, run: str) -> Response:
        """Return what the run's log adds up to."""
        return Response(run_document(find_run(request, run)))


class RunEventsView(ReadingView):
    """One run's events, as its host sent them."""

    @extend_schema(
        operation_id="listRunEvents",
        parameters=[
            RUN,
            HOST,
            OpenApiParameter("after_sequence", int, description="Only events above it; -1: all."),
            OpenApiParameter("limit", int, description="At most so many, 1 to 1000."),
        ],
        responses=answers({200: "RunEventsPage"}, 403),
    )
    def get(self, request: Request, run: str) -> Response:
        """Return events in sequence order, in the shape of OpenWOP's poll answer."""
        return Response(run_page(find_run(request, run), request.query_params))


class LimitsView(APIView):
    """What is too much."""

    @extend_schema(operation_id="getLimits", responses=answers({200: "Limits"}))
    def get(self, request: Request) -> Response:
        """Return every limit with the setting that changes it."""
        return Response(limits_document())


def find_run(request: Request, run: str) -> Run:
    """Return the run that an address names, as far as the caller may know of it.

    Raises:
        Http404: there is none for this caller.
        Refusal: several hosts have a run of this id and `host` does not say which.
    """
    visible = Run.objects.visible_to(request.user).select_related("host").filter(run_id=run)
    host = request.query_params.get("host")
    found: list[Any] = list(visible.filter(host__slug=host) if host else visible[:2])
    if not found:
        raise Http404
    if len(found) > 1:
        raise Refusal(
            400,
            "validation_error",
            "Several hosts have a run of this id; say which with ?host=.",
            {"reason": "host_required", "pointer": "/host"},
        )
    run_row: Run = found[0]
    return run_row
