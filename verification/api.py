"""The API of judgements: gates, findings, escalations. Each view translates and nothing more."""

from uuid import UUID

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api import find_run
from runs.api_shapes import CURSOR, HOST, RUN
from runs.auth import check_scope
from runs.describing import answers
from runs.live import run_group
from runs.refusal import Refusal
from verification.actions.answering import answer_gate
from verification.actions.evidence import public_keys, signed_evidence
from verification.api_shapes import RUN_OF_TARGET, TARGET, id_of, number_of
from verification.models import Finding, GateReceipt
from verification.patience import is_seconds, patience_of
from verification.queries.api import (
    answer_document,
    escalations_page,
    findings_document,
    gates_document,
    receipt_document,
)
from verification.queries.evidence import evidence_document
from verification.queries.standing import Standing, standings


class JudgementView(APIView):
    """Any view of judgements: a key must be allowed to read gates."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse keys without the scope, once it is known who asks."""
        super().initial(request, *args, **kwargs)
        check_scope(request.user, "gates:read")


class GateView(JudgementView):
    """One word about a target, for hosts and builds."""

    @extend_schema(
        operation_id="checkGate",
        parameters=[
            TARGET,
            RUN_OF_TARGET,
            HOST,
            OpenApiParameter("wait", int, description="Seconds to wait for an answer; 60 at most."),
        ],
        responses=answers({200: "GateAnswer"}, 403),
    )
    def get(self, request: Request, target: str) -> Response:
        """Return what may be done with a result now. Whatever is not plainly a pass is none."""
        if not is_seconds(request.query_params.get("wait", "0")):
            raise _invalid("wait", "seconds")
        standing = _only(standings(request.user, target, request.query_params), request)
        patience = patience_of(getattr(request._request, "scope", None))
        is_early = patience is not None and not standing.answer.is_settled
        if is_early and patience and patience.asks_again(run_group(standing.run.pk)):
            return Response(status=202)  # never sent: the request is asked again
        receipt = answer_gate(
            run=standing.run,
            target=standing.target,
            answer=standing.answer,
            verdicts=standing.verdicts,
            is_complete=standing.is_complete,
            by=request.user,
        )
        return Response(answer_document(receipt), headers={"Cache-Control": "no-store"})


class ReceiptView(JudgementView):
    """One answer that was given about a gate."""

    @extend_schema(
        operation_id="getGateReceipt",
        parameters=[id_of("The answer.", "receipt")],
        responses=answers({200: "GateReceipt"}, 403),
    )
    def get(self, request: Request, receipt: UUID) -> Response:
        """Return what was answered, when, to whom, and over which verdicts."""
        seen = GateReceipt.objects.visible_to(request.user).select_related("run__host")
        return Response(receipt_document(get_object_or_404(seen, pk=receipt)))


class EvidenceView(JudgementView):
    """The evidence of one finding."""

    @extend_schema(
        operation_id="getEvidence",
        parameters=[number_of("finding", "finding")],
        responses=answers({200: "Evidence"}, 403),
    )
    def get(self, request: Request, finding: int) -> Response:
        """Return everything a finding rests on, signed, to be checked anywhere."""
        seen = Finding.objects.visible_to(request.user).select_related("run__host")
        found = get_object_or_404(seen, pk=finding)
        name = f'attachment; filename="finding-{found.pk}.evidence.json"'
        evidence = signed_evidence(evidence_document(found))
        return Response(evidence, headers={"Content-Disposition": name})


class SigningKeysView(APIView):
    """The keys that this Console signs with."""

    @extend_schema(operation_id="listSigningKeys", responses=answers({200: "SigningKeys"}))
    def get(self, request: Request) -> Response:
        """Return the public halves, to compare evidence with."""
        return Response({"keys": public_keys()})


class RunGatesView(JudgementView):
    """The gates of one run."""

    @extend_schema(
        operation_id="listRunGates",
        parameters=[RUN, HOST],
        responses=answers({200: "RunGates"}, 403),
    )
    def get(self, request: Request, run: str) -> Response:
        """Return what the standing verdicts on each target allow."""
        return Response(gates_document(find_run(request, run)))


class RunFindingsView(JudgementView):
    """The findings about one run."""

    @extend_schema(
        operation_id="listRunFindings",
        parameters=[RUN, HOST],
        responses=answers({200: "Findings"}, 403),
    )
    def get(self, request: Request, run: str) -> Response:
        """Return what was noticed about the host's behaviour, with the evidence."""
        return Response(findings_document(find_run(request, run)))


class EscalationsView(JudgementView):
    """Requests for a person."""

    @extend_schema(
        operation_id="listEscalations",
        parameters=[
            HOST,
            OpenApiParameter("run", str, description="Only of this run."),
            OpenApiParameter("state", str, description="open, claimed, resolved, moot, expired."),
            CURSOR,
        ],
        responses=answers({200: "EscalationsPage"}, 403),
    )
    def get(self, request: Request) -> Response:
        """List escalations, due first."""
        return Response(escalations_page(request.user, request.query_params))


def _only(found: list[Standing], request: Request) -> Standing:
    """Return the one run that is meant.

    Raises:
        Http404: there is none for this caller.
        Refusal: there are several.
    """
    if not found:
        raise Http404
    if len(found) > 1:
        missing = "host" if request.query_params.get("run") else "run"
        raise _invalid(missing, f"{missing}_required")
    return found[0]


def _invalid(field: str, reason: str) -> Refusal:
    message = _MESSAGES[reason]
    details = {"reason": reason, "pointer": f"/{field}"}
    return Refusal(400, "validation_error", message, details)


_MESSAGES = {
    "seconds": "Say how many whole seconds to wait: ?wait=30.",
    "run_required": "Several runs hold this target; say which with ?run=.",
    "host_required": "Several hosts have a run of this id; say which with ?host=.",
}
