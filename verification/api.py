"""The API of judgements: gates, findings, escalations. Each view translates and nothing more."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api import HOST, find_run
from verification.queries.api import escalations_page, findings_document, gates_document


class RunGatesView(APIView):
    """The gates of one run."""

    @extend_schema(operation_id="listRunGates", parameters=[HOST], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run: str) -> Response:
        """Return what the standing verdicts on each target allow."""
        return Response(gates_document(find_run(request, run)))


class RunFindingsView(APIView):
    """The findings about one run."""

    @extend_schema(operation_id="listRunFindings", parameters=[HOST], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, run: str) -> Response:
        """Return what was noticed about the host's behaviour, with the evidence."""
        return Response(findings_document(find_run(request, run)))


class EscalationsView(APIView):
    """Requests for a person."""

    @extend_schema(
        operation_id="listEscalations",
        parameters=[
            HOST,
            OpenApiParameter("run", str, description="Only of this run."),
            OpenApiParameter("state", str, description="open, claimed, resolved, moot, expired."),
            OpenApiParameter("cursor", str, description="`next` of the page before."),
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        """List escalations, due first."""
        return Response(escalations_page(request.user, request.query_params))
