"""The API of the audit chain, for auditors and administrators. It is read, never written."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api_shapes import CURSOR
from runs.describing import answers
from runs.models import Workspace
from runs.refusal import Refusal
from verification.api_shapes import PEOPLE
from verification.queries.audit import entries, verify, workspaces_audited

_WORKSPACE = OpenApiParameter("workspace", str, description="Slug; needed where you see several.")


class AuditView(APIView):
    """Who did what."""

    @extend_schema(
        operation_id="listAudit",
        parameters=[
            _WORKSPACE,
            OpenApiParameter("actor", str, description="Beginning of an actor, such as person:7."),
            OpenApiParameter("action", str, description="Beginning of an action."),
            OpenApiParameter("subject", str, description="Beginning of a subject."),
            CURSOR,
        ],
        auth=PEOPLE,
        responses=answers({200: "AuditPage"}, 403, 404),
    )
    def get(self, request: Request) -> Response:
        """List entries, newest first."""
        return Response(entries(_workspace(request), request.query_params))


class AuditVerifyView(APIView):
    """Whether the chain holds."""

    @extend_schema(
        operation_id="verifyAudit",
        parameters=[
            _WORKSPACE,
            OpenApiParameter("fromSeq", int, description="First entry; 1 where it is not said."),
            OpenApiParameter("toSeq", int, description="Last entry; the newest where not said."),
        ],
        auth=PEOPLE,
        responses=answers({200: "AuditVerified"}, 403, 404),
    )
    def get(self, request: Request) -> Response:
        """Check every hash, link and checkpoint. Source: OpenWOP audit-verify-result.schema."""
        first, last = _number(request, "fromSeq"), _number(request, "toSeq")
        return Response(verify(_workspace(request), first or 1, last))


def _workspace(request: Request) -> Workspace:
    seen: list[Any] = workspaces_audited(request.user)
    if not seen:
        message = "Only auditors and administrators read the audit log."
        raise Refusal(403, "forbidden", message, {"reason": "role"})
    wanted = request.query_params.get("workspace")
    found = [each for each in seen if not wanted or each.slug == wanted]
    if not found:
        raise Refusal(404, "not_found", "There is no such workspace for you.")
    workspace: Workspace = found[0]
    return workspace


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        details = {"reason": "type", "pointer": f"/{name}"}
        raise Refusal(400, "validation_error", "Send a whole number.", details)
    return int(text)
