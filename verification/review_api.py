"""The API by which people work the queue. Each view translates and nothing more.

Whoever decides is a person: by their session and its CSRF token, or by a token of their own. A host
key reads what it may read, and moves nothing.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson
from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api_shapes import CURSOR
from runs.auth import check_scope
from runs.describing import answers, refer
from verification.actions import comments, escalations
from verification.actions.redrive import redrive
from verification.actions.replays import once
from verification.api_bodies import idempotency_key, json_object
from verification.api_refusals import translated
from verification.api_shapes import MOVE, PEOPLE, key_parameter, number_of
from verification.auth import deciding_person
from verification.domain.decisions import UnreadableDecision, read_decision, read_seen
from verification.models import Escalation
from verification.queries.reviewing import (
    deliveries_page,
    deliveries_seen,
    delivery_document,
    escalation_detail,
)

_KEYS = {
    "claim": {"expectedVersion"},
    "heartbeat": {"expectedVersion"},
    "release": {"expectedVersion"},
    "close": {"expectedVersion"},
    "undo": set[str](),
    "reassign": {"expectedVersion", "to"},
    "comment": {"text"},
}
"""What the body of a move may hold; a decision's own keys are `read_decision`'s."""


class EscalationView(APIView):
    """One request for a person."""

    @extend_schema(
        operation_id="getEscalation",
        parameters=[number_of("escalation")],
        responses=answers({200: "EscalationDetail"}, 403),
    )
    def get(self, request: Request, pk: int) -> Response:
        """Return it with what can be decided, what was, and where the decision is now."""
        check_scope(request.user, "gates:read")
        return Response(escalation_detail(_visible(request, pk), request.user))


class MoveView(APIView):
    """One move of a person: claim, heartbeat, release, reassign, resolve, undo, comment, close."""

    parser_classes = ()  # the bytes are read strictly, by `runs.domain`

    @extend_schema(
        operation_id="moveEscalation",
        auth=PEOPLE,
        parameters=[
            number_of("escalation"),
            MOVE,
            key_parameter("`resolve` needs one: 8 to 128 letters, digits, `.`, `_`, `~` or `-`."),
        ],
        request={"application/json": refer("Move")},
        responses=answers({200: "EscalationDetail"}, 403, 409, 410, 415),
    )
    def post(self, request: Request, pk: int, move: str) -> Response:
        """Make the move. A 2xx means committed; refusals name the reason and never a value."""
        person = deciding_person(request)
        found = _visible(request, pk)
        raw, document = json_object(request)
        key = idempotency_key(request, is_required=move == "resolve")
        do = _moves(found.pk, person, document).get(move)
        if do is None:
            raise Http404

        def carry_out() -> dict[str, Any]:
            do()
            shown = escalation_detail(_visible(request, pk), person)
            answer: dict[str, Any] = orjson.loads(orjson.dumps(shown))
            return answer

        with translated():
            about = f"{pk}/{move}".encode() + raw
            return Response(once(caller=f"person:{person.pk}", key=key, about=about, do=carry_out))


class DeliveriesView(APIView):
    """Decisions on their way to hosts."""

    @extend_schema(
        operation_id="listDeliveries",
        parameters=[
            OpenApiParameter("state", str, description="waiting, dead, stopped …"),
            CURSOR,
        ],
        responses=answers({200: "DeliveriesPage"}, 403),
    )
    def get(self, request: Request) -> Response:
        """List deliveries, newest first."""
        check_scope(request.user, "gates:read")
        return Response(deliveries_page(request.user, request.query_params))


class RedriveView(APIView):
    """Sending again what was given up."""

    parser_classes = ()

    @extend_schema(
        operation_id="redriveDelivery",
        auth=PEOPLE,
        parameters=[number_of("delivery")],
        request=None,
        responses=answers({200: "Delivery"}, 403, 409),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Put a dead, stopped or undeliverable delivery on its way again, with the same bytes."""
        person = deciding_person(request)
        if not deliveries_seen(person).filter(pk=pk).exists():
            raise Http404
        with translated():
            redrive(delivery=pk, by=person)
        return Response(delivery_document(deliveries_seen(person).get(pk=pk)))


def _moves(pk: int, by: User, body: Mapping[str, Any]) -> Mapping[str, Callable[[], object]]:
    simple: Mapping[str, Callable[..., object]] = {
        "claim": escalations.claim,
        "heartbeat": escalations.extend,
        "release": escalations.release,
        "close": escalations.close,
    }
    return {
        **{
            name: partial(_plain, act, pk, by, body, name)
            for name, act in simple.items()
        },
        "reassign": lambda: escalations.reassign(
            escalation=pk, by=by, to=_member(_closed(body, "reassign"), pk),
            expected_version=_version(body),
        ),
        "undo": lambda: _undo(pk, by, _closed(body, "undo")),
        "comment": lambda: comments.comment(
            escalation=pk, by=by, text=_text(_closed(body, "comment"), "text")
        ),
        "resolve": lambda: _resolve(pk, by, body),
    }  # fmt: skip


def _plain(
    act: Callable[..., object], pk: int, by: User, body: Mapping[str, Any], name: str
) -> object:
    return act(escalation=pk, by=by, expected_version=_version(_closed(body, name)))


def _undo(pk: int, by: User, body: Mapping[str, Any]) -> None:
    escalations.undo(escalation=pk, by=by)


def _resolve(pk: int, by: User, body: Mapping[str, Any]) -> None:
    decision = read_decision(body)
    version, position, digest = read_seen(body)
    escalations.resolve(
        escalation=pk, by=by, decision=decision, seen=None, expected_version=version,
        expected_matter=digest or "", expected_position=position,
    )  # fmt: skip


def _closed(body: Mapping[str, Any], move: str) -> Mapping[str, Any]:
    if set(body) - _KEYS[move]:
        raise UnreadableDecision("", "unexpected_key")
    return body


def _version(body: Mapping[str, Any]) -> int | None:
    return read_seen(body)[0] if "expectedVersion" in body else None


def _text(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key, "")
    if not isinstance(value, str):
        raise UnreadableDecision(f"/{key}", "type")
    return value


def _member(body: Mapping[str, Any], pk: int) -> User:
    workspace = Escalation.objects.values_list("workspace", flat=True).get(pk=pk)
    named = User.objects.filter(username=_text(body, "to"), memberships__workspace=workspace)
    found = named.first()
    if found is None:
        raise UnreadableDecision("/to", "not_a_member")
    return found


def _visible(request: Request, pk: int) -> Escalation:
    rows = Escalation.objects.visible_to(request.user)
    found: Escalation | None = (
        rows.select_related("run", "run__host", "claimed_by", "queue").filter(pk=pk).first()
    )
    if found is None:
        raise Http404
    return found
